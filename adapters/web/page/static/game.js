// The view of one game: shows one position on the board, and marks it in the moves, the slider and the messages.
import { Board } from "./board.js";
import "./copy.js";
import { find, findAll, isShortcut } from "./dom.js";
import { inWords } from "./games.js";
import { Moves } from "./moves.js";
import { askPerfect } from "./perfect.js";
import { notation } from "./rules.js";
import { announce } from "./status.js";
import { showTimes } from "./times.js";
import { watch } from "./watch.js";

/**
 * The game that the page shows. Times are milliseconds.
 * @typedef {object} ShownGame
 * @property {string} game its id
 * @property {[string, string]} names
 * @property {string} moves the columns, each a digit
 * @property {import("./times.js").Turn[]} turns
 * @property {{ column: string, used: number | null } | null} attempt the illegal move that ended the game
 * @property {[number, number]} [thought]
 * @property {import("./rules.js").Side | null} [winner]
 * @property {string | null} [reason] null while the game is on
 * @property {string} [stream] the address of its events, while it is on
 * @property {boolean} [is_kept] whether it will be stored
 */

const TICK = 100;
const EARLY = 1_500; // milliseconds after which the messages of a game are stored, too

const article = find("article.game");
/** @type {ShownGame} */
const game = JSON.parse(article.dataset.game ?? "");
const slider = find(".track input", article, HTMLInputElement);
const position = find(".position code", article);
const where = find(".where", article);
/** @type {HTMLElement | null} */
const scroll = article.querySelector(".exchange .scroll");
/** @type {HTMLTableRowElement[]} */
const rows = findAll(".lines tbody tr", article);
const refused = rows.findLast((row) => row.classList.contains("refused"));
const toRefused = article.querySelector("a[href='#refused']");

const board = new Board(find("#board"), { numbered: true });
const list = new Moves(article, game, show);
const perfect = askPerfect(article, game);
article.addEventListener("turned", (event) => list.turn(/** @type {CustomEvent<number[]>} */ (event).detail));
let shown = 0;
/** @type {import("./games.js").LiveGame | null} */
let live = null;

/**
 * Show the position after `number` moves. This scrolls the lists, but not the page.
 * @param {number} number
 * @param {{ row?: HTMLTableRowElement, quiet?: boolean }} [options] the line to mark; whether to skip the announcement
 */
function show(number, { row = rowOf(number), quiet = false } = {}) {
  const last = game.moves.length;
  shown = Math.max(0, Math.min(number, last));
  const moves = game.moves.slice(0, shown);
  const toMove = shown === last && game.reason ? null : shown % 2 ? 1 : 0;
  const words = inWords({ moves, to_move: toMove, winner: null, reason: null }, game.names);
  board.show(moves, words);
  slider.max = String(last);
  slider.value = String(shown);
  slider.setAttribute("aria-valuetext", `move ${shown} of ${last}`);
  where.textContent = `move ${shown} of ${last}`;
  position.textContent = notation(moves);
  list.mark(shown);
  showTimes(article, game, shown, live);
  perfect.show(shown);
  for (const each of rows) each.classList.toggle("current", each === row);
  if (row) reveal(row);
  if (!quiet) announce(words);
}

/** @param {number} number */
function rowOf(number) {
  return rows.find((row) => Number(row.dataset.move ?? 0) === number);
}

/**
 * Scroll the lines until this one is visible.
 * @param {HTMLTableRowElement} row
 */
function reveal(row) {
  if (!scroll) return;
  const head = row.closest("table")?.tHead?.offsetHeight ?? 0;
  const { scrollTop, clientHeight } = scroll;
  if (row.offsetTop >= scrollTop + head && row.offsetTop + row.offsetHeight <= scrollTop + clientHeight)
    return;
  scroll.scrollTop = row.offsetTop - clientHeight / 2;
}

function showRefused() {
  if (!refused) return;
  choosePart("exchange");
  show(Number(refused.dataset.after), { row: refused });
}

/** @type {Record<string, () => void>} */
const steps = {
  first: () => show(0),
  back: () => show(shown - 1),
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
  s: perfect.toggle,
};

for (const button of findAll("[data-step]", article)) {
  button.addEventListener("click", steps[button.dataset.step ?? ""]);
}
slider.addEventListener("input", () => show(Number(slider.value)));
document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  const act = keys[key.length === 1 ? key.toLowerCase() : key];
  if (!act || !isShortcut(event)) return;
  if (target === slider && key.length > 1) return; // the slider moves by itself
  event.preventDefault();
  act();
});
for (const row of rows) {
  row.addEventListener("click", () => {
    if (getSelection()?.isCollapsed) show(Number(row.dataset.after), { row });
  });
}
toRefused?.addEventListener("click", (event) => {
  event.preventDefault();
  showRefused();
  scroll?.scrollIntoView({ block: "nearest" });
  scroll?.focus({ preventScroll: true });
});

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

show(game.moves.length, { quiet: true });
if (scroll) scroll.scrollTop = scroll.scrollHeight;
if (refused && toRefused) reveal(refused);
if (article.hasAttribute("data-early") && !sessionStorage.getItem(location.pathname)) {
  sessionStorage.setItem(location.pathname, "reloaded"); // the messages are stored a moment after the result
  setTimeout(() => location.reload(), EARLY);
}

if (game.stream) {
  watch(game, game.stream, (latest) => {
    const follows = shown === Number(slider.max);
    live = latest;
    list.fill();
    show(follows ? game.moves.length : shown, { quiet: !follows });
  });
  setInterval(() => {
    if (live) showTimes(article, game, shown, live);
  }, TICK);
}
