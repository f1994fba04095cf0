// The view Play: a person chooses an opponent, waits, plays, and sees how the game ended. Draws the states of
// play_state.js, and does what they require.
import { Arena } from "./arena.js";
import { Board } from "./board.js";
import { Columns } from "./columns.js";
import { fill, find, findAll, write } from "./dom.js";
import { address, kindOf, minutes, thought } from "./format.js";
import { absence, clock, Games, inWords } from "./games.js";
import { Lobby } from "./play_lobby.js";
import { causeOf, headlineOf, isAway, isMine, next, OPPONENT, opponentOf, titleOf } from "./play_state.js";
import { readJson } from "./read.js";
import { opposite } from "./rules.js";
import { announce } from "./status.js";
import { readStorage, writeStorage } from "./storage.js";
import { Stream } from "./stream.js";
import { showClock } from "./times.js";

/**
 * @typedef {import("./dom.js").Part} Part
 * @typedef {import("./play_state.js").Asking} Asking
 * @typedef {import("./play_state.js").Event} Event
 * @typedef {import("./play_state.js").Over} Over
 * @typedef {import("./play_state.js").Playing} Playing
 * @typedef {import("./play_state.js").Request} Request
 * @typedef {import("./play_state.js").State} State
 * @typedef {import("./play_state.js").StoredGame} StoredGame
 */

const PATIENCE = 250; // milliseconds until the page shows that it waits
const LATE = 2_500; // milliseconds after which an announced result is stored, if the database works
const TICK = 100;
const TITLE = document.title;

const page = find(".play");
const views = { choose: find(".choose", page), wait: find(".wait", page), game: find(".game", page) };
const field = find("input[name=name]", page, HTMLInputElement);
const drop = find(".actions .drop", page, HTMLButtonElement);
const leave = find(".actions .leave", page);
const stay = find(".actions .stay", page);
const again = find(".actions .again", page);
const look = find(".actions .look", page, HTMLAnchorElement);
const other = find(".actions .other", page);
const place = find(".board", views.game);

/** @type {State} */
let state = { at: "choosing", trouble: "" };

const board = new Board(place);
const columns = new Columns(findAll(".columns button", page), place, board, {
  chose: (column) => {
    drop.disabled = column === null;
    fill(drop, column !== null ? `Drop in column ${column}` : isMine(state) ? "Choose a column" : "Drop");
  },
  drop: (column) => {
    arena.move(column);
    dispatch({ type: "drop" });
  },
  full: (column) => dispatch({ type: "full", column }),
});
const lobby = new Lobby(find(".lobby", page), find(".count", page));
let games = new Games();
const arena = new Arena(page.dataset.address ?? "", (event) => {
  dispatch({ type: "arena", event, games: [...games.at.values()], now: performance.now() });
});
const stream = new Stream("/api/live/events?most=1", (event) => {
  const now = performance.now();
  games.apply(event, now);
  if (event.name === "snapshot" || event.name === "counts")
    lobby.show(event.data.waiting, event.data.lobby, now);
  dispatch({ type: "stream", event, games: [...games.at.values()] });
});

// The person's actions.

views.choose.hidden = false; // without this script, nobody can choose
field.value = readStorage("name", "sessionStorage") ?? `guest-${1000 + Math.floor(9000 * Math.random())}`;
views.choose.addEventListener("submit", (event) => event.preventDefault());
views.choose.addEventListener("click", ({ target }) => {
  const chosen = target instanceof Element && /** @type {HTMLElement | null} */ (target.closest("li button"));
  if (!chosen || !field.reportValidity()) return;
  const me = field.value.trim().replace(/\p{Surrogate}/gu, "\uFFFD"); // UTF-8 cannot encode half of a pair
  writeStorage("name", me, "sessionStorage");
  ask({ me, opponent: { ...chosen.dataset } });
});
find(".cancel", page).addEventListener("click", () => dispatch({ type: "choose" }));
drop.addEventListener("click", () => columns.drop());
other.addEventListener("click", () => dispatch({ type: "choose" }));
again.addEventListener("click", () => state.at === "over" && ask(state.request));
leave.addEventListener("click", () => dispatch({ type: "leave" }));
stay.addEventListener("click", () => {
  dispatch({ type: "stay" });
  leave.focus({ preventScroll: true });
});
addEventListener("beforeunload", (event) => {
  if (state.at === "playing" && state.moves.length > 1) event.preventDefault();
});

