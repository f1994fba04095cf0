// What the director's view says of players, games and rounds.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  againstOf,
  countsOf,
  exchanged,
  followed,
  gamesOf,
  missingOf,
  noteOn,
  orderOf,
  pairsOf,
  partsOf,
  presenceOf,
  progressOf,
  slotsOf,
  titleOf,
} from "../../adapters/web/page/static/director_state.js";

const pairing = (number, round, players, more = {}) => ({
  ...{ number, round, players, state: "waiting", games: [], stage: 1, voided: [], awarded: [], forfeits: [] },
  ...more,
});
const stage = (more = {}) => ({
  ...{ number: 1, format: "swiss", round: 2, rounds: 3, groups: [], standings: [], bracket: null },
  ...more,
});
const report = (more = {}) => ({
  ...{ name: "cup", state: "running", ended_early: false, round: 2, rounds: 3, stage: 1 },
  ...{
    stages: [stage()],
    settings: { games: 2, players: null, start: null, roster: {} },
    standings: [],
    missing: [],
    tests: [],
    pairings: [],
    byes: [],
  },
  ...{ next: null, next_set: [], forbidden: [], ...more },
});
const player = (more) => ({
  name: "ann",
  state: "waits",
  against: null,
  game: null,
  for: null,
  of: null,
  ...more,
});

const ROBIN = stage({ format: "round-robin" });
const GROUPS = stage({ format: "round-robin", groups: [{}, {}] });
const slot = (first, second, winner = null) => ({ players: [first, second], winner });
const SEMIS = [slot("ann", "bob", "ann"), slot("cat", "dan")];
const KNOCKOUT = stage({ number: 2, format: "knockout", rounds: 2, bracket: [SEMIS, [slot("ann", null)]] });
const SECOND = { stage: 2, stages: [GROUPS, KNOCKOUT] };
/** @type {[object, string][]} */
const TITLES = [
  [{}, "Round 2 of 3 is on"],
  [{ state: "paused" }, "Round 2 of 3 is paused"],
  [{ state: "open" }, "It has not begun"],
  [{ state: "over" }, "It is over"],
  [{ state: "over", ended_early: true }, "It was ended early"],
  [{ stages: [ROBIN] }, "1 of 3 pairs over"],
  [{ stages: [GROUPS] }, "Groups: 1 of 3 pairs over"],
  [{ stages: [GROUPS, KNOCKOUT], state: "paused" }, "Paused. Groups: 1 of 3 pairs over"],
  [SECOND, "Semi-finals: 1 of 2 pairs over"],
  [{ next: { round: 3, at: 1, about: null } }, "Round 2 of 3 is over"],
  [{ stage: 2, stages: [ROBIN, stage()] }, "Stage 2: Round 2 of 3 is on"],
];
const PAIRINGS = [
  pairing(1, 1, ["ann", "bob"], { state: "over" }),
  pairing(2, 2, ["ann", "cat"]),
  pairing(3, 2, ["bob", "dan"]),
];
for (const [more, title] of TITLES) {
  test(title, () => assert.equal(titleOf(report({ pairings: PAIRINGS, ...more })), title));
}

test("progress counts the pairs of the round, and says when the next one begins", () => {
  const pairings = PAIRINGS.with(1, pairing(2, 2, ["ann", "cat"], { state: "over" }));
  const told = (more) =>
    progressOf(report({ pairings, ...more }))
      .map((part) => (typeof part === "string" ? part : `T${part.at}`))
      .join("");
  assert.equal(told({}), "1 of 2 pairs over");
  const about = { stage: 1, round: 3, at: null, about: 7, waits_for: [3, 4] };
  const at = { ...about, at: 7, about: null };
  const next_set = [["ann", "bob"], ["cat"]];
  assert.equal(told({ next: about }), "1 of 2 pairs over; round 3 about T7");
  assert.equal(told({ next: at }), "1 of 2 pairs over; round 3 begins at T7");
  const last = { ...about, about: null, waits_for: [3] };
  assert.equal(told({ next: last }), "1 of 2 pairs over; round 3 waits for pair 3 only");
  const two = { stages: [GROUPS, KNOCKOUT] };
  assert.equal(told({ ...two, next: { ...at, stage: 2, round: 1 } }), "The knockout begins at T7");
  assert.equal(told({ ...SECOND, next: { ...about, stage: 2, round: 2 } }), "The final begins about T7");
  assert.equal(told({ stages: [ROBIN] }), "");
  assert.equal(
    told({ next: about, next_set }),
    "1 of 2 pairs over; round 3 about T7; round 3 is set by hand",
  );
  assert.equal(
    told({ next: { ...about, about: null }, next_set }),
    "1 of 2 pairs over; round 3 is set by hand",
  );
  assert.equal(told({ state: "over" }), "");
  assert.equal(told({ state: "open" }), "It begins when you start it.");
});

