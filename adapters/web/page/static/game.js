// The view of one game: shows a position on the board, and marks it in the moves, the dock, the messages and the address.
import { Board, makeDisc } from "./board.js";
import "./copy.js";
import { create, createSvg, fill, find, findAll, isShortcut, reveal } from "./dom.js";
import { address } from "./format.js";
import { inWords } from "./games.js";
import { Moves } from "./moves.js";
import { Perfect, turningWords, verdict } from "./perfect.js";
import { readJson } from "./read.js";
import { COLUMNS, ending, notation, ROWS, roomOf } from "./rules.js";
import { announce } from "./status.js";
import { readStorage, writeStorage } from "./storage.js";
import { showTimes } from "./times.js";
import { Watch } from "./watch.js";

/**
 * The game that the page shows. Times are milliseconds.
 * @typedef {object} ShownGame
 * @property {string} game its id
 * @property {[string, string]} names
 * @property {string} moves the columns, each a digit
 * @property {import("./times.js").Turn[]} turns
 * @property {{ column: string, used: number | null } | null} attempt the illegal or missing move that lost the game
 * @property {[number, number]} [thought]
 * @property {import("./rules.js").Side | null} [winner]
 * @property {string | null} [reason] null while the game is on
 * @property {string} [stream] the address of its events, while it is on
 * @property {boolean} [is_kept] whether it will be stored
 */

const PACE = 800; // milliseconds for which a position is shown when the game is played through
const SETTLED = 250; // milliseconds after which a position is put into the address: browsers limit such changes
const EARLY = 1_500; // milliseconds after which the messages of a game are stored, too

const article = find("article.game");
/** @type {ShownGame} */
const game = JSON.parse(article.dataset.game ?? "");
const isOn = game.stream !== undefined;
const slider = find(".track input", article, HTMLInputElement);
const play = find(".play", article);
/** @type {HTMLElement | null} */
const scroll = article.querySelector(".exchange .scroll");
const toRefused = article.querySelector("a[href='#refused']");

const board = new Board(find("#board"), { numbered: true });
const ghost = createSvg("g", { class: "ghost" });
board.svg.append(ghost);
/** @type {Watch | undefined} Follows the game while it is on. */
let watch;
const list = new Moves(article, game, choose);
const perfect = new Perfect(article, game, showSolution, drop);
/** The moves of the game that are shown, and the columns of a side line after them. */
let shown = game.moves.length;
let tried = "";
/** @type {HTMLTableRowElement | undefined} The line of the exchange that is marked. */
let marked;
/** @type {ReturnType<typeof setInterval> | undefined} */
let playing;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let settling;
/** The address that is yet to be put into the bar. */
let settled = "";

/** Return the lines of the exchange. */
function rows() {
  return /** @type {HTMLTableRowElement[]} */ (findAll(".lines tr[data-after]", article));
}

/**
 * Show the position after `number` moves. This scrolls the lists, but not the page.
 * @param {number} number
 * @param {{ row?: HTMLTableRowElement, quiet?: boolean }} [options] the line to mark; whether to leave the address as it
 *   is, and to skip the announcement
 */
function show(number, { row, quiet = false } = {}) {
  shown = Math.max(0, Math.min(number, game.moves.length));
  tried = "";
  marked = row ?? rows().find((each) => Number(each.dataset.move ?? 0) === shown);
  const words = render();
  if (scroll && marked) reveal(scroll, marked);
  if (quiet) return;
  announce(words);
  settle();
}

/**
 * Show the position after `number` moves, and end the autoplay.
 * @param {number} number
 */
function choose(number) {
  stop();
  show(number);
}

/** Draw what is shown, and return it in words. */
function render() {
  const last = game.moves.length;
  const moves = game.moves.slice(0, shown) + tried;
  const isOver = tried ? ending(moves) !== null : shown === last && !isOn;
  const words = inWords(
    { moves, to_move: isOver ? null : moves.length % 2 ? 1 : 0, winner: null, reason: null },
    game.names,
  );
  board.show(moves, words);
  ghost.replaceChildren();
  slider.max = String(last);
  slider.value = String(shown);
  slider.setAttribute("aria-valuetext", `move ${shown} of ${last}`);
  find(".where", article).textContent = `Move ${shown} of ${last}.`;
  const position = article.querySelector(".position code");
  if (position) position.textContent = notation(moves);
  for (const each of rows()) each.classList.toggle("current", each === marked);
  list.show(shown, perfect.evaluationsOf(shown, tried));
  showTimes(article, game, shown, watch?.live ?? null);
  watch?.showEvaluation(shown);
  showTurning();
  if (!isOn) showTrial();
  perfect.show(shown, tried);
  return words;
}

