// The view Play as a state machine: each rule from the event that brings it about.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  causeOf,
  headlineOf,
  isAway,
  isMine,
  next,
  OPPONENT,
  opponentOf,
  titleOf,
} from "../../adapters/web/page/static/play_state.js";

const FULL = "210541514265241102136426200063440633335556";
const CHOOSING = { at: "choosing", trouble: "" };
const HANNAH = { me: "carla", opponent: { name: "hannah", kind: "droidcon" } };
const ANYONE = { me: "carla", opponent: {} };

const ask = (request = HANNAH) => ({ type: "ask", request, now: 1_000 });
const arena = (event, games = []) => ({ type: "arena", event, games, now: 5_000 });
const disconnected = arena({ type: "disconnected" });
const ignored = arena({ type: "ignored", reason: "Table is full" });
const lost = (reason) => arena({ type: "lost", reason });
const stream = (games, event = { name: "counts", data: {} }) => ({ type: "stream", event, games });
const stored = (more) => ({
  type: "stored",
  game: { id: "r-7", moves: "34", players: players("carla", "hannah"), winner: 1, reason: "left", ...more },
});

/** The position after these moves, seen by a side. */
function position(moves, { side = 0, winner, games } = {}) {
  const toMove = winner === undefined ? moves.length % 2 : null;
  return arena({ type: "state", position: { moves, side, toMove, winner } }, games);
}

function players(...names) {
  return names.map((name) => ({ name, kind: "droidcon" }));
}

function live(game, moves, names = ["carla", "hannah"], more = {}) {
  const start = { reason: null, left: null, asked: 5_000, away: [null, null] };
  return { game, moves, players: players(...names), ...start, ...more };
}

function after(...events) {
  return events.reduce(next, CHOOSING);
}

const sentence = ({ message }) => message.map((part) => (part === OPPONENT ? "OPPONENT" : part)).join("");

describe("asking for a game", () => {
  test("shows that it waits only after a while", () => {
    assert.equal(after(ask()).isLong, false);
    assert.equal(after(ask(), { type: "late" }).isLong, true);
    assert.deepEqual(after({ type: "late" }), CHOOSING);
  });

  test("a second click changes nothing, on another opponent either", () => {
    const asking = after(ask());
    assert.equal(next(asking, ask(ANYONE)), asking);
  });

  test("leads back when the server refuses, or cannot be reached, with its reason", () => {
    assert.deepEqual(after(ask(), ignored), { at: "choosing", trouble: "The server says: Table is full." });
    const trouble = (reason) => after(ask(), lost(reason)).trouble;
    assert.equal(trouble(""), "The server cannot be reached. Try again when it is running.");
    assert.equal(trouble("busy"), "The server closed the connection: busy. Try again when it is running.");
  });

  test("can be given up", () => {
    assert.deepEqual(after(ask(), { type: "choose" }), CHOOSING);
  });

  test("keeps the last game until another begins", () => {
    const over = after(ask(), position(""), position("34", { winner: 0 }));
    const asking = next(over, ask());
    assert.equal(asking.last, over);
    assert.equal(next(asking, position("")).moves, "");
  });
});

describe("playing", () => {
  test("says who moves first", () => {
    assert.equal(sentence(after(ask(), position(""))), "The game begins. You move first.");
    assert.equal(sentence(after(ask(), position("", { side: 1 }))), "The game begins. OPPONENT moves first.");
  });

  test("says each move", () => {
    assert.equal(
      sentence(after(ask(), position(""), position("3"))),
      "You played column 3. OPPONENT thinks.",
    );
    assert.equal(
      sentence(after(ask(), position(""), position("34"))),
      "OPPONENT played column 4. Your move.",
    );
  });

  test("it is the person's turn until a move is sent", () => {
    const mine = after(ask(), position(""));
    assert.equal(isMine(mine), true);
    assert.equal(isMine(next(mine, { type: "drop" })), false);
    assert.equal(isMine(after(ask(), position(""), position("3"))), false);
    assert.equal(isMine(after(ask())), false);
  });

  test("a refused move can be made again", () => {
    const state = after(ask(), position(""), { type: "drop" }, ignored);
    assert.equal(isMine(state), true);
    assert.equal(sentence(state), "The move was refused: Table is full. Choose another column.");
  });

  test("says that a column is full", () => {
    assert.equal(sentence(after(ask(), position(""), { type: "full", column: 2 })), "Column 2 is full.");
  });

  test("times a move from the position before it", () => {
    const begun = after(ask(), position(""));
    assert.equal(begun.since, 5_000);
    const again = { ...position(""), now: 9_000 };
    assert.equal(next(begun, again).since, 5_000);
    assert.equal(next(begun, { ...position("3"), now: 9_000 }).since, 9_000);
  });
});

