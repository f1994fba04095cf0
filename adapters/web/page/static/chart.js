// Pointing at a chart: a rule at the nearest place of its axis, or at the one that the arrow keys choose, and what each
// line has there. The places and values are those of the chart's table, which is there for screen readers.
import { create, createSvg, find, findAll, isShortcut } from "./dom.js";
import { announce } from "./status.js";

const NEAR = 28; // pixels from a line within which it is pointed at
const APART = 12; // pixels between the rule and the box

/** @param {Node} element */
function copies(element) {
  return [...element.childNodes].map((each) => each.cloneNode(true));
}

/** A chart that shows its values at one place. */
class Chart {
  #svg;
  #rows;
  #names;
  #box = create("div", { className: "pointed", hidden: true });
  #rule = createSvg("g", { class: "rule" });
  #shown = -1;

  /** @param {HTMLElement} plot */
  constructor(plot) {
    this.plot = plot;
    this.#svg = find("svg.lines", plot, SVGSVGElement);
    this.#rows = findAll("tbody tr", plot);
    this.#names = findAll("thead th", plot).slice(1);
    this.#box.setAttribute("aria-hidden", "true"); // it is announced, and in the table
    this.#svg.append(this.#rule);
    plot.append(this.#box);
    this.#svg.setAttribute("tabindex", "0");
    this.#svg.setAttribute("aria-description", "The keys ← and → move a rule over the chart.");
    for (const type of ["pointermove", "pointerdown"]) {
      this.#svg.addEventListener(type, (event) => this.#point(/** @type {PointerEvent} */ (event)));
    }
    this.#svg.addEventListener("pointerleave", () => this.#show(-1));
    this.#svg.addEventListener("blur", () => this.#show(-1));
    this.#svg.addEventListener("keydown", (event) => this.#press(event));
  }

  /** @param {PointerEvent} event */
  #point({ clientX, clientY }) {
    const { left, top, width } = this.#svg.getBoundingClientRect();
    const x = (100 * (clientX - left)) / width;
    const distances = this.#rows.map(({ dataset }) => Math.abs(Number(dataset.x) - x));
    this.#show(distances.indexOf(Math.min(...distances)), clientY - top);
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const last = this.#rows.length - 1;
    const steps = { ArrowLeft: this.#shown < 0 ? last : this.#shown - 1, ArrowRight: this.#shown + 1 };
    const places = { ...steps, Home: 0, End: last, Escape: -1 };
    if (!isShortcut(event) || !(event.key in places)) return;
    event.preventDefault();
    const at = places[/** @type {keyof typeof places} */ (event.key)];
    this.#show(event.key === "Escape" ? -1 : Math.max(0, Math.min(at, last)));
    if (this.#shown < 0) return;
    const [head, ...cells] = findAll("th, td", this.#rows[this.#shown]);
    const values = cells.map((cell, index) => `${this.#names[index].textContent} ${cell.textContent}`);
    announce([head.textContent, ...values].join("; "));
  }

  /**
   * Show a place of the axis, or none for -1.
   * @param {number} number
   * @param {number} [y] of the pointer
   */
  #show(number, y = Number.NaN) {
    this.#shown = number;
    this.#box.hidden = number < 0;
    this.#rule.replaceChildren();
    const row = this.#rows[number];
    if (!row) return this.#choose(0);
    const cells = findAll("td", row);
    const marks = cells.map(({ dataset }) => (dataset.y === undefined ? Number.NaN : Number(dataset.y)));
    const distances = marks.map((mark) => (Math.abs(mark - y) <= NEAR ? Math.abs(mark - y) : NEAR + 1));
    const nearest = Math.min(...distances);
    this.#choose(nearest > NEAR ? 0 : distances.indexOf(nearest));
    const x = `${row.dataset.x}%`;
    this.#rule.append(createSvg("line", { x1: x, x2: x, y1: 0, y2: "100%" }));
    for (const mark of marks) {
      if (!Number.isNaN(mark)) this.#rule.append(createSvg("circle", { cx: x, cy: mark, r: 4 }));
    }
    const values = cells.flatMap((cell, index) => (cell.textContent ? [this.#valueOf(cell, index)] : []));
    this.#box.replaceChildren(create("p", { textContent: find("th", row).textContent }), ...values);
    this.#place(Number(row.dataset.x));
  }

  /**
   * Return the line of the box for a cell of the table.
   * @param {HTMLElement} cell
   * @param {number} index
   */
  #valueOf(cell, index) {
    const line = create("div");
    const series = this.#svg.querySelector(`.series-${index + 1}`);
    if (series) {
      const sample = createSvg("svg", { width: 26, height: 8 });
      sample.append(createSvg("path", { class: series.getAttribute("class") ?? "", d: "M0,4h26" }));
      line.append(sample);
    }
    const name = create("span", { className: "of" });
    name.append(...copies(this.#names[index]));
    line.append(name, ...copies(cell));
    return line;
  }

  /**
   * Draw one line as the chosen one.
   * @param {number} index
   */
  #choose(index) {
    for (const kind of [".band", ".series", ".line-end"]) {
      for (const [number, each] of this.#svg.querySelectorAll(kind).entries()) {
        each.classList.toggle("chosen", number === index);
      }
    }
  }

  /**
   * Place the box beside the rule.
   * @param {number} x in percent
   */
  #place(x) {
    const picture = this.#svg.getBoundingClientRect();
    const rule = picture.left - this.plot.getBoundingClientRect().left + (x * picture.width) / 100;
    const { offsetWidth } = this.#box;
    const left = x > 50 ? rule - APART - offsetWidth : rule + APART;
    const most = this.plot.clientWidth - offsetWidth;
    this.#box.style.setProperty("left", `${Math.max(0, Math.min(left, most))}px`);
  }
}

for (const plot of findAll(".plot")) new Chart(plot);
