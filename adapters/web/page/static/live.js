// The view Live: boards, waiting players, and the numbers of games and waiting players.
import { Card, showPlayer } from "./card.js";
import { copyOf, fill, find, findAll, write } from "./dom.js";
import { minutes, number, plural, waits } from "./format.js";
import { Games } from "./games.js";
import { readJson } from "./read.js";
import { announce } from "./status.js";
import { Stream } from "./stream.js";

/**
 * @typedef {import("./dom.js").Part} Part
 * @typedef {import("./games.js").Counts} Counts
 * @typedef {import("./games.js").Waiting} Waiting
 * @typedef {import("./games.js").Why} Why
 */

const TICK = 100;
const BETWEEN_ANNOUNCEMENTS = 10_000;
const BETWEEN_READINGS = 30_000;
const MINUTE = 60_000;
const STEP = 8; // boards that a phone adds at once
const FALLING = 2; // moves in one tick; with more of them, discs do not fall
const NAMED = 4; // waiting players named on a small screen

const section = find(".live");
const grid = find(".boards");
const phone = matchMedia("(max-width: 639px)");
const most = Number(section.dataset.most);
const isFiltered = "filtered" in section.dataset;

const games = new Games();
/** @type {Card[]} */
const cards = [];
/** @type {Counts | null} */
let counts = null;
let moves = 0; // since the latest tick
let drawn = phone.matches ? STEP : Infinity; // how many boards are drawn at most

const stream = new Stream(section.dataset.stream ?? "", (event) => {
  const now = performance.now();
  if (event.name === "snapshot" || event.name === "counts") {
    counts = event.data;
    showWaiting(counts, now);
  }
  if (event.name === "moved") grid.classList.toggle("busy", ++moves > FALLING);
  const places = games.apply(event, now);
  if (event.name !== "moved") arrange(now);
  for (const place of places) cards[place]?.show(games.at.get(place), now);
  if (event.name === "moved") return;
  showCounts();
  showTournaments();
});

/** Return the last place in use, plus one. */
function placesInUse() {
  return Math.max(-1, ...games.at.keys()) + 1;
}

/**
 * Draw a card for each place in use. Cards never change their order.
 * @param {number} now
 */
function arrange(now) {
  const wanted = Math.min(placesInUse(), drawn);
  while (cards.length < wanted) {
    const card = new Card();
    card.show(games.at.get(cards.length), now);
    cards.push(card);
    grid.append(card.element);
  }
  for (const [place, card] of cards.entries()) card.element.hidden = place >= wanted;
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
  // The server counts moves from the first viewer on, which may be this page.
  const isWhole = performance.now() >= MINUTE;
  write(find(".rate"), isWhole ? `${plural(counts.moves, "move")} in the last minute` : "");
  find(".draw-more").hidden = placesInUse() <= drawn;
  find(".nothing").hidden = games.at.size > 0;
  grid.hidden = games.at.size === 0;
}

/** @param {number} boards */
function drawUpTo(boards) {
  drawn = boards;
  arrange(performance.now());
  showCounts();
}
find(".draw-more").addEventListener("click", () => drawUpTo(drawn + STEP));
phone.addEventListener("change", () => drawUpTo(phone.matches ? STEP : Infinity));

// The tournaments, whose tables have their names. The list is read again for a table that is not in it.

/** @type {Map<string, string>} The address of the view of each tournament, by the name of its table. */
const tournaments = new Map();
let readAt = -Infinity;

function showTournaments() {
  let isUnknown = false;
  for (const [place, card] of cards.entries()) {
    const table = games.at.get(place)?.table ?? null;
    const link = find(".tournament", card.element, HTMLAnchorElement);
    const there = table === null ? undefined : tournaments.get(table);
    isUnknown ||= table !== null && there === undefined;
    link.hidden = there === undefined;
    if (there === undefined || table === null) continue;
    link.href = there;
    write(find("bdi", link), table);
  }
  if (isUnknown && "keeps" in section.dataset) readTournaments();
}

