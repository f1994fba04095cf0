// The view of one game: it shows one position in the board, the list, the slider and the lines.
import { Board } from "./board.js";
import { isTyping } from "./header.js";
import { Moves } from "./moves.js";
import { askPerfect } from "./perfect.js";
import { announce } from "./status.js";
import { showTimes } from "./times.js";
import { watch } from "./watch.js";

const article = document.querySelector("article.game");
const game = JSON.parse(article.dataset.game);
const slider = article.querySelector(".track input");
const position = article.querySelector(".position code");
const where = article.querySelector(".where");
const scroll = article.querySelector(".exchange .scroll");
const rows = [...article.querySelectorAll(".lines tbody tr")];
const refused = rows.findLast((row) => row.classList.contains("refused"));

const board = new Board(document.getElementById("board"), { numbered: true });
const list = new Moves(article, game, show);
const perfect = askPerfect(article, game);
article.addEventListener("turned", (event) => list.turn(event.detail));
let shown = 0;
let on = null; // the live stream's game, while the game is live

// Show the position after `number` moves. This scrolls the lists, but not the page.
function show(number, { row = rowOf(number), quiet = false } = {}) {
  shown = Math.max(0, Math.min(number, game.moves.length));
  const words = told(shown);
  board.show(game.moves.slice(0, shown), words);
  slider.max = game.moves.length;
  slider.value = shown;
  slider.setAttribute("aria-valuetext", `move ${shown} of ${game.moves.length}`);
  where.textContent = `move ${shown} of ${game.moves.length}`;
  position.textContent = [...game.moves.slice(0, shown)].map((column) => Number(column) + 1).join("");
  list.mark(shown);
  showTimes(article, game, shown, on);
  perfect.show(shown);
  for (const each of rows) each.classList.toggle("current", each === row);
  if (row) reveal(row);
  if (!quiet) announce(words);
}

function told(number) {
  const { names, moves } = game;
  if (!number) return `empty board, ${names[0]} to move`;
  const made = `move ${number}, ${names[(number + 1) % 2]} column ${moves[number - 1]}`;
  return number < moves.length || !game.reason ? `${made}, ${names[number % 2]} to move` : made;
}

function rowOf(number) {
  return rows.find((row) => Number(row.dataset.move ?? 0) === number);
}

function reveal(row) {
  const head = row.closest("table").tHead.offsetHeight;
  const { scrollTop, clientHeight } = scroll;
  if (row.offsetTop >= scrollTop + head && row.offsetTop + row.offsetHeight <= scrollTop + clientHeight) return;
  scroll.scrollTop = row.offsetTop - clientHeight / 2;
}

function showRefused() {
  if (!refused) return;
  choosePart("exchange");
  show(Number(refused.dataset.after), { row: refused });
}

const steps = {
  first: () => show(0),
  back: () => show(shown - 1),
  on: () => show(shown + 1),
  last: () => show(game.moves.length),
};
const keys = {
  ArrowLeft: steps.back, ArrowRight: steps.on, Home: steps.first, End: steps.last,
  r: showRefused, s: perfect.toggle,
};

for (const button of article.querySelectorAll("[data-step]")) {
  button.addEventListener("click", steps[button.dataset.step]);
}
slider.addEventListener("input", () => show(Number(slider.value)));
document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  const act = keys[key.length === 1 ? key.toLowerCase() : key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey || isTyping(target)) return;
  if (target === slider && key.length > 1) return; // it moves by itself
  event.preventDefault();
  act();
});
for (const row of rows) {
  row.addEventListener("click", () => {
    if (getSelection().isCollapsed) show(Number(row.dataset.after), { row });
  });
}
article.querySelector("a[href='#refused']")?.addEventListener("click", (event) => {
  event.preventDefault();
  showRefused();
  scroll.scrollIntoView({ block: "nearest" });
  scroll.focus({ preventScroll: true });
});

const whole = article.querySelector(".whole");
whole?.addEventListener("click", () => {
  const isWhole = article.classList.toggle("is-whole");
  whole.setAttribute("aria-pressed", isWhole);
});

function choosePart(name) {
  article.classList.toggle("shows-moves", name === "moves");
  for (const button of article.querySelectorAll(".switch [data-part]")) {
    button.setAttribute("aria-pressed", button.dataset.part === name);
  }
}
for (const button of article.querySelectorAll(".switch [data-part]")) {
  button.addEventListener("click", () => choosePart(button.dataset.part));
}

const copy = article.querySelector(".copy");
copy.addEventListener("click", async () => {
  const isCopied = await copied(location.origin + location.pathname);
  copy.querySelector("span").textContent = isCopied ? "Copied" : "Cannot copy";
  announce(isCopied ? "Address copied" : "The address cannot be copied here");
  setTimeout(() => { copy.querySelector("span").textContent = "Copy address"; }, 2000);
});

// Without HTTPS a page can only copy what is selected.
async function copied(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text).then(() => true, () => false);
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  copy.focus();
  return done;
}

show(game.moves.length, { quiet: true });
if (scroll) scroll.scrollTop = scroll.scrollHeight;
if (refused && article.querySelector("a[href='#refused']")) reveal(refused);
if (article.hasAttribute("data-early") && !sessionStorage.getItem(location.pathname)) {
  sessionStorage.setItem(location.pathname, "reloaded"); // what was said is stored a moment after the result
  setTimeout(() => location.reload(), 1500);
}

if (game.stream) {
  watch(game, (found) => {
    const follows = shown === Number(slider.max);
    on = found;
    list.fill();
    show(follows ? game.moves.length : shown, { quiet: !follows });
  });
  setInterval(() => { if (on) showTimes(article, game, shown, on); }, 100);
}
