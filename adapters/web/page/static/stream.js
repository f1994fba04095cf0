// The live stream: one EventSource, open while the page is visible.
//
// After a lost connection, the browser reconnects by itself and sends the id of its last event. If an answer is not a
// stream, the browser gives up, and this module reconnects. A hidden page closes its connection, because browsers
// limit the connections to a host.
import { showConnection } from "./status.js";

/** @typedef {import("./games.js").StreamEvent} StreamEvent */

/** @type {StreamEvent["name"][]} */
const NAMES = ["snapshot", "started", "moved", "away", "rated", "ended", "gone", "watching", "counts"];
const PAUSES = { first: 1_000, longest: 30_000 };

export class Stream {
  isOpen = false;
  #pause = PAUSES.first;
  #listener;
  #end = new AbortController();
  /** @type {EventSource | undefined} */
  #source;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #again;

  /**
   * Read from `address`, and call `listener` with each event.
   * @param {string} address
   * @param {(event: StreamEvent) => void} listener
   */
  constructor(address, listener) {
    this.address = address;
    this.#listener = listener;
    document.addEventListener("visibilitychange", () => this.read(), { signal: this.#end.signal });
    this.read();
  }

  /** Read anew, from another address if there is one, once the page is visible. */
  read(address = this.address) {
    this.address = address;
    this.#close();
    if (!document.hidden) this.#open();
  }

  /** Read no more, also when the page becomes visible again. */
  end() {
    this.#end.abort();
    this.#close();
  }

  #open() {
    const source = new EventSource(this.address);
    source.addEventListener("error", () => this.#fail(source));
    for (const name of NAMES) {
      source.addEventListener(name, ({ data }) => this.#receive({ name, data: JSON.parse(data) }));
    }
    this.#source = source;
  }

  #close() {
    clearTimeout(this.#again);
    this.#source?.close();
    this.isOpen = false;
  }

  /** @param {StreamEvent} event */
  #receive(event) {
    if (!this.isOpen) showConnection(true);
    this.isOpen = true;
    this.#pause = PAUSES.first;
    this.#listener(event);
  }

  /** @param {EventSource} source */
  #fail(source) {
    this.isOpen = false;
    showConnection(false);
    if (source.readyState !== EventSource.CLOSED) return;
    clearTimeout(this.#again);
    this.#again = setTimeout(() => this.#open(), this.#pause * (0.5 + Math.random()));
    this.#pause = Math.min(2 * this.#pause, PAUSES.longest);
  }
}
