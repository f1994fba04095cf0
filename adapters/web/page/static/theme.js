// Applies the chosen theme before the first paint. Not a module, because modules run later. The button is in header.js.
try {
  const choice = localStorage.getItem("theme");
  if (choice && choice !== "auto") document.documentElement.dataset.theme = choice;
} catch {
  // The system's theme applies.
}
