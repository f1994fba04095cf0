// Values as text for people, like rendering.py for templates.

const KINDS = JSON.parse(document.documentElement.dataset.kinds);

// The letter and the title of a kind of player.
export function kindOf(kind) {
  return KINDS[kind] ?? ["?", kind];
}

// 12,345
export function number(value) {
  return value.toLocaleString("en");
}

// 1 game, 2 games
export function plural(count, word) {
  return `${number(count)} ${word}${count === 1 ? "" : "s"}`;
}

// 1 waits, 2 wait
export function waits(count) {
  return `${number(count)} ${count === 1 ? "waits" : "wait"}`;
}

// Seconds as m:ss.
export function minutes(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

// How long a player thought: 812 ms, 3.9 s or 4:05.
export function thought(milliseconds) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return milliseconds < 60_000 ? `${(milliseconds / 1000).toFixed(1)} s` : minutes(milliseconds / 1000);
}

// Seconds with one decimal, cut off: 0.0 is when the flag falls.
export function tenths(seconds) {
  return (Math.floor(10 * seconds) / 10).toFixed(1);
}
