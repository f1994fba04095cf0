// The players that wait for an opponent, as a list to choose from. While the pointer or the focus is in the list, no
// entry moves: a player that has gone is crossed out, and a new one is added at the end.
import { showPlayer } from "./card.js";
import { kindOf, minutes, waits } from "./words.js";

export class Lobby {
  // Append the players to `list`, and show their number in `title`.
  constructor(list, title) {
    Object.assign(this, { list, title, rows: new Map() });
    for (const event of ["pointerleave", "focusout"]) list.addEventListener(event, () => this.#tidy());
  }

  // Show the players that wait: [{name, kind, table, waited}], with the times that they have waited at `now`.
  show(count, lobby, now) {
    this.title.textContent = count ? `${waits(count)} in the lobby` : "In the lobby";
    for (const row of this.rows.values()) row.isGone = true;
    for (const each of [...lobby].sort((one, other) => other.waited - one.waited)) this.#put(each, now);
    this.#tidy();
    this.tick(now);
  }

  tick(now) {
    for (const row of this.rows.values()) {
      const text = row.isGone ? "has gone" : `${row.title}, waits ${minutes(Math.max(0, now - row.since) / 1000)}`;
      if (row.words.textContent !== text) row.words.textContent = text;
    }
  }

  #put(each, now) {
    const key = JSON.stringify([each.name, each.kind, each.table]);
    const row = this.rows.get(key) ?? drawn(each);
    row.since = now - 1000 * each.waited;
    row.isGone = false;
    if (this.rows.has(key)) return;
    this.rows.set(key, row);
    this.list.append(row.element);
  }

  #tidy() {
    const isHeld = this.list.matches(":hover, :focus-within");
    for (const [key, row] of this.rows) {
      row.button.disabled = row.isGone;
      if (!row.isGone || isHeld) continue;
      row.element.remove();
      this.rows.delete(key);
    }
  }
}

function drawn(about) {
  const element = document.querySelector("#waiting").content.firstElementChild.cloneNode(true);
  const button = element.querySelector("button");
  const { name, kind, table } = about;
  Object.assign(button.dataset, { name, kind, ...(table === null ? {} : { table }) });
  showPlayer(element, about);
  element.querySelector(".table").hidden = table === null;
  element.querySelector(".table bdi").textContent = table ?? "";
  return { element, button, words: element.querySelector(".words"), title: kindOf(kind)[1] };
}
