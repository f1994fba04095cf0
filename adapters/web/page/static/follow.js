// The players that this browser follows, and the buttons that follow them: `button.follow` with the name in data-name.
// Live shows the games of these players first.
import { fill, find, findAll } from "./dom.js";
import { readStorage, writeStorage } from "./storage.js";

const KEY = "followed";

/** @type {Set<string>} */
let names = read();
/** @type {(() => void)[]} */
const listeners = [];

/** Return the names of the players that are followed, in the order in which they were chosen. */
export function followed() {
  return names;
}

/**
 * Call `listener` when the players that are followed change, in this tab or in another one.
 * @param {() => void} listener
 */
export function onFollowing(listener) {
  listeners.push(listener);
}

/**
 * Let a button follow this player, or whoever its data-name says, and show whether it does.
 * @param {HTMLElement} button
 */
export function showFollow(button, name = button.dataset.name ?? "") {
  const isFollowed = names.has(name);
  button.dataset.name = name;
  button.hidden = false;
  button.setAttribute("aria-pressed", String(isFollowed));
  button.title = isFollowed
    ? "Its games come first on Live, and the title of that tab says when it plays"
    : "Show its games first on Live, and say in the title of that tab when it plays";
  fill(find(".word", button), isFollowed ? "Following " : "Follow ", { name });
}

/** @returns {Set<string>} */
function read() {
  try {
    const stored = JSON.parse(readStorage(KEY) ?? "[]");
    return new Set(Array.isArray(stored) ? stored.filter((each) => typeof each === "string") : []);
  } catch {
    return new Set(); // something else is kept there
  }
}

/** @param {string} name */
function toggle(name) {
  names = new Set(names);
  if (!names.delete(name)) names.add(name);
  writeStorage(KEY, JSON.stringify([...names]));
  show();
}

function show() {
  for (const button of findAll("button.follow[data-name]")) showFollow(button);
  for (const listener of listeners) listener();
}

document.addEventListener("click", ({ target }) => {
  const button = target instanceof Element ? target.closest("button.follow") : null;
  if (button instanceof HTMLElement) toggle(button.dataset.name ?? "");
});
addEventListener("storage", ({ key }) => {
  if (key !== KEY && key !== null) return; // null: everything was removed
  names = read();
  show();
});
show();
