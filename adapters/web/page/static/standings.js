// The filters apply as soon as they are changed; without scripts there is a button for it.
const form = document.querySelector(".filters");

if (form) {
  document.documentElement.classList.add("is-scripted");
  form.addEventListener("change", () => form.reportValidity() && form.submit());
}
