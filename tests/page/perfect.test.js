// What perfect play says of a game that is over.
import assert from "node:assert/strict";
import { test } from "node:test";
import { evaluationOf, turningWords, verdict } from "../../adapters/web/page/static/perfect.js";

const worths = (...results) =>
  results.map((each) => {
    const [result, at] = each?.split(" ") ?? [];
    return each && { result, at: at ? Number(at) : null };
  });
const TURNED = [
  { move: 2, was: "win", became: "draw", better: [3] },
  { move: 3, was: "win", became: "lose", better: [1, 2] },
  { move: 4, was: "draw", became: "lose", better: [0, 5, 6] },
];

test("a game that turned: at which moves, and what its loser should have played", () => {
  const solution = { positions: [], withheld: [], turned: TURNED };
  const said = (about, turned = TURNED) =>
    verdict({ moves: "0123", ...about }, { ...solution, turned }).join("");
  const four = { reason: "four" };
  const lead = "The game turned at moves 2, 3 and 4.";
  assert.equal(said({ ...four, winner: 0 }), `${lead} At move 4 column 0, 5 or 6 would still have drawn.`);
  assert.equal(said({ ...four, winner: 1 }), `${lead} At move 3 column 1 or 2 would still have won.`);
  assert.equal(
    said({ reason: "full", winner: null }, TURNED.slice(0, 1)),
    "The game turned at move 2. Column 3 would still have won.",
  );
  assert.equal(said({ ...four, winner: 1 }, TURNED.slice(0, 1)), "The game turned at move 2.");
  assert.equal(said({ ...four, winner: 1 }, []), "No move turned the game.");
  assert.equal(said({ reason: "stopped", winner: null }, []), "");
});

test("a position that was not solved in time is told", () => {
  const said = (withheld) =>
    verdict({ moves: "0", winner: 0, reason: "four" }, { positions: [null], withheld, turned: [] }).join("");
  assert.match(said([]), /Not all positions/);
  assert.doesNotMatch(said([0]), /Not all positions/); // a game that is on is near
});

test("a game lost by a fault: what the loser could have reached", () => {
  const after = (reason, winner, ...results) =>
    verdict(
      { moves: "0", winner, reason },
      { positions: [null, worths(...results)], withheld: [], turned: TURNED },
    ).join("");
  assert.equal(
    after("time", 0, "lose 9", "win 36", "draw"),
    "It was winning: with perfect play at move 36, by column 1.",
  );
  assert.equal(
    after("illegal", 0, "draw", "draw", null),
    "It could have drawn: with perfect play, by any column.",
  );
  assert.equal(after("time", 0, "lose 9", "lose 11"), "It was lost already: with perfect play at move 11.");
  // It left although it was not its turn.
  assert.equal(after("left", 1, "lose 9", "lose 11"), "It was winning: with perfect play at move 11.");
});

test("an evaluation is that of the best column, and of the board when the game is over", () => {
  assert.deepEqual(evaluationOf(worths("win 9", "win 7", "draw"), "33"), { winner: 0, at: 7 });
  assert.deepEqual(evaluationOf(worths("lose 9", "lose 11", null), "33"), { winner: 1, at: 11 });
  assert.deepEqual(evaluationOf(worths("lose 9", "draw"), "3"), { winner: null, at: null });
  assert.deepEqual(evaluationOf(null, "0101010"), { winner: 0, at: 7 });
  assert.equal(evaluationOf(null, "3"), null);
});

test("how a move turned the game", () => {
  const words = (index) => turningWords(TURNED[index], ["ann", "bob"]).map((part) => part.name ?? part);
  assert.deepEqual(words(0), ["gave away a win"]);
  assert.deepEqual(words(1), ["let ", "bob", " win"]);
  assert.deepEqual(words(2), ["gave away a draw"]);
});
