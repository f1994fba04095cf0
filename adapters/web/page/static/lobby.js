// Those who wait for an opponent, as a list to choose from. While the pointer or the focus is in it, nobody in it
// moves: who has gone is crossed out, and who comes is added at its end.
import { minutes, waits } from "./words.js";

const KINDS = JSON.parse(document.documentElement.dataset.kinds);

export class Lobby {
  // Lists in `list`, behind what is there; the number is in `title`.
  constructor(list, title) {
    Object.assign(this, { list, title, rows: new Map() });
    for (const event of ["pointerleave", "focusout"]) list.addEventListener(event, () => this.#tidy());
  }

  // Show who waits: [{name, kind, table, waited}], whose times hold for `now`.
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

function drawn({ name, kind, table }) {
  const [letter, word] = KINDS[kind] ?? ["?", kind];
  const button = made("button", "", "");
  button.type = "button";
  Object.assign(button.dataset, { name, kind, ...(table === null ? {} : { table }) });
  const about = made("span", "about", "");
  const words = made("span", "", "");
  about.append(words, ...(table === null ? [] : [", at table ", made("bdi", "", table)]));
  const who = made("span", "who", "");
  const shown = made("bdi", "name", name);
  shown.title = name;
  who.append(shown, about);
  const mark = made("span", "mark", letter);
  mark.setAttribute("aria-hidden", "true");
  button.append(mark, who, made("span", "go", "Play"));
  const element = made("li", "", "");
  element.append(button);
  return { element, button, words, title: word };
}

function made(kind, classes, text) {
  const element = document.createElement(kind);
  if (classes) element.className = classes;
  element.textContent = text;
  return element;
}