/** @param {Request} request */
function ask(request) {
  dispatch({ type: "ask", request, now: performance.now() });
}

// From state to state.

/** @param {Event} event */
function dispatch(event) {
  const before = state;
  state = next(before, event);
  if (state === before) return;
  act(state, before);
  draw(state, before);
  const headline = headlineOf(state);
  document.title = headline ? `${headline} - c4gateway` : TITLE;
}

/**
 * Do what a new state requires.
 * @param {State} state
 * @param {State} before
 */
function act(state, before) {
  if (state.at === "choosing") {
    arena.close();
    follow("most=1");
  } else if (state.at === "asking" && before.at !== "asking") {
    const { me, opponent } = state.request;
    const { name, table } = opponent;
    follow(`most=5&player=${encodeURIComponent(me)}`);
    arena.start({ id: me, ...(table !== undefined ? { table } : name !== undefined && { against: name }) });
    setTimeout(() => dispatch({ type: "late" }), PATIENCE);
  } else if (state.at === "over" && before.at === "playing") {
    findStored(state);
  }
}

/**
 * Read from the live stream the games that the parameters select.
 * @param {string} parameters
 */
function follow(parameters) {
  games = new Games();
  stream.read(`/api/live/events?${parameters}`);
}

/**
 * Look for the stored game, if results are kept.
 * @param {Over} over
 */
async function findStored({ request, moves, side }, isFirst = true) {
  if (!("keeps" in page.dataset)) return;
  /** @type {{ games: StoredGame[] } | null} */
  const latest = await readJson(`/api/games?limit=5&player=${encodeURIComponent(request.me)}`);
  const game = latest?.games.find((each) => each.moves === moves && each.players[side].name === request.me);
  if (game) dispatch({ type: "stored", game });
  else if (isFirst) setTimeout(() => state.at === "over" && findStored(state, false), LATE);
}

// Drawing.

/**
 * Draw a state. `before` is the state that the page shows so far.
 * @param {State} state
 * @param {State} before
 */
function draw(state, before) {
  switch (state.at) {
    case "choosing":
      columns.show("", null); // keys must not drop a disc into a game that was left
      show("choose");
      fill(find(".trouble", page), state.trouble);
      break;
    case "asking":
      fill(find(".awaited", page), state.request.opponent.name ?? "anyone");
      fill(find(".own", page), state.request.me);
      if (state.isLong) show("wait");
      break;
    default:
      drawGame(state, before);
  }
}

/** @param {keyof typeof views} name */
function show(name) {
  for (const [each, view] of Object.entries(views)) view.hidden = each !== name;
  find("h1", views[name]).focus({ preventScroll: true });
}

/**
 * @param {Playing | Over} game
 * @param {State} before
 */
function drawGame(game, before) {
  const isOver = game.at === "over";
  const shown = before.at === "playing" || before.at === "over" ? before : null;
  const isHere = views.game.contains(document.activeElement);
  if (!shown) {
    board.show("");
    show("game");
  }
  if (!shown || shown.at !== game.at || shown.moves !== game.moves) board.show(game.moves, label(game));
  if (!shown || shown.moves !== game.moves || isMine(shown) !== isMine(game)) {
    columns.show(game.moves, isMine(game) ? game.side : null);
  }
  for (const each of [again, other]) each.hidden = !isOver;
  if (isOver && shown?.at !== "over" && isHere) again.focus({ preventScroll: true }); // for a person who plays by keys
  const isLeaving = game.at === "playing" && game.isLeaving;
  drop.hidden = isOver || isLeaving;
  leave.hidden = isOver;
  stay.hidden = !isLeaving;
  look.hidden = !isOver || game.stored === null;
  if (isOver && game.stored !== null) look.href = address("game", game.stored);
  fill(leave, isLeaving ? "Leave: the game is lost" : "Leave");
  leave.classList.toggle("loses", isLeaving);

  drawTurn(game);
  const kind = game.live?.players[opposite(game.side)].kind ?? game.request.opponent.kind;
  drawPlayer("other", opposite(game.side), kind, [{ name: opponentOf(game) }]);
  drawPlayer("self", game.side, "arena", ["you (", { name: game.request.me }, ")"]);
  const said = find(".said", page);
  fill(said, ...game.message.map((part) => (part === OPPONENT ? { name: opponentOf(game) } : part)));
  if (game.message !== shown?.message) announce(said.textContent ?? "");
}

