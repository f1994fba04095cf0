// Measures the layout of a document as it is drawn now, and returns what is wrong with it as sentences.
//
// A leaf is what a person reads or uses: a text, a control, a picture, a card. `tests/browser/test_browser_layout.py`
// evaluates this file in a page, and calls measure() at each size of the window.

/**
 * @typedef {{left: number, top: number, right: number, bottom: number}} Box
 * @typedef {{node: Element | Text, element: Element, kind: string, boxes: Box[]}} Leaf
 */

const TOLERANCE = 1.5;
const CONTROLS = "button, input:not([type=hidden]), select, textarea, summary, a.button";
const SHAPES = "circle, rect, line, path, polyline, polygon, ellipse";
const UNDRAWN = "defs, pattern, clipPath, mask, symbol, marker, svg[width='0']";

/** @type {Map<Element, CSSStyleDeclaration>} */
const styles = new Map();

/** @param {Element} element */
function styleOf(element) {
  const found = styles.get(element) ?? getComputedStyle(element);
  styles.set(element, found);
  return found;
}

/** @param {Element} element */
function isShown(element) {
  const wanted = { opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true };
  return element.checkVisibility(wanted) && !element.closest(UNDRAWN);
}

/**
 * @param {DOMRect} rect
 * @param {number} [spare] the part of its height that is not looked at, above and below
 * @returns {Box}
 */
function boxOf(rect, spare = 0) {
  const away = spare * rect.height;
  return { left: rect.left, top: rect.top + away, right: rect.right, bottom: rect.bottom - away };
}

/**
 * @param {Box} one
 * @param {Box} other
 * @returns {Box}
 */
function intersection(one, other) {
  return {
    left: Math.max(one.left, other.left),
    top: Math.max(one.top, other.top),
    right: Math.min(one.right, other.right),
    bottom: Math.min(one.bottom, other.bottom),
  };
}

/** @param {Box} box */
function depth(box) {
  return Math.min(box.right - box.left, box.bottom - box.top);
}

/** @param {Element} element */
function named(element) {
  const classes = [...element.classList].map((each) => `.${each}`).join("");
  const text = (element.textContent ?? "").replace(/\s+/g, " ").trim().slice(0, 40);
  return `${element.tagName.toLowerCase()}${classes}${text && ` "${text}"`}`;
}

/** @returns {Leaf[]} */
function leaves() {
  /** @type {Leaf[]} */
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const element = node.parentElement;
    if (!element || !node.nodeValue?.trim() || element.closest("script, style, template, noscript, option")) {
      continue;
    }
    if (isShown(element)) {
      const range = document.createRange();
      range.selectNodeContents(node);
      // The box of a text is higher than its letters, and may be higher than its line.
      const boxes = [...range.getClientRects()]
        .filter((each) => each.width > 1)
        .map((each) => boxOf(each, 0.2));
      found.push({ node: /** @type {Text} */ (node), element, kind: "text", boxes });
    }
  }
  for (const element of document.querySelectorAll(`${CONTROLS}, svg, img, canvas, .card, ${SHAPES}`)) {
    const rect = element.getBoundingClientRect();
    // A range input lies over what it moves along.
    if (isShown(element) && rect.width > 0 && rect.height > 0 && !element.matches("[type=range]")) {
      const isShape = element.matches(SHAPES);
      const kind = isShape ? "shape" : element.matches(".card") ? "card" : "box";
      found.push({ node: element, element, kind, boxes: [boxOf(rect)] });
    }
  }
  return found;
}

/**
 * Yield the elements that cut a node off where it leaves their box, the innermost first.
 *
 * @param {Leaf} leaf
 */
function* cutters(leaf) {
  let position = leaf.kind === "text" ? "static" : styleOf(leaf.element).position;
  for (let at = leaf.node.parentElement; at && at !== document.body; at = at.parentElement) {
    if (position === "fixed") {
      return;
    }
    const style = styleOf(at);
    if (position !== "absolute" || style.position !== "static") {
      if (style.overflowX !== "visible" || style.overflowY !== "visible") {
        yield at;
      }
      position = style.position;
    }
  }
}

/**
 * Return the box in which an element shows what is in it: without its borders.
 *
 * @param {Element} element
 * @returns {Box}
 */
