// A board as SVG. The first mover has discs, the second rings.
import { COLUMNS, four, played, ROWS } from "./rules.js";

/**
 * @typedef {import("./rules.js").Cell} Cell
 * @typedef {import("./rules.js").Disc} Disc
 * @typedef {import("./rules.js").Side} Side
 */

const NAMESPACE = "http://www.w3.org/2000/svg";
const PLATE = { width: 74, height: 64, numbered: 69 };
/** The size of the newest disc, with room for its halo, relative to the others. */
const NEWEST = 3.55 / 4.1;

export class Board {
  /**
   * Draw into `place`; with `numbered`, number the columns below the board.
   * @param {Element} place
   */
  constructor(place, { numbered = false } = {}) {
    const height = numbered ? PLATE.numbered : PLATE.height;
    this.svg = make("svg", { viewBox: `0 0 ${PLATE.width} ${height}`, class: "board", role: "img" });
    this.svg.append(make("rect", { class: "plate", width: PLATE.width, height, rx: 3 }));
    this.svg.append(make("path", { class: "cell", d: holes() }));
    for (let column = 0; numbered && column < COLUMNS; column++) {
      const number = make("text", { class: "number", x: x(column), y: 66.5 });
      number.textContent = String(column);
      this.svg.append(number);
    }
    this.discs = make("g", {});
    this.line = make("g", {});
    this.svg.append(this.discs, this.line);
    this.moves = "";
    place.replaceChildren(this.svg);
  }

  /**
   * Show the position after `moves`, a string of columns. If it has one more move than the position before, the newest
   * disc falls. Discs that look the same are not drawn again, so a move draws only two discs.
   * @param {string} moves
   * @param {string} label what screen readers read
   */
  show(moves, label = moves ? `board after move ${moves.length}` : "empty board") {
    const discs = played(moves);
    const won = four(discs);
    const falls = moves.length === this.moves.length + 1 && moves.startsWith(this.moves);
    const same = won || this.line.firstChild ? 0 : alike(moves, this.moves);
    const inLine = new Set((won ?? []).map(({ column, row }) => 10 * column + row));
    while (this.discs.childElementCount > same) this.discs.lastChild?.remove();
    discs.slice(same).forEach((disc, number) => {
      const isLast = same + number === discs.length - 1;
      const group = drawn(disc, isLast && !won);
      if (won && !inLine.has(10 * disc.column + disc.row)) group.classList.add("faded");
      if (isLast && falls) group.classList.add("falls");
      this.discs.append(group);
    });
    this.line.replaceChildren(...(won ? [through(won)] : []));
    this.moves = moves;
    this.svg.setAttribute("aria-label", label);
  }

  /**
   * Return the column that is nearest to a horizontal position in the window, in pixels.
   * @param {number} clientX
   */
  columnAt(clientX) {
    const { left, width } = this.svg.getBoundingClientRect();
    return inBoard(Math.floor((((clientX - left) / width) * PLATE.width - 2) / 10));
  }
}

/**
 * Return the column of the board that is nearest to a number.
 * @param {number} column
 */
export function inBoard(column) {
  return Math.min(Math.max(column, 0), COLUMNS - 1);
}

/** @param {number} column */
function x(column) {
  return 7 + 10 * column;
}

/** @param {number} row */
function y(row) {
  return 57 - 10 * row;
}

/** Return all cells as one path, because a page may have many boards. */
function holes() {
  const cells = Array.from({ length: COLUMNS * ROWS }, (_, cell) => [
    x(cell % COLUMNS),
    y(Math.floor(cell / COLUMNS)),
  ]);
  return cells.map(([left, up]) => `M${left - 4.3} ${up}a4.3 4.3 0 1 0 8.6 0a4.3 4.3 0 1 0-8.6 0`).join("");
}

/**
 * Return how many of the first discs look the same in two positions. The last disc has a halo, so it is not counted.
 * @param {string} one
 * @param {string} other
 */
function alike(one, other) {
  const most = Math.min(one.length, other.length) - 1;
  let same = 0;
  while (same < most && one[same] === other[same]) same++;
  return same;
}

/**
 * @param {Disc} disc
 * @param {boolean} isNewest
 */
function drawn({ column, row, side }, isNewest) {
  const group = make("g", { class: side === 0 ? "first" : "second" });
  if (isNewest) group.append(make("circle", { class: "halo", cx: x(column), cy: y(row), r: 4.55 }));
  group.append(makeDisc({ column, row }, side, isNewest ? NEWEST : 1));
  return group;
}

/**
 * Create a disc of the first mover or a ring of the second.
 * @param {Cell} cell
 * @param {Side | null} side
 */
export function makeDisc({ column, row }, side, size = 1) {
  const at = { cx: x(column), cy: y(row) };
  if (side === 0) return make("circle", { class: "disc", ...at, r: 4.1 * size });
  return make("circle", { class: "ring", ...at, r: 3 * size, "stroke-width": 2.2 * size });
}

/**
 * Create the light over a column.
 * @param {number} column
 */
export function makeLight(column) {
  return make("rect", { class: "lit", x: x(column) - 5, y: 2, width: 10, height: 60, rx: 2 });
}

/** @param {Cell[]} cells */
function through(cells) {
  const from = cells[0];
  const to = cells[cells.length - 1];
  return make("line", {
    class: "four",
    x1: x(from.column),
    y1: y(from.row),
    x2: x(to.column),
    y2: y(to.row),
  });
}

/**
 * Create an SVG element.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} name
 * @param {Record<string, string | number>} attributes
 */
export function make(name, attributes) {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}