/**
 * Show whose move it is, or how the game ended.
 * @param {Playing | Over} game
 */
function drawTurn(game) {
  const turn = find(".turn", page);
  const title = find("#turn", page);
  place.classList.toggle("lost", game.at === "over" && game.trouble !== "");
  if (game.at === "over") {
    turn.dataset.side = String(game.side);
    turn.classList.toggle("mine", game.winner === game.side);
    fill(title, titleOf(game));
  } else {
    const waits = isAway(game, opposite(game.side)) ? " is away" : " thinks";
    turn.dataset.side = String(game.toMove);
    turn.classList.toggle("mine", game.toMove === game.side);
    fill(title, ...(game.toMove === game.side ? ["Your move"] : [{ name: opponentOf(game) }, waits]));
  }
}

/**
 * @param {"self" | "other"} who
 * @param {number} side
 * @param {string | undefined} kind
 * @param {Part[]} name
 */
function drawPlayer(who, side, kind, name) {
  const row = find(`.player.${who}`, page);
  const mark = find(".mark", row);
  const [letter, word] = kind ? kindOf(kind) : ["", ""];
  row.dataset.side = String(side);
  fill(find(".name", row), ...name);
  fill(mark, letter);
  mark.hidden = !letter;
  fill(find(".kind", row), word);
}

/**
 * Return the position, for screen readers.
 * @param {Playing | Over} game
 */
function label(game) {
  const names = /** @type {[string, string]} */ (
    game.side === 0 ? ["you", opponentOf(game)] : [opponentOf(game), "you"]
  );
  if (game.at === "playing")
    return inWords({ moves: game.moves, to_move: game.toMove, winner: null, reason: null }, names);
  const reason = game.trouble ? null : causeOf(game);
  return inWords({ moves: game.moves, to_move: null, winner: game.winner, reason }, names);
}

/**
 * Show the time left on both clocks or for this move, and the time of the opponent's last move or its absence.
 * @param {Playing | Over} game
 * @param {number} now
 */
function showClocks(game, now) {
  const { side, since, used, request } = game;
  const left = game.live?.left ?? null;
  const toMove = game.at === "playing" ? game.toMove : null;
  const faces = { to_move: toMove, asked: since, left };
  const isMyTurn = toMove === side;
  const live = game.at === "playing" ? game.live : null;
  const away = live ? absence(live, opposite(side), now) : "";
  const took = isMyTurn && !left && used !== null && !away ? `last move ${thought(1000 * used)}` : null;
  showClock(find(".self .clock", page), left ? clock(faces, side, now) : null);
  showClock(
    find(".other .clock", page),
    took ? { text: took, runs: false, isShort: false } : clock(faces, opposite(side), now),
  );
  write(find(".other .away", page), away);
  // Until the live stream has the game, only a game against a house player is known to have no clock.
  const isKnown = request.opponent.kind === "house" || game.live !== null;
  const rest = Math.max(0, Number(page.dataset.idle) - (now - since) / 1000);
  write(find(".turn .time", page), isMyTurn && !left && isKnown ? `${minutes(rest)} left for it` : "");
}

setInterval(() => {
  if (document.hidden) return;
  const now = performance.now();
  if (state.at === "choosing") lobby.tick(now);
  else if (state.at !== "asking") showClocks(state, now);
  else if (state.isLong) write(find(".waited", page), minutes((now - state.since) / 1000));
}, TICK);
