// Which game Live features, and where the other boards are.
import assert from "node:assert/strict";
import { test } from "node:test";
import { arranged, chosen, columns, praise, ranking } from "../../adapters/web/page/static/arrangement.js";

/** A game that is on, of two players with these sure ratings. */
function game(id, names, sure = [null, null], more = {}) {
  const players = names.map((name) => ({ name, kind: "arena" }));
  const ratings = sure.map((each) => each && { rank: 1, sure: each, mean: each + 9 });
  return { game: id, players, ratings, moves: "", reason: null, ...more };
}

const ids = (games) => games.map((each) => each.game).join("");

test("the strongest pair is first, and a new player counts 0", () => {
  const games = [
    game("a", ["ann", "ben"], [20, -5]),
    game("b", ["cem", "new"], [18, null]),
    game("c", ["eva", "fay"], [9, 8]),
    game("d", ["gil", "hal"], [30, 30], { reason: "four" }),
  ];
  const found = ranking(games);
  assert.equal(ids(found.on), "bca");
  assert.equal(chosen(found.on, null).game, "b");
  assert.equal(praise("b", found), "the strongest pair now");
  assert.equal(praise("a", found), "the 3rd strongest pair now");
  assert.equal(praise("d", found), "it is over");
});

test("without ratings the longest game is first, and of equals the oldest", () => {
  const found = ranking([
    game("b", ["a", "b"], [null, null], { moves: "33" }),
    game("a", ["c", "d"], [null, null], { moves: "34" }),
    game("c", ["e", "f"], [null, null], { moves: "3" }),
  ]);
  assert.equal(ids(found.on), "abc");
  assert.equal(praise("a", found), "the longest game now");
  assert.equal(praise("b", found), "the 2nd longest game now");
});

test("who stays with a pair sees its game, whoever moves first, and else the first one", () => {
  const on = [game("a", ["ann", "ben"]), game("b", ["cem", "dan"])];
  assert.equal(chosen(on, ["dan", "cem"]).game, "b");
  assert.equal(chosen(on, ["ann", "cem"]).game, "a");
  assert.equal(chosen([], ["ann", "cem"]), undefined);
});

const at = (...games) => new Map(games.flatMap((each, place) => (each ? [[place, each]] : [])));
const named = (id) => game(id, [`${id}1`, `${id}2`]);

test("boards are in the order of their places, without the featured one, and followed players first", () => {
  const games = at(named("a"), named("b"), named("c"), named("d"));
  assert.deepEqual(arranged(games, undefined, new Set()), [0, 1, 2, 3]);
  assert.deepEqual(arranged(games, "b", new Set()), [0, 2, 3]);
  assert.deepEqual(arranged(games, "b", new Set(["b1", "d2"])), [3, 0, 2]);
  assert.deepEqual(arranged(at(), undefined, new Set()), []);
});

test("a free place stays empty, unless the boards can be larger without it", () => {
  assert.deepEqual(arranged(at(named("a"), null, named("c")), undefined, new Set()), [0, 1, 2]);
  assert.deepEqual(arranged(at(named("a"), null, named("c"), named("d")), undefined, new Set()), [0, 2, 3]);
});

test("the fewer boards, the larger they are", () => {
  const found = [1, 3, 4, 8, 9, 10, 11, 12, 13, 56].map(columns);
  assert.deepEqual(found, [3, 3, 4, 4, 5, 5, 6, 6, 7, 7]);
});
