// The game that Live features: a large board, who is stronger, who is winning, and what comes next.
import { praise } from "./arrangement.js";
import { Card } from "./card.js";
import { create, createSvg, fill, find, isHeld, write } from "./dom.js";
import { Evaluator, inSentence, showBar } from "./evaluation.js";
import { showFollow } from "./follow.js";
import { address, enumerated, kindOf, signed, thought } from "./format.js";
import { readText } from "./read.js";
import { SIDES } from "./rules.js";

/**
 * @typedef {import("./arrangement.js").Pair} Pair
 * @typedef {import("./dom.js").Part} Part
 * @typedef {import("./games.js").LiveGame} LiveGame
 * @typedef {import("./games.js").Rating} Rating
 * @typedef {import("./rules.js").Side} Side
 * @typedef {ReturnType<typeof import("./arrangement.js").ranking>} Ranking
 * @typedef {import("./evaluation.js").Evaluated} Evaluated
 */

const BAR = { width: 150, height: 22, margin: 5 };
const LISTED = 4; // moves that turned the game; of more, only the last one is listed
const GUIDES = [0, 25, 50];

export class Featured {
  /** @type {LiveGame | undefined} The game that is shown, as it was when the stream had it last. */
  game;
  /** @type {Pair | null} The players with which the viewer stays. */
  pair;
  #element;
  #card;
  #keeps;
  /** @type {Winning | null} */
  #evaluator = null;

  /**
   * @param {HTMLElement} element
   * @param {{ keeps: boolean, evaluates: boolean, pair: Pair | null, changed: () => void }} options `changed` is called
   *   when the viewer decides to stay with a pair, or no longer
   */
  constructor(element, { keeps, evaluates, pair, changed }) {
    this.pair = pair;
    this.#element = element;
    this.#card = new Card(element);
    this.#keeps = keeps;
    if (evaluates) this.#evaluator = new Winning(find(".worth", element));
    find(".stay", element).addEventListener("click", () => {
      this.pair = this.pair ? null : this.#names();
      this.#showStay();
      changed();
    });
    this.#showStay();
  }

