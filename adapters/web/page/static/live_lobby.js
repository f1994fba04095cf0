// The waiting players in the view Live: a few beside the heading, and all in a list that can be opened.
import { showPlayer } from "./card.js";
import { copyOf, fill, find, findAll, isHeld, write } from "./dom.js";
import { address, minutes, number, waits } from "./format.js";

/**
 * @typedef {import("./dom.js").Part} Part
 * @typedef {import("./games.js").Counts} Counts
 * @typedef {import("./games.js").Waiting} Waiting
 * @typedef {import("./games.js").Why} Why
 */

const NAMED = 4; // waiting players named on a small screen

const lobby = find(".lobby", document, HTMLDetailsElement);
const list = find(".waiting");
const chips = findAll(".chips .wait");
/** @type {Map<HTMLElement, number>} The elements that show how long a player waits, and since when. */
const waitedIn = new Map();
/** @type {Waiting[]} */
let waiting = [];
let countedAt = 0; // when the counts arrived

/**
 * Show who waits at `now`.
 * @param {Counts} counts
 * @param {number} now
 */
export function showWaiting(counts, now) {
  countedAt = now;
  waiting = counts.lobby;
  lobby.classList.toggle("nobody", counts.waiting === 0);
  write(find(".count", lobby), counts.waiting ? waits(counts.waiting) : "Nobody waits");
  const names = waiting.slice(0, NAMED).map(({ name }) => name);
  write(find(".names", lobby), names.join(", "));
  const hidden = counts.waiting - chips.length;
  write(find(".others", lobby), hidden > 0 ? `${number(hidden)} more` : "");
  for (const [index, chip] of chips.entries()) showWait(chip, waiting[index]);
  if (lobby.open && !isHeld(list)) fillList();
}

/**
 * Update how long each player has waited to `now`.
 * @param {number} now
 */
export function tickWaiting(now) {
  for (const [place, since] of waitedIn) write(place, minutes((now - since) / 1000));
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
  const items = waiting.map((player) => {
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
  list.hidden = items.length === 0;
  tickWaiting(performance.now());
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
