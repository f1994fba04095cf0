// Which games Live shows where: the featured one, and the order of the other boards. Draws nothing.
import { ordinal } from "./format.js";

/**
 * @typedef {import("./games.js").LiveGame} LiveGame
 * @typedef {[string, string]} Pair the names of two players, in any order
 */

/**
 * Return the order of the games that are on, the one to be featured first. By strength, it is the order of the sums of
 * both players' sure ratings, in which a new player counts 0; if no player has a rating, the order of their lengths.
 * @param {Iterable<LiveGame>} games
 */
export function ranking(games) {
  const on = [...games].filter(({ reason }) => reason === null);
  const isByStrength = on.some(({ ratings }) => ratings.some((each) => each !== null));
  const value = isByStrength ? strength : (/** @type {LiveGame} */ { moves }) => moves.length;
  // Of equals the older game comes first: it stays there as long as it is on.
  on.sort((one, other) => value(other) - value(one) || (one.game < other.game ? -1 : 1));
  return { on, isByStrength };
}

/** @param {LiveGame} game */
function strength({ ratings }) {
  return ratings.reduce((sum, each) => sum + (each?.sure ?? 0), 0);
}

/**
 * Return why a game is featured: the strongest pair now; the 2nd strongest pair now; the longest game now.
 * @param {string} game its id
 * @param {ReturnType<typeof ranking>} ranking
 */
export function praise(game, { on, isByStrength }) {
  const place = on.findIndex((each) => each.game === game) + 1;
  if (place === 0) return "it is over";
  const which = place === 1 ? "the" : `the ${ordinal(place)}`;
  return isByStrength ? `${which} strongest pair now` : `${which} longest game now`;
}

/**
 * Return the game to feature: that of the pair with which the viewer stays, or the first one.
 * @param {LiveGame[]} on the games that are on, in their order
 * @param {Pair | null} pair
 */
export function chosen(on, pair) {
  return on.find((game) => pair !== null && isOf(game, pair)) ?? on[0];
}

/**
 * Return whether these two play a game.
 * @param {LiveGame} game
 * @param {Pair} pair
 */
function isOf({ players }, pair) {
  const [one, other] = players.map(({ name }) => name);
  return (one === pair[0] && other === pair[1]) || (one === pair[1] && other === pair[0]);
}

/**
 * Return the places whose boards are drawn, in their order: without the featured game, and first the games of players
 * that the viewer follows. A place that is free stays empty, unless the boards can be larger without it.
 * @param {Map<number, LiveGame>} at the game at each place
 * @param {string | undefined} featured the id of the featured game
 * @param {Set<string>} followed
 */
export function arranged(at, featured, followed) {
  const length = Math.max(-1, ...at.keys()) + 1;
  const all = Array.from({ length }, (_, place) => place).filter(
    (place) => featured === undefined || at.get(place)?.game !== featured,
  );
  const used = all.filter((place) => at.has(place));
  const shown = columns(used.length) < columns(all.length) ? used : all;
  const isFirst = (/** @type {number} */ place) => followedIn(at.get(place), followed) !== undefined;
  return [...shown.filter(isFirst), ...shown.filter((place) => !isFirst(place))];
}

/**
 * Return the player of a game whom the viewer follows, if there is one.
 * @param {Pick<LiveGame, "players"> | undefined} game
 * @param {Set<string>} followed
 */
export function followedIn(game, followed) {
  return game?.players.find(({ name }) => followed.has(name));
}

/**
 * Return how many boards stand side by side on a wide screen, when there are `boards` of them.
 * @param {number} boards
 */
export function columns(boards) {
  if (boards <= 3) return 3;
  if (boards <= 8) return 4;
  if (boards <= 10) return 5;
  return boards <= 12 ? 6 : 7;
}
