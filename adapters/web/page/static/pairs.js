// The games of a tournament's pairs, kept up to date from the live stream, in elements with data-game.
import { Board } from "./board.js";
import { findAll, write } from "./dom.js";
import { clock, Games, inWords } from "./games.js";
import { SIDES } from "./rules.js";
import { Stream } from "./stream.js";
import { showClock } from "./times.js";

/** @typedef {import("./games.js").LiveGame} LiveGame */

const TICK = 100;

export class Pairs {
  #games = new Games();
  #root;
  /** @type {Map<Element, Board>} The board of each place. */
  #boards = new Map();

  /**
   * Keep the games in `root` up to date from the stream at `address`. `changed` is called when a game begins or ends.
   * @param {Element} root
   * @param {string} address
   * @param {() => void} changed
   */
  constructor(root, address, changed) {
    this.#root = root;
    this.draw();
    if (!address) return;
    const stream = new Stream(address, (event) => {
      this.#games.apply(event, performance.now());
      if (event.name === "started" || event.name === "ended") changed();
      this.#show();
    });
    setInterval(() => stream.isOpen && this.#tick(), TICK);
  }

  /** Draw the boards that are not drawn yet, and forget those that are gone. */
  draw() {
    for (const place of this.#boards.keys()) if (!place.isConnected) this.#boards.delete(place);
    for (const place of findAll(".board[data-moves]", this.#root)) {
      if (this.#boards.has(place)) continue;
      const board = new Board(place);
      board.show(place.dataset.moves ?? "");
      this.#boards.set(place, board);
    }
    this.#show();
  }

  /** @returns {Iterable<[HTMLElement, LiveGame]>} */
  *#live() {
    for (const each of findAll("[data-game]", this.#root)) {
      const game = this.#games.get(each.dataset.game ?? "");
      if (game) yield [each, game];
    }
  }

  #show() {
    for (const [place, game] of this.#live()) {
      const [first, second] = game.players;
      const board = this.#boards.get(place.querySelector(".board") ?? place);
      if (board && board.moves !== game.moves) {
        board.show(game.moves, inWords(game, [first.name, second.name]));
      }
      const moved = place.querySelector(".moved");
      if (moved) write(moved, String(game.moves.length));
    }
    this.#tick();
  }

  #tick() {
    const now = performance.now();
    for (const [place, game] of this.#live()) {
      for (const side of SIDES) {
        const time = place.querySelector(`.clock[data-side="${side}"]`);
        if (!time) continue;
        const face = game.reason === null ? clock(game, side, now) : null;
        showClock(time, face);
        time.closest(".player")?.classList.toggle("to-move", Boolean(face?.runs));
      }
    }
  }
}

/**
 * Return the HTML of an element without what the live stream keeps up to date, to see whether anything else changed.
 * @param {HTMLElement} element as it was received
 */
export function lasting(element) {
  const copy = /** @type {HTMLElement} */ (element.cloneNode(true));
  for (const each of findAll("[data-live]", copy)) {
    each.textContent = "";
    each.className = "";
  }
  for (const each of findAll("[data-game] .board", copy)) delete each.dataset.moves;
  return copy.innerHTML;
}
