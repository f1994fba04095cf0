// The seven columns, where a person drops a disc by mouse, by keys, or by touch.
//
// A mouse click drops at once. A tap chooses a column, and a second tap on it drops, because a finger cannot hover.
// The chosen column is lit, and shows where the disc would land.
import { columnOfPlate, inBoard, makeDisc } from "./board.js";
import { createSvg, isShortcut } from "./dom.js";
import { ROWS, roomOf } from "./rules.js";

/** @typedef {import("./rules.js").Side} Side */

const MIDDLE = 3;

export class Columns {
  #buttons;
  #listeners;
  /** @type {SVGElement} Shows the chosen column in the board. */
  #ghost = createSvg("g", { class: "ghost" });
  /** @type {number | null} The column that the mouse points at. */
  #pointed = null;
  /** The column that was chosen or played last. */
  #last = MIDDLE;
  /** @type {Side | null} The side that drops next; null if it is not the person's turn. */
  #side = null;
  /** @type {number[]} Free cells of each column. */
  #room = [];
  /** @type {number | null} */
  chosen = null;

  /**
   * Listen to the buttons, one for each column, and to the board. Calls `chose` with the chosen column or null, `drop`
   * with a column that has room, and `full` with a column that has none.
   * @param {HTMLButtonElement[]} buttons
   * @param {HTMLElement} place the element that contains the board
   * @param {import("./board.js").Board} board
   * @param {object} listeners
   * @param {(column: number | null) => void} listeners.chose
   * @param {(column: number) => void} listeners.drop
   * @param {(column: number) => void} listeners.full
   */
  constructor(buttons, place, board, listeners) {
    this.#buttons = buttons;
    this.#listeners = listeners;
    board.svg.insertBefore(this.#ghost, board.discs);
    this.show("", null);
    for (const [column, button] of buttons.entries()) this.#listen(button, () => column);
    this.#listen(place, (event) => board.columnAt(event.clientX));
    document.addEventListener("keydown", (event) => this.#press(event));
  }

  /**
   * Show the columns after `moves`. `side` is the side that drops next; null if it is not the person's turn.
   * @param {string} moves
   * @param {Side | null} side
   */
  show(moves, side) {
    this.#side = side;
    this.#room = roomOf(moves);
    this.#choose(this.#pointed);
  }

  /** Drop into the chosen column; if none is chosen, into the column that was chosen or played last. */
  drop() {
    this.#take(this.chosen ?? this.#last);
  }

  /** @param {number | null} column */
  #choose(column) {
    this.chosen = this.#side === null ? null : column;
    this.#last = column ?? this.#last;
    for (const [each, button] of this.#buttons.entries()) this.#label(button, each);
    this.#light();
    this.#listeners.chose(this.chosen);
  }

  /**
   * Drop into a column, if it is the person's turn.
   * @param {number} column
   */
  #take(column) {
    if (this.#side === null) return;
    this.#last = column;
    if (this.#room[column]) this.#listeners.drop(column);
    else this.#listeners.full(column);
  }

  /**
   * @param {HTMLElement} target
   * @param {(event: MouseEvent) => number} columnOf
   */
  #listen(target, columnOf) {
    let pointer = "mouse";
    target.addEventListener("pointerdown", (event) => {
      pointer = event.pointerType;
    });
    target.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse") this.#point(columnOf(event));
    });
    target.addEventListener("pointerleave", () => this.#point(null));
    target.addEventListener("click", (event) => {
      const column = columnOf(event);
      const isTap = event.detail > 0 && pointer !== "mouse"; // detail is 0 for a click by key
      if (isTap && column !== this.chosen) this.#choose(column);
      else this.#take(column);
    });
  }

  /**
   * Choose the column that the mouse points at; null if it points at none.
   * @param {number | null} column
   */
  #point(column) {
    if (column === this.#pointed) return;
    this.#pointed = column;
    this.#choose(column);
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (this.#side === null || !isShortcut(event)) return;
    const { key, target } = event;
    const isElsewhere = target instanceof Element && target.closest("button, a, summary");
    if (key === "ArrowLeft") this.#go(-1);
    else if (key === "ArrowRight") this.#go(1);
    else if (/^[0-6]$/.test(key)) this.#take(Number(key));
    else if ((key === "Enter" || key === " ") && !isElsewhere) this.drop();
    else return;
    event.preventDefault();
  }

  /** @param {-1 | 1} step */
  #go(step) {
    const column = this.chosen === null ? this.#last : inBoard(this.chosen + step);
    this.#choose(column);
    this.#buttons[column].focus();
  }

  /**
   * @param {HTMLButtonElement} button
   * @param {number} column
   */
  #label(button, column) {
    const room = this.#room[column];
    button.textContent = room ? String(column) : "full";
    button.setAttribute("aria-label", room ? `column ${column}, ${room} free` : `column ${column}, full`);
    button.setAttribute("aria-disabled", String(this.#side === null || !room));
    button.classList.toggle("chosen", column === this.chosen);
    button.classList.toggle("full", !room);
    button.tabIndex = column === this.#last ? 0 : -1;
  }

  #light() {
    this.#ghost.replaceChildren();
    if (this.chosen === null) return;
    this.#ghost.append(columnOfPlate(this.chosen, "lit"));
    const room = this.#room[this.chosen];
    if (room) this.#ghost.append(makeDisc({ column: this.chosen, row: ROWS - room }, this.#side));
  }
}
