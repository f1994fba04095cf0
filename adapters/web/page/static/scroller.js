// Tables that scroll sideways where the window is narrow.
import { find, findAll } from "./dom.js";

const ENOUGH = 32; // pixels

/** Let the edge of each such table cut a column, so that it shows that there is more. */
export function cutColumns() {
  const sizes = new ResizeObserver((changes) => {
    for (const { target } of changes) cut(/** @type {HTMLElement} */ (target));
  });
  for (const card of findAll(".card:has(.scroller > .standings)")) sizes.observe(card);
}

/**
 * Widen the players' names until enough of a column is on both sides of the edge: half of a narrow one, a part of a wide one.
 * @param {HTMLElement} card
 */
function cut(card) {
  card.style.removeProperty("--widened");
  const place = find(".scroller", card);
  if (place.scrollWidth <= place.clientWidth) return;
  const edge = place.getBoundingClientRect().right - place.scrollLeft;
  const needed = findAll("thead th:not(.place, .player)", place).map((head) => {
    const { left, width } = head.getBoundingClientRect();
    const enough = Math.max(width / 5, Math.min(width / 2, ENOUGH));
    return edge - left < enough ? Infinity : Math.max(0, edge - left - (width - enough));
  });
  const least = Math.min(...needed);
  if (Number.isFinite(least)) card.style.setProperty("--widened", `${least}px`);
}
