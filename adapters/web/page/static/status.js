// Announcements for screen readers, and the state of the live stream.
import { find } from "./dom.js";

/**
 * Announce a text to screen readers. It replaces an earlier announcement, even if that was not read yet.
 * @param {string} text
 */
export function announce(text) {
  const status = document.querySelector("[role=status]");
  if (status) status.textContent = text;
}

/**
 * Show "connected" or "connecting again".
 * @param {boolean} isOpen
 */
export function showConnection(isOpen) {
  document.documentElement.classList.toggle("is-stale", !isOpen);
  const place = find(".connection");
  place.hidden = false;
  place.classList.toggle("is-lost", !isOpen);
  find(".word", place).textContent = isOpen ? "connected" : "connecting again";
}
