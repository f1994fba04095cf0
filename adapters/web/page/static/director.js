// The view in which the operator directs a tournament. Takes the admin token from the address, reads the state of the
// tournament every few seconds, and draws it. What the person marks and types stays, and rows keep their places.
import { Acts, labelled, make, NAMELESS, Place } from "./director_forms.js";
import { Players } from "./director_players.js";
import { toAddHouse, toAwardTo, toEnd, toEnter, toSetNext } from "./director_questions.js";
import { formatOf, partsOf, progressOf, titleOf, whatIsOn } from "./director_state.js";
import { copyOf, create, fill, find, write } from "./dom.js";
import { address, number, plural } from "./format.js";
import { localize } from "./header.js";
import { readAnswer } from "./read.js";
import { announce, showConnection } from "./status.js";
import { readStorage, writeStorage } from "./storage.js";

/**
 * @typedef {import("./director_forms.js").Question} Question
 * @typedef {import("./director_questions.js").Asked} Asked
 * @typedef {import("./director_questions.js").Now} Now
 * @typedef {import("./director_forms.js").Reply} Reply
 * @typedef {import("./director_state.js").Answer} Answer
 * @typedef {import("./director_state.js").Entry} Entry
 * @typedef {import("./director_state.js").Need} Need
 */

const PERIOD = 2_000;
const TICK = 1_000;
const PATIENCE = 20_000; // milliseconds to wait for an answer
const TOKEN = "admin token"; // its key in sessionStorage
const LATEST = 6; // entries of the log that are shown at first

const view = find(".view");
const { home = "", api = "" } = view.dataset;

// The token. It is sent in a header only, to this server only, and is gone from the address before anything is read.

let token = takenToken();

/** Return the token in the address, which it takes out of it, or the one of before. */
function takenToken() {
  const fragment = location.hash.slice(1);
  if (!fragment || document.getElementById(fragment)) {
    return readStorage(TOKEN, "sessionStorage") ?? ""; // none, or a link within the page
  }
  history.replaceState(null, "", location.pathname + location.search);
  try {
    return keep(decodeURIComponent(fragment));
  } catch {
    return keep(fragment); // it has a % of its own
  }
}

/** @param {string} coming */
function keep(coming) {
  writeStorage(TOKEN, coming, "sessionStorage");
  return coming;
}

/**
 * Return the server's reply, or null if there is none.
 * @param {"GET" | "POST"} method
 * @param {string} path
 * @returns {Promise<Reply>}
 */
async function ask(method, path) {
  if (!/^[\x20-\xff]+$/.test(token)) return { status: 403, body: {} }; // no header can have it
  return await readAnswer(api + path, {
    method,
    headers: { Authorization: `Bearer ${token}` },
    mode: "same-origin",
    redirect: "error",
    cache: "no-store",
    signal: AbortSignal.timeout(PATIENCE),
  });
}

// Reading.

/** @type {Answer | null} */
let shown = null;
let asked = 0; // answers that were asked for, of which an older one must not replace a newer one
let newest = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let due;

/** @type {Now} */
const now = () => /** @type {Answer} */ (shown);

function begin() {
  addEventListener("hashchange", () => {
    token = takenToken() || token;
    read();
  });
  document.addEventListener("visibilitychange", read);
  // The second click of a double click, and a key that is held, must not press what the first one has brought.
  view.addEventListener("click", (event) => event.detail > 1 && isOnButton(event) && stop(event), true);
  view.addEventListener("keydown", (event) => event.repeat && event.key === "Enter" && stop(event), true);
  setInterval(() => players.tick(), TICK);
  read();
}

/** @param {Event} event */
function isOnButton({ target }) {
  return target instanceof Element && target.closest("button") !== null;
}

/** @param {Event} event */
function stop(event) {
  event.preventDefault();
  event.stopPropagation();
}

async function read() {
  clearTimeout(due);
  if (document.hidden || !token) return;
  const number = ++asked;
  const reply = await ask("GET", "/director");
  if (number < newest) return;
  newest = number;
  clearTimeout(due);
  if (reply?.status === 403) return refuse();
  due = setTimeout(read, PERIOD);
  if (reply?.status === 404 || reply?.status === 409) return miss(reply.body.error);
  showConnection(reply?.status === 200);
  if (reply?.status !== 200) return;
  const before = shown && whatIsOn(shown.report);
  shown = /** @type {Answer} */ (reply.body);
  draw(shown);
  if (before !== null && before !== whatIsOn(shown.report)) announce(titleOf(shown.report));
}

const acts = new Acts(
  async (act, parameters) => {
    const reply = await ask("POST", `/${act}?${new URLSearchParams(parameters)}`);
    if (reply === null) showConnection(false);
    if (reply?.status === 403) refuse();
    return reply;
  },
  read,
  () => shown?.players.map((player) => player.name) ?? [],
);

