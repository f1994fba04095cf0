// Scripts of every view: the button for the theme, the search field, menus, and times in the viewer's time zone.
import { findAll, isShortcut } from "./dom.js";
import { age, date } from "./format.js";
import "./notices.js";
import { suggest } from "./search.js";
import { announce } from "./status.js";
import { writeStorage } from "./storage.js";

const THEMES = ["auto", "light", "dark"];
/** @type {Record<string, string>} */
const TITLES = { auto: "as in the system", light: "light", dark: "dark" };

const button = document.querySelector("button.theme");
const { dataset } = document.documentElement;

function labelTheme() {
  const label = `Theme: ${TITLES[dataset.theme ?? "auto"]}`;
  button?.setAttribute("aria-label", label);
  return label;
}

labelTheme();
button?.addEventListener("click", () => {
  const choice = THEMES[(THEMES.indexOf(dataset.theme ?? "auto") + 1) % THEMES.length];
  if (choice === "auto") delete dataset.theme;
  else dataset.theme = choice;
  writeStorage("theme", choice);
  announce(labelTheme());
});

const field = /** @type {HTMLInputElement | null} */ (document.querySelector(".top .search input"));
if (field) suggest(field);

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || !isShortcut(event) || !field) return;
  event.preventDefault();
  field.focus();
});

// Menus: one is open at a time. A click elsewhere or Escape closes it.

/** @param {EventTarget | null} target what was clicked */
function closeMenus(target) {
  for (const menu of /** @type {HTMLDetailsElement[]} */ (findAll("details.menu[open]"))) {
    if (!(target instanceof Node && menu.contains(target))) menu.open = false;
  }
}

document.addEventListener("pointerdown", ({ target }) => closeMenus(target));
document.addEventListener("keydown", ({ key, target }) => {
  if (key !== "Escape") return;
  if (target instanceof Element) target.closest("details.menu[open]")?.querySelector("summary")?.focus();
  closeMenus(null);
});

/** @type {Intl.DateTimeFormatOptions} */
const DAY = { day: "numeric", month: "short" };
/** @type {Intl.DateTimeFormatOptions} */
const MINUTE = { hour: "2-digit", minute: "2-digit" };
/** @type {Intl.DateTimeFormatOptions} */
const MONTH = { month: "short", year: "numeric" };
/** @type {Record<string, Intl.DateTimeFormatOptions>} */
const PRECISIONS = {
  second: { ...MINUTE, second: "2-digit" },
  minute: MINUTE,
  "day and minute": { ...DAY, ...MINUTE },
  day: DAY,
  month: MONTH,
};
/** @type {Intl.DateTimeFormatOptions} */
const WHOLE = { dateStyle: "medium", timeStyle: "medium" };
const LONG_AGO = 14 * 86_400_000; // milliseconds after which a time is shown as a date

/**
 * Format how long ago something was, as a day of this year or a month if it was long ago; or when it was, as in a
 * sentence.
 * @param {Date} at
 * @param {boolean} inSentence
 */
function passed(at, inSentence) {
  const milliseconds = Date.now() - at.getTime();
  const isLongAgo = milliseconds >= LONG_AGO;
  if (isLongAgo && inSentence) return `on ${date(at, { dateStyle: "medium" })}`;
  if (isLongAgo) return date(at, at.getFullYear() === new Date().getFullYear() ? DAY : MONTH);
  const words = age(milliseconds);
  return inSentence && words !== "yesterday" ? `${words} ago` : words;
}

/**
 * Show the times in `root` in the viewer's time zone.
 * @param {ParentNode} root
 */
export function localize(root) {
  for (const each of /** @type {HTMLTimeElement[]} */ (findAll("time[datetime]", root))) {
    const at = new Date(each.dateTime);
    const { precision = "" } = each.dataset;
    if (precision === "age" || precision === "ago") {
      each.title = date(at, WHOLE);
      each.textContent = passed(at, precision === "ago");
    } else {
      each.title = each.dateTime;
      each.textContent = date(at, PRECISIONS[precision] ?? WHOLE);
    }
  }
}
localize(document);
