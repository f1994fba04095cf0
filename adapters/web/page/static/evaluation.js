// Who wins with perfect play: the evaluation of a position as a sentence and as a bar.
import { createSvg } from "./dom.js";
import { readAnswer } from "./read.js";
import { COLUMNS, ROWS } from "./rules.js";

/**
 * The winner with perfect play, null for a draw, and the number of the last move. Null if it is not known.
 * @typedef {import("./rules.js").Side} Side
 * @typedef {{ winner: Side | null, at: number | null } | null} Evaluation
 */

/**
 * What the server answers: the evaluations after each number of moves, and the moves that turned the game.
 * @typedef {import("./perfect.js").Turning} Turning
 * @typedef {{ moves: number, evaluations: Evaluation[], turned: Turning[] }} Evaluated
 */

const BETWEEN = 500; // milliseconds between two questions

/** Asks the server who is winning games that are on: at most once for each move, and at most twice a second. */
export class Evaluator {
  #listeners;
  #askedAt = -Infinity;
  #isAsking = false;
  /** What was asked for last: the id of a game and the number of its moves. */
  #asked = "";
  /** @type {string | null} The id of a game of which the server does not tell who is winning. */
  #refused = null;

  /**
   * Call `known` with the id of a game and the answer, and `refused` with the id and the reason if nobody may know.
   * @param {object} listeners
   * @param {(game: string, answer: Evaluated) => void} listeners.known
   * @param {(game: string, why: string) => void} listeners.refused
   */
  constructor(listeners) {
    this.#listeners = listeners;
  }

  /**
   * Ask about a game at `now`, unless that was done since its latest move.
   * @param {{ game: string, moves: string }} game
   * @param {number} now
   */
  ask({ game, moves }, now) {
    const wanted = `${game} ${moves.length}`;
    if (game === this.#refused || this.#isAsking || wanted === this.#asked) return;
    if (now < this.#askedAt + BETWEEN) return;
    this.#asked = wanted;
    this.#askedAt = now;
    this.#read(game);
  }

  /** @param {string} game */
  async #read(game) {
    this.#isAsking = true;
    // If there is no answer, the server is asked again after the next move.
    const answer = await readAnswer(`/api/live/games/${encodeURIComponent(game)}/evaluation`);
    this.#isAsking = false;
    if (answer?.status === 200) this.#listeners.known(game, answer.body);
    else if (answer?.status === 403) {
      this.#refused = game;
      this.#listeners.refused(game, answer.body.error);
    }
  }
}

/**
 * Return how much of its room the evaluation of a position after `moves` moves takes: a draw nothing, a win from a
 * quarter to all of it, the more the sooner it comes.
 * @param {NonNullable<Evaluation>} evaluation
 * @param {number} moves
 */
export function extent({ winner, at }, moves) {
  if (winner === null) return 0;
  return 1 - (0.75 * ((at ?? COLUMNS * ROWS) - moves)) / (COLUMNS * ROWS);
}

/**
 * Return a sentence on who wins a game after `moves` moves: With perfect play alice wins in 7. It counts the winner's
 * own moves.
 * @param {NonNullable<Evaluation>} evaluation
 * @param {[string, string]} names
 * @param {number} moves
 * @returns {import("./dom.js").Part[]}
 */
export function inSentence({ winner, at }, names, moves) {
  if (winner === null) return ["With perfect play it is a draw"];
  const own = at === null ? 0 : ownMoves(winner, at) - ownMoves(winner, moves);
  return ["With perfect play ", { name: names[winner] }, own > 0 ? ` wins in ${own}` : " wins"];
}

/**
 * @param {Side} side
 * @param {number} moves
 */
function ownMoves(side, moves) {
  return Math.ceil((moves - side) / 2);
}

/**
 * Draw an evaluation as a bar from the middle, which stands for a draw: to the left for the first mover, to the right for
 * the other player. Without an evaluation the bar is empty.
 * @param {SVGElement} svg an element of the class "evaluation"
 * @param {Evaluation} evaluation
 * @param {number} moves
 */
export function showBar(svg, evaluation, moves) {
  const middle = createSvg("line", { class: "middle", x1: "50%", x2: "50%", y1: 0, y2: "100%" });
  svg.replaceChildren(createSvg("rect", { class: "cell", width: "100%", height: "100%", rx: 4 }));
  if (evaluation && evaluation.winner !== null) {
    const width = 49 * extent(evaluation, moves);
    const [what, x] = evaluation.winner === 0 ? ["first", 50 - width] : ["second", 50];
    svg.append(
      createSvg("rect", { class: what, x: `${x}%`, width: `${width}%`, y: "25%", height: "50%", rx: 2 }),
    );
  }
  svg.append(middle);
}
