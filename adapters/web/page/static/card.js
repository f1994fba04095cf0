// A game as a card, for Live and the projector: two players with their clocks, and the board between them.
import { Board } from "./board.js";
import { copyOf, find, findAll, write } from "./dom.js";
import { address, kindOf } from "./format.js";
import { absence, clock, inWords, outcome } from "./games.js";
import { SIDES } from "./rules.js";
import { showClock } from "./times.js";

/**
 * @typedef {import("./games.js").LiveGame} LiveGame
 * @typedef {import("./games.js").Player} Player
 */

export class Card {
  /** @type {LiveGame | undefined} */
  #game;
  /** @type {string | undefined} The game whose players it shows. */
  #id;

  /** @param {HTMLElement} [element] where to show the game; by default a copy of the template */
  constructor(element = copyOf("#card")) {
    this.element = element;
    this.players = SIDES.map((side) => find(`.player[data-side="${side}"]`, this.element));
    this.absences = SIDES.map((side) => find(`.away[data-side="${side}"]`, this.element));
    this.clocks = SIDES.map((side) => find(`.clock[data-side="${side}"]`, this.element));
    this.board = new Board(find(".board", this.element));
  }

  /**
   * Show a game at `now`. Without a game, keep the place empty.
   * @param {LiveGame | undefined} game
   * @param {number} now
   */
  show(game, now) {
    const isOver = game !== undefined && game.reason !== null;
    this.element.classList.toggle("vacant", !game);
    this.element.classList.toggle("over", isOver);
    if (game && game.game !== this.#id) this.#name(game);
    this.#game = game;
    if (!game) return;
    const [first, second] = game.players;
    this.board.show(game.moves, inWords(game, [first.name, second.name]));
    for (const side of SIDES) {
      this.players[side].classList.toggle("to-move", game.to_move === side);
      if (!isOver) continue;
      write(this.absences[side], "");
      showOutcome(this.clocks[side], outcome(game, side));
    }
    this.tick(now);
  }

  /**
   * Update the clocks and the absences of a live game to `now`.
   * @param {number} now
   */
  tick(now) {
    if (!this.#game || this.#game.reason !== null) return;
    for (const side of SIDES) {
      write(this.absences[side], absence(this.#game, side, now));
      showClock(this.clocks[side], clock(this.#game, side, now));
    }
  }

  /** @param {LiveGame} game */
  #name(game) {
    this.#id = game.game;
    this.board.show("");
    for (const link of /** @type {HTMLAnchorElement[]} */ (findAll("a.to-game", this.element))) {
      link.href = address("game", game.game);
    }
    for (const side of SIDES) {
      showPlayer(this.players[side], game.players[side]);
      write(this.clocks[side], "", "clock"); // it had the outcome of the game before
    }
  }
}

/**
 * Fill in a player's name and the mark of its dialect.
 * @param {Element} place
 * @param {Player} player
 */
export function showPlayer(place, { name, kind }) {
  const [letter, title] = kindOf(kind);
  const mark = find(".mark", place);
  find("bdi", place).textContent = name;
  find(".name", place).title = name;
  mark.textContent = letter;
  mark.title = title;
  const word = place.querySelector(".hidden");
  if (word) word.textContent = title;
}

/**
 * @param {Element} place
 * @param {[string, string, string]} badge
 */
function showOutcome(place, [sign, word, kind]) {
  write(place, sign ? `${sign} ${word}` : word, kind ? `badge badge-${kind}` : "clock");
}
