// Perfect play: what each column is worth in the shown position. The server solves the game on request.
import { announce } from "./status.js";

const SIGNS = { win: "▲", draw: "=", lose: "▼" };

// Return {show(number), toggle()}. Dispatches the event "turned" on `article` with the moves that turned the game.
export function askPerfect(article, game) {
  const place = article.querySelector(".perfect");
  const words = place.querySelector(".perfect-words");
  const cells = place.querySelector(".worths");
  const buttons = [...article.querySelectorAll("button.ask")];
  let known = null;
  let trouble = "";
  let isAsked = false;
  let isAsking = false;
  let shown = 0;

  async function ask() {
    isAsking = true;
    trouble = "";
    try {
      const response = await fetch(`/api/games/${game.game}/perfect`);
      const found = await response.json();
      if (response.ok) known = found;
      else trouble = found.error;
    } catch {
      trouble = "the server cannot be reached";
    }
    isAsking = false;
    if (known) tellTurns(article, game, known);
    show(shown);
    announce(words.textContent);
  }

  function show(number) {
    shown = number;
    if (!isAsked) return;
    const position = known?.positions[number];
    words.replaceChildren(...caption(number, position));
    cells.replaceChildren(...(position ?? new Array(7).fill(undefined)).map(cell));
  }

  function caption(number, position) {
    if (isAsking) return ["Solving the game. That takes some seconds."];
    if (trouble) return [`${trouble[0].toUpperCase()}${trouble.slice(1)}.`];
    if (position === undefined) return ["The game is over."];
    if (position === null) return ["This position was not solved in time. Ask again to go on."];
    const chip = article.querySelector(`.player:has([data-side="${number % 2}"]) .chip`).cloneNode(true);
    const name = document.createElement("bdi");
    name.textContent = game.names[number % 2];
    return ["Perfect play,", chip, name, "to move:"];
  }

  function toggle() {
    if (!buttons.length) return; // a game that is on
    isAsked = !isAsked;
    place.hidden = !isAsked;
    for (const button of buttons) button.setAttribute("aria-pressed", isAsked);
    if (isAsked && !isAsking && (!known || known.positions.includes(null))) ask();
    show(shown);
  }
  for (const button of buttons) {
    button.addEventListener("click", () => {
      toggle();
      if (isAsked) place.scrollIntoView({ block: "nearest" });
    });
  }
  return { show, toggle };
}

function cell(worth, column) {
  const element = document.createElement("div");
  element.setAttribute("role", "listitem");
  if (worth === undefined) return element;
  element.className = worth?.result ?? "full";
  element.textContent = worth ? `${SIGNS[worth.result]} ${worth.result}` : "full";
  if (worth?.at) {
    const when = document.createElement("small");
    when.textContent = `at ${worth.at}`;
    element.append(when);
  }
  element.setAttribute("aria-label", `column ${column}: ${worth ? worth.result : "full"}${worth?.at ? ` at move ${worth.at}` : ""}`);
  return element;
}

function tellTurns(article, game, known) {
  const numbers = known.turned.map((each) => each.move);
  article.dispatchEvent(new CustomEvent("turned", { detail: numbers }));
  const place = article.querySelector(".turned");
  const sign = document.createElement("span");
  sign.textContent = "◆";
  if (numbers.length) place.replaceChildren(sign, ` the game turned: ${numbers.length > 1 ? "moves" : "move"} ${numbers.join(", ")}`);
  else place.textContent = known.positions.includes(null) ? "Not all positions were solved in time." : "The game never turned.";
  place.hidden = false;
  article.querySelector(".better").textContent = better(game, known);
}

// A sentence about what the player that did not win could have reached.
function better(game, known) {
  const last = known.positions[game.moves.length];
  if (game.attempt && last) {
    const best = ["win", "draw"].find((result) => last.some((each) => each?.result === result));
    if (!best) return "With perfect play the game was lost already.";
    const columns = last.flatMap((each, column) => (each?.result === best ? [column] : []));
    const any = columns.length === last.filter(Boolean).length;
    return `With perfect play ${any ? "any column" : named(columns)} would still have ${best === "win" ? "won" : "drawn"}.`;
  }
  const turn = known.turned.findLast(({ move }) => game.winner === null || (move + 1) % 2 !== game.winner);
  if (!turn) return "";
  return `The game turned at move ${turn.move}, where ${named(turn.better)} would still have ${turn.was === "win" ? "won" : "drawn"}.`;
}

function named(columns) {
  const last = columns.length > 1 ? ` or ${columns.at(-1)}` : "";
  return `column ${(last ? columns.slice(0, -1) : columns).join(", ")}${last}`;
}
