// Buttons that copy: the text in data-text, or the address of the page with its fragment.
import { create, find } from "./dom.js";
import { announce } from "./status.js";

const SHOWN = 2_000; // milliseconds for which a button shows "Copied"

document.addEventListener("click", async ({ target }) => {
  const button = target instanceof Element ? target.closest("button.copy") : null;
  if (!(button instanceof HTMLElement)) return;
  const title = find("span", button);
  button.dataset.usual ??= title.textContent;
  const isCopied = await copied(button.dataset.text ?? location.href, button);
  title.textContent = isCopied ? "Copied" : "Cannot copy";
  announce(isCopied ? `Copied: ${button.dataset.text ?? "address"}` : "Nothing can be copied here");
  setTimeout(() => {
    title.textContent = button.dataset.usual ?? "";
  }, SHOWN);
});

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
