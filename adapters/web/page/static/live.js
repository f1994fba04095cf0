// The view Live: the featured board, all other boards, the numbers of games, and what there is while nobody plays.
import { arranged, chosen, columns, followedIn, ranking } from "./arrangement.js";
import { Card } from "./card.js";
import "./copy.js";
import { arrange, find, isHeld, write } from "./dom.js";
import { Featured } from "./featured.js";
import { followed, onFollowing } from "./follow.js";
import { address, number, plural } from "./format.js";
import { Fragment } from "./fragment.js";
import { Games } from "./games.js";
import { showWaiting, tickWaiting } from "./live_lobby.js";
import { readJson } from "./read.js";
import { announce } from "./status.js";
import { Stream } from "./stream.js";

/**
 * @typedef {import("./games.js").Counts} Counts
 * @typedef {import("./games.js").LiveGame} LiveGame
 * @typedef {import("./games.js").StreamEvent} StreamEvent
 */

const TICK = 100;
const BETWEEN_ANNOUNCEMENTS = 10_000;
const BETWEEN_READINGS = 30_000;
const MINUTE = 60_000;
const SETTLING = 8_000; // within this time the ratings arrive
const STEP = 8; // boards that a phone adds at once
const FALLING = 2; // moves in two ticks; with more of them, discs do not fall
const CHOSEN = 20; // names of followed players that the stream accepts
const CHOSEN_LENGTH = 4_000; // characters of them in its address

const section = find(".live");
const grid = find(".boards");
const phone = matchMedia("(max-width: 639px)");
const most = Number(section.dataset.most);
const isFiltered = "filtered" in section.dataset;
const keeps = "keeps" in section.dataset;
const { title } = document;

const games = new Games();
/** @type {Map<number, Card>} The card of each place. */
const cards = new Map();
/** @type {number[]} The places whose cards are shown, in their order. */
let order = [];
let isDelayed = false; // whether something changes when the viewer no longer points at it
/** @type {Counts | null} */
let counts = null;
let moves = 0; // since the latest tick
let movesBefore = 0; // in the tick before
let drawn = phone.matches ? STEP : Infinity; // how many boards are drawn at most

// The parts that the server renders. With a filter there are only the boards.

const results = part(".results", "/live/results", () => {
  const list = section.querySelector(".results [data-today]");
  if (list instanceof HTMLElement) write(find(".today"), `${list.dataset.today} today`);
});
const idle = part(".idle", "/live/idle", () => {});

/**
 * @param {string} selector
 * @param {string} source
 * @param {() => void} changed
 */
function part(selector, source, changed) {
  const place = section.querySelector(selector);
  return place instanceof HTMLElement ? new Fragment(place, source, changed) : null;
}

/** On a phone the results come after the boards. The order of the document is that of the focus. */
function placeResults() {
  const place = section.querySelector(".latest");
  if (place) (phone.matches ? section : find(".first")).append(place);
}
placeResults();

// The featured game. With a filter there is none.

const featured = isFiltered
  ? null
  : new Featured(find(".featured"), {
      keeps,
      evaluates: "evaluates" in section.dataset,
      pair: section.dataset.pair ? JSON.parse(section.dataset.pair) : null,
      changed: stay,
    });
let isByStrength = false; // whether the featured game was chosen by its strength
const openedAt = performance.now();

/** Keep in the address with whom the viewer stays. */
function stay() {
  const there = new URL(location.href);
  for (const name of ["stay", "with"]) there.searchParams.delete(name);
  const pair = featured?.pair;
  if (pair) {
    there.searchParams.set("stay", pair[0]);
    there.searchParams.set("with", pair[1]);
  }
  history.replaceState(null, "", there);
  reconnect();
  show(performance.now());
}

/**
 * Show the featured game at `now`, and return whether another one waits for the pointer to go. The game is replaced when
 * the stream has it no longer, which is some seconds after its end. One that was chosen before the ratings were known is
 * replaced as soon as they are.
 * @param {number} now
 */