  get isHeld() {
    return isHeld(this.#element);
  }

  /**
   * Show a game at `now`.
   * @param {LiveGame} game
   * @param {number} now
   */
  show(game, now) {
    if (game === this.game) return;
    const isOther = game.game !== this.game?.game;
    const { ratings } = this.game ?? {};
    this.game = game;
    this.#element.hidden = false;
    this.#card.show(game, now);
    if (isOther) this.#introduce(game);
    if (isOther || ratings !== game.ratings) this.#showRatings(game);
    for (const side of SIDES) {
      const place = find(`.thought[data-side="${side}"]`, this.#element);
      write(place, game.moves.length > side ? `thought ${thought(1000 * game.thought[side])}` : "");
    }
    this.#evaluator?.show(game, now);
  }

  /** @param {number} now */
  tick(now) {
    this.#card.tick(now);
    this.#evaluator?.tick(now);
  }

  /**
   * Say why this game is featured, and what comes after it.
   * @param {Ranking} ranking
   */
  explain(ranking) {
    if (!this.game) return;
    const { game, pair } = this;
    write(find(".praise", this.#element), praise(game.game, ranking));
    const coming = find(".coming", this.#element);
    const next = ranking.on.find((each) => each.game !== game.game);
    const [one, other] = pair ?? next?.players.map(({ name }) => name) ?? [];
    if (one === undefined) coming.replaceChildren();
    else fill(coming, pair ? "It stays with " : "Next here: ", { name: one }, " and ", { name: other }, ".");
  }

  /** @returns {Pair | null} */
  #names() {
    if (!this.game) return null;
    const [one, other] = this.game.players;
    return [one.name, other.name];
  }

  #showStay() {
    find(".stay", this.#element).setAttribute("aria-pressed", String(this.pair !== null));
  }

  /** @param {LiveGame} game */
  #introduce(game) {
    write(find(".id", this.#element), `Game ${game.game}`);
    for (const side of SIDES) {
      const { name, kind } = game.players[side];
      const place = find(`.side[data-side="${side}"]`, this.#element);
      find("a.name", place, HTMLAnchorElement).href = address("player", name);
      write(find(".dialect", place), kindOf(kind)[1]);
      showFollow(find(".follow", place), name);
    }
    this.#showMeetings(game);
  }

  /**
   * Show the score of all games between these two.
   * @param {LiveGame} game
   */
  async #showMeetings(game) {
    const place = find(".met", this.#element);
    place.replaceChildren();
    if (!this.#keeps) return;
    const [first, second] = game.players.map(({ name }) => encodeURIComponent(name.toWellFormed()));
    const html = await readText(`/live/meetings?first=${first}&second=${second}`);
    if (html !== null && this.game?.game === game.game) place.innerHTML = html;
  }

  /** @param {LiveGame} game */
  #showRatings({ ratings }) {
    const scale = scaleOf(ratings);
    for (const side of SIDES) {
      const place = find(`.side[data-side="${side}"]`, this.#element);
      const rating = ratings[side];
      const words = rating ? `rank ${rating.rank}, sure ${signed(rating.sure)}` : "not rated yet";
      write(find(".rank", place), this.#keeps ? words : "");
      find(".bar", place).replaceChildren(...(rating ? [ratingBar(rating, scale)] : []));
    }
  }
}

/** Shows who is winning. */
class Winning {
  #place;
  #svg;
  /** @type {LiveGame | undefined} */
  #game;
  #evaluator;

  /** @param {HTMLElement} place */
  constructor(place) {
    this.#place = place;
    this.#svg = find("svg", place, SVGElement);
    this.#evaluator = new Evaluator({
      known: (game, answer) => this.#receive(game, answer),
      refused: (game) => {
        if (this.#game?.game === game) place.hidden = true;
      },
    });
  }

  /**
   * @param {LiveGame} game
   * @param {number} now
   */
  show(game, now) {
    const isOther = game.game !== this.#game?.game;
    this.#game = game;
    const { moves, players, reason, winner } = game;
    if (isOther) {
      this.#place.hidden = false;
      fill(find(".first-wins", this.#place), { name: players[0].name }, " wins");
      fill(find(".second-wins", this.#place), { name: players[1].name }, " wins");
      find(".sentence", this.#place).textContent = "With perfect play \u2026";
      find(".turned", this.#place).replaceChildren();
      showBar(this.#svg, null, 0);
    }
    const last = moves ? `Last: move\u00a0${moves.length}, column\u00a0${moves[moves.length - 1]}.` : "";
    write(find(".last", this.#place), last);
    if (reason !== null) {
      const words = winner === null ? ["Nobody won"] : [{ name: players[winner].name }, " won"];
      fill(find(".sentence", this.#place), ...words);
      showBar(this.#svg, { winner, at: moves.length }, moves.length);
    }
    this.tick(now);
  }

  /** @param {number} now */
  tick(now) {
    if (this.#game?.reason === null) this.#evaluator.ask(this.#game, now);
  }

  /**
   * @param {string} id
   * @param {Evaluated} answer
   */
  #receive(id, { moves, evaluations, turned }) {
    const game = this.#game;
    if (game?.game !== id || game.reason !== null) return;
    const evaluation = evaluations[moves] ?? null;
    const [first, second] = game.players;
    /** @type {Part[]} */
    const words = evaluation
      ? inSentence(evaluation, [first.name, second.name], moves)
      : ["Who is winning is not known yet"];
    fill(find(".sentence", this.#place), ...words);
    showBar(this.#svg, evaluation, moves);
    find(".turned", this.#place).replaceChildren(...turnings(game.game, turned));
  }
}

/**
 * Return a sentence on the moves that turned a game, as links.
 * @param {string} game
 * @param {Evaluated["turned"]} turned
 */
function turnings(game, turned) {
  if (!turned.length) return [];
  const listed = turned.slice(turned.length > LISTED ? -1 : 0);
  const links = listed.map(({ move }) =>
    create("a", { href: `${address("game", game)}#${move}`, textContent: String(move) }),
  );
  const often = turned.length > LISTED ? ` ${turned.length} times, last` : "";
  const words = `the game turned${often} at ${links.length === 1 ? "move" : "moves"} `;
  return [create("span", { className: "turning", textContent: "◆ " }), words, ...enumerated(links), ". "];
}

/** @param {LiveGame["ratings"]} ratings */
function scaleOf(ratings) {
  const known = ratings.filter((each) => each !== null);
  const low = Math.min(GUIDES[0], ...known.map(({ sure }) => sure));
  const high = Math.max(GUIDES[2], ...known.map(({ sure, mean }) => 2 * mean - sure));
  const room = BAR.width - 2 * BAR.margin;
  return (/** @type {number} */ value) => BAR.margin + ((value - low) / (high - low)) * room;
}

/**
 * Draw a rating as charts.html does: three deviations each way, one as a block, a tick at the sure end.
 * @param {Rating} rating
 * @param {(value: number) => number} x
 */
function ratingBar({ sure, mean }, x) {
  const deviation = (mean - sure) / 3;
  const high = mean + 3 * deviation;
  const middle = BAR.height / 2;
  const svg = createSvg("svg", {
    class: "rating",
    width: BAR.width,
    height: BAR.height,
    role: "img",
    "aria-label": `estimate ${signed(mean)}, from ${signed(sure)} to ${signed(high)}`,
  });
  const left = x(mean - deviation);
  svg.append(
    createSvg("path", { class: "guide", d: GUIDES.map((at) => `M${x(at)} 0v${BAR.height}`).join("") }),
    createSvg("rect", { x: left, y: middle - 4, width: x(mean + deviation) - left, height: 8 }),
    createSvg("line", { x1: x(sure), x2: x(high), y1: middle, y2: middle }),
    createSvg("line", { x1: x(sure), x2: x(sure), y1: middle - 6, y2: middle + 6 }),
    createSvg("circle", { cx: x(mean), cy: middle, r: 4 }),
  );
  return svg;
}
