// The times beside the players' names: the time left on a clock, how long a player thought, or has been away.
import { find, write } from "./dom.js";
import { seconds, thought } from "./format.js";
import { absence, clock } from "./games.js";
import { SIDES } from "./rules.js";

/**
 * @typedef {import("./games.js").LiveGame} LiveGame
 * @typedef {import("./rules.js").Side} Side
 * @typedef {{ used: number | null, left: number | null }} Turn milliseconds that a move took, and those left on the clock
 */

/**
 * The values from which the times of a game are computed.
 * @typedef {object} Timed
 * @property {string} moves
 * @property {Turn[]} turns one for each move
 * @property {{ used: number | null } | null} [attempt] the illegal move that ended the game
 * @property {[number, number] | null} [thought] milliseconds that each player thought in the whole game
 * @property {Side | null} [winner]
 * @property {string | null} [reason]
 */

/**
 * Show the value of a clock; without one, another text.
 * @param {Element} place
 * @param {import("./games.js").ClockFace | null} face
 */
export function showClock(place, face, otherwise = "") {
  write(place, face?.text ?? otherwise);
  place.classList.toggle("runs", Boolean(face?.runs));
  place.classList.toggle("short", Boolean(face?.isShort));
}

/**
 * Show both players' times after `number` moves, and who is away. `live` is the game in the live stream, if it is on.
 * @param {ParentNode} article
 * @param {Timed} game
 * @param {number} number
 * @param {LiveGame | null} live
 */
export function showTimes(article, game, number, live = null) {
  const now = performance.now();
  for (const side of SIDES) {
    const place = find(`.time[data-side="${side}"]`, article);
    const face = live && number === game.moves.length ? clock(live, side, now) : null;
    showClock(place, face, timeOf(game, side, number));
    place.classList.toggle("is-clock", face !== null);
    write(find(`.away[data-side="${side}"]`, article), live ? absence(live, side, now) : "");
  }
}

/**
 * Return the time of a side after `number` moves.
 * @param {Timed} game
 * @param {Side} side
 * @param {number} number
 */
export function timeOf(game, side, number) {
  const own = game.turns.slice(0, number).filter((_, index) => index % 2 === side);
  const isLast = number === game.moves.length;
  const hasClock = game.turns.some(({ left }) => left !== null);
  if (hasClock) {
    if (isLast && game.reason === "time" && game.winner !== side) return "0.0 s left";
    const left = own.at(-1)?.left;
    const attempted = isLast && side === number % 2 ? (game.attempt?.used ?? 0) : 0;
    return left == null ? "" : `${seconds(Math.max(0, left - attempted))} left`;
  }
  if (isLast && game.thought) return `thought ${thought(game.thought[side])}`;
  if (!own.length || own.some(({ used }) => used === null)) return "";
  return `thought ${thought(own.reduce((sum, { used }) => sum + (used ?? 0), 0))}`;
}
