// The view of a tournament: its live games, and the page, which is read again every few seconds to replace the parts
// that have changed.
import { countDown } from "./countdown.js";
import { isListing, listGames } from "./crosstable.js";
import { find, findAll } from "./dom.js";
import { localize } from "./header.js";
import { lasting, Pairs } from "./pairs.js";
import { Poll, readText } from "./read.js";
import { cutColumns } from "./scroller.js";
import { announce, showConnection } from "./status.js";

const PAUSE = 3_000;
const PAUSE_AT_END = 30_000; // once the tournament is over, which can be undone
const SOON = 400; // milliseconds from a game's begin or end to the next reading, since it is stored a moment later

const root = find(".tournament");
const stream = root.dataset.stream ?? "";

/** The HTML of each part as it was received. @type {Map<string, string>} */
const received = new Map();
for (const part of findAll("[data-part]", root)) received.set(part.dataset.part ?? "", lasting(part));

/** @type {string | null | undefined} The seed of the player in the bracket who is pointed at or has the focus. */
let pointed;

const poll = new Poll(renew, () => (root.dataset.state === "over" ? PAUSE_AT_END : PAUSE));
const pairs = new Pairs(root, stream, () => poll.after(SOON));

async function renew() {
  const html = await readText(location.href, { headers: { Accept: "text/html" } });
  if (!stream) showConnection(html !== null);
  if (html === null) return;
  const page = new DOMParser().parseFromString(html, "text/html");
  const after = page.querySelector(".tournament");
  if (!(after instanceof HTMLElement)) return;
  const state = find(".state", root).textContent;
  if (partsOf(root) !== partsOf(after) || !after.dataset.stream !== !stream) return location.reload();
  root.dataset.state = after.dataset.state;
  for (const part of findAll("[data-part]", root)) {
    replace(part, find(`[data-part="${part.dataset.part}"]`, after));
  }
  pairs.draw();
  countDown();
  showWay();
  if (find(".state", root).textContent !== state) announce(find(".state", root).textContent);
}

/** @param {HTMLElement} element */
function partsOf(element) {
  return findAll("[data-part]", element)
    .map((part) => part.dataset.part)
    .join();
}

/**
 * Replace the content of a part if it has changed. What the viewer has opened or scrolled stays so, and a part that the
 * viewer goes through by keys is not replaced meanwhile. A click leaves a focus behind, too, but not the viewer.
 * @param {HTMLElement} part
 * @param {HTMLElement} coming
 */
function replace(part, coming) {
  const name = part.dataset.part ?? "";
  const html = lasting(coming);
  part.className = coming.className;
  if (received.get(name) === html || part.querySelector(":focus-visible") || isListing(part)) return;
  received.set(name, html);
  for (const each of /** @type {HTMLDetailsElement[]} */ (findAll("details[id]", part))) {
    const same = coming.querySelector(`#${each.id}`);
    if (same instanceof HTMLDetailsElement) same.open = each.open;
  }
  const scrolled = findAll(".scroller", part).map((each) => each.scrollLeft);
  part.replaceChildren(...coming.childNodes);
  for (const [index, each] of findAll(".scroller", part).entries()) each.scrollLeft = scrolled[index] ?? 0;
  localize(part);
  cutColumns();
}

setInterval(() => countDown(), 1_000);
countDown();
listGames();
cutColumns();

// The way of a player through the bracket: the leader's, or that of the player who is pointed at or has the focus.

function showWay() {
  for (const bracket of findAll(".bracket", root)) {
    const chosen = pointed ?? bracket.dataset.leader;
    for (const each of bracket.querySelectorAll("[data-seed]")) {
      each.classList.toggle("way", each.getAttribute("data-seed") === chosen);
    }
  }
}

/** @param {Event} event */
function point({ target }) {
  const row = target instanceof Element ? target.closest(".bracket .side[data-seed]") : null;
  pointed = row?.getAttribute("data-seed");
  showWay();
}

document.addEventListener("pointerover", point);
document.addEventListener("focusin", point);
showWay();
