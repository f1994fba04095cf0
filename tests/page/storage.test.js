// What the browser keeps, and what the page does where it keeps nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readStorage, writeStorage } from "../../adapters/web/page/static/storage.js";

/** @param {PropertyDescriptor} descriptor */
function give(descriptor) {
  Object.defineProperty(globalThis, "sessionStorage", { configurable: true, ...descriptor });
}

test("a text is kept under its key", () => {
  const kept = new Map();
  give({ value: { getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text) } });
  assert.equal(readStorage("name", "sessionStorage"), null);
  assert.equal(writeStorage("name", "ann", "sessionStorage"), true);
  assert.equal(readStorage("name", "sessionStorage"), "ann");
});

test("a browser that denies its storage keeps nothing", () => {
  give({
    get() {
      throw new DOMException("The operation is insecure.", "SecurityError");
    },
  });
  assert.equal(writeStorage("name", "ann", "sessionStorage"), false);
  assert.equal(readStorage("name", "sessionStorage"), null);
});