function feature(now) {
  if (!featured) return false;
  const ranked = ranking(games.at.values());
  const current = featured.game && games.get(featured.game.game);
  const isGuess = !isByStrength && now < openedAt + SETTLING;
  const isDue = !current || (isGuess && ranked.isByStrength);
  const next = isDue ? chosen(ranked.on, featured.pair) : current;
  const waits = isDue && next !== undefined && next !== current && featured.isHeld;
  if (next && !waits) featured.show(next, now);
  if (isDue && !waits) ({ isByStrength } = ranked);
  featured.explain(ranked);
  return waits;
}

// The stream.

const stream = new Stream(streamed(), receive);

/** Return the address of the stream, in which the games of chosen players have a place before those of others. */
function streamed() {
  return `${section.dataset.stream}&first=${chosenFirst(featured?.pair ?? [])}`;
}

/**
 * Return a parameter with the names of players whose games come first: some, and those that the viewer follows.
 * @param {string[]} some
 */
function chosenFirst(some = []) {
  const names = [...some, ...followed()].slice(0, CHOSEN);
  while (encodeURIComponent(JSON.stringify(names)).length > CHOSEN_LENGTH) names.pop();
  return encodeURIComponent(JSON.stringify(names));
}

function reconnect() {
  const there = streamed();
  if (there !== stream.address) stream.read(there);
}
onFollowing(() => {
  reconnect();
  show(performance.now());
});

/** @param {StreamEvent} event */
function receive(event) {
  const now = performance.now();
  if (event.name === "snapshot" || event.name === "counts") {
    counts = event.data;
    showWaiting(counts, now);
  }
  if (event.name === "moved") moves++;
  if (event.name === "ended") for (const each of [results, idle]) each?.expect(now);
  for (const place of games.apply(event, now)) {
    const game = games.at.get(place);
    const card = cards.get(place);
    if (card) card.board.isStill = movesBefore + moves > FALLING;
    card?.show(game, now);
    if (game && game.game === featured?.game?.game) featured.show(game, now);
  }
  if (event.name !== "moved" && event.name !== "away") show(now);
}

// The boards and the numbers of games.

/**
 * Show which boards there are, and all that depends on it.
 * @param {number} now
 */
function show(now) {
  const waits = feature(now);
  const all = arranged(games.at, featured?.game?.game, followed());
  const wanted = all.slice(0, drawn);
  // While the viewer points at a board no board moves, and new ones come last.
  const isFixed = order.length > 0 && isHeld(grid);
  order = isFixed ? [...new Set([...order, ...wanted])] : wanted;
  isDelayed = waits || isFixed;
  arrange(
    grid,
    order.map((place) => cardAt(place, now).element),
  );
  if (!isFixed) grid.dataset.columns = String(columns(order.length));
  grid.hidden = order.length === 0;
  showCounts(now, all.length - order.length);
  showTournaments();
  showFollowed();
}

/**
 * @param {number} place
 * @param {number} now
 */
function cardAt(place, now) {
  const there = cards.get(place);
  if (there) return there;
  const card = new Card();
  card.show(games.at.get(place), now);
  cards.set(place, card);
  return card;
}

/**
 * @param {number} now
 * @param {number} undrawn the number of games in the stream that are not drawn
 */
