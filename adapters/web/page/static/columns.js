// The seven columns: choose one and drop a disc, by mouse, by keys, or by touch.
//
// A mouse click drops at once. A tap chooses a column, and a second tap on it drops, because a finger cannot hover.
// The chosen column is lit, and shows where the disc would land.
import { make } from "./board.js";
import { isTyping } from "./header.js";
import { COLUMNS, ROWS, played } from "./rules.js";

const MIDDLE = 3;

export class Columns {
  // There is one of `buttons` for each column; `board` is drawn in `place`. Calls `chose` with a column or null, `drop`
  // with a column that has room, and `full` with one that has none.
  constructor(buttons, place, board, { chose, drop, full }) {
    Object.assign(this, { buttons, place, chose, drop, full, chosen: null, pointed: null, last: MIDDLE });
    this.show("", null);
    this.ghost = make("g", { class: "ghost" });
    board.svg.insertBefore(this.ghost, board.discs);
    buttons.forEach((button, column) => this.#listen(button, () => column));
    this.#listen(place, (event) => this.#under(event));
    document.addEventListener("keydown", (event) => this.#press(event));
  }

  // Show the columns after `moves`. `side` drops next; null if nobody may drop.
  show(moves, side) {
    this.side = side;
    this.room = new Array(COLUMNS).fill(ROWS);
    for (const { column } of played(moves)) this.room[column]--;
    this.choose(this.pointed);
  }

  choose(column) {
    this.chosen = this.side === null ? null : column;
    this.last = column ?? this.last;
    this.buttons.forEach((button, each) => this.#label(button, each));
    this.#light();
    this.chose(this.chosen);
  }

  // Drop into a column, if it is the player's turn.
  take(column) {
    if (this.side === null || column === null) return;
    this.last = column;
    if (this.room[column]) this.drop(column);
    else this.full(column);
  }

  #listen(target, columnOf) {
    let pointer = "mouse";
    target.addEventListener("pointerdown", (event) => (pointer = event.pointerType));
    target.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse") this.#point(columnOf(event));
    });
    target.addEventListener("pointerleave", () => this.#point(null));
    target.addEventListener("click", (event) => {
      const column = columnOf(event);
      const isTap = event.detail > 0 && pointer !== "mouse"; // a key's click has no detail
      if (isTap && column !== this.chosen) this.choose(column);
      else this.take(column);
    });
  }

  // The mouse points at a column, or null.
  #point(column) {
    if (column === this.pointed) return;
    this.pointed = column;
    this.choose(column);
  }

  #under(event) {
    const { left, width } = this.place.getBoundingClientRect();
    const column = Math.floor(((event.clientX - left) / width * 74 - 2) / 10);
    return Math.min(Math.max(column, 0), COLUMNS - 1);
  }

  #press(event) {
    if (this.side === null || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const isElsewhere = event.target.closest("button, a, summary");
    if (step) this.#go(step);
    else if (/^[0-6]$/.test(event.key)) this.take(Number(event.key));
    else if ((event.key === "Enter" || event.key === " ") && !isElsewhere) this.take(this.chosen ?? this.last);
    else return;
    event.preventDefault();
  }

  #go(step) {
    const from = this.chosen ?? this.last;
    const column = this.chosen === null ? from : Math.min(Math.max(from + step, 0), COLUMNS - 1);
    this.choose(column);
    this.buttons[column].focus();
  }

  #label(button, column) {
    const room = this.room[column];
    button.textContent = room ? column : "full";
    button.setAttribute("aria-label", room ? `column ${column}, ${room} free` : `column ${column}, full`);
    button.setAttribute("aria-disabled", this.side === null || !room);
    button.classList.toggle("chosen", column === this.chosen);
    button.classList.toggle("full", !room);
    button.tabIndex = column === this.last ? 0 : -1;
  }

  #light() {
    this.ghost?.replaceChildren();
    if (this.chosen === null) return;
    const at = { cx: 7 + 10 * this.chosen, cy: 7 + 10 * (this.room[this.chosen] - 1) };
    this.ghost.append(make("rect", { class: "lit", x: at.cx - 5, y: 2, width: 10, height: 60, rx: 2 }));
    if (!this.room[this.chosen]) return;
    if (this.side === 0) this.ghost.append(make("circle", { class: "disc", ...at, r: 4.1 }));
    else this.ghost.append(make("circle", { class: "ring", ...at, r: 3, "stroke-width": 2.2 }));
  }
}
