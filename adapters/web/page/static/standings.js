// The choices apply as soon as they change; without scripts there is a button. On a phone another button unfolds them.
import { find } from "./dom.js";
import { cutColumns } from "./scroller.js";

const form = find("form.over", document, HTMLFormElement);
const fold = find(".fold");
const choices = find(".choices");

document.documentElement.classList.add("is-scripted");
form.addEventListener("change", () => form.reportValidity() && form.submit());
fold.addEventListener("click", () => {
  const isOpen = choices.classList.toggle("is-open");
  fold.setAttribute("aria-expanded", `${isOpen}`);
});
cutColumns();
