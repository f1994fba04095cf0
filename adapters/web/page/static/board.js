// A board as SVG. The first mover has discs, the second rings.
import { COLUMNS, ROWS, four, played } from "./rules.js";

const NAMESPACE = "http://www.w3.org/2000/svg";
const PLATE = { width: 74, height: 64, numbered: 69 };
const x = (column) => 7 + 10 * column;
const y = (row) => 57 - 10 * row;

export class Board {
  // Draw into `place`; with `numbered`, number the columns below the board.
  constructor(place, { numbered = false } = {}) {
    const height = numbered ? PLATE.numbered : PLATE.height;
    this.svg = make("svg", { viewBox: `0 0 ${PLATE.width} ${height}`, class: "board", role: "img" });
    this.svg.append(make("rect", { class: "plate", width: PLATE.width, height, rx: 3 }));
    this.svg.append(make("path", { class: "cell", d: holes() }));
    for (let column = 0; numbered && column < COLUMNS; column++) {
      const number = make("text", { class: "number", x: x(column), y: 66.5 });
      number.textContent = column;
      this.svg.append(number);
    }
    this.discs = make("g", {});
    this.line = make("g", {});
    this.svg.append(this.discs, this.line);
    this.moves = "";
    place.replaceChildren(this.svg);
  }

  // Show the position after `moves`, a string of columns. After one further move the newest disc falls. Discs that
  // do not change are not drawn again: a move costs two discs, not all.
  show(moves, label = "") {
    const cells = played(moves);
    const won = four(cells);
    const falls = moves.length === this.moves.length + 1 && moves.startsWith(this.moves);
    const same = won || this.line.firstChild ? 0 : alike(moves, this.moves);
    const inLine = new Set((won ?? []).map((each) => 10 * each.column + each.row));
    while (this.discs.childElementCount > same) this.discs.lastChild.remove();
    cells.slice(same).forEach((cell, number) => {
      const isLast = same + number === cells.length - 1;
      const disc = drawn(cell, isLast && !won);
      if (won && !inLine.has(10 * cell.column + cell.row)) disc.classList.add("faded");
      if (isLast && falls) disc.classList.add("falls");
      this.discs.append(disc);
    });
    this.line.replaceChildren(...(won ? [through(won)] : []));
    this.moves = moves;
    if (label) this.svg.setAttribute("aria-label", label);
    else this.svg.setAttribute("aria-label", moves ? `board after move ${moves.length}` : "empty board");
  }
}

// All cells as one path, since a page may have many boards.
function holes() {
  const cells = Array.from({ length: COLUMNS * ROWS }, (_, cell) => [x(cell % COLUMNS), y(Math.floor(cell / COLUMNS))]);
  return cells.map(([left, up]) => `M${left - 4.3} ${up}a4.3 4.3 0 1 0 8.6 0a4.3 4.3 0 1 0-8.6 0`).join("");
}

// The number of first discs that look the same in two positions. The last disc has a halo, so it never counts.
function alike(one, other) {
  const most = Math.min(one.length, other.length) - 1;
  let same = 0;
  while (same < most && one[same] === other[same]) same++;
  return same;
}

function drawn({ column, row, side }, isLast) {
  const group = make("g", { class: side === 0 ? "first" : "second" });
  const at = { cx: x(column), cy: y(row) };
  const size = isLast ? 3.55 / 4.1 : 1;
  if (isLast) group.append(make("circle", { class: "halo", ...at, r: 4.55 }));
  if (side === 0) group.append(make("circle", { class: "disc", ...at, r: 4.1 * size }));
  else group.append(make("circle", { class: "ring", ...at, r: 3 * size, "stroke-width": 2.2 * size }));
  return group;
}

function through(cells) {
  const [from, to] = [cells[0], cells.at(-1)];
  return make("line", { class: "four", x1: x(from.column), y1: y(from.row), x2: x(to.column), y2: y(to.row) });
}

export function make(name, attributes) {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}
