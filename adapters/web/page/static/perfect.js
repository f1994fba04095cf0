// Perfect play: the result of each column in the shown position. The server solves the game on request.
import { create, find, findAll, isolated } from "./dom.js";
import { COLUMNS, opposite } from "./rules.js";
import { announce } from "./status.js";

/**
 * @typedef {import("./game.js").ShownGame} ShownGame
 * @typedef {import("./rules.js").Side} Side
 * @typedef {"win" | "draw" | "lose"} Result for the player to move
 * @typedef {{ result: Result, at?: number | null } | null} Worth the result of a column and the number of the last
 *   move; null for a full column
 * @typedef {{ move: number, was: Result, better: number[] }} Turning a move that made the result worse
 * @typedef {{ positions: (Worth[] | null)[], turned: Turning[] }} Solution null for each position not solved in time
 */

/** @type {Record<Result, string>} */
const SIGNS = { win: "▲", draw: "=", lose: "▼" };

/**
 * Ask the server to solve the game when a button is pressed. Dispatches the event "turned" on `article`, with the
 * numbers of the moves that made the result worse.
 * @param {HTMLElement} article
 * @param {ShownGame} game
 */
export function askPerfect(article, game) {
  const place = find(".perfect", article);
  const words = find(".perfect-words", place);
  const cells = find(".worths", place);
  const buttons = findAll("button.ask", article);
  /** @type {Solution | null} */
  let solution = null;
  let trouble = "";
  let isShown = false;
  let isAsking = false;
  let shown = 0;

  async function ask() {
    isAsking = true;
    trouble = "";
    try {
      const response = await fetch(`/api/games/${game.game}/perfect`);
      const answer = await response.json();
      if (response.ok) solution = answer;
      else trouble = answer.error;
    } catch {
      trouble = "the server cannot be reached";
    }
    isAsking = false;
    if (solution) showTurns(article, game, solution);
    show(shown);
    announce(words.textContent ?? "");
  }

  /**
   * Show the position after `number` moves.
   * @param {number} number
   */
  function show(number) {
    shown = number;
    if (!isShown) return;
    const position = solution?.positions[number];
    words.replaceChildren(...caption(number, position));
    cells.replaceChildren(...(position ?? new Array(COLUMNS).fill(undefined)).map(cell));
  }

  /**
   * @param {number} number
   * @param {Worth[] | null | undefined} position
   */
  function caption(number, position) {
    if (isAsking) return ["Solving the game. That takes some seconds."];
    if (trouble) return [`${trouble[0].toUpperCase()}${trouble.slice(1)}.`];
    if (position === undefined) return ["The game is over."];
    if (position === null) return ["This position was not solved in time. Ask again to go on."];
    const side = number % 2;
    const chip = find(`.player:has([data-side="${side}"]) .chip`, article, SVGElement).cloneNode(true);
    return ["Perfect play,", chip, isolated(game.names[side]), "to move:"];
  }

  function toggle() {
    if (!buttons.length) return; // a live game
    isShown = !isShown;
    place.hidden = !isShown;
    for (const button of buttons) button.setAttribute("aria-pressed", String(isShown));
    if (isShown && !isAsking && (!solution || solution.positions.includes(null))) ask();
    show(shown);
  }
  for (const button of buttons) {
    button.addEventListener("click", () => {
      toggle();
      if (isShown) place.scrollIntoView({ block: "nearest" });
    });
  }
  return { show, toggle };
}

/**
 * @param {Worth | undefined} worth
 * @param {number} column
 */
function cell(worth, column) {
  const element = create("div");
  element.setAttribute("role", "listitem");
  if (worth === undefined) return element;
  element.className = worth?.result ?? "full";
  element.textContent = worth ? `${SIGNS[worth.result]} ${worth.result}` : "full";
  if (worth?.at) element.append(create("small", { textContent: `at ${worth.at}` }));
  const when = worth?.at ? ` at move ${worth.at}` : "";
  element.setAttribute("aria-label", `column ${column}: ${worth?.result ?? "full"}${when}`);
  return element;
}

/**
 * @param {HTMLElement} article
 * @param {ShownGame} game
 * @param {Solution} solution
 */
function showTurns(article, game, solution) {
  const numbers = solution.turned.map(({ move }) => move);
  article.dispatchEvent(new CustomEvent("turned", { detail: numbers }));
  const place = find(".turned", article);
  if (numbers.length) {
    const moves = numbers.length > 1 ? "moves" : "move";
    place.replaceChildren(
      create("span", { textContent: "◆" }),
      ` the game turned: ${moves} ${numbers.join(", ")}`,
    );
  } else {
    const isWhole = !solution.positions.includes(null);
    place.textContent = isWhole ? "The game never turned." : "Not all positions were solved in time.";
  }
  place.hidden = false;
  find(".better", article).textContent = better(game, solution);
}

/**
 * Return a sentence on how the player that did not win could have done better; empty if it could not.
 * @param {{ moves: string, winner?: Side | null, attempt?: unknown }} game
 * @param {Solution} solution
 */
export function better({ moves, winner, attempt }, { positions, turned }) {
  const last = positions[moves.length];
  if (attempt && last) {
    /** @type {Result[]} */
    const results = ["win", "draw"];
    const best = results.find((result) => last.some((worth) => worth?.result === result));
    if (!best) return "With perfect play the game was lost already.";
    const columns = last.flatMap((worth, column) => (worth?.result === best ? [column] : []));
    const which = columns.length === last.filter(Boolean).length ? "any column" : columnsInWords(columns);
    return `With perfect play ${which} would still have ${reached(best)}.`;
  }
  const loser = winner == null ? null : opposite(winner);
  const turn = turned.findLast(({ move }) => loser === null || (move + 1) % 2 === loser);
  if (!turn) return "";
  return `The game turned at move ${turn.move}, where ${columnsInWords(turn.better)} would still have ${reached(turn.was)}.`;
}

/** @param {Result} result */
function reached(result) {
  return result === "win" ? "won" : "drawn";
}

/** @param {number[]} columns */
function columnsInWords(columns) {
  const last = columns.length > 1 ? ` or ${columns.at(-1)}` : "";
  return `column ${(last ? columns.slice(0, -1) : columns).join(", ")}${last}`;
}