async function readTournaments() {
  const now = performance.now();
  if (now < readAt + BETWEEN_READINGS) return;
  readAt = now;
  /** @type {{ tournaments: { name: string }[] } | null} */
  const found = await readJson("/api/tournaments");
  if (found === null) return;
  for (const { name } of found.tournaments) tournaments.set(name, address("tournament", name));
  if (found.tournaments.length > 0) showTournaments();
}

// The waiting players: a few beside the heading, and all in a list that can be opened.

const lobby = find(".lobby", document, HTMLDetailsElement);
const list = find(".waiting");
const chips = findAll(".chips .wait");
/** @type {Map<HTMLElement, number>} The elements that show how long a player waits, and since when. */
const waitedIn = new Map();
let countedAt = 0; // when the counts arrived

/**
 * @param {Counts} counts
 * @param {number} now
 */
function showWaiting(counts, now) {
  countedAt = now;
  const { waiting, lobby: players } = counts;
  write(find(".count", lobby), waiting ? waits(waiting) : "Nobody waits");
  const names = players.slice(0, NAMED).map(({ name }) => name);
  write(find(".names", lobby), names.join(", "));
  const hidden = waiting - chips.length;
  write(find(".others", lobby), hidden > 0 ? `${number(hidden)} more` : "");
  for (const [index, chip] of chips.entries()) showWait(chip, players[index]);
  // The list does not change while the pointer or the focus is in it.
  if (lobby.open && !list.matches(":hover, :focus-within")) fillList();
}

/**
 * @param {HTMLElement} place
 * @param {Waiting | undefined} player
 */
function showWait(place, player) {
  place.hidden = !player;
  const waited = find(".waited", place);
  waitedIn.delete(waited);
  if (!player) return;
  showPlayer(place, player);
  waitedIn.set(waited, countedAt - 1000 * player.waited);
}

function fillList() {
  for (const waited of findAll(".waited", list)) waitedIn.delete(waited);
  const items = (counts?.lobby ?? []).map((player) => {
    const { name, table, why } = player;
    const item = copyOf("#wait");
    const place = find(".table", item);
    const reason = find(".why", item);
    showWait(item, player);
    find("a", item, HTMLAnchorElement).href = address("player", name);
    place.hidden = table === null;
    place.title = table ?? "";
    find("bdi", place).textContent = table ?? "";
    reason.hidden = why === null;
    if (why) fill(reason, ...reasonOf(why));
    return item;
  });
  list.replaceChildren(...items);
  tick();
}
lobby.addEventListener("toggle", fillList);

/**
 * Return why a player waits, as a sentence.
 * @param {Why} why
 * @returns {Part[]}
 */
function reasonOf({ cause, name, alike }) {
  if (cause === "alone") return ["no other player is at the table"];
  if (cause === "namesake") return ["two players called ", { name }, " never meet"];
  return [
    "wishes for ",
    { name },
    ", who is not here",
    ...(alike === null ? [] : ["; ", { name: alike }, " is"]),
  ];
}

/**
 * Return the address of a player's or a tournament's page. Browsers treat . and .. as folders, so these names become a
 * parameter.
 * @param {"player" | "tournament"} kind
 * @param {string} name
 */
function address(kind, name) {
  const quoted = encodeURIComponent(name.toWellFormed());
  return /^\.\.?$/.test(name) ? `/${kind}/?name=${quoted}` : `/${kind}/${quoted}`;
}

// Clocks, and announcements for screen readers from time to time.

function tick() {
  const now = performance.now();
  moves = 0;
  if (stream.isOpen) for (const card of cards) card.tick(now);
  for (const [place, since] of waitedIn) write(place, minutes((now - since) / 1000));
}
setInterval(tick, TICK);

let announced = "";
setInterval(() => {
  if (!counts) return;
  const text = `${find("h1").textContent.trim()}, ${find(".count", lobby).textContent}`;
  if (text !== announced) announce(text);
  announced = text;
}, BETWEEN_ANNOUNCEMENTS);
