// The waiting players, as a list to choose from. While the pointer or the focus is in the list, no entry moves: a
// player that has left is crossed out, and a new one is added at the end.
import { showPlayer } from "./card.js";
import { copyOf, find, isHeld, write } from "./dom.js";
import { kindOf, minutes, waits } from "./format.js";

/**
 * @typedef {import("./games.js").Waiting} Waiting
 * @typedef {{ element: HTMLElement, button: HTMLButtonElement, words: HTMLElement, title: string, since: number,
 *   isGone: boolean }} Row
 */

export class Lobby {
  #list;
  #title;
  /** @type {Map<string, Row>} */
  #rows = new Map();

  /**
   * Append the players to `list`, and show their number in `title`.
   * @param {HTMLElement} list
   * @param {HTMLElement} title
   */
  constructor(list, title) {
    this.#list = list;
    this.#title = title;
    for (const event of ["pointerleave", "focusout"]) list.addEventListener(event, () => this.#tidy());
  }

  /**
   * Show the waiting players, and how long each has waited at `now`.
   * @param {number} count
   * @param {Waiting[]} lobby
   * @param {number} now
   */
  show(count, lobby, now) {
    this.#title.textContent = count ? `${waits(count)} in the lobby` : "In the lobby";
    for (const row of this.#rows.values()) row.isGone = true;
    for (const each of [...lobby].sort((one, other) => other.waited - one.waited)) this.#put(each, now);
    this.#tidy();
    this.tick(now);
  }

  /** @param {number} now */
  tick(now) {
    for (const row of this.#rows.values()) {
      const waited = minutes(Math.max(0, now - row.since) / 1000);
      write(row.words, row.isGone ? "has gone" : `${row.title}, waits ${waited}`);
    }
  }

  /**
   * @param {Waiting} each
   * @param {number} now
   */
  #put(each, now) {
    const key = JSON.stringify([each.name, each.kind, each.table]);
    const since = now - 1000 * each.waited;
    const row = this.#rows.get(key);
    if (row) {
      Object.assign(row, { since, isGone: false });
      return;
    }
    const added = drawn(each, since);
    this.#rows.set(key, added);
    this.#list.append(added.element);
  }

  #tidy() {
    const isFixed = isHeld(this.#list);
    for (const [key, row] of this.#rows) {
      row.button.disabled = row.isGone;
      if (!row.isGone || isFixed) continue;
      row.element.remove();
      this.#rows.delete(key);
    }
  }
}

/**
 * @param {Waiting} player
 * @param {number} since
 * @returns {Row}
 */
function drawn(player, since) {
  const element = copyOf("#waiting");
  const button = find("button", element, HTMLButtonElement);
  const { name, kind, table } = player;
  Object.assign(button.dataset, { name, kind, ...(table === null ? {} : { table }) });
  showPlayer(element, player);
  find(".table", element).hidden = table === null;
  find(".table bdi", element).textContent = table ?? "";
  return { element, button, words: find(".words", element), title: kindOf(kind)[1], since, isGone: false };
}
