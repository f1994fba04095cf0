// The way of a player through a bracket: the leader's, or that of the player who is pointed at or has the focus.
import { findAll } from "./dom.js";

/** @param {string | undefined} seed */
function showWay(seed) {
  for (const bracket of findAll(".bracket")) {
    const chosen = seed ?? bracket.dataset.leader;
    for (const each of bracket.querySelectorAll("[data-seed]")) {
      each.classList.toggle("way", each.getAttribute("data-seed") === chosen);
    }
  }
}

/** @param {EventTarget | null} target */
function seedAt(target) {
  const row = target instanceof Element ? target.closest(".bracket .side[data-seed]") : null;
  return row?.getAttribute("data-seed") ?? undefined;
}

/** Show the ways of players in the bracket of this page. */
export function showWays() {
  document.addEventListener("pointerover", ({ target }) => showWay(seedAt(target)));
  document.addEventListener("focusin", ({ target }) => showWay(seedAt(target)));
  showWay(undefined);
}
