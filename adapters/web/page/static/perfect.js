// Perfect play in a game that is over: the worth of each column, in every position of the game and of a side line that a
// viewer tries. The server solves the game, which may take some seconds.
import { create, find, isolated } from "./dom.js";
import { enumerated, sentence } from "./format.js";
import { readAnswer } from "./read.js";
import { COLUMNS, ending, opposite, roomOf, SIDES } from "./rules.js";
import { announce } from "./status.js";

/**
 * @typedef {import("./evaluation.js").Evaluation} Evaluation
 * @typedef {import("./game.js").ShownGame} ShownGame
 * @typedef {import("./rules.js").Side} Side
 * @typedef {"win" | "draw" | "lose"} Result for the player to move
 * @typedef {{ result: Result, at?: number | null } | null} Worth the result of a column and the number of the last
 *   move; null for a full column
 * @typedef {{ move: number, was: Result, became: Result, better?: number[] }} Turning a move that made the result worse
 * @typedef {{ positions: (Worth[] | null)[], evaluations: Evaluation[], withheld: number[], turned: Turning[] }} Solution
 *   each list by the number of moves. A position is null if it was not solved in time, or is withheld, because a game that
 *   is on is near it
 */

const MANY = 8; // moves that turned a game: of more, only their number is told
/** @type {Record<Result, string>} */
const SIGNS = { win: "▲", draw: "=", lose: "▼" };

export class Perfect {
  #article;
  #game;
  #changed;
  /** @type {HTMLElement | null} Where the worths are shown; null without a solver. */
  #place;
  /** @type {HTMLButtonElement[]} */
  #buttons = [];
  /** @type {Solution | null} */
  solution = null;
  /** @type {Map<string, Worth[] | null | undefined>} The worths of positions in side lines; undefined once asked for. */
  #lines = new Map();
  /** @type {Map<string, string>} Why nothing is known of a position in a side line or, with no moves, of the game. */
  #troubles = new Map();
  #isAsking = false;
  #isHidden = false;
  /** What is shown: the number of moves of the game, and the columns of a side line after them. */
  #shown = { after: 0, tried: "" };

  /**
   * Call `changed` when more is known, and `drop` with the column that a viewer tries.
   * @param {HTMLElement} article
   * @param {ShownGame} game
   * @param {() => void} changed
   * @param {(column: number) => void} drop
   */
  constructor(article, game, changed, drop) {
    this.#article = article;
    this.#game = game;
    this.#changed = changed;
    this.#place = article.querySelector(".perfect:has(.worths)");
    if (!this.#place) return;
    this.#buttons = Array.from({ length: COLUMNS }, (_, column) => {
      const button = create("button", { type: "button" });
      button.addEventListener("click", () => drop(column));
      return button;
    });
    find(".worths", this.#place).replaceChildren(...this.#buttons);
    this.#ask();
  }

  /**
   * Return the evaluations of the positions of a side line.
   * @param {number} after
   * @param {string} tried
   */
  evaluationsOf(after, tried) {
    const start = this.#game.moves.slice(0, after);
    return [...tried].map((_, index) => {
      const moves = start + tried.slice(0, index + 1);
      return evaluationOf(this.#lines.get(moves) ?? null, moves);
    });
  }

  /** Show or hide the worths, or solve what is not solved yet. */
  toggle() {
    if (!this.#place) return;
    if (!this.#isAsking && this.#isIncomplete) this.#ask();
    else this.#isHidden = !this.#isHidden;
    this.#draw();
    announce(
      this.#isHidden ? "Perfect play is hidden" : (find(".perfect-words", this.#place).textContent ?? ""),
    );
  }

  get #isIncomplete() {
    return !this.solution || isUnsolved(this.solution);
  }

  /**
   * Show the worths after the first moves of the game and those of a side line.
   * @param {number} after
   * @param {string} tried
   */
  show(after, tried) {
    this.#shown = { after, tried };
    if (this.#place && tried && !this.#lines.has(this.#moves) && !ending(this.#moves)) this.#askLine();
    this.#draw();
  }

  /** The moves of the shown position. */
  get #moves() {
    return this.#game.moves.slice(0, this.#shown.after) + this.#shown.tried;
  }

  async #ask() {
    this.#isAsking = true;
    this.#troubles.delete("");
    this.#draw();
    const answer = await read(`/api/games/${this.#game.game}/perfect`);
    this.#isAsking = false;
    if ("error" in answer) this.#troubles.set("", answer.error);
    else this.solution = answer;
    this.#changed();
  }

  async #askLine() {
    const { after, tried } = this.#shown;
    const moves = this.#moves;
    this.#lines.set(moves, undefined);
    this.#troubles.delete(moves);
    const answer = await read(`/api/games/${this.#game.game}/line?after=${after}&columns=${tried}`);
    if ("error" in answer) this.#troubles.set(moves, answer.error);
    else {
      for (const [index, worths] of answer.positions.entries()) {
        this.#lines.set(this.#game.moves.slice(0, after) + tried.slice(0, index + 1), worths);
      }
    }
    this.#changed();
  }

