// The times beside the names in the view of one game.
import assert from "node:assert/strict";
import { test } from "node:test";
import { timeOf } from "../../adapters/web/page/static/times.js";

const used = (...all) => all.map((each) => ({ used: each, left: null }));
const CLOCKED = {
  moves: "333",
  turns: [
    { used: 1_000, left: 41_000 },
    { used: 2_000, left: 40_000 },
    { used: 500, left: 40_500 },
  ],
  reason: null,
  winner: null,
};

test("with a clock: what was left after the player's latest move", () => {
  assert.equal(timeOf(CLOCKED, 0, 0), "");
  assert.equal(timeOf(CLOCKED, 0, 1), "41.0 s left");
  assert.equal(timeOf(CLOCKED, 0, 3), "40.5 s left");
  assert.equal(timeOf(CLOCKED, 1, 3), "40.0 s left");
});

test("with a clock: the time of an illegal move counts, and who ran out of time has none", () => {
  const illegal = { ...CLOCKED, attempt: { used: 10_000 }, reason: "illegal", winner: 0 };
  assert.equal(timeOf(illegal, 1, 3), "30.0 s left");
  assert.equal(timeOf(illegal, 1, 2), "40.0 s left");
  assert.equal(timeOf({ ...CLOCKED, reason: "time", winner: 0 }, 1, 3), "0.0 s left");
});

test("without a clock: how long the player has thought, if that is known of all its moves", () => {
  assert.equal(timeOf({ moves: "333", turns: used(100, 5, 700) }, 0, 3), "thought 800 ms");
  assert.equal(timeOf({ moves: "333", turns: used(100, 5, null) }, 0, 3), "");
  assert.equal(timeOf({ moves: "333", turns: used(100, 5, null) }, 0, 2), "thought 100 ms");
});

test("without a clock: the stored total after the last move", () => {
  assert.equal(timeOf({ moves: "33", turns: used(null, null), thought: [1_500, 20] }, 0, 2), "thought 1.5 s");
});
