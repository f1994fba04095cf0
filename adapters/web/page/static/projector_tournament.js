// The projector of a tournament: standings, the boards of the round, and when the next one begins. Without controls.
import { countDown } from "./countdown.js";
import { find, findAll, write } from "./dom.js";
import { isLong } from "./format.js";
import { localize } from "./header.js";
import { lasting, Pairs } from "./pairs.js";
import { Poll, readText } from "./read.js";

const PAUSE = 3_000;
const SOON = 400;
const TURN = 12_000;
const ROWS = 10; // rows of the standings that are shown at once
const FADE = 300;
const FIRST = 3; // rows that stay when the others change

const isStill = matchMedia("(prefers-reduced-motion: reduce)");
const main = find("main");
const { stream = "", source = "" } = document.body.dataset;
let page = 0;
let received = "";

const poll = new Poll(renew, () => PAUSE);
const pairs = new Pairs(main, stream, () => poll.after(SOON));
poll.after(0);

async function renew() {
  const html = await readText(source);
  if (html === null) return;
  const parts = new DOMParser().parseFromString(html, "text/html");
  const heading = find("template.heading", parts);
  const coming = find("template.coming", parts, HTMLTemplateElement);
  write(find(".note"), heading.dataset.note ?? "");
  showSaid(heading.dataset.said ?? "");
  find("header .coming").replaceChildren(...coming.content.childNodes);
  localize(find("header"));
  countDown();
  heading.remove();
  coming.remove();
  const kept = lasting(parts.body);
  if (kept === received) return;
  received = kept;
  main.replaceChildren(...parts.body.children);
  showPage();
  pairs.draw();
}

/** @param {string} text */
function showSaid(text) {
  const place = find(".said");
  place.hidden = text === "";
  write(place, text, isLong(text) ? "said long" : "said");
}

/**
 * Show one page, and return how many there are: of a table, its first rows and some of the others; before the
 * beginning, some columns of the players.
 */
function showPage() {
  const here = main.querySelector(".here");
  if (here) {
    const width = here.clientWidth + Number.parseFloat(getComputedStyle(here).columnGap);
    const count = Math.ceil(here.scrollWidth / width);
    page %= count;
    here.scrollLeft = page * width;
    return count;
  }
  const tables = findAll(".ranking", main);
  const pages = tables.flatMap((table) =>
    startsOf(findAll("tbody tr", table).length).map((start) => ({ table, start })),
  );
  page = pages.length ? page % pages.length : 0;
  for (const table of tables) {
    const isShown = table === pages[page].table;
    table.hidden = !isShown;
    if (!isShown) continue;
    const start = pages[page].start;
    for (const [index, row] of findAll("tbody tr", table).entries()) {
      row.hidden = index >= FIRST && !(index >= start && index < start + ROWS - FIRST);
    }
  }
  return pages.length;
}

/**
 * Return the first of the rows that are shown on each page of a table, below those that stay.
 * @param {number} rows
 */
function startsOf(rows) {
  const each = ROWS - FIRST;
  const count = Math.max(1, Math.ceil((rows - FIRST) / each));
  // The last page is as long as the others, so that the table keeps its height.
  return Array.from({ length: count }, (_, index) =>
    Math.max(FIRST, Math.min(FIRST + index * each, rows - each)),
  );
}

setInterval(() => {
  page++;
  if (showPage() < 2 || isStill.matches) return;
  const shown = main.querySelector(".ranking:not([hidden]) tbody, .here");
  shown?.animate([{ opacity: 0 }, { opacity: 1 }], FADE);
}, TURN);
setInterval(() => countDown(), 1_000);
