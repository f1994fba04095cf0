// The parts of the view Live that come from the stored games: the latest results, and what there is while nobody plays.
// The server renders them; this module inserts them again when they have changed.
import { isHeld } from "./dom.js";
import { localize } from "./header.js";
import { readText } from "./read.js";

const BETWEEN_CHANGES = 4_000;
const LATE = 12_000; // a result is stored, and its game analysed, some seconds after the end
const OLD = 60_000;

export class Fragment {
  #place;
  #address;
  #changed;
  #changedAt = -Infinity;
  #readAt;
  #isReading = false;
  /** @type {string | undefined} */
  #html;

  /**
   * @param {HTMLElement} place
   * @param {string} address
   * @param {() => void} changed is called after a change
   */
  constructor(place, address, changed) {
    this.#place = place;
    this.#address = address;
    this.#changed = changed;
    this.#readAt = place.childElementCount ? performance.now() : -Infinity;
  }

  /** Read again soon, and some more times, because a game has ended at `now`. */
  expect(now = performance.now()) {
    this.#changedAt = now;
  }

  /**
   * Read what may have changed. Nothing changes under the pointer or around the focus.
   * @param {number} now
   */
  tick(now) {
    const since = now - this.#readAt;
    const isDue = now < this.#changedAt + LATE ? since >= BETWEEN_CHANGES : since >= OLD;
    if (!isDue || this.#isReading || isHeld(this.#place)) return;
    this.#read(now);
  }

  /** @param {number} now */
  async #read(now) {
    this.#isReading = true;
    const html = await readText(this.#address);
    this.#isReading = false;
    this.#readAt = now;
    if (html === null || isHeld(this.#place)) return;
    if (html !== this.#html) this.#place.innerHTML = html;
    this.#html = html;
    localize(this.#place);
    this.#changed();
  }
}
