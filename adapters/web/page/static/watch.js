// The page of a live game: its moves as they come, and the stored game after its end.
//
// A game that is not there any more has ended unseen, or the server that holds it is away. That may return.
import { Games } from "./games.js";
import { announce } from "./status.js";
import { Stream } from "./stream.js";

const PAUSES = [200, 400, 800, 1_000, 1_000, 1_000, 2_000, 4_000, 8_000, 16_000];
const EVIDENCE = 5; // tries after which the page is shown without evidence

// Keep `game` up to date from the live stream, and call `changed` with the stream's game after each event.
export function watch(game, changed) {
  const games = new Games();
  let isOver = false;
  let missing = null; // while the game is not there: what ends the search for its result
  const stream = new Stream(game.stream, (name, about) => {
    if (isOver || name === "counts") return;
    games.apply(name, about, performance.now());
    const found = games.at.get(games.places.get(game.game));
    if (name === "moved" && found) time(game, found, about);
    if (found) game.moves = found.moves;
    while (game.turns.length < game.moves.length) game.turns.push({ used: null, left: null });
    changed(found ?? null);
    isOver = Boolean(found) && found.reason !== null;
    if (isOver) stream.close();
    if (missing && found) {
      missing.abort();
      missing = null;
      if (!isOver) tell("The game is on.");
    }
    if (isOver) leave(game, "The game is over", `: ${won(game, found)}`);
    else if (!found && !missing) {
      missing = new AbortController();
      leave(game, "The game is not on any more", "", missing.signal);
    }
  });
}

function time(game, found, { number, side, used, left }) {
  game.turns[number - 1] = { used: 1000 * used, left: left ? 1000 * left[side] : null };
}

function won(game, found) {
  if (found.winner === null) return "nobody won";
  return `${game.names[found.winner]} won`;
}

function tell(text) {
  document.querySelector(".game .why").textContent = text;
  announce(text);
}

// Tell that the game has ended, and show the stored one as soon as possible, with its evidence if that comes soon.
async function leave(game, state, result, signal = null) {
  if (!game.is_kept) return tell(`${state}${result}.`);
  tell(`${state}. Looking for its result.`);
  for (const [index, pause] of PAUSES.entries()) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (signal?.aborted) return;
    const response = await fetch(`/api/games/${game.game}`).catch(() => null);
    const isStored = response?.ok;
    const hasEvidence = isStored && (await response.json()).evidence.some((each) => each !== null);
    if (signal?.aborted) return;
    if (hasEvidence || (isStored && index >= EVIDENCE)) return location.reload();
  }
  tell(`${state}, and no result of it is stored. Reload this page later.`);
}
