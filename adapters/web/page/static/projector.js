// The projector: six games, then the standings, in turns. Nobody is there to press a button.
import { make } from "./board.js";
import { Card, showPlayer, write } from "./card.js";
import { Games } from "./games.js";
import { Stream } from "./stream.js";
import { plural, signed, waits } from "./words.js";

const TICK = 100;
const TURN = 12_000;
const PLACES = 6;
const ROWS = 8; // of the standings at once
const PAGES = 2; // of the standings
const KNOWN = 100; // players that are asked for, to count them

const find = (selector) => document.querySelector(selector);
const copy = (selector) => find(selector).content.firstElementChild.cloneNode(true);

const board = find("[data-view=games]");
let views = [{ element: board, title: "Games now", note: "" }];
let shown = 0;

// The games.

const games = new Games();
const cards = Array.from({ length: PLACES }, () => new Card(find("#card")));
find(".boards").append(...cards.map((card) => card.element));

const stream = new Stream(document.body.dataset.stream, (name, about) => {
  const now = performance.now();
  if (name === "snapshot" || name === "counts") showCounts(about);
  if (name === "counts") return;
  for (const place of games.apply(name, about, now)) cards[place]?.show(games.at.get(place), now);
  find(".boards").hidden = games.at.size === 0;
  find(".nothing").hidden = games.at.size > 0;
});
setInterval(() => {
  if (stream.isOpen) for (const card of cards) card.tick(performance.now());
}, TICK);

function showCounts({ playing, waiting }) {
  views[0].title = playing ? `${plural(playing, "game")} now` : "No games now";
  views[0].note = waiting ? waits(waiting) : "";
  if (shown === 0) showHead();
}

// The turns. Standings are asked for when the games come, and are there when those go.

setInterval(() => {
  views[shown].element.hidden = true;
  shown = (shown + 1) % views.length;
  views[shown].element.hidden = false;
  showHead();
  if (shown === 0) renew();
}, TURN);
renew();

function showHead() {
  write(find("h1"), views[shown].title);
  write(find(".note"), views[shown].note);
  find(".dots").replaceChildren(...(views.length > 1 ? views : []).map((_, number) => {
    const dot = document.createElement("span");
    dot.className = number === shown ? "dot now" : "dot";
    return dot;
  }));
}

async function renew() {
  try {
    const answer = await fetch(`/api/standings?limit=${KNOWN}`);
    if (answer.ok && shown === 0) replace(await answer.json());
  } catch { /* those of the last turn stay */ }
}

function replace({ standings, first_movers: { games: count } }) {
  for (const view of views.slice(1)) view.element.remove();
  views = [views[0]];
  const scale = scaleOf(standings.slice(0, ROWS * PAGES));
  for (let from = 0; from < Math.min(standings.length, ROWS * PAGES); from += ROWS) {
    const rows = standings.slice(from, from + ROWS);
    const element = copy("#standings");
    element.querySelector("tbody").append(...rows.map((row) => standing(row, scale)));
    board.parentElement.append(element);
    const all = standings.length < KNOWN ? ` of ${standings.length}` : "";
    const part = `${from + 1} to ${from + rows.length}${all}`;
    views.push({ element, title: "Standings", note: `${plural(count, "game")} · ${part}` });
  }
  showHead();
}

function standing(about, scale) {
  const row = copy("#standing");
  row.querySelector(".rank").textContent = about.rank;
  row.querySelector(".sure").textContent = signed(about.rating.sure);
  showPlayer(row, { name: about.name, kind: about.house ? "house" : about.kind });
  row.querySelector(".rating").append(ratingBar(about.rating, scale));
  row.querySelector(".score").append(scoreBar(about));
  return row;
}

// Pictures. Lengths are in the pixels of a screen 1920 wide.

const RATING = { width: 400, height: 64, guides: [0, 25, 50] };
const SCORE = { width: 340, height: 52, digit: 20 };

function scaleOf(standings) {
  const low = Math.min(0, ...standings.map(({ rating }) => rating.sure));
  const high = Math.max(50, ...standings.map(({ rating }) => rating.mean + 3 * rating.deviation));
  return (value) => 4 + (RATING.width - 20) * (value - low) / (high - low);
}

function ratingBar({ mean, deviation, sure }, x) {
  const middle = RATING.height / 2;
  const label = `rating ${mean.toFixed(1)}, give or take ${(3 * deviation).toFixed(1)}`;
  const bar = make("svg", { viewBox: `0 0 ${RATING.width} ${RATING.height}`, role: "img", "aria-label": label });
  for (const guide of RATING.guides) bar.append(make("path", { class: "guide", d: `M${x(guide)} 0V${RATING.height}` }));
  const one = { x: x(mean - deviation), width: x(mean + deviation) - x(mean - deviation) };
  bar.append(
    make("rect", { class: "likely", ...one, y: middle - 10, height: 20, rx: 4 }),
    make("path", { class: "range", d: `M${x(sure)} ${middle - 17}v34M${x(sure)} ${middle}H${x(mean + 3 * deviation)}` }),
    make("circle", { class: "mean", cx: x(mean), cy: middle, r: 12 }),
  );
  return bar;
}

function scoreBar({ games: count, won, drawn, lost }) {
  const label = `${won} won, ${drawn} drawn, ${lost} lost`;
  const bar = make("svg", { viewBox: `0 0 ${SCORE.width} ${SCORE.height}`, role: "img", "aria-label": label });
  let x = 0;
  for (const [kind, value] of [["won", won], ["drawn", drawn], ["lost", lost]]) {
    const width = SCORE.width * value / Math.max(1, count);
    if (value) bar.append(make("rect", { class: kind, x, width: Math.max(1, width - 2), height: SCORE.height }));
    if (width > 4 + SCORE.digit * String(value).length) {
      const text = make("text", { x: x + width / 2 - 1, y: SCORE.height / 2 + 11 });
      text.textContent = value;
      bar.append(text);
    }
    x += width;
  }
  return bar;
}