describe("leaving", () => {
  const leave = { type: "leave" };

  test("is free until both have moved", () => {
    assert.deepEqual(after(ask(), position(""), position("3"), leave), CHOOSING);
  });

  test("loses a game that has begun, so it takes two steps", () => {
    const asked = after(ask(), position(""), position("34"), leave);
    assert.equal(asked.isLeaving, true);
    assert.deepEqual(next(asked, leave), CHOOSING);
  });

  test("is asked about until the person answers, or plays on", () => {
    const asked = after(ask(), position(""), position("34"), leave);
    for (const event of [{ type: "stay" }, { type: "drop" }])
      assert.equal(next(asked, event).isLeaving, false);
    for (const event of [position("343"), ignored]) assert.equal(next(asked, event).isLeaving, true);
  });
});

describe("the title of the tab", () => {
  test("says whose move it is only to the person who has to make it", () => {
    const mine = after(ask(), position(""));
    assert.equal(headlineOf(mine), "Your move");
    for (const state of [CHOOSING, after(ask()), next(mine, { type: "drop" }), next(mine, position("3"))]) {
      assert.equal(headlineOf(state), "");
    }
  });

  test("says how the game ended", () => {
    assert.equal(headlineOf(after(ask(), position("0101010", { winner: 0 }))), "You won");
  });
});

describe("the end of a game", () => {
  /** @type {[string, object[], string, string][]} */
  const ENDS = [
    ["a won game", [position("0101010", { winner: 0 })], "You won", "You won: four in a row."],
    ["a lost game", [position("0101010", { side: 1, winner: 0 })], "You lost", "You lost: four in a row."],
    ["a draw", [position(FULL, { winner: null })], "Draw", "Draw: the board is full."],
    ["unknown cause", [position("34", { winner: 0 })], "You won", "You won."],
    ["nobody won", [position("34", { winner: null })], "Nobody won", "Nobody won."],
    ["an opponent that left", [position("34"), disconnected], "Game over", "Game over: your opponent left."],
    [
      "one that left early",
      [position("3"), disconnected],
      "Nobody won",
      "Nobody won: your opponent left before both had moved.",
    ],
    [
      "a connection that broke",
      [position("34"), lost("")],
      "Connection lost",
      "The connection is lost. If both players had moved, you have lost the game.",
    ],
    ["a server that stops", [lost("stop")], "Connection lost", "The server closed the connection: stop."],
  ];

  for (const [name, events, title, words] of ENDS) {
    test(name, () => {
      const state = after(ask(), position(""), ...events);
      assert.equal(state.at, "over");
      assert.equal(titleOf(state), title);
      assert.equal(sentence(state), words);
    });
  }

  test("nothing more is heard of a game that is over", () => {
    const over = after(ask(), position(""), position("34", { winner: 0 }));
    for (const event of [disconnected, ignored, lost(""), position("343"), { type: "drop" }]) {
      assert.equal(next(over, event), over);
    }
  });

  test("the live stream says of time, whoever ran out of it", () => {
    const ended = [live("x", "34", undefined, { reason: "time" })];
    const won = after(ask(), position(""), position("34", { winner: 0 }), stream(ended));
    assert.equal(sentence(won), "You won: your opponent’s time was up.");
    const lostGame = after(ask(), position(""), position("34", { winner: 1, games: ended }), stream(ended));
    assert.equal(sentence(lostGame), "You lost: your time was up.");
  });

  test("the stored game has an address, and says who won when the opponent left", () => {
    const gone = after(ask(), position(""), position("34"), disconnected, stored());
    assert.equal(gone.stored, "r-7");
    assert.equal(titleOf(gone), "You won");
    assert.equal(causeOf(gone), "left");
    const aborted = after(
      ask(),
      position(""),
      position("34"),
      disconnected,
      stored({ winner: null, reason: "aborted" }),
    );
    assert.equal(titleOf(aborted), "Nobody won");
  });

  test("the stored game says why it ended where the stream did not", () => {
    const over = after(
      ask(ANYONE),
      position(""),
      position("34", { winner: 0 }),
      stored({ reason: "illegal" }),
    );
    assert.equal(sentence(over), "You won: your opponent made an illegal move.");
    assert.equal(opponentOf(over), "hannah");
  });

  test("a stored game with other moves is another one", () => {
    const over = after(ask(), position(""), position("34", { winner: 0 }));
    assert.equal(next(over, stored({ moves: "33" })), over);
  });
});