function inside(element) {
  const { left, top, right, bottom } = element.getBoundingClientRect();
  if (element instanceof SVGElement) {
    return { left, top, right, bottom };
  }
  const style = styleOf(element);
  const [upper, after, lower, before] = ["Top", "Right", "Bottom", "Left"].map((side) =>
    Number.parseFloat(style[/** @type {"borderTopWidth"} */ (`border${side}Width`)]),
  );
  return { left: left + before, top: top + upper, right: right - after, bottom: bottom - lower };
}

/**
 * Whether a text may end in an ellipsis: a line of the exchange, or what is whole in the title.
 *
 * @param {Element} element
 * @param {Element} cutter
 */
function mayEnd(element, cutter) {
  if (styleOf(cutter).textOverflow !== "ellipsis") {
    return false;
  }
  const titled = element.closest("[title]");
  const whole = titled?.getAttribute("title") ?? "";
  const text = (element.textContent ?? "").replace(/\s+/g, " ").trim();
  return cutter.matches(".wire, :has(.wire)") || whole.includes(text) || titled?.matches("th") === true;
}

/**
 * Return what is wrong with one leaf, and keep of its boxes what can be seen.
 *
 * @param {Leaf} leaf
 */
function clipped(leaf) {
  const scrolls = { across: false, down: false };
  let wrong = "";
  for (const cutter of cutters(leaf)) {
    const edge = inside(cutter);
    const style = styleOf(cutter);
    if (depth(edge) <= 1 || style.clipPath === "inset(50%)") {
      leaf.boxes = []; // for screen readers only
      return "";
    }
    scrolls.across ||= ["auto", "scroll"].includes(style.overflowX);
    scrolls.down ||= ["auto", "scroll"].includes(style.overflowY);
    for (const box of leaf.boxes) {
      const isCut =
        (!scrolls.across && (box.left < edge.left - TOLERANCE || box.right > edge.right + TOLERANCE)) ||
        (!scrolls.down && (box.top < edge.top - TOLERANCE || box.bottom > edge.bottom + TOLERANCE));
      if (isCut && !mayEnd(leaf.element, cutter)) {
        wrong ||= `clipped: ${named(leaf.element)} by ${named(cutter)}`;
      }
    }
    leaf.boxes = leaf.boxes.map((box) => intersection(box, edge)).filter((box) => depth(box) > 0);
  }
  const width = document.documentElement.clientWidth;
  if (!wrong && leaf.boxes.some((box) => box.left < -TOLERANCE || box.right > width + TOLERANCE)) {
    wrong = `outside the window: ${named(leaf.element)}`;
  }
  return wrong;
}

/**
 * Return what is wrong with a text that is longer than the frame, or the coloured ground, that it stands on.
 *
 * @param {Leaf} leaf
 */
function spilling(leaf) {
  const frame = leaf.kind === "text" ? framed(leaf.element) : null;
  if (!frame) return "";
  const { left, right } = frame.getBoundingClientRect();
  const spills = leaf.boxes.some((box) => box.left < left - TOLERANCE || box.right > right + TOLERANCE);
  return spills ? `out of its frame: ${named(leaf.element)} of ${named(frame)}` : "";
}

/** @param {Element} element */
function framed(element) {
  for (let at = /** @type {Element | null} */ (element); at && at !== document.body; at = at.parentElement) {
    const { backgroundColor, borderLeftWidth } = styleOf(at);
    if (borderLeftWidth !== "0px" || backgroundColor !== "rgba(0, 0, 0, 0)") return at;
  }
  return null;
}

/**
 * Return the element that is drawn over others on purpose, and has a leaf in it: one that stays when the
 * document scrolls, or that a script or style puts over others by a level of its own.
 *
 * @param {Element} element
 */
function layer(element) {
  for (let at = /** @type {Element | null} */ (element); at; at = at.parentElement) {
    const { position, zIndex } = styleOf(at);
    if (position === "fixed" || position === "sticky" || (position !== "static" && zIndex !== "auto")) {
      return at;
    }
  }
  return null;
}