function showCounts(now, undrawn) {
  if (!counts) return;
  // If a place is free, the stream has all games. The counts may be a second old.
  const hasAll = isFiltered || games.at.size < most;
  const playing = [...games.at.values()].filter(({ reason }) => reason === null);
  const all = hasAll ? playing.length : counts.playing;
  const visible = playing.filter(({ game, place }) => order.includes(place) || game === featured?.game?.game);
  const more = Math.max(0, all - visible.length);
  const isIdle = all === 0 && games.at.size === 0;
  write(find(".playing"), isIdle && !isFiltered ? "Nobody is playing" : plural(all, "game"));
  const shown = `${number(visible.length)} ${visible.length === 1 ? "is" : "are"} shown`;
  write(find(".partly"), more ? shown : "");
  find(".foot").hidden = more === 0;
  write(find(".more-games"), plural(more, "more game"));
  // The server counts moves from the first viewer on, which may be this page.
  write(find(".rate"), now >= MINUTE ? `${plural(counts.moves, "move")} in the last minute` : "");
  find(".draw-more").hidden = undrawn <= 0;
  write(find(".draw-more"), undrawn > STEP ? `Show ${STEP} more` : `Show ${undrawn === 1 ? "it" : "them"}`);
  if (isFiltered) find(".nothing").hidden = games.at.size > 0;
  section.classList.toggle("is-idle", isIdle);
  section.classList.toggle("is-playing", !isIdle);
}

/** @param {number} boards */
function drawUpTo(boards) {
  drawn = boards;
  show(performance.now());
}
find(".draw-more").addEventListener("click", () => drawUpTo(drawn + STEP));
phone.addEventListener("change", () => {
  placeResults();
  drawUpTo(phone.matches ? STEP : Infinity);
});

/** Mark the players that the viewer follows. */
function showFollowed() {
  const names = followed();
  for (const place of order) {
    const game = games.at.get(place);
    for (const [side, player] of (cards.get(place)?.players ?? []).entries()) {
      player.classList.toggle("followed", game !== undefined && names.has(game.players[side].name));
    }
  }
  showTitle(games.at.values());
}

/**
 * Say in the title whether a player that the viewer follows plays one of these games.
 * @param {Iterable<Pick<LiveGame, "players" | "reason">>} all
 */
function showTitle(all) {
  const names = followed();
  const on = [...all].find((game) => game.reason === null && followedIn(game, names));
  const player = followedIn(on, names);
  const opponent = on?.players.find((each) => each !== player);
  const latest = player && opponent ? `● ${player.name} plays ${opponent.name} - c4gateway` : title;
  if (document.title !== latest) document.title = latest;
}

// The tournaments, whose tables have their names. The list is read again for a table that is not in it.

/** @type {Map<string, string>} The address of the view of each tournament, by the name of its table. */
const tournaments = new Map();
let readAt = -Infinity;

function showTournaments() {
  let isUnknown = false;
  for (const [element, game] of /** @type {[HTMLElement, LiveGame | undefined][]} */ ([
    ...order.map((place) => [cards.get(place)?.element, games.at.get(place)]),
    ...(featured ? [[find(".featured"), featured.game]] : []),
  ])) {
    const table = game?.table ?? null;
    const link = find(".tournament", element, HTMLAnchorElement);
    const there = table === null ? undefined : tournaments.get(table);
    isUnknown ||= table !== null && there === undefined;
    link.hidden = there === undefined;
    if (there === undefined || table === null) continue;
    link.href = there;
    write(find("bdi", link), table);
  }
  if (isUnknown && keeps) readTournaments();
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

// Clocks, what is read again, and announcements for screen readers from time to time.

setInterval(() => {
  if (document.hidden) return;
  const now = performance.now();
  [movesBefore, moves] = [moves, 0];
  if (stream.isOpen) {
    for (const place of order) cards.get(place)?.tick(now);
    featured?.tick(now);
  }
  tickWaiting(now);
  if (isDelayed && !isHeld(grid) && !featured?.isHeld) show(now);
  (section.classList.contains("is-idle") ? idle : results)?.tick(now);
}, TICK);

// A hidden page has no stream, but its title is in sight.
setInterval(async () => {
  if (!document.hidden || !followed().size) return;
  const live = await readJson(`/api/live?most=1&first=${chosenFirst()}`);
  if (live !== null && document.hidden) showTitle(live.games);
}, BETWEEN_READINGS);

let announced = "";
setInterval(() => {
  if (!counts) return;
  const text = `${find("h1").textContent.trim()}, ${find(".lobby .count").textContent}`;
  if (text !== announced) announce(text);
  announced = text;
}, BETWEEN_ANNOUNCEMENTS);
