// Tables with a column for each player, which scroll sideways where the window is narrow.
import { find, findAll } from "./dom.js";

/** Let the edge of each such table cut a column in its middle, so that it shows that there is more. */
export function cutColumns() {
  const sizes = new ResizeObserver((changes) => {
    for (const { target } of changes) cut(/** @type {HTMLElement} */ (target));
  });
  for (const card of findAll(".card:has(thead .rank)")) sizes.observe(card);
}

/** @param {HTMLElement} card */
function cut(card) {
  card.style.removeProperty("--column");
  const place = find(".scroller", card);
  if (place.scrollWidth <= place.clientWidth) return;
  const { left, width } = find("thead .rank", place).getBoundingClientRect();
  const room = place.getBoundingClientRect().right - left - place.scrollLeft;
  const whole = Math.max(1, Math.floor(room / width - 0.5));
  card.style.setProperty("--column", `${room / (whole + 0.5)}px`);
}
