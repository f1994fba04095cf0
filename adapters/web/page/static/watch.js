// The page of a live game: its moves and times as they arrive, who is winning, and the stored game after its end.
//
// If the game disappears from the stream, its end was missed, or its server is away and may return.
import { create, fill, find, write } from "./dom.js";
import { Evaluator, inSentence, showBar } from "./evaluation.js";
import "./follow.js";
import { number, seconds, sentence } from "./format.js";
import { Games } from "./games.js";
import { readJson } from "./read.js";
import { SIDES } from "./rules.js";
import { announce } from "./status.js";
import { readStorage, writeStorage } from "./storage.js";
import { Stream } from "./stream.js";

/**
 * @typedef {import("./game.js").ShownGame} ShownGame
 * @typedef {import("./games.js").LiveGame} LiveGame
 * @typedef {import("./games.js").Move} Move
 * @typedef {import("./evaluation.js").Evaluated} Evaluated
 */

const PAUSES = [200, 400, 800, 1_000, 1_000, 1_000, 2_000, 4_000, 8_000, 16_000];
const EVIDENCE = 5; // attempts after which the page is shown without evidence
const TICK = 100;
const PATIENCE = 500; // milliseconds that a tone may be late
const SOUNDS = ["off", "when it is over", "at each move"];

/** @type {AudioContext | undefined} One for all tones, because a browser has few of them. */
let audio;

/** Follows a game that is on. */
export class Watch {
  /** @type {LiveGame | null} The game as it is in the stream. */
  live = null;
  #article;
  #game;
  #changed;
  #stream;
  #games = new Games();
  #isOver = false;
  /** @type {AbortController | null} Ends the search for the result if the game appears in the stream again. */
  #missing = null;
  #body;
  #thinking = create("td", { className: "thinking" });
  /** @type {Evaluated | null} */
  #known = null;
  /** @type {Evaluator | null} */
  #evaluator = null;
  #sound = 0;

