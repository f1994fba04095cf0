// Positions from moves: where discs lie, what won, and how others write it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ending, four, notation, played } from "../../adapters/web/page/static/rules.js";

const FULL = "210541514265241102136426200063440633335556";

test("a disc lies on those below it, and the sides take turns", () => {
  assert.deepEqual(played("33"), [
    { column: 3, row: 0, side: 0 },
    { column: 3, row: 1, side: 1 },
  ]);
});

/** @type {[string, string, number][]} */
const LINES = [
  ["across", "6133524", 4],
  ["up", "4243464", 4],
  ["rising", "2132334444", 4],
  ["falling", "42123521311", 4],
  ["and more in a row", "463504132", 5],
];

for (const [name, moves, length] of LINES) {
  test(`four ${name}`, () => {
    assert.equal(four(played(moves))?.length, length);
    assert.equal(four(played(moves.slice(0, -1))), null);
  });
}

test("a line does not go on at the other edge of the board", () => {
  assert.equal(four(played("4051626")), null);
});

test("a game is over by four in a row or a full board, and by nothing else in a position", () => {
  assert.equal(ending(""), null);
  assert.equal(ending("4243464"), "four");
  assert.equal(ending(FULL), "full");
  assert.equal(ending(FULL.slice(0, -1)), null);
});

test("others count columns from 1", () => {
  assert.equal(notation("0365"), "1476");
});
