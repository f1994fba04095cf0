// The words and the size of an evaluation.
import assert from "node:assert/strict";
import { test } from "node:test";
import { extent, inSentence } from "../../adapters/web/page/static/evaluation.js";

const NAMES = ["ann", "bob"];
const words = (...about) =>
  inSentence(...about)
    .map((part) => part.name ?? part)
    .join("");

test("a win is said in the winner's own moves", () => {
  assert.equal(words({ winner: 0, at: 7 }, NAMES, 0), "With perfect play ann wins in 4");
  assert.equal(words({ winner: 0, at: 7 }, NAMES, 1), "With perfect play ann wins in 3");
  assert.equal(words({ winner: 1, at: 8 }, NAMES, 1), "With perfect play bob wins in 4");
  assert.equal(words({ winner: 1, at: 8 }, NAMES, 7), "With perfect play bob wins in 1");
  assert.equal(words({ winner: 1, at: null }, NAMES, 7), "With perfect play bob wins");
  assert.equal(words({ winner: null, at: null }, NAMES, 7), "With perfect play it is a draw");
});

test("a win takes the more room the sooner it comes", () => {
  assert.equal(extent({ winner: null, at: null }, 3), 0);
  assert.equal(extent({ winner: 0, at: 42 }, 0), 0.25);
  assert.equal(extent({ winner: 1, at: 36 }, 8), 0.5);
  assert.equal(extent({ winner: 0, at: 7 }, 7), 1);
});
