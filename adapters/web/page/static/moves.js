// The list of moves, and a bar for the time that each move took.
import { make } from "./board.js";
import { create, find } from "./dom.js";

/**
 * An entry of the list: a move, or the illegal move that ended the game.
 * @typedef {{ column: string, used: number | null, number: number, isBad: boolean }} Entry
 */

/** Shows a game's moves. */
export class Moves {
  #article;
  #game;
  #choose;
  /** @type {HTMLElement} */
  #scroll;
  /** @type {HTMLButtonElement[]} */
  #buttons = [];
  /** @type {SVGElement[]} */
  #bars = [];

  /**
   * Call `choose` with the number of each move that is clicked.
   * @param {HTMLElement} article
   * @param {import("./game.js").ShownGame} game
   * @param {(number: number) => void} choose
   */
  constructor(article, game, choose) {
    this.#article = article;
    this.#game = game;
    this.#choose = choose;
    this.#scroll = find(".moves .scroll", article);
    this.fill();
  }

  /** Draw all moves again. */
  fill() {
    const { moves, turns, attempt } = this.#game;
    /** @type {Entry[]} */
    const all = [...moves].map((column, index) => ({
      column,
      used: turns[index].used,
      number: index + 1,
      isBad: false,
    }));
    if (attempt) all.push({ ...attempt, number: all.length + 1, isBad: true });
    /** @type {HTMLTableRowElement[]} */
    const rows = [];
    this.#buttons = all.map((move) => {
      if (move.number % 2) rows.push(pair(move.number));
      const button = entry(move);
      button.addEventListener("click", () => this.#choose(Math.min(move.number, moves.length)));
      rows.at(-1)?.cells[move.number % 2 ? 1 : 2].append(button);
      return button;
    });
    find(".list tbody", this.#article).replaceChildren(...rows);
    this.#bars = showBars(find(".bars", this.#article, SVGElement), all);
    find(".track input", this.#article).style.width = width(moves.length, all.length);
  }

  /**
   * Mark the move that led to the shown position; 0 for none.
   * @param {number} number
   */
  mark(number) {
    for (const [index, button] of this.#buttons.entries()) {
      const isCurrent = index + 1 === number;
      if (isCurrent) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
      button.tabIndex = isCurrent ? 0 : -1;
      this.#bars[index].classList.toggle("current", isCurrent);
    }
    const row = this.#buttons[number - 1]?.closest("tr");
    const scroll = this.#scroll;
    if (!row) scroll.scrollTop = 0;
    else if (row.offsetTop < scroll.scrollTop) scroll.scrollTop = row.offsetTop;
    else
      scroll.scrollTop = Math.max(
        scroll.scrollTop,
        row.offsetTop + row.offsetHeight + 6 - scroll.clientHeight,
      );
  }

  /**
   * Mark the moves that made the mover's result with perfect play worse.
   * @param {number[]} numbers
   */
  turn(numbers) {
    for (const number of numbers) {
      const sign = find(".sign", this.#buttons[number - 1]);
      sign.textContent = "◆";
      sign.setAttribute("role", "img");
      sign.setAttribute("aria-label", "the game turned");
    }
  }
}

/**
 * Create the row of two moves.
 * @param {number} number
 */
function pair(number) {
  const row = create("tr");
  row.append(create("th", { scope: "row", textContent: String(number) }), create("td"), create("td"));
  return row;
}

/** @param {Entry} entry */
function entry({ column, used, isBad }) {
  const button = create("button", { type: "button" });
  if (isBad) button.className = "bad";
  button.append(
    create("b", { textContent: column || "–" }),
    create("span", { className: "sign", textContent: isBad ? "✕" : "" }),
    create("span", { className: "time", textContent: used === null ? "" : (used / 1000).toFixed(2) }),
  );
  return button;
}

/**
 * Draw the bars: upwards for the first mover, downwards for the other player.
 * @param {SVGElement} svg
 * @param {Entry[]} all
 */
function showBars(svg, all) {
  const longest = Math.max(1, ...all.map(({ used }) => used ?? 0));
  svg.setAttribute("viewBox", `0 0 ${all.length || 1} 40`);
  svg.setAttribute("preserveAspectRatio", "none");
  const bars = all.map(({ number, used, isBad }) => {
    const height = used === null ? 0 : Math.max(3, (19 * used) / longest);
    const y = number % 2 ? 20 - height : 20;
    return make("rect", { x: number - 0.9, y, width: 0.8, height, class: isBad ? "bad" : "" });
  });
  svg.replaceChildren(...bars);
  return bars;
}

/**
 * Return the slider's width. The slider ends at the bar of the last move, before the bar of an illegal move.
 * @param {number} moves
 * @param {number} bars
 */
function width(moves, bars) {
  return moves && bars > moves ? `calc((100% - 16px) * ${(moves - 0.5) / bars} + 16px)` : "";
}
