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
 * Return items with what is between them in a sentence: a, b and c.
 * @template T
 * @param {T[]} items
 * @returns {(T | string)[]}
 */
export function enumerated(items, conjunction = "and") {
  return items.flatMap((item, index) => {
    if (index === 0) return [item];
    return [index === items.length - 1 ? ` ${conjunction} ` : ", ", item];
  });
}

/**
 * Format a place: 1st, 2nd, 3rd, 4th, 11th.
 * @param {number} place
 */
export function ordinal(place) {
  const isTeen = Math.floor(place / 10) % 10 === 1;
  return `${number(place)}${(!isTeen && ["th", "st", "nd", "rd"][place % 10]) || "th"}`;
}

/**
 * Format how long ago something was: 8 s, 12 min, 3 h, yesterday, 5 days.
 * @param {number} milliseconds
 */
export function age(milliseconds) {
  const minutes = milliseconds / 60_000;
  if (minutes < 1) return `${Math.max(0, Math.floor(60 * minutes))} s`;
  if (minutes < 60) return `${Math.floor(minutes)} min`;
  if (minutes < 1440) return `${Math.floor(minutes / 60)} h`;
  return minutes < 2880 ? "yesterday" : `${Math.floor(minutes / 1440)} days`;
}

/**
 * Format a time in the viewer's time zone, in the language of the page: 23 Nov 2026, 14:04:48.
 * @param {Date} at
 * @param {Intl.DateTimeFormatOptions} options
 */
export function date(at, options) {
  return at.toLocaleString("en-GB", options);
}

/**
 * Format a number with one decimal and a true minus sign.
 * @param {number} value
 */
export function signed(value) {
  const text = value.toFixed(1);
  return text === "-0.0" ? "0.0" : text.replace("-", "\u2212");
}

/**
 * Return the address of the page of a game, a player or a tournament. Browsers treat . and .. as folders, so these names become a
 * parameter.
 * @param {"game" | "player" | "tournament"} kind
 * @param {string} name
 */
export function address(kind, name) {
  const quoted = encodeURIComponent(name.toWellFormed());
  return /^\.\.?$/.test(name) ? `/${kind}/?name=${quoted}` : `/${kind}/${quoted}`;
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

/**
 * Return whether an announcement is so long that it is shown smaller, as parts.html does.
 * @param {string} text
 */
export function isLong(text) {
  return text.length > 80;
}

/** @param {string} text */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * Format text as a sentence: a capital first, a full stop last.
 * @param {string} text
 */
export function sentence(text) {
  return `${capital(text)}${/[.!?]$/.test(text) ? "" : "."}`;
}