/** Say whether the shown move turned the game. */
function showTurning() {
  const turning = tried ? undefined : list.turned.find(({ move }) => move === shown);
  const mover = { name: game.names[(shown + 1) % 2] };
  const words = turning ? [mover, " ", ...turningWords(turning, game.names), "."] : [];
  fill(find(".turning", article), ...words);
}

/** Show in the head which column the viewer tries. */
function showTrial() {
  const trying = find(".trying", article);
  article.classList.toggle("is-trying", tried !== "");
  if (!tried) return trying.replaceChildren();
  const back = create("button", { type: "button", className: "ask", textContent: "Back to the game" });
  back.addEventListener("click", () => show(shown));
  const what = `move ${shown + tried.length}, column ${tried.at(-1)}`;
  trying.replaceChildren(
    "You try: ",
    create("b", { textContent: what }),
    ". Nothing of it is stored. ",
    back,
  );
}

/** Show what perfect play says of the whole game. */
function showSolution() {
  const { solution } = perfect;
  if (solution) {
    const [lead, rest] = verdict(game, solution);
    find(".better", article).replaceChildren(create("strong", { textContent: lead }), rest);
    list.know(solution.evaluations, solution.turned);
  }
  render();
}

/**
 * Drop a disc into a column in a side line of a game that is over.
 * @param {number} column
 */
function drop(column) {
  const moves = game.moves.slice(0, shown) + tried;
  if (isOn || ending(moves)) return;
  stop();
  if (!roomOf(moves)[column]) return announce(`Column ${column} is full`);
  tried += column;
  announce(`You try: ${render()}`);
}

/** Take back the last disc of the side line, or the last move. */
function back() {
  if (tried.length < 2) return show(shown - (tried ? 0 : 1));
  tried = tried.slice(0, -1);
  announce(render());
}

/**
 * Show where a disc would land in the column that the mouse points at.
 * @param {PointerEvent} event
 */
function point(event) {
  const moves = game.moves.slice(0, shown) + tried;
  const column = board.columnAt(event.clientX);
  const room = roomOf(moves)[column];
  ghost.replaceChildren();
  if (event.pointerType !== "mouse" || ending(moves) || !room) return;
  const disc = makeDisc({ column, row: ROWS - room }, 0, 0.9);
  disc.setAttribute("class", "landing");
  ghost.append(disc);
}

function showRefused() {
  const row = rows().findLast((each) => each.classList.contains("refused"));
  if (!row) return;
  choosePart("exchange");
  show(Number(row.dataset.after), { row });
}

/** Link to the game that the two players play now, if they went on after a game that is just over. */
async function linkNext() {
  const [one, other] = game.names;
  const live = await readJson(`/api/live?player=${encodeURIComponent(one.toWellFormed())}&most=8`);
  /** @type {import("./games.js").StreamedGame | undefined} */
  const next = live?.games.find(
    (/** @type {import("./games.js").StreamedGame} */ { players, reason }) =>
      reason === null && players.some(({ name }) => name === other),
  );
  if (!next) return;
  const link = create("a", {
    className: "round",
    href: address("game", next.game),
    textContent: "Next ● on now",
  });
  find(".series", article).append(link);
}

// Autoplay.

function toggle() {
  if (playing !== undefined) return stop();
  if (!game.moves.length) return;
  show(shown === game.moves.length ? 0 : shown);
  playing = setInterval(() => {
    show(shown + 1);
    if (shown === game.moves.length) stop();
  }, PACE);
  showPlaying();
}

function stop() {
  clearInterval(playing);
  playing = undefined;
  showPlaying();
}

function showPlaying() {
  play.setAttribute("aria-pressed", String(playing !== undefined));
  play.setAttribute("aria-label", playing === undefined ? "Play it through" : "Pause");
}

// The address. Its fragment is the number of the shown move.

/** Return the move in the address; null if there is none that the game has. */
function addressed() {
  const digits = /^#([0-9]{1,2})$/.exec(location.hash)?.[1];
  return digits === undefined || Number(digits) > game.moves.length ? null : Number(digits);
}

function settle() {
  const follows = isOn && shown === game.moves.length;
  settled = location.pathname + location.search + (follows ? "" : `#${shown}`);
  clearTimeout(settling);
  settling = setTimeout(putAddress, SETTLED);
}

