// The projector: shows live games and standings alternately, without controls.
import { Card } from "./card.js";
import { create, find, findAll, write } from "./dom.js";
import { plural, waits } from "./format.js";
import { Games } from "./games.js";
import "./notices.js";
import { readText } from "./read.js";
import { Stream } from "./stream.js";

/** @typedef {import("./games.js").Counts} Counts */
/** @typedef {{ element: HTMLElement, title: string, note: string }} View */

const TICK = 100;
const TURN = 12_000;

const boards = find(".boards");
const { stream: address, most, standings } = document.body.dataset;

/** @type {View} */
const live = { element: find("[data-view=games]"), title: "Games now", note: "" };
let views = [live];
let shown = 0;

// The games.

const games = new Games();
const cards = Array.from({ length: Number(most) }, () => new Card());
boards.append(...cards.map((card) => card.element));

const stream = new Stream(address ?? "", (event) => {
  const now = performance.now();
  if (event.name === "snapshot" || event.name === "counts") showCounts(event.data);
  if (event.name === "counts") return;
  for (const place of games.apply(event, now)) cards[place]?.show(games.at.get(place), now);
  boards.hidden = games.at.size === 0;
  find(".nothing").hidden = games.at.size > 0;
});
setInterval(() => {
  if (stream.isOpen) for (const card of cards) card.tick(performance.now());
}, TICK);

/** @param {Counts} counts */
function showCounts({ playing, waiting }) {
  live.title = playing ? `${plural(playing, "game")} now` : "No games now";
  live.note = waiting ? waits(waiting) : "";
  if (shown === 0) showHead();
}

// Changes the view every TURN milliseconds. The standings are loaded while the games are shown.

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
  const dots = views.length > 1 ? views : [];
  find(".dots").replaceChildren(
    ...dots.map((_, number) => create("span", { className: number === shown ? "dot now" : "dot" })),
  );
}

async function renew() {
  if (standings === undefined) return;
  const html = await readText(standings);
  if (html !== null && shown === 0) replaceStandings(html);
}

/** @param {string} html */
function replaceStandings(html) {
  const place = find(".standings");
  place.innerHTML = html;
  const tables = findAll("table", place);
  views = [
    live,
    ...tables.map((element) => {
      const { title = "Standings", note = "" } = element.dataset;
      return { element, title, note };
    }),
  ];
  showHead();
}
