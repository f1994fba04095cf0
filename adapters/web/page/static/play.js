// The view Play: choose an opponent, wait, play, and see how it ended.
//
// The game comes from the arena connection. The live stream adds what that dialect does not tell: names, clocks, and
// the time of each move.
import { Arena } from "./arena.js";
import { Board } from "./board.js";
import { write } from "./card.js";
import { showClocks } from "./clocks.js";
import { Columns } from "./columns.js";
import { Games, spoken } from "./games.js";
import { Lobby } from "./lobby.js";
import { COLUMNS, ROWS, four, played } from "./rules.js";
import { fill } from "./sentences.js";
import { announce } from "./status.js";
import { Stream } from "./stream.js";
import { kindOf, minutes } from "./words.js";

const PATIENCE = 250; // milliseconds until the page shows that it waits
const LATE = 2_500; // milliseconds after which an announced result is stored, if the database works
const TICK = 100;
const WHY = {
  four: "four in a row",
  full: "the board is full",
  time: "your opponent’s time was up",
  illegal: "your opponent made an illegal move",
  left: "your opponent left",
  gone: "your opponent left",
  aborted: "your opponent left before both had moved",
  stopped: "the server stopped the game",
};

const page = document.querySelector(".play");
const find = (selector) => page.querySelector(selector);
const field = find("input[name=name]");
const [drop, leave, again, look, other] = ["drop", "leave", "again", "look", "other"].map((each) => find(`.actions .${each}`));

let opponent = null; // the chosen one: {name, kind, table}, or {} for anyone
let me = "";
let asked = 0; // when a game was requested
let game = null; // the latest one, from the connection, and how it is shown
let said = []; // the latest sentence

const board = new Board(find(".game .board"));
const columns = new Columns([...page.querySelectorAll(".columns button")], find(".game .board"), board, {
  chose: (column) => {
    drop.disabled = column === null;
    fill(drop, column !== null ? `Drop in column ${column}` : isMine() ? "Choose a column" : "Drop");
  },
  drop: (column) => {
    game.isSent = true;
    arena.move(column);
    columns.show(game.moves, null);
  },
  full: (column) => say(`Column ${column} is full.`),
});
const lobby = new Lobby(find(".lobby"), find(".count"));
const arena = new Arena(page.dataset.address, (what, about) => HEARD[what]?.(about));
let live = new Games();
const stream = new Stream("/api/live/events?most=1", (name, about) => watch(name, about));

// Choosing and waiting.

field.value = recalled() ?? `guest-${1000 + Math.floor(9000 * Math.random())}`;
find(".choose").addEventListener("submit", (event) => event.preventDefault());
find(".choose").addEventListener("click", (event) => {
  const chosen = event.target.closest("li button");
  if (!chosen || !field.reportValidity()) return;
  opponent = { ...chosen.dataset };
  me = field.value.trim().replace(/\p{Surrogate}/gu, "\uFFFD"); // half a pair has no UTF-8
  remember(me);
  ask();
});
find(".cancel").addEventListener("click", () => choose());

function ask() {
  if (asked) return; // the second half of a double click
  const { name, table } = opponent;
  asked = performance.now();
  aim(`most=5&player=${encodeURIComponent(me)}`);
  arena.start({ id: me, ...(table === undefined ? name !== undefined && { against: name } : { table }) });
  setTimeout(() => asked && show("wait"), PATIENCE);
  fill(find(".awaited"), opponent.name ?? "anyone");
  fill(find(".own"), me);
}

function choose(trouble = "") {
  asked = 0;
  game = null;
  arena.close();
  aim("most=1");
  show("choose");
  fill(find(".trouble"), trouble);
}

function show(which) {
  for (const each of ["choose", "wait", "game"]) find(`.${each}`).hidden = each !== which;
  find(`.${which} h1`).focus({ preventScroll: true });
}

function aim(filters) {
  live = new Games();
  stream.address = `/api/live/events?${filters}`;
  stream.open();
}

// Playing.

