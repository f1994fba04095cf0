// The view Games: a field that suggests names chooses one at once, and one menu is open at a time.
import { find, findAll } from "./dom.js";

find(".games-view .copy").hidden = false;

const menus = /** @type {HTMLDetailsElement[]} */ (findAll(".games-view details.menu"));

for (const field of /** @type {HTMLInputElement[]} */ (findAll(".choices input[list]"))) {
  field.addEventListener("input", (event) => {
    // A key that is typed also completes short names, which may be the beginning of a longer one.
    const isChosen = !(event instanceof InputEvent) || event.inputType === "insertReplacementText";
    const known = [...(field.list?.options ?? [])].some((option) => option.value === field.value);
    if (isChosen && known) field.form?.requestSubmit();
  });
}

for (const menu of menus) {
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary")?.focus();
  });
}

document.addEventListener("pointerdown", ({ target }) => {
  for (const menu of menus) if (!(target instanceof Node && menu.contains(target))) menu.open = false;
});
