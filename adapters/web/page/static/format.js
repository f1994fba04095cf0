// Formats values for people, as sentences.py does for templates.

/** @type {Record<string, [string, string]> | undefined} */
let kinds;

/**
 * Return the letter and the title of a kind of player.
 * @param {string} kind
 * @returns {[string, string]}
 */
export function kindOf(kind) {
  kinds ??= JSON.parse(document.documentElement.dataset.kinds ?? "{}");
  return kinds?.[kind] ?? ["?", kind];
}

/**
 * Format a number: 12,345.
 * @param {number} value
 */
export function number(value) {
  return value.toLocaleString("en");
}

/**
 * Format a count: 1 game, 2 games.
 * @param {number} count
 * @param {string} word
 */
export function plural(count, word) {
  return `${number(count)} ${word}${count === 1 ? "" : "s"}`;
}

/**
 * Format a number of waiting players: 1 waits, 2 wait.
 * @param {number} count
 */
export function waits(count) {
  return `${number(count)} ${count === 1 ? "waits" : "wait"}`;
}

/**
 * Format seconds as m:ss.
 * @param {number} seconds
 */
export function minutes(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/**
 * Format milliseconds as 0.8 s, 3.9 s or 4:05.
 * @param {number} milliseconds
 */
export function seconds(milliseconds) {
  return milliseconds < 60_000 ? `${(milliseconds / 1000).toFixed(1)} s` : minutes(milliseconds / 1000);
}

/**
 * Format a thinking time in milliseconds: 812 ms, 3.9 s or 4:05.
 * @param {number} milliseconds
 */
export function thought(milliseconds) {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : seconds(milliseconds);
}

/**
 * Format seconds with one decimal, rounded down.
 * @param {number} seconds
 */
export function tenths(seconds) {
  return (Math.floor(10 * seconds) / 10).toFixed(1);
}
