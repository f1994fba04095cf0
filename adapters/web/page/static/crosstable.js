// The list of games at a cell of a cross-table: while the cell is pointed at or has the focus, below or above its row.
import { find } from "./dom.js";

const APART = 6; // pixels between the row and the list
const EDGE = 8; // pixels between the list and the edge of the window

/** @type {HTMLDetailsElement | null} */
let shown = null;

/** @param {EventTarget | null} target */
function cellAt(target) {
  const cell = target instanceof Element ? target.closest(".crosstable td.cell") : null;
  return /** @type {HTMLDetailsElement | null} */ (cell?.querySelector("details") ?? null);
}

/** @param {HTMLDetailsElement | null} cell */
function show(cell) {
  if (cell === shown) return;
  if (shown) shown.open = false;
  shown = cell;
  if (!cell) return;
  cell.open = true;
  place(cell);
}

/**
 * Place the list so that it covers no cell of its row.
 * @param {HTMLDetailsElement} cell
 */
function place(cell) {
  const list = find(".games", cell);
  const { left, width } = cell.getBoundingClientRect();
  const row = /** @type {Element} */ (cell.closest("tr")).getBoundingClientRect();
  const size = list.getBoundingClientRect();
  const start = Math.max(EDGE, Math.min(left + width / 2 - size.width / 2, innerWidth - size.width - EDGE));
  const isBelow = row.bottom + size.height + APART <= innerHeight || row.top < size.height + APART;
  list.style.setProperty("left", `${start}px`);
  list.style.setProperty("top", `${isBelow ? row.bottom : row.top - size.height}px`);
}

/** Show the lists of all cross-tables of this page when they are wanted. */
export function listGames() {
  if (!document.querySelector(".crosstable")) return;
  document.documentElement.classList.add("is-scripted");
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "touch") show(cellAt(event.target));
  });
  document.addEventListener("focusin", ({ target }) => show(cellAt(target)));
  document.addEventListener("focusout", ({ relatedTarget }) => !relatedTarget && show(null));
  document.addEventListener("keydown", ({ key }) => key === "Escape" && show(null));
  document.addEventListener("scroll", () => show(null), { capture: true, passive: true });
  document.addEventListener("click", (event) => {
    const cell = cellAt(event.target);
    if (!cell) return show(null);
    if (event.target instanceof Element && event.target.closest(".games")) return;
    event.preventDefault();
    const isTouch = event instanceof PointerEvent && event.pointerType === "touch";
    if (isTouch) show(cell);
    else location.assign(cell.dataset.newest ?? "");
  });
}

/** Return whether the list of a cell in `part` is shown. @param {Element} part */
export function isListing(part) {
  return shown !== null && part.contains(shown);
}
