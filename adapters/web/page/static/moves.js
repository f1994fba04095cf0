// The list of moves, and a bar for the time of each.
import { make } from "./board.js";

// Show a game's moves, and call `choose(number)` for a click.
export class Moves {
  constructor(article, game, choose) {
    this.article = article;
    this.game = game;
    this.choose = choose;
    this.scroll = article.querySelector(".moves .scroll");
    this.fill();
  }

  // Draw all moves again.
  fill() {
    const { moves, turns, attempt } = this.game;
    const all = [...moves].map((column, index) => ({ column, ...turns[index], number: index + 1 }));
    if (attempt) all.push({ ...attempt, number: all.length + 1, isBad: true });
    const rows = [];
    this.buttons = all.map((move) => {
      if (move.number % 2) rows.push(pair(move.number));
      const button = entry(move);
      button.addEventListener("click", () => this.choose(Math.min(move.number, moves.length)));
      rows.at(-1).cells[move.number % 2 ? 1 : 2].append(button);
      return button;
    });
    this.article.querySelector(".list tbody").replaceChildren(...rows);
    this.bars = showBars(this.article.querySelector(".bars"), all);
    this.article.querySelector(".track input").style.width = width(moves.length, all.length);
  }

  // Mark the move before the shown position; 0 for none.
  mark(number) {
    for (const [index, button] of this.buttons.entries()) {
      const isCurrent = index + 1 === number;
      if (isCurrent) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
      button.tabIndex = isCurrent ? 0 : -1;
      this.bars[index].classList.toggle("current", isCurrent);
    }
    const row = this.buttons[number - 1]?.closest("tr");
    const { scroll } = this;
    if (!row) scroll.scrollTop = 0;
    else if (row.offsetTop < scroll.scrollTop) scroll.scrollTop = row.offsetTop;
    else scroll.scrollTop = Math.max(scroll.scrollTop, row.offsetTop + row.offsetHeight + 6 - scroll.clientHeight);
  }

  // Mark the moves at which the game turned.
  turn(numbers) {
    for (const number of numbers) {
      const sign = this.buttons[number - 1].querySelector(".sign");
      sign.textContent = "◆";
      sign.setAttribute("role", "img");
      sign.setAttribute("aria-label", "the game turned");
    }
  }
}

function pair(number) {
  const row = document.createElement("tr");
  const head = document.createElement("th");
  head.scope = "row";
  head.textContent = number;
  row.append(head, document.createElement("td"), document.createElement("td"));
  return row;
}

function entry({ column, used, isBad }) {
  const button = document.createElement("button");
  button.type = "button";
  const [name, sign, time] = ["b", "span", "span"].map((each) => document.createElement(each));
  name.textContent = column || "–";
  sign.className = "sign";
  if (isBad) {
    button.className = "bad";
    sign.textContent = "✕";
  }
  time.className = "time";
  time.textContent = used === null ? "" : (used / 1000).toFixed(2);
  button.append(name, sign, time);
  return button;
}

// Draw the bars, the first mover's up, the other's down.
function showBars(svg, all) {
  const longest = Math.max(1, ...all.map((each) => each.used ?? 0));
  svg.setAttribute("viewBox", `0 0 ${all.length || 1} 40`);
  svg.setAttribute("preserveAspectRatio", "none");
  const bars = all.map(({ number, used, isBad }) => {
    const height = used === null ? 0 : Math.max(3, 19 * used / longest);
    const y = number % 2 ? 20 - height : 20;
    return make("rect", { x: number - 0.9, y, width: 0.8, height, class: isBad ? "bad" : "" });
  });
  svg.replaceChildren(...bars);
  return bars;
}

// The slider ends at the bar of the last move. An illegal attempt has a further bar.
function width(moves, bars) {
  return moves && bars > moves ? `calc((100% - 16px) * ${(moves - 0.5) / bars} + 16px)` : "";
}
