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
 * Create an element of a picture.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number>} [attributes]
 */
export function createSvg(tag, attributes = {}) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
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
 * Give an element these children, in this order. Those that stay are moved only if they have to be.
 * @param {Element} place
 * @param {Element[]} children
 */
export function arrange(place, children) {
  const wanted = new Set(children);
  for (const child of [...place.children]) if (!wanted.has(child)) child.remove();
  for (const [index, child] of children.entries()) {
    if (place.children[index] !== child) place.insertBefore(child, place.children[index] ?? null);
  }
}

/**
 * Return whether the viewer points at an element or has moved the focus into it, so that nothing in it may move.
 * @param {Element} place
 */
export function isHeld(place) {
  // A touch leaves :hover behind, and a click :focus: neither shows where the viewer is now.
  const hovers = matchMedia("(hover: hover)").matches && place.matches(":hover");
  return hovers || place.querySelector(":focus-visible") !== null;
}

/**
 * Scroll a list, but not the page, until a row of its table is visible below the head.
 * @param {Element} scroll
 * @param {HTMLTableRowElement} row
 */
export function reveal(scroll, row) {
  const head = row.closest("table")?.tHead?.offsetHeight ?? 0;
  const { scrollTop, clientHeight } = scroll;
  const isVisible =
    row.offsetTop >= scrollTop + head && row.offsetTop + row.offsetHeight <= scrollTop + clientHeight;
  if (!isVisible) scroll.scrollTop = row.offsetTop - clientHeight / 2;
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
