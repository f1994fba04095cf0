// What the player that did not win could have reached.
import assert from "node:assert/strict";
import { test } from "node:test";
import { better } from "../../adapters/web/page/static/perfect.js";

const worths = (...results) => results.map((result) => result && { result });
const over = (winner) => ({ moves: "0", winner });
const lost = { moves: "0", attempt: {}, winner: 0 };

test("who lost is shown its last move that made the result worse", () => {
  const turned = [
    { move: 2, was: "win", better: [3] },
    { move: 3, was: "win", better: [1, 2] },
    { move: 4, was: "draw", better: [0, 5, 6] },
  ];
  const solution = { positions: [], turned };
  assert.equal(
    better(over(0), solution),
    "The game turned at move 4, where column 0, 5 or 6 would still have drawn.",
  );
  assert.equal(
    better(over(1), solution),
    "The game turned at move 3, where column 1 or 2 would still have won.",
  );
  assert.equal(
    better(over(null), { ...solution, turned: turned.slice(0, 1) }),
    "The game turned at move 2, where column 3 would still have won.",
  );
  assert.equal(better(over(1), { positions: [], turned: turned.slice(0, 1) }), "");
});

test("after an illegal move: what a legal one would have reached", () => {
  const after = (...results) => better(lost, { positions: [null, worths(...results)], turned: [] });
  assert.equal(after("lose", "win", "draw"), "With perfect play column 1 would still have won.");
  assert.equal(after("draw", "draw", null), "With perfect play any column would still have drawn.");
  assert.equal(after("lose", "lose"), "With perfect play the game was lost already.");
});
