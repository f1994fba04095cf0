// Tables that scroll sideways where the window is narrow: their edge shows that there is more.
import { find, findAll } from "./dom.js";

const sizes = new ResizeObserver((changes) => {
  for (const { target } of changes) cut(/** @type {HTMLElement} */ (target));
});

document.addEventListener("scroll", ({ target }) => target instanceof HTMLElement && fade(target), {
  capture: true,
  passive: true,
});

/** Let the edge of each such table cut a column in its middle, and fade while there is more behind it. */
export function cutColumns() {
  for (const card of findAll(".card:has(.scroller > .standings)")) sizes.observe(card);
}

/**
 * Widen the players' names until a column is cut in its middle.
 * @param {HTMLElement} card
 */
function cut(card) {
  card.style.removeProperty("--widened");
  const place = find(".scroller", card);
  fade(place);
  if (place.scrollWidth <= place.clientWidth) return;
  const edge = place.getBoundingClientRect().right - place.scrollLeft;
  const heads = findAll("thead th:not(.place, .player)", place).map((head) => head.getBoundingClientRect());
  const spare = heads.map(({ left, width }) => edge - left - width / 2);
  const least = Math.min(...spare.filter((each) => each >= 0));
  if (Number.isFinite(least)) card.style.setProperty("--widened", `${least}px`);
}

/**
 * Let the edge fade if there is more behind it.
 * @param {HTMLElement} place
 */
function fade(place) {
  if (!place.matches(".scroller")) return;
  place.classList.toggle("fades", place.scrollWidth - place.clientWidth - place.scrollLeft > 1);
}
