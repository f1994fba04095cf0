// The clocks of the view Play: the time left on a game clock or for this move, and the time of the last move.
import { showClock, write } from "./card.js";
import { clock } from "./games.js";
import { minutes, thought } from "./words.js";

// Show a game's clocks at `now`. `idle` is the seconds for a move in a game without a clock, or null if it is not
// known whether the game has one.
export function showClocks(page, game, idle, now) {
  const left = game.live?.left ?? null;
  const at = { to_move: game.toMove, asked: game.since, left };
  const isMine = game.toMove === game.side;
  const took = game.used !== null && left === null && isMine ? { text: `last move ${thought(1000 * game.used)}` } : null;
  showClock(page.querySelector(".self .clock"), left ? clock(at, game.side, now) : null);
  showClock(page.querySelector(".other .clock"), took ?? clock(at, 1 - game.side, now));
  const rest = Math.max(0, idle - (now - game.since) / 1000);
  write(page.querySelector(".turn .time"), isMine && !left && idle !== null ? `${minutes(rest)} left for it` : "");
}
