// The rules that a drawing needs. Columns and rows count from 0, rows from the bottom; sides are 0 and 1.

export const COLUMNS = 7;
export const ROWS = 6;

// The cells in the order of play: [{column, row, side}]. `moves` is a string of digits.
export function played(moves) {
  const heights = new Array(COLUMNS).fill(0);
  return [...moves].map((digit, number) => {
    const column = Number(digit);
    return { column, row: heights[column]++, side: number % 2 };
  });
}

// The cells of four or more in a row through the last move, as [{column, row}], or null.
export function four(cells) {
  const last = cells.at(-1);
  if (!last) return null;
  const own = new Set(cells.filter((each) => each.side === last.side).map((each) => 10 * each.column + each.row));
  for (const [right, up] of [[1, 0], [0, 1], [1, 1], [1, -1]]) {
    const line = [];
    let { column, row } = last;
    while (own.has(10 * (column - right) + row - up) && inside(column - right, row - up)) { column -= right; row -= up; }
    while (own.has(10 * column + row) && inside(column, row)) { line.push({ column, row }); column += right; row += up; }
    if (line.length >= 4) return line;
  }
  return null;
}

function inside(column, row) {
  return column >= 0 && column < COLUMNS && row >= 0 && row < ROWS;
}
