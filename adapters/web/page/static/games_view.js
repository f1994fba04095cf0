// The view Games: a field that suggests names chooses one at once.
import { find, findAll } from "./dom.js";

find(".games-view .copy").hidden = false;

for (const field of /** @type {HTMLInputElement[]} */ (findAll(".choices input[list]"))) {
  field.addEventListener("input", (event) => {
    // A key that is typed also completes short names, which may be the beginning of a longer one.
    const isChosen = !(event instanceof InputEvent) || event.inputType === "insertReplacementText";
    const known = [...(field.list?.options ?? [])].some((option) => option.value === field.value);
    if (isChosen && known) field.form?.requestSubmit();
  });
}
