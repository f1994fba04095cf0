// What the browser keeps for a viewer. It may deny its storage, as in some private windows: then a choice lasts until the
// page is left.

/** @typedef {"localStorage" | "sessionStorage"} Where the latter is kept until the tab is closed */

/**
 * Return the text that is kept under a key; null if there is none.
 * @param {string} key
 * @param {Where} [where]
 */
export function readStorage(key, where = "localStorage") {
  try {
    return globalThis[where].getItem(key);
  } catch {
    return null;
  }
}

/**
 * Keep a text under a key, and return whether the browser does.
 * @param {string} key
 * @param {string} text
 * @param {Where} [where]
 */
export function writeStorage(key, text, where = "localStorage") {
  try {
    globalThis[where].setItem(key, text);
    return true;
  } catch {
    return false;
  }
}
