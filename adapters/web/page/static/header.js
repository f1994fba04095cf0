// For every view: the theme's button, the search field's key, times in the viewer's zone.
/* global theme */
import "./notices.js";
import { announce } from "./status.js";

const WORDS = { auto: "as in the system", light: "light", dark: "dark" };

const button = document.querySelector("button.theme");
let choice = theme.get();
const label = () => button?.setAttribute("aria-label", `Theme: ${WORDS[choice]}`);
button?.addEventListener("click", () => {
  choice = theme.next(choice);
  theme.set(choice);
  label();
  announce(`Theme: ${WORDS[choice]}`);
});
if (button) label();

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const field = document.querySelector(".search input");
  if (!field) return;
  event.preventDefault();
  field.focus();
});

export function isTyping(target) {
  return target.matches?.("input:not([type=range]), textarea, select, [contenteditable]") ?? false;
}

const DAY = { day: "numeric", month: "short" };
const MINUTE = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const PRECISIONS = {
  second: { ...MINUTE, second: "2-digit" }, minute: MINUTE, "day and minute": { ...DAY, ...MINUTE }, day: DAY,
};
const WHOLE = { dateStyle: "medium", timeStyle: "medium" };
for (const each of document.querySelectorAll("time[datetime]")) {
  each.title = each.dateTime;
  each.textContent = new Date(each.dateTime).toLocaleString([], PRECISIONS[each.dataset.precision] ?? WHOLE);
}
