// The view Live: boards, waiting players, and the number of both.
import { Card, showPlayer, write } from "./card.js";
import { Games } from "./games.js";
import { fill, whyParts } from "./sentences.js";
import { announce } from "./status.js";
import { Stream } from "./stream.js";
import { minutes, number, plural, waits } from "./words.js";

const TICK = 100;
const BETWEEN_WORDS = 10_000;
const STEP = 8; // boards that a phone adds at once
const FALLING = 2; // moves in one tick; with more of them, discs do not fall

const find = (selector) => document.querySelector(selector);
const section = find(".live");
const grid = find(".boards");
const template = find("#card");
const phone = matchMedia("(max-width: 639px)");
const most = Number(section.dataset.most);
const isFiltered = "filtered" in section.dataset;

const games = new Games();
const cards = [];
let counts = null;
let moves = 0;
let drawn = phone.matches ? STEP : Infinity;

const stream = new Stream(section.dataset.stream, (name, about) => {
  const now = performance.now();
  if (name === "snapshot" || name === "counts") {
    counts = about;
    showWaiting(now);
  }
  if (name === "moved") grid.classList.toggle("busy", ++moves > FALLING);
  const places = name === "counts" ? [] : games.apply(name, about, now);
  if (name !== "moved") arrange(now);
  for (const place of places) cards[place]?.show(games.at.get(place), now);
  if (name !== "moved") showCounts();
});

// Draw a card for each place up to the last one in use. Cards never change their order.
function arrange(now) {
  const last = Math.max(-1, ...games.at.keys());
  const wanted = Math.min(last + 1, drawn);
  while (cards.length < wanted) {
    const card = new Card(template);
    card.show(games.at.get(cards.length), now);
    cards.push(card);
    grid.append(card.element);
  }
  cards.forEach((card, place) => { card.element.hidden = place >= wanted; });
}

function showCounts() {
  if (!counts) return;
  // If a place is free, the stream has all games. The counts may be a second old.
  const hasAll = isFiltered || games.at.size < most;
  const all = hasAll ? games.playing(Infinity) : counts.playing;
  const more = Math.max(0, all - games.playing(drawn));
  write(find(".playing"), plural(all, "game"));
  write(find(".newest"), more ? `the newest ${Math.min(games.at.size, drawn)} are drawn` : "");
  write(find(".more-games"), more ? plural(more, "more game") : "");
  // Moves count from when somebody began to watch, which may have been this page.
  const isWhole = performance.now() >= 60_000;
  write(find(".rate"), isWhole ? `${plural(counts.moves, "move")} in the last minute` : "");
  find(".draw-more").hidden = !(drawn < Math.max(-1, ...games.at.keys()) + 1);
  find(".nothing").hidden = games.at.size > 0;
  grid.hidden = games.at.size === 0;
}

find(".draw-more").addEventListener("click", () => {
  drawn += STEP;
  arrange(performance.now());
  showCounts();
});
phone.addEventListener("change", () => {
  drawn = phone.matches ? STEP : Infinity;
  arrange(performance.now());
  showCounts();
});

// The waiting players: some beside the heading, all in the list that opens.

const lobby = find(".lobby");
const list = find(".waiting");
const chips = [...document.querySelectorAll(".chips .wait")];

function showWaiting(now) {
  for (const each of counts.lobby) each.since = now - 1000 * each.waited;
  write(find(".lobby .count"), counts.waiting ? waits(counts.waiting) : "Nobody waits");
  write(find(".lobby .names"), counts.lobby.slice(0, 4).map((each) => each.name).join(", "));
  const hidden = counts.waiting - chips.length;
  write(find(".lobby .others"), hidden > 0 ? `${number(hidden)} more` : "");
  chips.forEach((chip, index) => showWait(chip, counts.lobby[index]));
  // Entries do not move under the pointer.
  if (lobby.open && !list.matches(":hover, :focus-within")) fillList();
}

function showWait(place, who) {
  place.hidden = !who;
  place.who = who;
  if (who) showPlayer(place, who);
}

function fillList() {
  list.replaceChildren(...(counts?.lobby ?? []).map((who) => {
    const item = find("#wait").content.firstElementChild.cloneNode(true);
    showWait(item, who);
    item.querySelector("a").href = address(who.name);
    item.querySelector(".table").hidden = who.table === null;
    item.querySelector(".table").title = who.table ?? "";
    item.querySelector(".table bdi").textContent = who.table ?? "";
    item.querySelector(".why").hidden = who.why === null;
    if (who.why) fill(item.querySelector(".why"), ...whyParts(who.why));
    return item;
  }));
  tick();
}
lobby.addEventListener("toggle", fillList);

// The address of a player's page. Browsers take the names . and .. for folders, so these are parameters.
function address(name) {
  const quoted = encodeURIComponent(name.toWellFormed());
  return /^\.\.?$/.test(name) ? `/player/?name=${quoted}` : `/player/${quoted}`;
}

// Clocks, and sometimes an announcement for screen readers.

function tick() {
  const now = performance.now();
  moves = 0;
  if (stream.isOpen) for (const card of cards) card.tick(now);
  for (const place of document.querySelectorAll(".wait:not([hidden])")) {
    if (place.who) write(place.querySelector(".waited"), minutes((now - place.who.since) / 1000));
  }
}
setInterval(tick, TICK);

let said = "";
function say() {
  if (!counts) return;
  const text = `${find("h1").textContent.trim()}, ${find(".lobby .count").textContent}`;
  if (text !== said) announce(text);
  said = text;
}
setInterval(say, BETWEEN_WORDS);
