// The projector: live games and standings in turns, without controls.
import { Card, write } from "./card.js";
import { Games } from "./games.js";
import "./notices.js";
import { Stream } from "./stream.js";
import { plural, waits } from "./words.js";

const TICK = 100;
const TURN = 12_000;

const find = (selector) => document.querySelector(selector);

let views = [{ element: find("[data-view=games]"), title: "Games now", note: "" }];
let shown = 0;

// The games.

const games = new Games();
const cards = Array.from({ length: Number(document.body.dataset.most) }, () => new Card(find("#card")));
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

// The turns. The page asks for the standings when it shows the games.

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
  if (!("keeps" in document.body.dataset)) return;
  try {
    const answer = await fetch("/board/standings");
    if (answer.ok && shown === 0) replace(await answer.text());
  } catch { /* the last ones stay */ }
}

function replace(standings) {
  const place = find(".standings");
  place.innerHTML = standings;
  const tables = [...place.querySelectorAll("table")];
  views = [views[0], ...tables.map((element) => ({ element, title: "Standings", note: element.dataset.note }))];
  showHead();
}
