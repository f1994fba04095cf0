// The players that a browser follows.
import assert from "node:assert/strict";
import { test } from "node:test";

/** What the module needs of a browser: a storage, and a document without buttons. */
function browser(stored) {
  const heard = {};
  Object.assign(globalThis, {
    HTMLElement: class {},
    Element: class {},
    addEventListener: (name, listener) => (heard[name] = listener),
    document: { querySelectorAll: () => [], addEventListener: (name, listener) => (heard[name] = listener) },
    localStorage: { getItem: () => stored.value, setItem: (_, value) => (stored.value = value) },
  });
  return heard;
}

function clicked(heard, name) {
  const button = Object.assign(new HTMLElement(), { dataset: { name } });
  heard.click({ target: Object.assign(new Element(), { closest: () => button }) });
}

let loaded = 0;
async function follow(stored) {
  const heard = browser(stored);
  return { heard, ...(await import(`../../adapters/web/page/static/follow.js?${++loaded}`)) };
}

test("a button follows a player, and no longer when it is pressed again", async () => {
  const stored = { value: null };
  const { heard, followed } = await follow(stored);
  clicked(heard, "alice");
  clicked(heard, "bob");
  clicked(heard, "alice");
  assert.deepEqual([...followed()], ["bob"]);
  assert.equal(stored.value, '["bob"]');
});

test("a choice in another tab is told", async () => {
  const stored = { value: '["alice"]' };
  const { heard, followed, onFollowing } = await follow(stored);
  let told = 0;
  onFollowing(() => told++);
  heard.storage({ key: "theme" });
  stored.value = "[]";
  heard.storage({ key: "followed" });
  assert.deepEqual([told, followed().size], [1, 0]);
});

for (const value of ["{", '"alice"', "[1, null]", "null"]) {
  test(`a storage that contains ${value} follows nobody`, async () => {
    const { followed } = await follow({ value });
    assert.equal(followed().size, 0);
  });
}
