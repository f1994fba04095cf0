// The theme: that of the system, unless the button chose another. Runs before the first paint.
"use strict";

const theme = {
  choices: ["auto", "light", "dark"],
  get() {
    try { return localStorage.getItem("theme") || "auto"; } catch { return "auto"; }
  },
  set(choice) {
    try { localStorage.setItem("theme", choice); } catch { /* it lasts as long as the page */ }
    theme.show(choice);
  },
  show(choice) {
    if (choice === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
  },
  next(choice) {
    return theme.choices[(theme.choices.indexOf(choice) + 1) % theme.choices.length];
  },
};
theme.show(theme.get());