// Without a valid token, or without a tournament.

const instead = copyOf("#instead");
const tokenForm = find("form", instead);
const tokenField = find("input", instead, HTMLInputElement);

tokenForm.addEventListener("submit", (event) => {
  event.preventDefault();
  token = keep(tokenField.value.trim());
  read();
});

/** Say that the token is not valid, and ask for another one. */
function refuse() {
  token = keep("");
  replace("The server refused your token", "");
  tokenField.value = "";
  tokenField.focus();
}

/** @param {string} error */
function miss(error) {
  replace("It cannot be directed now", `The server says: ${error}.`);
}

/**
 * Show a text in place of the view, which stays as it is.
 * @param {string} title
 * @param {string} error empty if the token is not valid
 */
function replace(title, error) {
  if (!instead.isConnected) announce(title);
  write(find("h1", instead), title);
  write(find(".error", instead), error);
  tokenForm.hidden = error !== "";
  put(instead);
}

// The view.

const desk = copyOf("#desk");
const players = new Players(find(".whole-table", desk), acts);

/** @param {HTMLElement} content */
function put(content) {
  if (!content.isConnected) view.replaceChildren(content);
}

/** @param {Answer} answer */
function draw(answer) {
  put(desk);
  drawHead(answer);
  headPlace.renew();
  players.show(answer);
  drawNeeds(answer);
  drawAnnouncement(answer.report.announcement);
  drawLog(answer);
}

// The head.

const headPlace = new Place(find(".head-place", desk), acts);
const progress = find(".progress", desk);
const go = find(".go", desk);
const setNext = find(".next", desk);
const addHouse = find(".house", desk);
const enter = find(".enter", desk);
const end = find(".end", desk);
const signed = find(".signed", desk);
const signature = find("button", signed);

asksFor(setNext, toSetNext);
asksFor(addHouse, toAddHouse);
asksFor(enter, toEnter);
asksFor(end, toEnd);
go.addEventListener("click", () => {
  const words = find("span", go).textContent;
  headPlace.act(go, words, { act: words.toLowerCase() });
});
signature.addEventListener("click", () => headPlace.ask(signature, toSign()));

/**
 * @param {HTMLElement} opener
 * @param {Asked} question
 */
function asksFor(opener, question) {
  opener.addEventListener("click", () => headPlace.ask(opener, question(now)));
}

/** @returns {Question} */
function toSign() {
  const field = create("input", { value: acts.by, maxLength: 64, autocomplete: "name" });
  return {
    title: ["Your name"],
    fields: [labelled("Your name, for the log", field)],
    words: () => ["Take this name"],
    acts: () => {
      if (!field.value.trim()) return NAMELESS;
      acts.sign(field.value.trim());
      return [];
    },
  };
}

/** @param {Answer} answer */
function drawHead({ report, house }) {
  const { state, stage, next } = report;
  fill(signature, { name: acts.by });
  signed.hidden = !acts.by;
  write(find("h1", desk), titleOf(report));
  const parts = progressOf(report).map((part) => (typeof part === "string" ? part : timeOf(part.at)));
  progress.replaceChildren(...parts);
  localize(progress);
  const word = state === "open" ? "Start" : state === "paused" ? "Resume" : "Pause";
  write(find("span", go), word);
  go.classList.toggle("begins", word !== "Pause");
  const isOver = state === "over";
  const isClosed = isOver || stage > 1 || (formatOf(report) === "knockout" && state !== "open");
  go.hidden = end.hidden = isOver;
  setNext.hidden = formatOf(report) !== "swiss" || next?.stage !== stage;
  enter.hidden = isClosed;
  addHouse.hidden = isClosed || !house.length;
}

/**
 * Create an element that shows a time of the day, once it is localized.
 * @param {number} milliseconds
 */
function timeOf(milliseconds) {
  const time = create("time", { dateTime: new Date(milliseconds).toISOString() });
  time.dataset.precision = "minute";
  return time;
}

// What needs the person.

const needed = find(".needed", desk);
const again = find(".again", needed);
/** @type {Map<string, NeedItem>} */
const items = new Map();

again.addEventListener("click", () => {
  for (const { element } of items.values()) element.hidden = false;
  if (shown) draw(shown);
});

/** @param {Answer} answer */
function drawNeeds({ needs }) {
  const keys = new Set(needs.map(keyOf));
  for (const need of needs) {
    const item = items.get(keyOf(need)) ?? new NeedItem(need);
    items.set(keyOf(need), item);
    item.show(need);
  }
  for (const [key, item] of items) {
    item.place.renew();
    if (keys.has(key)) continue;
    item.settle();
    if (item.place.isOpen) continue; // what was typed stays
    item.element.remove();
    items.delete(key);
  }
  const ignored = [...items.values()].filter(({ element }) => element.hidden).length;
  const open = needs.length - ignored;
  const count = find(".number", needed);
  if (Number(count.textContent) < open)
    announce(`${plural(open, "game")} ${open === 1 ? "needs" : "need"} you.`);
  write(count, open ? String(open) : "");
  find(".quiet", needed).hidden = items.size > ignored;
  again.hidden = ignored === 0;
  write(find("button", again), `Show ${plural(ignored, "game")} that you let run`);
}

