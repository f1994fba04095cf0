// The times beside the players' names: what is left on a clock, or how long a player thought.
import { clock } from "./games.js";
import { minutes, thought } from "./words.js";

// Show both times for the position after `number` moves. `on` is the live stream's game, if the game is live.
export function showTimes(article, game, number, on = null) {
  for (const place of article.querySelectorAll(".player .time")) {
    const side = Number(place.dataset.side);
    const runs = on && number === game.moves.length ? clock(on, side, performance.now()) : null;
    write(place, runs?.text ?? time(game, side, number), runs);
  }
}

function write(place, text, runs) {
  if (place.textContent !== text) place.textContent = text;
  place.classList.toggle("runs", Boolean(runs?.runs));
  place.classList.toggle("short", Boolean(runs?.isShort && runs.runs));
}

function time(game, side, number) {
  const own = game.turns.slice(0, number).filter((_, index) => index % 2 === side);
  const isLast = number === game.moves.length;
  if (isLast && game.reason === "time" && game.winner !== side && hasClock(game)) return "0.0 s left";
  if (hasClock(game)) {
    const left = own.at(-1)?.left;
    const attempted = isLast && side === number % 2 ? game.attempt?.used ?? 0 : 0;
    return left == null ? "" : `${seconds(Math.max(0, left - attempted))} left`;
  }
  if (isLast && game.thought) return `thought ${thought(game.thought[side])}`;
  if (!own.length || own.some((each) => each.used === null)) return "";
  return `thought ${thought(own.reduce((sum, each) => sum + each.used, 0))}`;
}

function hasClock(game) {
  return game.turns.some((each) => each.left !== null);
}

function seconds(milliseconds) {
  return milliseconds < 60_000 ? `${(milliseconds / 1000).toFixed(1)} s` : minutes(milliseconds / 1000);
}
