// Finds and creates elements of the page, and sets their text.

/**
 * Return the first element that matches `selector`. Throws an Error if there is none of this type.
 * @template {Element} [T=HTMLElement]
 * @param {string} selector
 * @param {ParentNode} [root]
 * @param {new () => T} [type]
 * @returns {T}
 */
export function find(selector, root = document, type = /** @type {any} */ (HTMLElement)) {
  const element = root.querySelector(selector);
  if (!(element instanceof type)) throw new Error(`There is no ${selector} here.`);
  return element;
}

/**
 * Return all HTML elements that match `selector`.
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} selector
 * @param {ParentNode} [root]
 * @returns {T[]}
 */
export function findAll(selector, root = document) {
  return [.../** @type {NodeListOf<T>} */ (root.querySelectorAll(selector))];
}

/**
 * Return a copy of a template's content.
 * @param {string} selector
 * @returns {HTMLElement}
 */
export function copyOf(selector) {
  const { content } = find(selector, document, HTMLTemplateElement);
  return /** @type {HTMLElement} */ (find("*", content).cloneNode(true));
}

/**
 * Create an element with these properties.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Partial<HTMLElementTagNameMap[K]>} [properties]
 * @returns {HTMLElementTagNameMap[K]}
 */
export function create(tag, properties = {}) {
  return Object.assign(document.createElement(tag), properties);
}

/**
 * Set the text and the classes of an element if they differ. Most ticks of a clock change neither.
 * @param {Element} place
 * @param {string} text
 */
export function write(place, text, classes = place.className) {
  if (place.textContent !== text) place.textContent = text;
  if (place.className !== classes) place.className = classes;
}

/**
 * A part of a sentence. A name may contain anything, so it is isolated from the text around it.
 * @typedef {string | { name: string }} Part
 */

/**
 * Show a sentence.
 * @param {Element} place
 * @param {...Part} parts
 */
export function fill(place, ...parts) {
  place.replaceChildren(...parts.map((part) => (typeof part === "string" ? part : isolated(part.name))));
}

/**
 * Create an element that shows a name.
 * @param {string} name
 */
export function isolated(name) {
  return create("bdi", { textContent: name, title: name });
}

/**
 * Return whether the page may handle a key. A key with Ctrl, Meta or Alt, or typed into a field, is not for the page.
 * @param {KeyboardEvent} event
 */
export function isShortcut({ ctrlKey, metaKey, altKey, target }) {
  const isTyped =
    target instanceof Element &&
    target.matches("input:not([type=range]), textarea, select, [contenteditable]");
  return !(ctrlKey || metaKey || altKey || isTyped);
}
