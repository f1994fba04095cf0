// The games of a live stream by place, and the values of their clocks. Draws nothing.
import { minutes, tenths } from "./format.js";
import { opposite } from "./rules.js";

/**
 * @typedef {import("./rules.js").Side} Side
 * @typedef {{ name: string, kind: string }} Player
 * @typedef {[number, number]} Both a value of the first mover, and one of the second
 */

/**
 * The absence of a player whose connection broke, in seconds: how long it has been away, and how long its seat is kept.
 * @typedef {{ seconds: number, grace: number }} StreamedAbsence
 * @typedef {[StreamedAbsence | null, StreamedAbsence | null]} StreamedAbsences null for a player who is here
 */

/**
 * The place of a player in the standings, and its rating; null if it has none yet.
 * @typedef {{ rank: number, sure: number, mean: number }} Rating
 * @typedef {[Rating | null, Rating | null]} Ratings
 */

/**
 * A game in the stream. Durations are in seconds.
 * @typedef {object} StreamedGame
 * @property {string} game its id
 * @property {number} place
 * @property {[Player, Player]} players
 * @property {string | null} [table] null for the lobby
 * @property {string} moves the columns, each a digit
 * @property {Side | null} to_move
 * @property {Both | null} left on the clocks; null without clocks
 * @property {number} thinking how long the player to move has thought
 * @property {Both} thought how long each side has thought for its moves
 * @property {Ratings} ratings
 * @property {number[]} [used] in the stream of one game: how long each move took
 * @property {StreamedAbsences} away
 * @property {Side | null} winner
 * @property {string | null} reason null while the game is on
 */

/**
 * A game of the stream. `asked` is the time of the latest request for a move, and `since` the time when a player's
 * connection broke, as by performance.now().
 * @typedef {{ since: number, grace: number }} Absence
 * @typedef {[Absence | null, Absence | null]} Absences null for a player who is here
 * @typedef {Omit<StreamedGame, "away"> & { asked: number, away: Absences }} LiveGame
 */

/**
 * Why a player waits, a waiting player, the counts of all games, a move, the absences and the ratings of players, and the
 * end of a game.
 * @typedef {{ cause: string, name: string, alike: string | null }} Why
 * @typedef {Player & { table: string | null, waited: number, why: Why | null }} Waiting
 * @typedef {{ playing: number, waiting: number, moves: number, lobby: Waiting[] }} Counts
 * @typedef {{ game: string, number: number, side: Side, column: number, used: number, left: Both | null }} Move
 * @typedef {{ game: string, away: StreamedAbsences }} Away
 * @typedef {{ game: string, ratings: Ratings }} Rated
 * @typedef {{ game: string, winner: Side | null, reason: string, left: Both | null }} Ended
 */

/**
 * An event of the stream.
 * @typedef {{ name: "snapshot", data: Counts & { games: StreamedGame[], watching?: number } }
 *   | { name: "started", data: StreamedGame }
 *   | { name: "moved", data: Move }
 *   | { name: "away", data: Away }
 *   | { name: "rated", data: Rated }
 *   | { name: "ended", data: Ended }
 *   | { name: "gone", data: { game: string } }
 *   | { name: "watching", data: { watching: number } }
 *   | { name: "counts", data: Counts }} StreamEvent
 */

/** The games of a stream. A game is immutable: a change replaces it. */
export class Games {
  /** @type {Map<number, LiveGame>} The game at each place. */
  at = new Map();
  /** @type {Map<string, number>} The place of each game, by the id of the game. */
  #places = new Map();

  /**
   * Return the game with this id, if it is there.
   * @param {string} id
   */
  get(id) {
    const place = this.#places.get(id);
    return place === undefined ? undefined : this.at.get(place);
  }

  /**
   * Apply an event at `now`, and return the places that changed.
   * @param {StreamEvent} event
   * @param {number} now
   * @returns {number[]}
   */
  apply({ name, data }, now) {
    if (name === "counts" || name === "watching") return [];
    if (name === "snapshot") return this.#replace(data.games, now);
    if (name === "started") return this.#put(data, now);
    const game = this.get(data.game);
    if (!game) return [];
    if (name === "moved") this.at.set(game.place, afterMove(game, data, now));
    else if (name === "away") this.at.set(game.place, { ...game, away: arrived(data.away, now) });
    else if (name === "rated") this.at.set(game.place, { ...game, ratings: data.ratings });
    else if (name === "ended") this.at.set(game.place, afterEnd(game, data));
    else this.#remove(game);
    return [game.place];
  }