  /**
   * Update `game` from its live stream. Calls `changed` after each event, `tick` ten times a second, and `evaluated` when it
   * is known who is winning.
   * @param {HTMLElement} article
   * @param {ShownGame} game
   * @param {string} address of the stream
   * @param {{ changed: () => void, tick: () => void, evaluated: (known: Evaluated) => void }} listeners
   */
  constructor(article, game, address, { changed, tick, evaluated }) {
    this.#article = article;
    this.#game = game;
    this.#changed = changed;
    this.#body = find(".lines tbody", article);
    const bar = article.querySelector("svg.evaluation");
    if (bar instanceof SVGElement) {
      showBar(bar, null, 0);
      this.#evaluator = new Evaluator({
        known: (_, answer) => {
          this.#known = answer;
          evaluated(answer);
        },
        refused: (_, why) => this.#refuse(why),
      });
    }
    this.#listenForSound();
    this.#stream = new Stream(address, (event) => this.#receive(event));
    setInterval(() => {
      if (!this.live || this.#isOver || !this.#stream.isOpen) return;
      const spent = Math.max(0, performance.now() - this.live.asked);
      write(this.#thinking, `thinks for ${seconds(spent)}`);
      this.#evaluator?.ask(this.live, performance.now());
      tick();
    }, TICK);
  }

  /** @param {import("./games.js").StreamEvent} event */
  #receive(event) {
    const game = this.#game;
    if (this.#isOver || event.name === "counts") return;
    if (event.name === "watching" || event.name === "snapshot") {
      const { watching = 0 } = event.data;
      write(find(".watching", this.#article), watching > 1 ? `${number(watching)} watch` : "");
      if (event.name === "watching") return;
    }
    const before = this.#games.get(game.game);
    this.#games.apply(event, performance.now());
    const live = this.#games.get(game.game) ?? null;
    this.live = live;
    if (event.name === "rated") return;
    if (event.name === "away") {
      const side = SIDES.find((each) => !live?.away[each] !== !before?.away[each]);
      if (side !== undefined) announce(`${game.names[side]} is ${live?.away[side] ? "away" : "back"}`);
      return;
    }
    if (live) this.#take(live, event);
    this.#changed();
    if (!live) {
      if (this.#missing) return;
      this.#missing = new AbortController();
      this.#awaitResult("The game is not on any more", "", this.#missing.signal);
      return;
    }
    this.#missing?.abort();
    this.#missing = null;
    this.#isOver = live.reason !== null;
    if (this.#isOver) this.#end(live);
    else this.#showState(live);
  }

  /**
   * Take over the moves and their times.
   * @param {LiveGame} live
   * @param {import("./games.js").StreamEvent} event
   */
  #take(live, event) {
    const game = this.#game;
    game.moves = live.moves;
    const used = live.used ?? [];
    game.turns = used.map((each, index) => game.turns[index] ?? { used: 1000 * each, left: null });
    if (event.name === "moved") game.turns[event.data.number - 1] = turnOf(event.data);
    if (event.name === "moved" && this.#sound === 2) beep(660);
    this.#showRows(live);
  }

  /** @param {LiveGame} live */
  #showRows({ moves, to_move }) {
    const { turns } = this.#game;
    let at = 0;
    const rows = [...moves].map((column, index) => {
      const { used } = turns[index];
      at += used ?? 0;
      const passed = number(Math.round(at));
      // On a phone, which has one lane, this says when the move was and whose it is.
      const lane = create("span", { className: "lane", textContent: passed });
      lane.append(this.#chip(index));
      const said = create("div", { className: "said" });
      said.append(
        lane,
        create("span", { className: "arrow", textContent: "→" }),
        create("bdi", { textContent: `column ${column}` }),
        create("span", {
          className: "remark",
          textContent: `${((used ?? 0) / 1000).toFixed(2)} s`,
        }),
      );
      const cell = create("td");
      cell.append(said);
      const row = this.#row(index, cell, passed);
      row.dataset.after = row.dataset.move = String(index + 1);
      row.cells[2].append(" ", create("b", { textContent: column }));
      return row;
    });
    if (to_move !== null) rows.push(this.#row(moves.length, this.#thinking, "now"));
    const scroll = find(".exchange .scroll", this.#article);
    const follows = scroll.scrollTop + scroll.clientHeight >= scroll.scrollHeight - 30;
    this.#body.replaceChildren(...rows);
    if (follows) scroll.scrollTop = scroll.scrollHeight;
    const thought = this.live?.thought;
    if (!thought) return;
    const [one, other] = this.#game.names;
    const [first, second] = thought.map((each) => seconds(1000 * each));
    fill(
      find(".totals", this.#article),
      "Thought: ",
      { name: one },
      ` ${first}, `,
      { name: other },
      ` ${second}.`,
    );
  }

  /**
   * Return a copy of the disc of the player that makes a move.
   * @param {number} index
   */
  #chip(index) {
    const side = SIDES[index % 2];
    return find(`.player[data-side="${side}"] .chip`, this.#article, SVGElement).cloneNode(true);
  }

  /**
   * Create the row of a move.
   * @param {number} index
   * @param {HTMLTableCellElement} cell
   * @param {string} time
   */
  #row(index, cell, time) {
    const row = create("tr");
    const middle = create("td", { className: "mid" });
    const side = SIDES[index % 2];
    middle.append(create("span", { className: "number", textContent: `${index + 1}.` }), this.#chip(index));
    cell.classList.add(side === 0 ? "cell-a" : "cell-b");
    cell.classList.remove(side === 0 ? "cell-b" : "cell-a");
    const empty = create("td", { className: side === 0 ? "cell-b" : "cell-a" });
    const cells = side === 0 ? [cell, middle, empty] : [empty, middle, cell];
    row.append(create("td", { className: "ms", textContent: time }), ...cells);
    return row;
  }

  /** @param {LiveGame} live */
  #showState({ to_move, moves }) {
    const { names } = this.#game;
    const reason = find(".reason", this.#article);
    if (to_move === null) return reason.replaceChildren("The game is on.");
    fill(reason, `Move ${moves.length + 1}, `, { name: names[to_move] }, " to move.");
  }

  /**
   * Show who is winning now, and in the bar who was after `shown` moves. Until that is known, it stays as it was.
   * @param {number} shown
   */
  showEvaluation(shown) {
    if (!this.live || this.#isOver || !this.#known) return;
    const { evaluations, moves, turned } = this.#known;
    const bar = find("svg.evaluation", this.#article, SVGElement);
    if (evaluations[shown]) showBar(bar, evaluations[shown], shown);
    const latest = evaluations[moves];
    if (!latest) return;
    const lead = create("strong");
    fill(lead, ...inSentence(latest, this.#game.names, moves), ".");
    bar.setAttribute("aria-label", lead.textContent ?? "");
    const turn = turned.at(-1);
    find(".better", this.#article).replaceChildren(lead, turn ? ` It turned last at move ${turn.move}.` : "");
  }

  /**
   * Say why nobody may know who is winning, and leave no room for it.
   * @param {string} why
   */
  #refuse(why) {
    this.#known = null;
    this.#article.classList.remove("solves");
    find(".perfect", this.#article).remove();
    find(".better", this.#article).textContent = sentence(why);
  }

  /** @param {LiveGame} live */
  #end({ winner }) {
    this.#stream.end();
    if (this.#sound) beep(440);
    const result = winner === null ? "nobody won" : `${this.#game.names[winner]} won`;
    this.#awaitResult("The game is over", `: ${result}`);
  }

  /** @param {string} text */
  #say(text) {
    find(".reason", this.#article).textContent = text;
    find(".better", this.#article).replaceChildren();
    announce(text);
  }

  /**
   * Announce that the game has ended. Reload the page once the game and its evidence are stored, or, after some attempts,
   * once the game alone is stored.
   * @param {string} state
   * @param {string} result
   * @param {AbortSignal} [signal]
   */
  async #awaitResult(state, result, signal) {
    if (!this.#game.is_kept) return this.#say(`${state}${result}.`);
    this.#say(`${state}. Looking for its result.`);
    for (const [index, pause] of PAUSES.entries()) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      if (signal?.aborted) return;
      /** @type {{ evidence: unknown[] } | null} */
      const stored = await readJson(`/api/games/${this.#game.game}`);
      if (signal?.aborted) return;
      const hasEvidence = stored?.evidence.some((each) => each !== null);
      if (hasEvidence || (stored && index >= EVIDENCE)) return location.reload();
    }
    this.#say(`${state}, and no result is stored. Reload this page later.`);
  }

  #listenForSound() {
    const button = find(".sound", this.#article);
    this.#sound = Math.max(0, SOUNDS.indexOf(readStorage("sound") ?? ""));
    write(find("b", button), SOUNDS[this.#sound]);
    button.addEventListener("click", () => {
      this.#sound = (this.#sound + 1) % SOUNDS.length;
      write(find("b", button), SOUNDS[this.#sound]);
      writeStorage("sound", SOUNDS[this.#sound]);
      if (this.#sound) beep(660);
    });
  }
}

/** @param {Move} move */
function turnOf({ side, used, left }) {
  return { used: 1000 * used, left: left ? 1000 * left[side] : null };
}

/**
 * Play a short tone. A browser stays silent until the viewer has clicked or typed something on the page: tones that have
 * waited for that are not played.
 * @param {number} frequency
 */
async function beep(frequency) {
  const asked = performance.now();
  audio ??= new AudioContext();
  await audio.resume();
  if (performance.now() > asked + PATIENCE) return;
  const tone = new OscillatorNode(audio, { frequency });
  const volume = new GainNode(audio, { gain: 0.1 });
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + 0.12);
}
