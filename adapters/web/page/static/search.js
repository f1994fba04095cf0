// The search field of the header suggests games and players while somebody types: a combobox with a list (ARIA).
import { create, isolated } from "./dom.js";
import { address, kindOf, plural } from "./format.js";
import { readJson } from "./read.js";

const PAUSE = 120; // milliseconds without a key before the server is asked

/**
 * @typedef {object} Found as the server finds it
 * @property {string | null} game
 * @property {{ name: string, kind: string, games: number }[]} players
 */

/**
 * Return which of `count` suggestions is chosen after a key, -1 for none; null if the key chooses none.
 * @param {string} key
 * @param {number} chosen
 * @param {number} count
 */
export function chosenAfter(key, chosen, count) {
  if (!count) return null;
  if (key === "ArrowDown") return chosen + 1 < count ? chosen + 1 : -1;
  if (key === "ArrowUp") return chosen >= 0 ? chosen - 1 : count - 1;
  return null;
}

/** @param {HTMLInputElement} field */
export function suggest(field) {
  const list = create("ul", { id: "suggestions", className: "card suggestions", hidden: true });
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  field.setAttribute("role", "combobox");
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-controls", list.id);
  field.after(list);
  let chosen = -1;
  let timer = 0;
  /** @type {string[]} */
  let places = [];

  /** @param {number} index */
  function choose(index) {
    chosen = index;
    for (const [number, option] of [...list.children].entries()) {
      option.setAttribute("aria-selected", String(number === index));
    }
    const option = list.children[index];
    if (option) field.setAttribute("aria-activedescendant", option.id);
    else field.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  }

  function close() {
    clearTimeout(timer);
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
    choose(-1);
  }

  async function ask() {
    const typed = field.value.trim();
    /** @type {Found | null} */
    const found = await readJson(`/api/search?${new URLSearchParams({ for: typed })}`);
    if (!found || typed !== field.value.trim() || document.activeElement !== field) return;
    const options = [
      ...(found.game ? [{ place: address("game", found.game), parts: ["Game ", found.game] }] : []),
      ...found.players.map((player) => ({ place: address("player", player.name), parts: described(player) })),
    ];
    places = options.map(({ place }) => place);
    list.replaceChildren(...options.map(({ parts }, number) => option(number, parts)));
    list.hidden = !options.length;
    field.setAttribute("aria-expanded", String(!list.hidden));
    choose(-1);
  }

  field.addEventListener("input", () => {
    choose(-1); // it was made for the text before
    clearTimeout(timer);
    if (field.value.trim()) timer = setTimeout(ask, PAUSE);
    else close();
  });
  field.addEventListener("keydown", (event) => {
    if (list.hidden) return;
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && chosen >= 0) location.assign(places[chosen]);
    else {
      const index = chosenAfter(event.key, chosen, places.length);
      if (index === null) return;
      choose(index);
    }
    event.preventDefault();
  });
  field.addEventListener("blur", close);
  // The field keeps the focus, which the header needs on a phone.
  list.addEventListener("pointerdown", (event) => event.preventDefault());
  list.addEventListener("click", ({ target }) => {
    const index = [...list.children].findIndex((each) => target instanceof Node && each.contains(target));
    if (index >= 0) location.assign(places[index]);
  });
  close();
}

/**
 * @param {{ name: string, kind: string, games: number }} player
 * @returns {(string | Node)[]}
 */
function described({ name, kind, games }) {
  const [mark, title] = kindOf(kind);
  return [
    create("span", { className: "mark", textContent: mark, title }),
    isolated(name),
    create("small", { textContent: games ? plural(games, "game") : "new" }),
  ];
}

/**
 * @param {number} number
 * @param {(string | Node)[]} parts
 */
function option(number, parts) {
  const option = create("li", { id: `suggestion-${number}` });
  option.setAttribute("role", "option");
  option.append(...parts);
  return option;
}