function putAddress() {
  clearTimeout(settling);
  if (settled) history.replaceState(history.state, "", settled);
  settled = "";
}

addEventListener("hashchange", () => {
  const number = addressed();
  if (number !== null && (number !== shown || tried)) choose(number);
});
addEventListener("pagehide", putAddress);
find(".copy", article).addEventListener("click", putAddress, { capture: true });

/** @type {Record<string, () => void>} */
const steps = {
  first: () => show(0),
  back,
  on: () => show(shown + 1),
  last: () => show(game.moves.length),
};
/** @type {Record<string, () => void>} */
const keys = {
  ArrowLeft: steps.back,
  ArrowRight: steps.on,
  Home: steps.first,
  End: steps.last,
  r: showRefused,
  s: () => perfect.toggle(),
  "[": () => go("prev"),
  "]": () => go("next"),
};
for (const column of Array(COLUMNS).keys()) keys[column] = () => drop(column);

/** @param {"prev" | "next"} towards */
function go(towards) {
  const link = article.querySelector(`a[rel=${towards}]`);
  if (link instanceof HTMLAnchorElement) link.click();
}

for (const button of findAll("[data-step]", article)) {
  button.addEventListener("click", () => {
    stop();
    steps[button.dataset.step ?? ""]();
  });
}
play.addEventListener("click", toggle);
slider.addEventListener("input", () => choose(Number(slider.value)));
document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (!isShortcut(event)) return;
  if (key === " " && !(target instanceof Element && target.closest("button, a, summary"))) {
    event.preventDefault();
    toggle();
    return;
  }
  const act = keys[key.length === 1 ? key.toLowerCase() : key];
  if (!act) return;
  stop();
  if (target === slider && key.length > 1) return; // the slider moves by itself
  event.preventDefault();
  act();
});
article.querySelector(".lines")?.addEventListener("click", ({ target }) => {
  const row = target instanceof Element ? target.closest("tr") : null;
  if (!row?.dataset.after || !getSelection()?.isCollapsed) return;
  stop();
  show(Number(row.dataset.after), { row });
});
toRefused?.addEventListener("click", (event) => {
  event.preventDefault();
  showRefused();
  scroll?.scrollIntoView({ block: "nearest" });
  scroll?.focus({ preventScroll: true });
});
if (!isOn) {
  board.svg.classList.add("tries");
  board.svg.addEventListener("pointermove", point);
  board.svg.addEventListener("pointerleave", () => ghost.replaceChildren());
  board.svg.addEventListener("click", ({ clientX }) => drop(board.columnAt(clientX)));
}

const whole = article.querySelector(".whole");
whole?.addEventListener("click", () => {
  const isWhole = article.classList.toggle("is-whole");
  whole.setAttribute("aria-pressed", String(isWhole));
});

const parts = findAll(".switch [data-part]", article);
for (const button of parts) button.addEventListener("click", () => choosePart(button.dataset.part));

/**
 * Choose what a small screen shows: the moves or the exchange.
 * @param {string | undefined} name
 */
function choosePart(name) {
  article.classList.toggle("shows-moves", name === "moves");
  for (const button of parts) button.setAttribute("aria-pressed", String(button.dataset.part === name));
}

show(addressed() ?? game.moves.length, { quiet: true });
const isAddressed = addressed() !== null;
if (scroll && !isAddressed) {
  scroll.scrollTop = scroll.scrollHeight;
  const refused = toRefused && rows().findLast((row) => row.classList.contains("refused"));
  if (refused) reveal(scroll, refused);
}
// The messages are stored a moment after the result. Where nothing can be kept, the page might reload again and again.
const isFirst = article.hasAttribute("data-early") && !readStorage(location.pathname, "sessionStorage");
if (isFirst && writeStorage(location.pathname, "reloaded", "sessionStorage")) {
  setTimeout(() => location.reload(), EARLY);
}

if (article.hasAttribute("data-recent")) linkNext();

if (game.stream) {
  watch = new Watch(article, game, game.stream, {
    changed: () => {
      const follows = shown === Number(slider.max);
      show(follows ? game.moves.length : shown, { quiet: !follows });
    },
    tick: () => showTimes(article, game, shown, watch?.live ?? null),
    evaluated: ({ evaluations, turned }) => {
      list.know(evaluations, turned);
      render();
    },
  });
}
