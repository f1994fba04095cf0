// The games of a live stream, their clocks, and what is said of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { absence, clock, Games, inWords, outcome } from "../../adapters/web/page/static/games.js";

const PLAYERS = [
  { name: "ann", kind: "arena" },
  { name: "ben", kind: "nac4" },
];

const HERE = [null, null];

function streamed(game, place, more = {}) {
  const start = { moves: "", to_move: 0, left: null, thinking: 0, away: HERE, winner: null, reason: null };
  return { game, place, players: PLAYERS, ...start, thought: [0, 0], ratings: HERE, ...more };
}

function gamesWith(...started) {
  const games = new Games();
  for (const data of started) games.apply({ name: "started", data }, 0);
  return games;
}

test("a move, an end and a departure change the place of their game", () => {
  const games = gamesWith(streamed("a", 0), streamed("b", 3));
  const moved = { game: "b", number: 1, side: 0, column: 4, used: 1, left: [8, 9] };
  assert.deepEqual(games.apply({ name: "moved", data: moved }, 50), [3]);
  const { moves, to_move, left, thought, asked } = games.get("b");
  assert.deepEqual([moves, to_move, left, thought, asked], ["4", 1, [8, 9], [1, 0], 50]);
  assert.deepEqual(
    games.apply({ name: "ended", data: { game: "b", winner: 0, reason: "time", left: null } }, 60),
    [3],
  );
  assert.equal(games.get("b").to_move, null);
  assert.deepEqual(games.apply({ name: "gone", data: { game: "b" } }, 70), [3]);
  assert.equal(games.get("b"), undefined);
});

test("a game that changed is another value", () => {
  const games = gamesWith(streamed("a", 0));
  const before = games.get("a");
  games.apply({ name: "moved", data: { game: "a", number: 1, side: 0, column: 4, used: 1, left: null } }, 50);
  assert.equal(before.moves, "");
});

test("a move that is sent twice counts once", () => {
  const games = gamesWith(streamed("a", 0, { moves: "33" }));
  games.apply({ name: "moved", data: { game: "a", number: 2, side: 1, column: 3, used: 1, left: null } }, 50);
  assert.equal(games.get("a").moves, "33");
  assert.deepEqual(games.get("a").thought, [0, 0]);
});

test("a game has the latest ratings that were sent", () => {
  const games = gamesWith(streamed("a", 2));
  const ratings = [null, { rank: 2, sure: 18.9, mean: 23 }];
  assert.deepEqual(games.apply({ name: "rated", data: { game: "a", ratings } }, 0), [2]);
  assert.deepEqual(games.get("a").ratings, ratings);
});

test("events of games that are not here change nothing", () => {
  const games = gamesWith(streamed("a", 0));
  for (const name of ["moved", "away", "ended", "gone"])
    assert.deepEqual(games.apply({ name, data: { game: "b" } }, 0), []);
  assert.deepEqual(games.apply({ name: "counts", data: {} }, 0), []);
});

test("a new game takes the place of the one before it", () => {
  const games = gamesWith(streamed("a", 0), streamed("b", 0));
  assert.equal(games.get("a"), undefined);
  assert.equal(games.at.get(0).game, "b");
});

test("a snapshot changes the places that were and those that are in use", () => {
  const games = gamesWith(streamed("a", 0), streamed("b", 1));
  const data = { games: [streamed("b", 1), streamed("c", 2, { thinking: 1.5 })] };
  assert.deepEqual(games.apply({ name: "snapshot", data }, 2_000), [0, 1, 2]);
  assert.equal(games.get("a"), undefined);
  assert.equal(games.get("c").asked, 500);
});

