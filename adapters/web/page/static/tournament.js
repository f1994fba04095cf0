// The view of a tournament: reads the page again every few seconds, and replaces the parts that have changed.
import { find, findAll } from "./dom.js";
import { localize } from "./header.js";
import { readText } from "./read.js";
import { announce, showConnection } from "./status.js";

const PAUSE = 3_000;

/** The HTML of each part as it was received. @type {Map<string, string>} */
const received = new Map();
for (const part of findAll("[data-part]")) received.set(part.dataset.part ?? "", part.innerHTML);

async function renew() {
  const html = await readText(location.href, { headers: { Accept: "text/html" } });
  showConnection(html !== null);
  if (html === null) return;
  const page = new DOMParser().parseFromString(html, "text/html");
  const before = find(".tournament");
  const after = page.querySelector(".tournament");
  if (!(after instanceof HTMLElement)) return;
  const state = find(".state").textContent;
  if (partsOf(before) !== partsOf(after)) return location.reload();
  before.dataset.state = after.dataset.state;
  for (const part of findAll("[data-part]", before)) {
    replace(part, find(`[data-part="${part.dataset.part}"]`, after));
  }
  if (find(".state").textContent !== state) announce(find(".state").textContent);
}

/** @param {HTMLElement} root */
function partsOf(root) {
  return findAll("[data-part]", root)
    .map((part) => part.dataset.part)
    .join();
}

/**
 * Replace the content of a part if it has changed. What the viewer has opened or scrolled stays so, and a part with
 * the focus in it is not replaced before the focus leaves it.
 * @param {HTMLElement} part
 * @param {HTMLElement} coming
 */
function replace(part, coming) {
  const name = part.dataset.part ?? "";
  const html = coming.innerHTML;
  if (received.get(name) === html || part.matches(":focus-within")) return;
  received.set(name, html);
  for (const each of /** @type {HTMLDetailsElement[]} */ (findAll("details", part))) {
    const same = coming.querySelector(`#${each.id}`);
    if (same instanceof HTMLDetailsElement) same.open = each.open;
  }
  const scrolled = findAll(".scroller", part).map((each) => each.scrollLeft);
  part.replaceChildren(...coming.childNodes);
  for (const [index, each] of findAll(".scroller", part).entries()) each.scrollLeft = scrolled[index] ?? 0;
  localize(part);
}

const timer = setInterval(async () => {
  if (document.hidden) return;
  await renew();
  if (find(".tournament").dataset.state === "over") clearInterval(timer);
}, PAUSE);
