// Applies the person's theme before the first paint, so it is no module. header.js has the button.
try {
  const choice = localStorage.getItem("theme");
  if (choice && choice !== "auto") document.documentElement.dataset.theme = choice;
} catch {
  // The system's theme applies.
}
