// The moves of a game, in a list and in the dock: a slot for each move, and one for the illegal or missing move that lost
// the game. A slot shows who wins with perfect play after the move, and the time that the move took.
import { create, createSvg, find, findAll, reveal } from "./dom.js";
import { extent } from "./evaluation.js";
import { seconds } from "./format.js";

/**
 * @typedef {import("./evaluation.js").Evaluation} Evaluation
 * @typedef {import("./game.js").ShownGame} ShownGame
 * @typedef {import("./perfect.js").Turning} Turning
 */

const NUMBERED = 17; // half the pixels that a mark with a number takes

/** Shows the moves of a game, and which of them led to the shown position. */
export class Moves {
  #article;
  #game;
  /** @type {HTMLElement} */
  #marks;
  #bars;
  /** @type {SVGElement | null} */
  #strip;
  /** @type {Evaluation[]} The evaluations after each number of moves. */
  #evaluations = [];
  /** @type {Turning[]} The moves that turned the game. */
  turned = [];
  /** What is shown: the number of moves, and the evaluations of the moves of a side line after them. */
  #shown = { number: 0, tried: /** @type {Evaluation[]} */ ([]) };

  /**
   * Call `choose` with the number of each move that is clicked in the list, and of each slot that is chosen.
   * @param {HTMLElement} article
   * @param {ShownGame} game
   * @param {(number: number) => void} choose
   */
  constructor(article, game, choose) {
    this.#article = article;
    this.#game = game;
    this.#marks = find(".marks", article);
    this.#bars = find(".bars", article, SVGElement);
    this.#strip = article.querySelector(".strip");
    for (const link of findAll(".list a", article)) {
      link.addEventListener("click", (event) => {
        event.preventDefault();
        choose(Number(link.dataset.number));
      });
    }
    const track = find(".track", article);
    track.addEventListener("pointerdown", (event) => {
      if (event.target instanceof Element && event.target.closest("a")) return;
      track.setPointerCapture(event.pointerId);
      choose(this.#slotAt(event.clientX));
    });
    track.addEventListener("pointermove", (event) => {
      if (track.hasPointerCapture(event.pointerId)) choose(this.#slotAt(event.clientX));
    });
    addEventListener("resize", () => this.#mark());
  }

  /** Return the number of slots. */
  get #slots() {
    const made = this.#game.moves.length + (this.#game.attempt ? 1 : 0);
    return Math.max(1, made, this.#shown.number + this.#shown.tried.length);
  }

  /** @param {number} clientX */
  #slotAt(clientX) {
    const { left, width } = this.#bars.getBoundingClientRect();
    return Math.min(Math.ceil(((clientX - left) / width) * this.#slots), this.#game.moves.length);
  }

  /**
   * Set what is known of perfect play.
   * @param {Evaluation[]} evaluations after each number of moves
   * @param {Turning[]} turned
   */
  know(evaluations, turned) {
    this.#evaluations = evaluations;
    this.turned = turned;
    for (const { move } of turned) {
      const sign = this.#article.querySelector(`.list [data-number="${move}"] .sign`);
      if (!sign) continue;
      sign.textContent = "◆";
      sign.setAttribute("role", "img");
      sign.setAttribute("aria-label", "the game turned");
    }
    const place = this.#article.querySelector(".turned");
    if (place instanceof HTMLElement && turned.length) {
      const moves = turned.map(({ move }) => move).join(", ");
      const words = ` the game turned: move${turned.length === 1 ? "" : "s"} ${moves}`;
      place.replaceChildren(create("span", { textContent: "◆" }), words);
      place.hidden = false;
    }
    this.#draw();
  }

  /**
   * Mark the move that led to the shown position; 0 for none.
   * @param {number} number
   * @param {Evaluation[]} tried the evaluations of the moves of a side line after it
   */
  show(number, tried = []) {
    this.#shown = { number, tried };
    const scroll = this.#article.querySelector(".moves .scroll");
    for (const link of findAll(".list a", this.#article)) {
      const isCurrent = Number(link.dataset.number) === number;
      if (isCurrent) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
      const row = link.closest("tr");
      if (isCurrent && scroll && row) reveal(scroll, row);
    }
    this.#draw();
  }

  #draw() {
    const { moves, turns, attempt } = this.#game;
    const width = 100 / this.#slots;
    const used = [...moves].map((_, index) => turns[index]?.used ?? null);
    if (attempt) used.push(attempt.used);
    const longest = Math.max(1, ...used.map((each) => each ?? 0));
    const bars = used.map((each, index) => {
      const isBad = index === moves.length;
      const height = each === null ? 4 : Math.max(8, (50 * each) / longest);
      const what = isBad
        ? "bad"
        : index + 1 === this.#shown.number
          ? "current"
          : each === null
            ? "unknown"
            : "";
      const y = index % 2 ? 50 : 50 - height;
      return createSvg("rect", { class: what, ...across(index, width), y: `${y}%`, height: `${height}%` });
    });
    this.#bars.replaceChildren(...bars);
    if (attempt?.used) this.#bars.append(length(attempt.used, moves.length, width));
    if (this.#strip) this.#strip.replaceChildren(...this.#drawStrip(width));
    this.#mark();
  }

  /** @param {number} width of a slot, in percent */
  *#drawStrip(width) {
    const { number, tried } = this.#shown;
    yield createSvg("rect", { class: "cell", width: "100%", height: "100%", rx: 4 });
    yield createSvg("line", { class: "middle", x1: "0%", x2: "100%", y1: "50%", y2: "50%" });
    for (let index = 0; index < this.#slots; index++) {
      const at = index + 1 - number;
      const isTried = at > 0 && at <= tried.length;
      const evaluation = isTried
        ? tried[at - 1]
        : tried.length && at > 0
          ? null
          : this.#evaluations[index + 1];
      if (evaluation) yield value(evaluation, index, width, isTried);
      else if (isTried)
        yield createSvg("rect", { class: "tried", ...across(index, width), y: "15%", height: "70%" });
    }
    const current = number + tried.length;
    if (current)
      yield createSvg("rect", {
        class: "frame",
        ...across(current - 1, width),
        y: "2%",
        height: "96%",
        rx: 2,
      });
  }

  /** Mark the moves that turned the game, as links to the positions after them. */
  #mark() {
    const slots = this.#slots;
    const room = this.#marks.clientWidth / slots;
    const at = this.turned.map(({ move }) => move);
    const links = at.map((move, index) => {
      const nearest = Math.min(move - (at[index - 1] ?? -slots), (at[index + 1] ?? 2 * slots) - move);
      const link = create("a", { href: `#${move}`, textContent: "◆" });
      link.setAttribute("aria-label", `The game turned at move ${move}`);
      if (nearest * room >= 2 * NUMBERED) link.append(create("span", { textContent: ` ${move}` }));
      link.style.left = `${((move - 0.5) / slots) * 100}%`;
      return link;
    });
    this.#marks.replaceChildren(...links);
  }
}

/**
 * Return where a slot is, for a rectangle.
 * @param {number} index
 * @param {number} width
 */
function across(index, width) {
  return { x: `${(index + 0.05) * width}%`, width: `${0.9 * width}%` };
}

/**
 * Draw an evaluation: up for the first mover, down for the other player, and a line for a draw.
 * @param {NonNullable<Evaluation>} evaluation
 * @param {number} index
 * @param {number} width
 * @param {boolean} isTried
 */
function value(evaluation, index, width, isTried) {
  const place = across(index, width);
  const tried = isTried ? " tried" : "";
  if (evaluation.winner === null)
    return createSvg("rect", { class: `draw${tried}`, ...place, y: "47%", height: "6%" });
  const height = 45 * extent(evaluation, index + 1);
  const [side, y] = evaluation.winner === 0 ? ["first", 50 - height] : ["second", 50];
  return createSvg("rect", { class: `${side}${tried}`, ...place, y: `${y}%`, height: `${height}%`, rx: 1 });
}

/**
 * Write how long the illegal or missing move took, on the side of the opponent's bars.
 * @param {number} used
 * @param {number} index
 * @param {number} width
 */
function length(used, index, width) {
  const text = createSvg("text", {
    class: "length",
    x: `${(index + 0.5) * width}%`,
    y: index % 2 ? "42%" : "92%",
  });
  text.textContent = seconds(used);
  return text;
}
