// The live stream: one EventSource, open while the page is visible.
//
// The browser reconnects by itself and sends the id of its last event. It gives up after an answer that is not a
// stream; then this module tries again. A hidden page closes its connection, because a browser has few for a host.
import { showConnection } from "./status.js";

const NAMES = ["snapshot", "started", "moved", "ended", "gone", "counts"];
const PAUSES = { first: 1_000, longest: 30_000 };

export class Stream {
  // Read from `address`, and call `heard(name, data)` with each event.
  constructor(address, heard) {
    this.isOpen = false;
    this.address = address;
    this.heard = heard;
    this.pause = PAUSES.first;
    document.addEventListener("visibilitychange", () => (document.hidden ? this.close() : this.open()));
    if (!document.hidden) this.open();
  }

  open() {
    this.close();
    this.source = new EventSource(this.address);
    this.source.addEventListener("error", () => this.lost());
    for (const name of NAMES) {
      this.source.addEventListener(name, (event) => this.told(name, event.data));
    }
  }

  close() {
    clearTimeout(this.again);
    this.source?.close();
    this.isOpen = false;
  }

  told(name, text) {
    if (!this.isOpen) showConnection(true);
    this.isOpen = true;
    this.pause = PAUSES.first;
    this.heard(name, JSON.parse(text));
  }

  lost() {
    this.isOpen = false;
    showConnection(false);
    if (this.source.readyState !== EventSource.CLOSED) return;
    clearTimeout(this.again);
    this.again = setTimeout(() => this.open(), this.pause * (0.5 + Math.random()));
    this.pause = Math.min(2 * this.pause, PAUSES.longest);
  }
}
