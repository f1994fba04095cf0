// Buttons that copy: the text in data-text, or the address of the page with its fragment.
import { create, find, findAll } from "./dom.js";
import { announce } from "./status.js";

const SHOWN = 2_000; // milliseconds for which a button shows "Copied"

for (const button of findAll("button.copy")) {
  const title = find("span", button);
  const usual = title.textContent;
  const what = button.dataset.text ?? "address";
  button.addEventListener("click", async () => {
    const isCopied = await copied(button.dataset.text ?? location.href, button);
    title.textContent = isCopied ? "Copied" : "Cannot copy";
    announce(isCopied ? `Copied: ${what}` : "Nothing can be copied here");
    setTimeout(() => {
      title.textContent = usual;
    }, SHOWN);
  });
}

/**
 * Copy a text; return whether that succeeded. Without HTTPS a page can only copy a selection.
 * @param {string} text
 * @param {HTMLElement} button what has the focus
 */
async function copied(text, button) {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const field = create("textarea", { value: text });
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  button.focus();
  return done;
}