/** @param {Leaf[]} all */
function overlapping(all) {
  const shown = all
    .filter((leaf) => leaf.kind !== "shape" && !leaf.element.closest("svg svg, svg *"))
    .flatMap((leaf) => leaf.boxes.map((box) => ({ ...leaf, box, layer: layer(leaf.element) })))
    .sort((one, other) => one.box.top - other.box.top);
  /** @type {string[]} */
  const found = [];
  for (const [index, one] of shown.entries()) {
    for (let at = index + 1; at < shown.length && shown[at].box.top < one.box.bottom; at += 1) {
      const other = shown[at];
      const isOwn = one.node.contains(other.node) || other.node.contains(one.node);
      if (!isOwn && one.layer === other.layer && depth(intersection(one.box, other.box)) > 2) {
        found.push(`overlap: ${named(one.element)} and ${named(other.element)}`);
      }
    }
  }
  return found;
}

/**
 * Return what is wrong with a table that scrolls sideways: its edge has to cut a column, about in the middle, and
 * the names have to stay.
 *
 * @param {Element} place
 */
function unmarked(place) {
  const edge = inside(place).right;
  const cut = [...place.querySelectorAll("thead th")]
    .map((each) => each.getBoundingClientRect())
    .find((each) => each.left < edge && edge <= each.right);
  const share = cut ? (edge - cut.left) / cut.width : 1;
  const row = place.querySelector("tbody th");
  place.scrollLeft = place.scrollWidth;
  const stays = !row || row.getBoundingClientRect().left > inside(place).left - TOLERANCE;
  place.scrollLeft = 0;
  return [
    ...(cut && (share < 0.15 || share > 0.85) ? [`no column is cut where it scrolls: ${named(place)}`] : []),
    ...(stays ? [] : [`the names scroll away: ${named(place)}`]),
  ];
}

/**
 * Return those of the boxes that scroll sideways which may not, and what is wrong with the others.
 *
 * @param {string} allowed a selector of what is in a box that may
 */
function scrolling(allowed) {
  return [...document.body.querySelectorAll("*")]
    .filter((each) => each.scrollWidth > each.clientWidth + TOLERANCE && isShown(each))
    .filter((each) => ["auto", "scroll"].includes(styleOf(each).overflowX))
    .flatMap((each) => (each.querySelector(allowed) ? unmarked(each) : [`scrolls sideways: ${named(each)}`]));
}

/** Return the hints in empty fields that are longer than the field. */
function longHints() {
  const pen = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  return [...document.querySelectorAll("input[placeholder]")]
    .filter((each) => isShown(each) && !(/** @type {HTMLInputElement} */ (each).value))
    .filter((each) => {
      const style = styleOf(each);
      pen.font = style.font;
      const room =
        each.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight);
      return pen.measureText(each.getAttribute("placeholder") ?? "").width > room + TOLERANCE;
    })
    .map((each) => `clipped: the hint "${each.getAttribute("placeholder")}"`);
}

/**
 * Return the first element of a selector that is drawn, if it is not wholly in the window and in front.
 *
 * @param {string} selector
 */
function unseen(selector) {
  const element = [...document.querySelectorAll(selector)].find(isShown);
  if (!element) {
    return [`missing: ${selector}`];
  }
  const { left, top, right, bottom } = element.getBoundingClientRect();
  const [middle, centre] = [(left + right) / 2, (top + bottom) / 2];
  const points = [
    [left + 2, centre],
    [right - 2, centre],
    [middle, top + 2],
    [middle, bottom - 2],
  ];
  const isInFront = points.every(([x, y]) => {
    const hit = document.elementFromPoint(x, y);
    // What lets clicks through is not hit, but what it is in.
    return hit && (element.contains(hit) || hit.contains(element));
  });
  const places = `${Math.round(top)} to ${Math.round(bottom)} of ${innerHeight}`;
  return isInFront ? [] : [`not in sight: ${selector} (${places})`];
}

/**
 * Return what is wrong with the document at this size of the window.
 *
 * @param {string[]} shown selectors of what has to be in sight
 * @param {string} allowed a selector of what may be in a box that scrolls sideways
 */
function measure(shown, allowed) {
  styles.clear();
  const all = leaves();
  const across = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  const found = [
    ...(across > 0 ? [`the document scrolls sideways by ${across}`] : []),
    ...all.map(clipped).filter(Boolean),
    ...all.map(spilling).filter(Boolean),
    ...overlapping(all),
    ...scrolling(allowed),
    ...longHints(),
    ...shown.flatMap(unseen),
  ];
  return [...new Set(found)];
}

Object.assign(globalThis, { measure });
