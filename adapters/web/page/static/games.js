// The games of a live stream, each at its place, and the values of their clocks. Draws nothing.
//
// A game is as in the stream, with `asked`: when the move was asked for, by performance.now(). The durations of
// the stream become points in that time here.
import { minutes, tenths } from "./words.js";

export class Games {
  constructor() {
    this.at = new Map(); // a place's game
    this.places = new Map(); // a game's place, by its id
  }

  // Apply an event at `now`, and return the places that changed.
  apply(name, about, now) {
    if (name === "snapshot") return this.#replace(about.games, now);
    if (name === "started") return this.#place(about, now);
    const game = this.at.get(this.places.get(about.game));
    if (!game) return [];
    if (name === "moved") move(game, about, now);
    else if (name === "ended") end(game, about);
    else if (name === "gone") this.#remove(game);
    return [game.place];
  }

  // The number of live games at places below `most`.
  playing(most) {
    return [...this.at.values()].filter((game) => game.place < most && game.reason === null).length;
  }

  #replace(games, now) {
    const before = [...this.at.keys()];
    this.at.clear();
    this.places.clear();
    return [...new Set([...before, ...games.flatMap((game) => this.#place(game, now))])];
  }

  #place(game, now) {
    const before = this.at.get(game.place);
    if (before) this.#remove(before);
    this.at.set(game.place, { ...game, asked: now - 1000 * game.thinking });
    this.places.set(game.game, game.place);
    return [game.place];
  }

  #remove(game) {
    this.at.delete(game.place);
    this.places.delete(game.game);
  }
}

function move(game, { number, side, column, left }, now) {
  game.moves = game.moves.slice(0, number - 1) + column;
  game.to_move = 1 - side;
  game.left = left;
  game.asked = now;
}

function end(game, { winner, reason, left }) {
  Object.assign(game, { winner, reason, left, to_move: null });
}

// What the clock of a side shows at `now`: {text, runs, isShort}, or null for nothing.
export function clock(game, side, now) {
  const runs = game.to_move === side;
  const spent = runs ? Math.max(0, now - game.asked) / 1000 : 0;
  if (!game.left) return runs ? { text: minutes(spent), runs, isShort: false } : null;
  const left = Math.max(0, game.left[side] - spent);
  return { text: left < 100 ? tenths(left) : minutes(left), runs, isShort: left < 5 };
}

// The badge of a player after the game: [sign, word, class].
export function outcome(game, side) {
  if (game.winner === null) {
    return game.reason === "full" ? ["=", "draw", "draw"] : ["–", game.reason, "draw"];
  }
  const isWinner = game.winner === side;
  if (game.reason === "four") return isWinner ? ["✓", "four", "four"] : ["", "lost", ""];
  return isWinner ? ["✓", "won", "won"] : ["✕", game.reason, game.reason];
}

// The position and whose turn it is, for screen readers.
export function spoken(game) {
  const names = game.players.map((each) => each.name);
  const count = game.moves.length;
  const done = count ? `move ${count}, ${names[(count - 1) % 2]} column ${game.moves.at(-1)}` : "empty board";
  if (game.reason === null) return game.to_move === null ? done : `${done}, ${names[game.to_move]} to move`;
  return `${done}, ${game.winner === null ? game.reason : `${names[game.winner]} won`}`;
}
