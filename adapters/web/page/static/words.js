// How values look to people: what words.py is to templates.

// 12,345
export function number(value) {
  return value.toLocaleString("en");
}

// One decimal, and a true minus sign.
export function signed(value) {
  return value.toFixed(1).replace("-", "\u2212");
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

// Seconds with one decimal, cut off: 0.0 is when the flag falls.
export function tenths(seconds) {
  return (Math.floor(10 * seconds) / 10).toFixed(1);
}