const HEARD = {
  state(told) {
    if (!game || asked) begin(told);
    const isNew = told.moves !== game.moves;
    Object.assign(game, told, { isSent: false }, isNew && { since: performance.now() });
    adopt();
    position();
    if (game.winner !== undefined) finish();
    else if (isNew) tell();
  },
  disconnected() {
    if (!game || game.isOver) return;
    game.winner = null; // not said: it has none if a node of the cluster was lost
    game.why = game.moves.length < 2 ? "aborted" : "gone";
    finish();
  },
  ignored({ reason }) {
    if (asked) return choose(`The server says: ${reason}.`);
    if (!game || game.isOver) return;
    game.isSent = false;
    position();
    say(`The move is refused: ${reason}. Choose another column.`);
  },
  lost({ reason }) {
    const closed = reason && `The server closed the connection: ${reason}.`;
    if (asked) choose(`${closed || "The server cannot be reached."} Try again when it is running.`);
    else if (game && !game.isOver) finish(closed || "The connection is lost. If both players had moved, you have lost the game.");
  },
};

function begin(told) {
  asked = 0;
  game = { ...told, moves: "", since: performance.now(), isSent: false, isOver: false, live: null, used: null };
  board.show("");
  for (const each of [again, look, other]) each.hidden = true;
  for (const each of [drop, leave]) each.hidden = false;
  show("game");
  say("The game begins. ", ...(told.side === 0 ? ["You move"] : [{ name: otherName }, " moves"]), " first.");
}

// Draw the position, and enable the columns on the person's turn.
function position() {
  const names = [0, 1].map((side) => ({ name: side === game.side ? "you" : otherName() }));
  const { moves, winner, toMove } = game;
  board.show(moves, spoken({ players: names, moves, winner, reason: winner === undefined ? null : why(), to_move: toMove }));
  columns.show(moves, isMine() ? game.side : null);
  fill(leave, "Leave");
  players();
}

// Whether it is the person's turn.
function isMine() {
  return game !== null && !game.isOver && game.toMove === game.side && !game.isSent;
}

// Show the players, and whose move it is or how the game ended.
function players() {
  const turn = find(".turn");
  turn.dataset.side = game.isOver ? game.side : game.toMove;
  turn.classList.toggle("mine", game.isOver ? game.winner === game.side : game.toMove === game.side);
  find(".game .board").classList.toggle("lost", Boolean(game.lost));
  if (game.isOver) fill(find("#turn"), game.lost ? "Connection lost" : result());
  else fill(find("#turn"), ...(game.toMove === game.side ? ["Your move"] : [{ name: otherName }, " thinks"]));
  const kind = game.live?.players[1 - game.side].kind ?? opponent.kind;
  player("other", 1 - game.side, kind, [{ name: otherName }]);
  player("self", game.side, "arena", ["you (", { name: () => me }, ")"]);
  fill(find(".said"), ...said); // the opponent's name may be known only now
}

function player(who, side, kind, name) {
  const row = find(`.player.${who}`);
  const [letter, word] = kind ? kindOf(kind) : ["", ""];
  row.dataset.side = side;
  fill(row.querySelector(".name"), ...name);
  fill(row.querySelector(".mark"), letter);
  row.querySelector(".mark").hidden = !letter;
  fill(row.querySelector(".kind"), word);
}

function tell() {
  const column = game.moves.at(-1);
  if (!column) return;
  if (game.toMove === game.side) say({ name: otherName }, ` played column ${column}. Your move.`);
  else say(`You played column ${column}. `, { name: otherName }, " thinks.");
}

function finish(lost = "") {
  Object.assign(game, { isOver: true, toMove: null, lost });
  const isHere = find(".game").contains(document.activeElement); // who plays by keys goes on by keys
  position();
  for (const each of [again, other]) each.hidden = false;
  if (isHere) again.focus({ preventScroll: true });
  for (const each of [drop, leave]) each.hidden = true;
  outcome();
  link(game);
}

