// The filters apply as soon as they change. Without scripts there is a button.
const form = /** @type {HTMLFormElement | null} */ (document.querySelector(".filters"));

if (form) {
  document.documentElement.classList.add("is-scripted");
  form.addEventListener("change", () => form.reportValidity() && form.submit());
}
