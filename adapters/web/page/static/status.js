// What screen readers are told, and whether the stream of events is connected.

const status = document.querySelector("[role=status]");

// Say something politely. What was said before need not have been read.
export function announce(text) {
  if (status) status.textContent = text;
}

const shown = document.querySelector(".connection");

// Show how the connection is: "connected" or "connecting again".
export function showConnection(isOpen) {
  document.documentElement.classList.toggle("is-stale", !isOpen);
  if (!shown) return;
  shown.hidden = false;
  shown.classList.toggle("is-lost", !isOpen);
  shown.querySelector(".word").textContent = isOpen ? "connected" : "connecting again";
}