function outcome() {
  const isLate = why() === "time" && game.winner !== game.side;
  const words = isLate ? "your time was up" : WHY[why()] ?? why();
  say(game.lost || `${result()}${words ? `: ${words}` : ""}.`);
}

function result() {
  if (why() === "gone") return "Game over";
  if (game.winner === null) return why() === "full" ? "Draw" : "Nobody won";
  return game.winner === game.side ? "You won" : "You lost";
}

// Why the game ended, as far as it is known. Only the live stream tells of time and illegal moves.
function why() {
  const cells = played(game.moves);
  return game.why ?? (four(cells) ? "four" : cells.length === COLUMNS * ROWS ? "full" : game.live?.reason ?? "");
}

// Link to the stored game, if results are kept. It also has the names, and why the game ended.
async function link(ended, isFirst = true) {
  if (!("keeps" in page.dataset)) return;
  try {
    const answer = await fetch(`/api/games?limit=5&player=${encodeURIComponent(me)}`);
    const { games = [] } = await answer.json();
    const found = games.find((each) => each.moves === ended.moves && each.players[ended.side].name === me);
    if (game !== ended || asked) return;
    if (!found && isFirst) setTimeout(() => link(ended, false), LATE);
    if (!found) return;
    look.href = `/game/${encodeURIComponent(found.id)}`;
    look.hidden = false;
    if (game.why === "gone") Object.assign(game, { why: found.reason, winner: found.winner ? found.winner - 1 : null });
    else if (game.live) return;
    game.live ??= { ...found, left: null };
    players();
    outcome();
  } catch { /* no link then */ }
}

drop.addEventListener("click", () => columns.take(columns.chosen ?? columns.last));
other.addEventListener("click", () => choose());
again.addEventListener("click", () => ask());
leave.addEventListener("click", () => {
  if (game.moves.length < 2 || leave.textContent !== "Leave") return choose();
  fill(leave, "Leave and lose?");
});
leave.addEventListener("blur", () => fill(leave, "Leave"));
addEventListener("beforeunload", (event) => {
  if (game && !game.isOver && game.moves.length > 1) event.preventDefault();
});

// The live stream, and the clocks.

function watch(name, about) {
  const now = performance.now();
  const before = game?.live?.reason; // `apply` changes the game itself
  live.apply(name, about, now);
  if (about.lobby) lobby.show(about.waiting, about.lobby, now);
  if (!game) return;
  if (adopt()) players();
  if (name === "moved" && about.game === game.live?.game && about.side !== game.side) game.used = about.used;
  if (game.isOver && game.live?.reason !== before) outcome();
}

// Find the game in the live stream; return whether it is another one than before.
function adopt() {
  const before = game.live;
  const all = [...live.at.values()].sort((one, other) => (one.game < other.game ? 1 : -1)); // the newest first
  game.live = all.find((each) => each.game === before?.game) ?? all.find(isThis) ?? before;
  return game.live !== before;
}

function isThis({ players: both, moves, reason }) {
  const isNear = Math.abs(moves.length - game.moves.length) <= 2 && (reason === null || game.isOver);
  const isSame = moves.startsWith(game.moves) || game.moves.startsWith(moves);
  return isNear && isSame && both[game.side].name === me;
}

setInterval(() => {
  if (document.hidden) return;
  const now = performance.now();
  if (!find(".choose").hidden) lobby.tick(now);
  else if (!find(".wait").hidden) write(find(".waited"), minutes((now - asked) / 1000));
  else if (game) showClocks(page, game, opponent.kind === "house" || game.live ? Number(page.dataset.idle) : null, now);
}, TICK);

// Words.

function otherName() {
  return game.live?.players[1 - game.side].name ?? opponent.name ?? "your opponent";
}

function say(...parts) {
  said = parts;
  fill(find(".said"), ...parts);
  announce(find(".said").textContent);
}

function recalled() {
  try { return sessionStorage.getItem("name"); } catch { return null; }
}

function remember(name) {
  try { sessionStorage.setItem("name", name); } catch { /* it lasts as long as the page */ }
}