/** @type {[object, number, string, number | null][]} */
const PRESENCES = [
  [{ state: "plays" }, 0, "✓ here, plays", null],
  [{ state: "withdrawn" }, 0, "✕ withdrawn", null],
  [{ state: "away", for: 12, of: 30 }, 3.5, "◌ away 15 s of 30", 15.5 / 30],
  [{ state: "away", for: 29, of: 30 }, 9, "◌ away 30 s of 30", 1],
  [{ state: "absent", for: 61, of: 300 }, 0, "◌ not here 1:01 of 5:00", 61 / 300],
  [{ state: "absent" }, 0, "◌ not here", null],
  [{ state: "out" }, 0, "– out", null],
];
for (const [more, passed, words, share] of PRESENCES) {
  test(words, () => {
    const found = presenceOf(player(more), report(), passed);
    assert.deepEqual([`${found.sign} ${found.words}`, found.share], [words, share]);
  });
}

test("when all is over, players have a place, and nobody is missing", () => {
  const players = [player({ state: "absent", for: 9, of: 9 }), player({ name: "bob", state: "withdrawn" })];
  const standings = [{ rank: 2, name: "ann", withdrawn: null }];
  const over = report({ state: "over", standings });
  assert.deepEqual(presenceOf(players[0], over, 0), { sign: "", words: "place 2", share: null });
  assert.deepEqual(countsOf({ players, report: over }), { here: "", gone: "", done: "1 withdrawn" });
  const counts = { here: "0 here", gone: "1 not here", done: "1 withdrawn" };
  assert.deepEqual(countsOf({ players, report: report() }), counts);
});

test("who has not entered has a group, and what came of the test", () => {
  const settings = { ...report().settings, roster: { Ann: "10a", bob: "" } };
  const tests = [{ player: "ann", house: "random", state: "failed", why: "illegal" }];
  assert.deepEqual(missingOf(report({ settings, tests, missing: ["bob", "Ann"] })), [
    { name: "Ann", group: "10a", test: "test failed" },
    { name: "bob", group: null, test: "" },
  ]);
});

test("who plays nobody has a reason", () => {
  const open = [pairing(1, 2, ["ann", "bob"])];
  const over = [pairing(1, 2, ["ann", "bob"], { state: "over" })];
  assert.deepEqual(againstOf(player({ against: "bob" }), report()), [{ name: "bob" }]);
  assert.deepEqual(againstOf(player({}), report({ pairings: open })), ["waits for ", { name: "bob" }]);
  assert.deepEqual(againstOf(player({}), report({ pairings: over })), ["pair is over"]);
  assert.deepEqual(againstOf(player({}), report({ byes: [{ stage: 1, round: 2, player: "ann" }] })), [
    "free in this round",
  ]);
  const later = [pairing(1, 1, ["cat", "dan"], { stage: 2 })];
  const told = (more) => againstOf(player(more), report({ ...SECOND, pairings: later }));
  assert.deepEqual(told({}), ["is in the final"]);
  assert.deepEqual(told({ name: "dan" }), ["waits for ", { name: "cat" }]);
  assert.deepEqual(told({ name: "dan", state: "out" }), ["lost to ", { name: "cat" }]);
  assert.deepEqual(told({ name: "eve", state: "out" }), ["did not come through"]);
  const standings = [{ rank: 1, name: "ann", withdrawn: "3 faults in a row" }];
  assert.deepEqual(againstOf(player({ state: "withdrawn" }), report({ standings })), ["3 faults in a row"]);
});

