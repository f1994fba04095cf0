// The rules of the game that the page needs. Columns and rows count from 0, rows from the bottom; sides are 0 and 1.

export const COLUMNS = 7;
export const ROWS = 6;
/** One step in each direction of four in a row: cells to the right, and cells up. */
const DIRECTIONS = [
  [1, 0],
  [0, 1],
  [1, 1],
  [1, -1],
];

/**
 * @typedef {0 | 1} Side
 * @typedef {{ column: number, row: number }} Cell
 * @typedef {Cell & { side: Side }} Disc
 */

/**
 * The sides; the first mover has side 0.
 * @type {[Side, Side]}
 */
export const SIDES = [0, 1];

/**
 * Return the opponent's side.
 * @param {Side} side
 */
export function opposite(side) {
  return /** @type {Side} */ (1 - side);
}

/**
 * Return the discs in the order of play. `moves` is a string of columns, each a digit.
 * @param {string} moves
 * @returns {Disc[]}
 */
export function played(moves) {
  const heights = new Array(COLUMNS).fill(0);
  return [...moves].map((digit, number) => {
    const column = Number(digit);
    return { column, row: heights[column]++, side: SIDES[number % 2] };
  });
}

/**
 * Return how many cells of each column are free.
 * @param {string} moves
 */
export function roomOf(moves) {
  const room = new Array(COLUMNS).fill(ROWS);
  for (const { column } of played(moves)) room[column]--;
  return room;
}

/**
 * Return the cells of four or more in a row through the last move, or null.
 * @param {Disc[]} discs
 * @returns {Cell[] | null}
 */
export function four(discs) {
  const last = discs.at(-1);
  if (!last) return null;
  const own = new Set(
    discs.filter(({ side }) => side === last.side).map(({ column, row }) => `${column} ${row}`),
  );
  for (const [right, up] of DIRECTIONS) {
    const line = [];
    let { column, row } = last;
    while (own.has(`${column - right} ${row - up}`)) {
      column -= right;
      row -= up;
    }
    while (own.has(`${column} ${row}`)) {
      line.push({ column, row });
      column += right;
      row += up;
    }
    if (line.length >= 4) return line;
  }
  return null;
}

/**
 * Return why a game is over, as far as the position shows it; null if it does not.
 * @param {string} moves
 * @returns {"four" | "full" | null}
 */
export function ending(moves) {
  if (four(played(moves))) return "four";
  return moves.length === COLUMNS * ROWS ? "full" : null;
}

/**
 * Return the columns counted from 1, as `c4gateway analyse` and other solvers read them.
 * @param {string} moves
 */
export function notation(moves) {
  return [...moves].map((column) => Number(column) + 1).join("");
}