test("a player is away until it is back or the game is over", () => {
  const games = gamesWith(streamed("a", 2));
  const told = (...away) => games.apply({ name: "away", data: { game: "a", away } }, 50_000);
  assert.deepEqual(told(null, { seconds: 2, grace: 30 }), [2]);
  assert.deepEqual(games.get("a").away, [null, { since: 48_000, grace: 30 }]);
  told({ seconds: 0, grace: 30 }, null);
  assert.deepEqual(games.get("a").away, [{ since: 50_000, grace: 30 }, null]);
  games.apply({ name: "ended", data: { game: "a", winner: 1, reason: "left", left: null } }, 60_000);
  assert.deepEqual(games.get("a").away, HERE);
});

test("an absence that began before the game was streamed counts from its beginning", () => {
  const away = [{ seconds: 12, grace: 30 }, null];
  const games = gamesWith(streamed("a", 0, { away }));
  games.apply({ name: "snapshot", data: { games: [streamed("b", 1, { away })] } }, 20_000);
  assert.deepEqual(games.get("b").away, [{ since: 8_000, grace: 30 }, null]);
});

test("an absence is shown in whole seconds, and never longer than the seat is kept", () => {
  const words = (seconds, grace) =>
    absence({ away: [null, { since: 1_000, grace }] }, 1, 1_000 + 1_000 * seconds).replaceAll("\u00a0", " ");
  assert.equal(words(0, 30), "◌ away 0 s of 30");
  assert.equal(words(12.9, 30), "◌ away 12 s of 30");
  assert.equal(words(40, 30), "◌ away 30 s of 30");
  assert.equal(words(-1, 30), "◌ away 0 s of 30");
  assert.equal(words(75, 300), "◌ away 1:15 of 5:00");
  assert.equal(absence({ away: HERE }, 1, 0), "");
  assert.equal(absence({ away: [null, { since: 0, grace: 30 }] }, 0, 0), "");
});

test("without clocks the player to move is shown how long it has thought", () => {
  const game = { to_move: 1, asked: 1_000, left: null };
  assert.equal(clock(game, 0, 63_500), null);
  assert.deepEqual(clock(game, 1, 63_500), { text: "1:02", runs: true, isShort: false });
});

test("a clock runs down for the player to move alone", () => {
  const game = { to_move: 0, asked: 1_000, left: [10, 120] };
  assert.deepEqual(clock(game, 0, 6_500), { text: "4.5", runs: true, isShort: true });
  assert.deepEqual(clock(game, 1, 6_500), { text: "2:00", runs: false, isShort: false });
  assert.deepEqual(clock(game, 0, 60_000), { text: "0.0", runs: true, isShort: true });
});

/** Sign, word and kind of both badges. */
const OUTCOMES = [
  { winner: 0, reason: "four", badges: ["✓ four four", " lost "] },
  { winner: null, reason: "full", badges: ["= drawn drawn", "= drawn drawn"] },
  { winner: 1, reason: "time", badges: ["✕ time time", "✓ won won"] },
  { winner: null, reason: "aborted", badges: ["– aborted drawn", "– aborted drawn"] },
  { winner: null, reason: "replayed", badges: ["– replayed drawn", "– replayed drawn"] },
];

for (const { badges, ...game } of OUTCOMES) {
  test(`badges after a game that ended by ${game.reason}`, () => {
    assert.deepEqual(
      [0, 1].map((side) => outcome(game, side).join(" ")),
      badges,
    );
  });
}

test("a position in words: the last move, who is to move, how it ended", () => {
  const on = { moves: "34", to_move: 0, winner: null, reason: null };
  const names = ["ann", "ben"];
  assert.equal(inWords({ ...on, moves: "" }, names), "empty board, ann to move");
  assert.equal(inWords(on, names), "move 2, ben column 4, ann to move");
  assert.equal(inWords({ ...on, to_move: null }, names), "move 2, ben column 4");
  assert.equal(
    inWords({ ...on, to_move: null, winner: 1, reason: "left" }, names),
    "move 2, ben column 4, ben won",
  );
  assert.equal(inWords({ ...on, to_move: null, reason: "stopped" }, names), "move 2, ben column 4, stopped");
});