test("games of a player: first the one that is on, then those to come, then the latest", () => {
  const pairings = [
    pairing(1, 1, ["ann", "bob"], {
      state: "over",
      games: [
        { number: 1, game: "7", first: "ann", winner: 2 },
        { number: 2, game: "8", first: "bob", winner: 0 },
      ],
      awarded: [{ number: 2, winner: "ann" }],
    }),
    pairing(2, 2, ["cat", "ann"]),
    pairing(3, 2, ["bob", "dan"]),
    pairing(4, 1, ["ann", "eve"], { state: "over", forfeits: [2], voided: [1] }),
  ];
  const players = [player({ game: "9", pairing: 2, number: 1 })];
  const found = gamesOf({ report: report({ pairings }), players }, "ann");
  assert.deepEqual(
    found.map(({ id, against, place, result }) => [id, against, place, ...(result ?? [])]),
    [
      ["2.1", "cat", "round 2"],
      ["2.2", "cat", "round 2"],
      ["4.2", "eve", "round 1", "forfeited"],
      ["4.1", "eve", "round 1", "void"],
      ["1.2", "bob", "round 1", "awarded to ", { name: "ann" }],
      ["1.1", "bob", "round 1", { name: "bob" }, " won"],
    ],
  );
  const stages = { stages: [GROUPS, KNOCKOUT] };
  const both = [pairing(1, 2, ["ann", "bob"]), pairing(2, 1, ["ann", "cat"], { stage: 2 })];
  const places = gamesOf({ report: report({ ...stages, pairings: both }), players }, "ann");
  assert.deepEqual(new Set(places.map(({ place }) => place)), new Set(["semi-final", "groups, round 2"]));
});

test("games that are listed keep their places and say whether they have ended since", () => {
  const game = (id, result = null) => ({ id, result, hasEnded: false });
  const before = [game("1.1"), game("1.2"), game("2.1", ["void"])];
  const now = [game("3.1"), game("1.2"), game("2.1", ["void"]), game("1.1", ["drawn"])];
  const ended = (games) => games.map(({ id, hasEnded }) => [id, hasEnded]);
  const found = followed(before, now);
  assert.deepEqual(ended(found), [
    ["1.1", true],
    ["1.2", false],
    ["2.1", false],
    ["3.1", false],
  ]);
  assert.deepEqual(ended(followed(found, now)), ended(found));
});

test("names in a text are isolated where they are words of their own", () => {
  assert.deepEqual(partsOf("Award of game 1 to ann", ["ann", "a"]), [
    "Award of game 1 to ",
    { name: "ann" },
    "",
  ]);
  assert.deepEqual(partsOf("anna – bob", ["ann", "bob"]), ["anna – ", { name: "bob" }, ""]);
  assert.deepEqual(partsOf("a b meets a", ["a", "a b"]), ["", { name: "a b" }, " meets ", { name: "a" }, ""]);
  assert.deepEqual(partsOf("(.*)/\\ wins", ["(.*)/\\", "x"]), ["", { name: "(.*)/\\" }, " wins"]);
  assert.deepEqual(partsOf("nothing", ["ann"]), ["nothing"]);
});

test("rows keep their places, and new ones are the last", () => {
  assert.deepEqual(orderOf(["c", "a", "b"], ["a", "c", "d"]), ["c", "a", "d"]);
});

test("a chosen player changes places, so that nobody is paired twice", () => {
  const slots = slotsOf(["ann", "bob", "cat"]);
  assert.deepEqual(slots, ["ann", "bob", "cat", ""]);
  assert.equal(pairsOf(exchanged(slots, 0, "cat")), '[["cat","bob"],["ann"]]');
  assert.equal(pairsOf(exchanged(slots, 0, "")), '[["cat","ann"],["bob"]]');
});

test("a pair that met, must not meet or has nobody is marked", () => {
  const told = report({ pairings: [pairing(1, 1, ["ann", "bob"])], forbidden: [["cat", "ann"]] });
  assert.equal(noteOn(told, "bob", "ann"), "met in round 1");
  assert.equal(noteOn(told, "ann", "cat"), "✕ forbidden pair");
  assert.equal(noteOn(told, "bob", ""), "is free");
  assert.equal(noteOn(told, "bob", "cat"), "");
});
