// What the arena connection says, in the words of the page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventOf } from "../../adapters/web/page/static/arena.js";

const position = (message) => eventOf({ type: "state", moves: [3, 0], you: 2, ...message }).position;

test("sides count from 0, and nobody is null", () => {
  assert.deepEqual(position({ turn: 1 }), { moves: "30", side: 1, toMove: 0, winner: undefined });
  assert.deepEqual(position({ turn: 0, winner: 2 }), { moves: "30", side: 1, toMove: null, winner: 1 });
  assert.equal(position({ turn: 0, winner: 0 }).winner, null);
});

test("other messages are events as they are", () => {
  assert.deepEqual(eventOf({ type: "disconnected" }), { type: "disconnected" });
});
