// A board as SVG. The first mover has discs, the second rings.
import { createSvg } from "./dom.js";
import { COLUMNS, four, played, ROWS } from "./rules.js";

/**
 * @typedef {import("./rules.js").Cell} Cell
 * @typedef {import("./rules.js").Disc} Disc
 * @typedef {import("./rules.js").Side} Side
 */

const PLATE = { width: 74, height: 64, numbered: 69 };
const HOLE = 4.3;
const RADIUS = 4.1; // of a disc
/** The size of the newest disc, with room for its halo, relative to the others. */
const NEWEST = 3.55 / RADIUS;

export class Board {
  isStill = false; // whether discs appear without falling
  #isOver = false; // whether the board shows four in a row, where other discs are faded

  /**
   * Draw into `place`; with `numbered`, number the columns below the board.
   * @param {Element} place
   */
  constructor(place, { numbered = false } = {}) {
    const height = numbered ? PLATE.numbered : PLATE.height;
    this.svg = createSvg("svg", { viewBox: `0 0 ${PLATE.width} ${height}`, class: "board", role: "img" });
    this.svg.append(createSvg("rect", { class: "plate", width: PLATE.width, height, rx: 3 }));
    this.svg.append(createSvg("path", { class: "cell", d: allHoles() }));
    for (let column = 0; numbered && column < COLUMNS; column++) {
      const number = createSvg("text", { class: "number", x: x(column), y: 66.5 });
      number.textContent = String(column);
      this.svg.append(number);
    }
    this.discs = createSvg("g", { class: "discs" });
    this.marks = createSvg("g", {});
    this.svg.append(this.discs, this.marks);
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
    this.svg.setAttribute("aria-label", label);
    if (moves === this.moves) return;
    const discs = played(moves);
    const won = four(discs);
    const falls = !this.isStill && moves.length === this.moves.length + 1 && moves.startsWith(this.moves);
    const same = won || this.#isOver ? 0 : alike(moves, this.moves);
    const inLine = new Set((won ?? []).map(({ column, row }) => 10 * column + row));
    while (this.discs.childElementCount > same) this.discs.lastChild?.remove();
    for (const disc of discs.slice(same)) {
      const isNewest = disc === discs.at(-1);
      const drawn = makeDisc(disc, disc.side, isNewest && !won ? NEWEST : 1);
      if (won && !inLine.has(10 * disc.column + disc.row)) drawn.classList.add("faded");
      if (isNewest && falls) {
        drawn.classList.add("falls");
        drawn.style.setProperty("--above", `${-y(disc.row) - RADIUS}px`);
        drawn.addEventListener("animationend", () => this.#land(), { once: true });
      }
      this.discs.append(drawn);
    }
    const newest = discs.at(-1);
    /** @type {SVGElement[]} */
    const marks = won ? [through(won)] : newest ? [halo(newest)] : [];
    for (const mark of falls ? marks : []) mark.classList.add("lands");
    // While a disc falls, a part of the plate covers it. All of the plate above all discs would cost more.
    if (falls) marks.unshift(columnOfPlate(discs[discs.length - 1].column, "cover"));
    this.marks.replaceChildren(...marks);
    this.#isOver = won !== null;
    this.moves = moves;
  }

  /** End the fall. A board that is moved within the document would begin it again. */
  #land() {
    this.svg.querySelector(".cover")?.remove();
    for (const each of this.svg.querySelectorAll(".falls, .lands")) each.classList.remove("falls", "lands");
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
function allHoles() {
  return Array.from({ length: COLUMNS }, (_, column) => holes(column)).join("");
}

/** @param {number} column */
function holes(column) {
  const cells = Array.from({ length: ROWS }, (_, row) => `M${x(column) - HOLE} ${y(row)}`);
  return cells.map((start) => `${start}${arc(HOLE)}${arc(-HOLE)}`).join("");
}

/** @param {number} radius from left to right, or from right to left if it is negative */
function arc(radius) {
  return `a${HOLE} ${HOLE} 0 1 0 ${2 * radius} 0`;
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

/** @param {Cell} cell */
function halo({ column, row }) {
  return createSvg("circle", { class: "halo", cx: x(column), cy: y(row), r: 4.55 });
}

/**
 * Create a disc of the first mover or a ring of the second.
 * @param {Cell} cell
 * @param {Side | null} side
 */
export function makeDisc({ column, row }, side, size = 1) {
  const at = { cx: x(column), cy: y(row) };
  if (side === 0) return createSvg("circle", { class: "disc", ...at, r: RADIUS * size });
  return createSvg("circle", { class: "ring", ...at, r: 3 * size, "stroke-width": 2.2 * size });
}

/**
 * Create the part of the plate at a column, with holes.
 * @param {number} column
 * @param {string} kind its class
 */
export function columnOfPlate(column, kind) {
  const d = `M${x(column) - 5} 1h10v62h-10z${holes(column)}`;
  return createSvg("path", { class: kind, d, "fill-rule": "evenodd" });
}

/** @param {Cell[]} cells */
function through(cells) {
  const from = cells[0];
  const to = cells[cells.length - 1];
  return createSvg("line", {
    class: "four",
    x1: x(from.column),
    y1: y(from.row),
    x2: x(to.column),
    y2: y(to.row),
  });
}