/** @param {Need} need */
function keyOf({ pairing, number, who, why }) {
  return JSON.stringify([pairing, number, who, why]);
}

/** A game that needs a decision. */
class NeedItem {
  element = copyOf("#need");
  place = new Place(find(".place", this.element), acts);

  /** @param {Need} need */
  constructor(need) {
    const { game, pairing, number, other } = need;
    const award = find(".to", this.element);
    fill(award, "Award to ", { name: other }, " …");
    award.addEventListener("click", () =>
      this.place.ask(award, toAwardTo(now, `${pairing}.${number}`, other)),
    );
    find(".run", this.element).addEventListener("click", () => {
      this.place.close();
      this.element.hidden = true;
      if (shown) draw(shown);
    });
    const position = find("a", this.element, HTMLAnchorElement);
    position.href = address("game", game ?? "");
    position.hidden = game === null;
    find(".needs", needed).append(this.element);
  }

  /** @param {Need} need */
  show({ pairing, number, players: [first, second], why, words }) {
    const head = make("b", "", `Game ${pairing}.${number}, `, { name: first }, " – ", { name: second }, ":");
    const reason = { stall: "stall", away: "away", absent: "not here" }[why];
    const said = make("span", "", ...partsOf(`${words}.`, [first, second]));
    find("p", this.element).replaceChildren(head, ` ${reason}. `, said);
    find(".acts", this.element).hidden = false;
  }

  /** Say that nothing is to be decided any more. */
  settle() {
    const buttons = find(".acts", this.element);
    if (!buttons.hidden) find("p", this.element).append(" This is settled by now.");
    buttons.hidden = true;
  }
}

// Announcing.

const announced = find(".announced", desk);
const announcePlace = new Place(find(".place", announced), acts);
const line = find("input", announced, HTMLInputElement);
const current = find(".current", announced);
const stopLine = find("button", current);

find("form", announced).addEventListener("submit", (event) => {
  event.preventDefault();
  const text = line.value.trim();
  if (!text) return line.focus();
  announcePlace.act(find("form button", announced), "Announce", { act: "announce", parameters: { text } });
});
stopLine.addEventListener("click", () => {
  announcePlace.act(stopLine, "End the announcement", { act: "announce" });
});

/** @param {string | null} text */
function drawAnnouncement(text) {
  const place = find("bdi", current);
  if (text !== place.textContent && text === line.value.trim()) line.value = ""; // it was announced
  current.hidden = text === null;
  write(place, text ?? "");
}

// The log.

const logged = find(".logged", desk);
const logPlace = new Place(find(".place", logged), acts);
const entries = find("ol", logged);
const undo = find(".undo", logged);
const whole = find(".all", logged);

let isWhole = false;

whole.addEventListener("click", () => {
  isWhole = !isWhole;
  if (shown) drawLog(shown);
});
undo.addEventListener("click", () => {
  const words = find("span", undo).textContent;
  const { number } = shown?.report.undo ?? {};
  logPlace.act(undo, words, { act: "undo", parameters: { number: `${number}` } });
});

/** @param {Answer} answer */
function drawLog({ report, players }) {
  const { log, undo: latest } = report;
  undo.hidden = latest === null;
  undo.title = latest ? `Undo “${latest.words}”` : "";
  write(find("span", undo), undo.title);
  whole.hidden = log.length <= LATEST;
  write(whole, isWhole ? "The latest" : `All ${number(log.length)} entries`);
  const listed = isWhole ? log : log.slice(-LATEST);
  const key = JSON.stringify(listed);
  if (entries.dataset.shown === key) return; // a text that is selected stays so
  entries.dataset.shown = key;
  const names = players.map((player) => player.name);
  entries.replaceChildren(...listed.toReversed().map((entry) => entryOf(entry, names)));
  if (!log.length) entries.append(make("li", "quiet", "Nothing was decided yet."));
  localize(entries);
}

/**
 * @param {Entry} entry
 * @param {string[]} names
 */
function entryOf({ made, by, words, why, undone }, names) {
  const who = make("span", "by", by === null ? "server" : { name: by });
  const [act] = words.split(" ");
  const rest = make("span", "", ...partsOf(words.slice(act.length), names));
  const text = make("span", "words", make("b", "", act), rest);
  if (undone) text.append(make("span", "mark-undone", " undone"));
  if (why) text.append(". ", make("span", "why", "“", { name: why }, "”"));
  return make("li", undone ? "undone" : "", timeOf(made), who, text);
}

if (token) begin();
else location.replace(home);
