// A game as a card, for Live and the projector: two players with their clocks, and the board between them.
import { Board } from "./board.js";
import { clock, outcome, spoken } from "./games.js";
import { kindOf } from "./words.js";

const SIDES = [0, 1];

export class Card {
  // Copy the template.
  constructor(template) {
    this.element = template.content.firstElementChild.cloneNode(true);
    const find = (what, side) => this.element.querySelector(`.${what}[data-side="${side}"]`);
    this.players = SIDES.map((side) => find("player", side));
    this.clocks = SIDES.map((side) => find("clock", side));
    this.board = new Board(this.element.querySelector(".board"));
    this.game = null;
  }

  // Show a game at `now`. Without a game, keep the place empty.
  show(game, now) {
    const isOver = Boolean(game) && game.reason !== null;
    this.element.classList.toggle("vacant", !game);
    this.element.classList.toggle("over", isOver);
    if (game && game.game !== this.id) this.#name(game);
    this.game = game;
    if (!game) return;
    this.board.show(game.moves, spoken(game));
    for (const side of SIDES) {
      this.players[side].classList.toggle("to-move", game.to_move === side);
      if (isOver) showOutcome(this.clocks[side], outcome(game, side));
    }
    if (!isOver) this.tick(now);
  }

  // Let the clocks show `now`.
  tick(now) {
    if (!this.game || this.game.reason !== null) return;
    for (const side of SIDES) showClock(this.clocks[side], clock(this.game, side, now));
  }

  #name(game) {
    this.id = game.game;
    this.board.show("");
    const link = this.element.querySelector("a");
    if (link) link.href = `/game/${encodeURIComponent(game.game)}`;
    for (const side of SIDES) showPlayer(this.players[side], game.players[side]);
  }
}

// Fill in a player's name and the mark of its dialect.
export function showPlayer(place, { name, kind }) {
  const [letter, title] = kindOf(kind);
  place.querySelector("bdi").textContent = name;
  place.querySelector(".name").title = name;
  place.querySelector(".mark").textContent = letter;
  place.querySelector(".mark").title = title;
  const word = place.querySelector(".hidden");
  if (word) word.textContent = title;
}

// Show what `clock` returned.
export function showClock(place, shown) {
  write(place, shown?.text ?? "", shown ? `clock${shown.runs ? " runs" : ""}${shown.isShort ? " short" : ""}` : "clock");
}

function showOutcome(place, [sign, word, kind]) {
  write(place, sign ? `${sign} ${word}` : word, kind ? `badge badge-${kind}` : "clock");
}

// Set text and class if they differ: most ticks change neither.
export function write(place, text, classes = place.className) {
  if (place.textContent !== text) place.textContent = text;
  if (place.className !== classes) place.className = classes;
}