describe("the game in the live stream", () => {
  const playing = (...games) => after(ask(ANYONE), position(""), position("34", { games }));

  test("names the opponent", () => {
    assert.equal(opponentOf(playing()), "your opponent");
    assert.equal(opponentOf(after(ask(), position(""))), "hannah");
    assert.equal(opponentOf(playing(live("x", "34", ["carla", "ben"]))), "ben");
  });

  test("may be some moves behind or ahead", () => {
    for (const moves of ["", "34", "3433"]) assert.equal(playing(live("x", moves)).live.game, "x");
  });

  /** @type {[string, object][]} */
  const OTHERS = [
    ["other moves", live("x", "33")],
    ["too many moves ahead", live("x", "34333")],
    ["another player at this side", live("x", "34", ["hannah", "carla"])],
    ["an end, while this one is on", live("x", "34", undefined, { reason: "four" })],
  ];
  for (const [name, game] of OTHERS) {
    test(`is not one with ${name}`, () => assert.equal(playing(game).live, null));
  }

  test("is the newest of several like it, and stays the same from then on", () => {
    const first = playing(live("x-1", "34"), live("x-2", "34"));
    assert.equal(first.live.game, "x-2");
    const later = next(first, stream([live("x-2", "34"), live("x-3", "34")]));
    assert.equal(later.live.game, "x-2");
  });

  test("has the time of the opponent's moves, not of the person's own", () => {
    const state = playing(live("x", "34"));
    const move = (side, used) => ({
      name: "moved",
      data: { game: "x", number: 2, side, column: 4, used, left: null },
    });
    const timed = next(state, stream([live("x", "34")], move(1, 1.5)));
    assert.equal(timed.used, 1.5);
    assert.equal(next(timed, stream([live("x", "34")], move(0, 9))).used, 1.5);
  });

  const gone = { since: 6_000, grace: 30 };
  const away = (side) => live("x", "34", undefined, { away: side ? [null, gone] : [gone, null] });

  test("says that the opponent's connection broke, and that it is back", () => {
    const mine = next(playing(live("x", "34")), stream([away(1)]));
    assert.equal(isAway(mine, 1), true);
    assert.equal(sentence(mine), "OPPONENT’s connection broke. The seat is kept for 30 s.");
    assert.equal(next(mine, stream([away(1)])).message, mine.message);
    assert.equal(sentence(next(mine, stream([live("x", "34")]))), "OPPONENT is back. Your move.");
    const moved = next(mine, position("343"));
    assert.equal(sentence(moved), "You played column 3. OPPONENT is away.");
    assert.equal(sentence(next(moved, stream([live("x", "343")]))), "OPPONENT is back.");
  });

  test("says whether the person's seat is kept, after the connection was lost", () => {
    const state = next(playing(live("x", "34")), lost(""));
    const kept = next(state, stream([away(0)]));
    assert.equal(titleOf(kept), "Connection lost");
    assert.equal(
      sentence(kept),
      "The connection is lost. Your seat is kept: Play again goes on with the game.",
    );
    const over = next(kept, stream([live("x", "34", undefined, { reason: "left" })]));
    assert.equal(sentence(over), sentence(state));
  });

  test("says that the game will be played again", () => {
    const over = next(playing(live("x", "34")), disconnected);
    const state = next(over, stream([live("x", "34", undefined, { reason: "replayed" })]));
    assert.equal(titleOf(state), "Nobody won");
    assert.equal(
      sentence(state),
      "Nobody won: your opponent’s connection broke. Play again to repeat the game.",
    );
  });

  test("has the time since which the person is to move in a game to which it came back", () => {
    assert.equal(playing(live("x", "34", undefined, { asked: 1_500 })).since, 1_500);
    assert.equal(playing(live("x", "34", undefined, { asked: 9_000 })).since, 5_000);
    assert.equal(playing(live("x", "343", undefined, { asked: 1_500 })).since, 5_000);
  });

  test("changes nothing when it says nothing new", () => {
    const game = live("x", "34");
    const state = playing(game);
    assert.equal(next(state, stream([game])), state);
    assert.equal(next(CHOOSING, stream([game])), CHOOSING);
  });
});
