// Announcements for screen readers, and the state of the live stream.

const status = document.querySelector("[role=status]");

// Announce something politely. It may replace an announcement that was not read yet.
export function announce(text) {
  if (status) status.textContent = text;
}

const shown = document.querySelector(".connection");

// Show "connected" or "connecting again".
export function showConnection(isOpen) {
  document.documentElement.classList.toggle("is-stale", !isOpen);
  if (!shown) return;
  shown.hidden = false;
  shown.classList.toggle("is-lost", !isOpen);
  shown.querySelector(".word").textContent = isOpen ? "connected" : "connecting again";
}
