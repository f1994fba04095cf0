// When the live stream is open.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Stream } from "../../adapters/web/page/static/stream.js";

class EventSource extends EventTarget {
  static CLOSED = 2;
  static open = new Set();

  constructor(address) {
    super();
    this.address = address;
    EventSource.open.add(this);
  }

  close() {
    EventSource.open.delete(this);
  }
}
const page = Object.assign(new EventTarget(), { hidden: false });
Object.assign(globalThis, { document: page, EventSource });

function show(isVisible) {
  page.hidden = !isVisible;
  page.dispatchEvent(new Event("visibilitychange"));
}

const addresses = () => [...EventSource.open].map(({ address }) => address);

test("a stream is open while the page is visible, until it is ended", () => {
  const stream = new Stream("/one", () => {});
  assert.deepEqual(addresses(), ["/one"]);
  show(false);
  assert.deepEqual(addresses(), []);
  stream.read("/two");
  assert.deepEqual(addresses(), []);
  show(true);
  assert.deepEqual(addresses(), ["/two"]);
  stream.read("/three");
  assert.deepEqual(addresses(), ["/three"]);
  stream.end();
  show(false);
  show(true);
  assert.deepEqual(addresses(), []);
});
