// Times that something begins at: a clock that counts down if it is less than ten minutes, otherwise the time of day,
// with the date unless that is today.
import { findAll, write } from "./dom.js";
import { date, minutes } from "./format.js";

const CLOCK = 600; // seconds

/**
 * Update all countdowns in `root`.
 * @param {ParentNode} [root]
 */
export function countDown(root = document) {
  for (const each of /** @type {HTMLTimeElement[]} */ (findAll("time.countdown", root))) {
    write(each, textOf(Date.parse(each.dateTime), Date.now(), "about" in each.dataset));
  }
}

/**
 * Return the text for a time, in milliseconds of Unix time, at `now`: at 14:20, about 14:20, in 2:40, in about 2:40.
 * @param {number} at
 * @param {number} now
 * @param {boolean} isEstimate
 */
export function textOf(at, now, isEstimate) {
  const about = isEstimate ? "about " : "";
  const left = (at - now) / 1000;
  if (left <= 0) return isEstimate ? "soon" : "now";
  if (left < CLOCK) return `in ${about}${minutes(left)}`;
  const time = new Date(at);
  /** @type {Intl.DateTimeFormatOptions} */
  const day = time.toDateString() === new Date(now).toDateString() ? {} : { month: "short", day: "numeric" };
  return `${about || "at "}${date(time, { ...day, hour: "2-digit", minute: "2-digit" })}`;
}
