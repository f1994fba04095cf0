// Shows the theme that the person chose, before the first paint: therefore no module. header.js has the button.
try {
  const choice = localStorage.getItem("theme");
  if (choice && choice !== "auto") document.documentElement.dataset.theme = choice;
} catch {
  // The theme is that of the system.
}