  #draw() {
    if (!this.#place) return;
    const isTried = this.#shown.tried !== "";
    const worths = isTried ? this.#lines.get(this.#moves) : this.solution?.positions[this.#moves.length];
    const words = find(".perfect-words", this.#place);
    words.replaceChildren(...this.#words(worths, isTried));
    this.#place.classList.toggle("is-hidden", this.#isHidden);
    this.#place.classList.toggle("is-troubled", words.querySelector(".told") !== null);
    const isOver = ending(this.#moves) !== null;
    const room = roomOf(this.#moves);
    for (const [column, button] of this.#buttons.entries()) {
      drawWorth(button, column, worths?.[column], isOver ? "over" : room[column] ? "free" : "full");
    }
  }

  /**
   * Return what stands over the worths.
   * @param {Worth[] | null | undefined} worths undefined if nothing is known yet
   * @param {boolean} isTried
   */
  #words(worths, isTried) {
    if (ending(this.#moves)) return [isTried ? "This line is over." : "The game is over."];
    const trouble = this.#troubles.get(isTried ? this.#moves : "");
    if (trouble) return this.#again(sentence(trouble));
    if (isTried ? worths === undefined : this.#isAsking) return ["Solving. That takes some seconds."];
    if (!isTried && this.solution?.withheld.includes(this.#moves.length))
      return [
        told("A game that is on is near this position. What its columns are worth is told when it is over."),
      ];
    if (!worths) return this.#again("This position was not solved in time.");
    const side = SIDES[this.#moves.length % 2];
    const chip = find(`.player[data-side="${side}"] .chip`, this.#article, SVGElement).cloneNode(true);
    return [
      "Try a column for ",
      chip,
      isolated(this.#game.names[side]),
      create("span", { className: "rest", textContent: ": what it is worth with perfect play" }),
    ];
  }

  /** @param {string} text */
  #again(text) {
    const button = create("button", { type: "button", className: "ask", textContent: "Try again" });
    button.addEventListener("click", () => {
      if (this.#shown.tried) this.#askLine();
      else this.#ask();
      this.#draw();
    });
    return [told(text), button];
  }
}

/** @param {string} text */
function told(text) {
  return create("span", { className: "told", textContent: text });
}

/**
 * Return whether some positions were not solved in time.
 * @param {Pick<Solution, "positions" | "withheld">} solution
 */
function isUnsolved({ positions, withheld }) {
  return positions.some((worths, number) => worths === null && !withheld.includes(number));
}

/**
 * Return a JSON answer, or the error in it.
 * @param {string} address
 * @returns {Promise<Solution | { error: string }>}
 */
async function read(address) {
  return (await readAnswer(address))?.body ?? { error: "the server cannot be reached" };
}

/**
 * Show the worth of a column on its button.
 * @param {HTMLButtonElement} button
 * @param {number} column
 * @param {Worth | undefined} worth
 * @param {"free" | "full" | "over"} state
 */
function drawWorth(button, column, worth, state) {
  const result = state === "free" ? worth?.result : undefined;
  const when = result && worth?.at ? ` at ${worth.at}` : "";
  button.className = state === "free" ? (result ?? "") : state;
  button.disabled = state !== "free";
  button.textContent = state === "full" ? "full" : result ? `${SIGNS[result]} ${result}` : "";
  if (when) button.append(create("small", { textContent: when.trim() }));
  const said =
    state === "free" ? (result ? `${result}${when && ` at move ${worth?.at}`}` : "not known yet") : state;
  button.setAttribute("aria-label", `column ${column}: ${said}`);
}

/**
 * Return who wins a position after `moves`, from the worths of its columns.
 * @param {Worth[] | null} worths
 * @param {string} moves
 * @returns {Evaluation}
 */
export function evaluationOf(worths, moves) {
  const side = SIDES[moves.length % 2];
  const end = ending(moves);
  if (end) return end === "four" ? { winner: opposite(side), at: moves.length } : { winner: null, at: null };
  const best = bestOf(worths);
  if (!worths || !best) return null;
  if (best === "draw") return { winner: null, at: null };
  const ends = worths.flatMap((worth) => (worth?.result === best && worth.at ? [worth.at] : []));
  const at = best === "win" ? Math.min(...ends) : Math.max(...ends);
  return { winner: best === "win" ? side : opposite(side), at: ends.length ? at : null };
}

/**
 * Return the best result that a column has.
 * @param {Worth[] | null} worths
 */
function bestOf(worths) {
  /** @type {Result[]} */
  const results = ["win", "draw", "lose"];
  return results.find((result) => worths?.some((worth) => worth?.result === result));
}

/**
 * Return a sentence on what perfect play says of a game, in two parts; the first is to be emphasized.
 * @param {{ moves: string, winner?: Side | null, reason?: string | null }} game
 * @param {Pick<Solution, "positions" | "withheld" | "turned">} solution
 * @returns {[string, string]}
 */
export function verdict({ moves, winner, reason }, solution) {
  const { positions, turned, withheld } = solution;
  const last = positions[moves.length] ?? null;
  if (winner != null && reason !== "four" && last) return missed(moves, winner, last);
  const unsolved = isUnsolved(solution) ? " Not all positions were solved in time." : "";
  if (!turned.length)
    return [
      "",
      unsolved ||
        ((reason === "four" || reason === "full") && !withheld.length ? "No move turned the game." : ""),
    ];
  const count = turned.length;
  const numbers = turned.map(({ move }) => String(move));
  const some = `at move${count > 1 ? "s" : ""} ${enumerated(numbers).join("")}`;
  const lead = `The game turned ${count > MANY ? `${count} times, last at move ${numbers.at(-1)}` : some}.`;
  const loser = winner == null ? null : opposite(winner);
  const turn = turned.findLast(({ move }) => loser === null || (move + 1) % 2 === loser);
  if (!turn?.better?.length) return [lead, unsolved];
  const where = turned.length > 1 ? `At move ${turn.move} ` : "";
  const which = `${where}${columns(turn.better)} would still have ${turn.was === "win" ? "won" : "drawn"}.`;
  return [lead, ` ${sentence(which)}${unsolved}`];
}

/**
 * Return what the player that lost by a fault could have reached.
 * @param {string} moves
 * @param {Side} winner
 * @param {Worth[]} worths
 * @returns {[string, string]}
 */
function missed(moves, winner, worths) {
  const evaluation = evaluationOf(worths, moves);
  const best = bestOf(worths);
  const own = worths.flatMap((worth, column) => (worth?.result === best ? [column] : []));
  const isToMove = moves.length % 2 !== winner;
  const by = !isToMove
    ? ""
    : own.length === worths.filter(Boolean).length
      ? ", by any column"
      : `, by ${columns(own)}`;
  const when = evaluation?.at ? ` at move ${evaluation.at}` : "";
  if (evaluation?.winner === null) return ["It could have drawn:", ` with perfect play${by}.`];
  if (evaluation?.winner === winner) return ["It was lost already:", ` with perfect play${when}.`];
  return ["It was winning:", ` with perfect play${when}${by}.`];
}

/**
 * Return how a move turned a game, after the name of who made it: gave away a win, let bob win.
 * @param {Turning} turning
 * @param {[string, string]} names
 * @returns {import("./dom.js").Part[]}
 */
export function turningWords({ move, was, became }, names) {
  if (was === "win" && became === "lose") return ["let ", { name: names[move % 2] }, " win"];
  return [`gave away a ${was}`];
}

/** @param {number[]} numbers */
function columns(numbers) {
  return `column ${enumerated(numbers, "or").join("")}`;
}
