// The page of a live game: its moves as they arrive, and the stored game after its end.
//
// If the game disappears from the stream, its end was missed, or its server is away and may return.
import { find } from "./dom.js";
import { Games } from "./games.js";
import { readJson } from "./read.js";
import { SIDES } from "./rules.js";
import { announce } from "./status.js";
import { Stream } from "./stream.js";

/**
 * @typedef {import("./game.js").ShownGame} ShownGame
 * @typedef {import("./games.js").LiveGame} LiveGame
 * @typedef {import("./games.js").Move} Move
 */

const PAUSES = [200, 400, 800, 1_000, 1_000, 1_000, 2_000, 4_000, 8_000, 16_000];
const EVIDENCE = 5; // attempts after which the page is shown without evidence

/**
 * Update `game` from the live stream at `address`, and call `changed` after each event with the game as it is in the
 * stream, or null.
 * @param {ShownGame} game
 * @param {string} address
 * @param {(live: LiveGame | null) => void} changed
 */
export function watch(game, address, changed) {
  const games = new Games();
  let isOver = false;
  /** @type {AbortController | null} Ends the search for the result if the game appears in the stream again. */
  let missing = null;
  const stream = new Stream(address, (event) => {
    if (isOver || event.name === "counts") return;
    const before = games.get(game.game);
    games.apply(event, performance.now());
    const live = games.get(game.game) ?? null;
    if (live) game.moves = live.moves;
    if (event.name === "moved" && live) game.turns[event.data.number - 1] = turnOf(event.data);
    while (game.turns.length < game.moves.length) game.turns.push({ used: null, left: null });
    changed(live);
    if (event.name === "away" && live) {
      const side = SIDES.find((each) => !live.away[each] !== !before?.away[each]);
      if (side !== undefined) announce(`${game.names[side]} is ${live.away[side] ? "away" : "back"}`);
    }
    if (!live) {
      if (missing) return;
      missing = new AbortController();
      awaitResult(game, "The game is not on any more", "", missing.signal);
      return;
    }
    isOver = live.reason !== null;
    if (isOver) stream.close();
    if (missing) {
      missing.abort();
      missing = null;
      if (!isOver) say("The game is on.");
    }
    if (!isOver) return;
    const result = live.winner === null ? "nobody won" : `${game.names[live.winner]} won`;
    awaitResult(game, "The game is over", `: ${result}`);
  });
}

/** @param {Move} move */
function turnOf({ side, used, left }) {
  return { used: 1000 * used, left: left ? 1000 * left[side] : null };
}

/** @param {string} text */
function say(text) {
  find(".game .why").textContent = text;
  announce(text);
}

/**
 * Announce that the game has ended. Reload the page once the game and its evidence are stored, or, after some attempts,
 * once the game alone is stored.
 * @param {ShownGame} game
 * @param {string} state
 * @param {string} result
 * @param {AbortSignal} [signal]
 */
async function awaitResult(game, state, result, signal) {
  if (!game.is_kept) return say(`${state}${result}.`);
  say(`${state}. Looking for its result.`);
  for (const [index, pause] of PAUSES.entries()) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (signal?.aborted) return;
    /** @type {{ evidence: unknown[] } | null} */
    const stored = await readJson(`/api/games/${game.game}`);
    if (signal?.aborted) return;
    const hasEvidence = stored?.evidence.some((each) => each !== null);
    if (hasEvidence || (stored && index >= EVIDENCE)) return location.reload();
  }
  say(`${state}, and no result is stored. Reload this page later.`);
}
