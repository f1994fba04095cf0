// What stands beside the players' names: the time that is left on a clock, or that was thought.

// Show both for the position after `number` moves.
export function showTimes(article, game, number) {
  for (const place of article.querySelectorAll(".player .time")) {
    place.textContent = time(game, Number(place.dataset.side), number);
  }
}

function time(game, side, number) {
  const own = game.turns.slice(0, number).filter((_, index) => index % 2 === side);
  const isLast = number === game.moves.length;
  if (isLast && game.reason === "time" && game.winner !== side && hasClock(game)) return "0.0 s left";
  if (hasClock(game)) {
    const left = own.at(-1)?.left;
    return left == null ? "" : `${seconds(left)} left`;
  }
  if (isLast) return `thought ${seconds(game.thought[side])}`;
  if (own.some((each) => each.used === null)) return "";
  return `thought ${seconds(own.reduce((sum, each) => sum + each.used, 0))}`;
}

function hasClock(game) {
  return game.turns.some((each) => each.left !== null);
}

export function seconds(milliseconds) {
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  const whole = Math.round(milliseconds / 1000);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