  /**
   * @param {StreamedGame[]} games
   * @param {number} now
   */
  #replace(games, now) {
    const before = [...this.at.keys()];
    this.at.clear();
    this.#places.clear();
    return [...new Set([...before, ...games.flatMap((game) => this.#put(game, now))])];
  }

  /**
   * @param {StreamedGame} game
   * @param {number} now
   */
  #put(game, now) {
    const before = this.at.get(game.place);
    if (before) this.#remove(before);
    const asked = now - 1000 * game.thinking;
    this.at.set(game.place, { ...game, asked, away: arrived(game.away, now) });
    this.#places.set(game.game, game.place);
    return [game.place];
  }

  /** @param {LiveGame} game */
  #remove(game) {
    this.at.delete(game.place);
    this.#places.delete(game.game);
  }
}

/**
 * Return absences with the times when they began, by this page's clock.
 * @param {StreamedAbsences} away
 * @param {number} now
 */
function arrived(away, now) {
  return /** @type {Absences} */ (
    away.map((each) => each && { since: now - 1000 * each.seconds, grace: each.grace })
  );
}

/**
 * @param {LiveGame} game
 * @param {Move} move
 * @param {number} now
 * @returns {LiveGame}
 */
function afterMove(game, { number, side, column, used, left }, now) {
  const [one, other] = game.thought;
  const more = number > game.moves.length ? used : 0; // a move may be sent twice
  return {
    ...game,
    thought: side === 0 ? [one + more, other] : [one, other + more],
    used: game.used && [...game.used.slice(0, number - 1), used],
    moves: game.moves.slice(0, number - 1) + column,
    to_move: opposite(side),
    left,
    asked: now,
  };
}

/**
 * @param {LiveGame} game
 * @param {Ended} end
 * @returns {LiveGame}
 */
function afterEnd(game, { winner, reason, left }) {
  return { ...game, winner, reason, left, to_move: null, away: [null, null] };
}

/**
 * The value of a clock.
 * @typedef {{ text: string, runs: boolean, isShort: boolean }} ClockFace
 */

/**
 * Return the value of a side's clock at `now`; null for none.
 * @param {Pick<LiveGame, "to_move" | "asked" | "left">} game
 * @param {Side} side
 * @param {number} now
 * @returns {ClockFace | null}
 */
export function clock(game, side, now) {
  const runs = game.to_move === side;
  const spent = runs ? Math.max(0, now - game.asked) / 1000 : 0;
  if (!game.left) return runs ? { text: minutes(spent), runs, isShort: false } : null;
  const left = Math.max(0, game.left[side] - spent);
  return { text: left < 100 ? tenths(left) : minutes(left), runs, isShort: left < 5 };
}

/**
 * Return how long a side's player has been away at `now`, and how long its seat is kept: ◌ away 12 s of 30, or ◌ away
 * 0:12 of 5:00. Empty for a player who is here.
 * @param {Pick<LiveGame, "away">} game
 * @param {Side} side
 * @param {number} now
 */
export function absence({ away }, side, now) {
  const there = away[side];
  if (!there) return "";
  const { since, grace } = there;
  const gone = Math.min(grace, Math.max(0, now - since) / 1000);
  // The spaces within a part do not break, so that a narrow card shows whole parts only.
  if (grace >= 100) return `◌\u00a0away ${minutes(gone)} of\u00a0${minutes(grace)}`;
  return `◌\u00a0away ${Math.floor(gone)}\u00a0s of\u00a0${grace}`;
}

/**
 * Return a player's badge after the game: a sign, a word, and the kind of the badge.
 * @param {Pick<LiveGame, "winner" | "reason">} game
 * @param {Side} side
 * @returns {[string, string, string]}
 */
export function outcome({ winner, reason }, side) {
  const word = reason ?? "";
  if (winner === null) return reason === "full" ? ["=", "drawn", "drawn"] : ["–", word, "drawn"];
  if (reason === "four") return winner === side ? ["✓", "four", "four"] : ["", "lost", ""];
  return winner === side ? ["✓", "won", "won"] : ["✕", word, word];
}

/**
 * Return the position and whose turn it is, for screen readers.
 * @param {Pick<LiveGame, "moves" | "to_move" | "winner" | "reason">} game
 * @param {[string, string]} names
 */
export function inWords({ moves, to_move, winner, reason }, names) {
  const count = moves.length;
  const done = count ? `move ${count}, ${names[(count - 1) % 2]} column ${moves[count - 1]}` : "empty board";
  if (reason === null) return to_move === null ? done : `${done}, ${names[to_move]} to move`;
  return `${done}, ${winner === null ? reason : `${names[winner]} won`}`;
}
