// The players of a tournament as the director sees them: a row for each, which keeps its place, and the acts for those
// that are marked.
import { button, listed, make, Place, plain } from "./director_forms.js";
import { toAward, toForbid, toReadmit, toTest, toVoid, toWithdraw } from "./director_questions.js";
import { againstOf, countsOf, groupOf, isMissing, missingOf, orderOf, presenceOf } from "./director_state.js";
import { copyOf, create, find, isolated, write } from "./dom.js";
import { address, kindOf, plural } from "./format.js";

/**
 * @typedef {import("./dom.js").Part} Part
 * @typedef {import("./director_forms.js").Acts} Acts
 * @typedef {import("./director_questions.js").Asked} Asked
 * @typedef {import("./director_state.js").Answer} Answer
 * @typedef {import("./director_state.js").Player} Player
 */

const ROW = 34; // the height of a row, as in director.css
const BELOW = 76; // the height of what is below the rows
const FEWEST = 8; // rows that are shown however low the window is
const MANY = 12; // rows that are shown where the other cards are above and below the table
const BAR = 50; // the width of a bar
const WIDE = matchMedia("(min-width: 1100px)");

/** The card with all players. */
export class Players {
  #body;
  #missing;
  #notEntered;
  #more;
  #bar;
  #place;
  /** @type {Map<string, Row>} */
  #rows = new Map();
  /** @type {string[]} The names in the order of the rows. */
  #order = [];
  #isWhole = false; // whether all rows are shown
  /** @type {Answer | null} */
  #answer = null;

  /**
   * @param {HTMLElement} card
   * @param {Acts} acts
   */
  constructor(card, acts) {
    this.card = card;
    this.#body = find("tbody", card);
    this.#missing = find(".missing", card);
    this.#notEntered = find(".not-entered", card);
    this.#more = find(".more-rows", card);
    this.#bar = find(".bar", card);
    this.#place = new Place(find(".place", card), acts);
    this.#missing.addEventListener("click", () => this.#sort());
    this.#more.addEventListener("click", () => {
      this.#isWhole = !this.#isWhole;
      this.#limit();
    });
    addEventListener("resize", () => this.#limit());
  }

  /** @param {Answer} answer */
  show(answer) {
    const { players } = answer;
    this.#answer = answer;
    for (const player of players) {
      const row = this.#rows.get(player.name) ?? new Row(player.name, () => this.#marked());
      this.#rows.set(player.name, row);
      row.show(player, answer);
    }
    this.#arrange(
      orderOf(
        this.#order,
        players.map((player) => player.name),
      ),
    );
    const { here, gone, done } = countsOf(answer);
    write(find("h2", this.card), plural(players.length, "player"));
    write(find(".here", this.card), here + (here && gone && " · "));
    write(this.#missing, gone);
    this.#missing.hidden = !gone;
    write(find(".gone-for-good", this.card), (here && done && " · ") + done);
    this.#showNotEntered(answer);
    this.#place.renew();
    this.#marked();
  }

  /** @param {Answer} answer */
  #showNotEntered({ report }) {
    const missing = report.state === "open" ? missingOf(report) : [];
    const key = JSON.stringify(missing);
    if (this.#notEntered.dataset.shown === key) return;
    this.#notEntered.dataset.shown = key;
    this.#notEntered.hidden = missing.length === 0;
    const names = missing.map(({ name, group, test }, index) => {
      const about = make("small", "group", ...(group ? [" ", { name: group }] : []), test && ` ${test}`);
      return make("span", "", { name }, about, index < missing.length - 1 ? ", " : "");
    });
    this.#notEntered.replaceChildren(make("b", "", `${missing.length} not entered yet:`), " ", ...names);
  }

  /** Show for how long players have been away. */
  tick() {
    for (const row of this.#rows.values()) row.tick();
  }

  #marked() {
    this.#limit();
    this.#drawBar();
  }

  /** Hide the rows that do not fit into the window, but none that is marked. */
  #limit() {
    const top = this.#body.getBoundingClientRect().top + scrollY;
    const fits = WIDE.matches ? Math.max(FEWEST, Math.floor((innerHeight - top - BELOW) / ROW)) : MANY;
    let beyond = 0;
    for (const [index, row] of this.#inOrder(this.#order).entries()) {
      const isBeyond = index >= fits && !row.isMarked;
      row.element.hidden = isBeyond && !this.#isWhole;
      beyond += Number(isBeyond);
    }
    this.#more.hidden = beyond === 0;
    write(this.#more, this.#isWhole ? `Show ${beyond} fewer` : `Show ${beyond} more`);
  }

  /**
   * Put the rows into this order, and remove those of other players.
   * @param {string[]} names
   */
  #arrange(names) {
    if (names.join("\n") === this.#order.join("\n")) return;
    this.#order = names;
    const focused = /** @type {HTMLElement | null} */ (this.#body.querySelector(":focus"));
    this.#body.replaceChildren(...this.#inOrder(names).map((row) => row.element));
    focused?.focus({ preventScroll: true });
  }

  /** @param {string[]} names */
  #inOrder(names) {
    return names.flatMap((name) => this.#rows.get(name) ?? []);
  }

  /** Put the players that are missing first, or all back into their order. */
  #sort() {
    const isSorted = this.#missing.ariaPressed === "true";
    this.#missing.ariaPressed = String(!isSorted);
    const players = [...(this.#answer?.players ?? [])];
    const { report } = /** @type {Answer} */ (this.#answer);
    const isLate = (/** @type {Player} */ player) => Number(isMissing(player, report));
    if (!isSorted) players.sort((one, other) => isLate(other) - isLate(one));
    this.#arrange(players.map((player) => player.name));
    this.#limit();
  }

  /** Show the acts that are possible for the marked players, unless they are shown. */
  #drawBar() {
    if (!this.#answer) return;
    const { players, report } = this.#answer;
    const marked = players.filter(({ name }) => this.#rows.get(name)?.isMarked);
    const names = marked.map((each) => each.name);
    const test = names.length === 1 ? testOf(this.#answer, names[0]) : "";
    const key = JSON.stringify([names, marked.map((each) => each.state === "withdrawn"), report.state, test]);
    if (this.#bar.dataset.key === key) return;
    this.#bar.dataset.key = key;
    this.#bar.ariaLabel = names.length ? `Acts for ${names.join(", ")}` : "Acts";
    if (!names.length)
      return this.#bar.replaceChildren(make("span", "quiet", "Mark players to act on them."));
    const title = make("span", "marked-names", ...listed(names), ":");
    this.#bar.replaceChildren(title, ...this.#buttons(marked));
    if (names.length > 1) return;
    const href = `/player/?${new URLSearchParams({ name: names[0] })}`;
    const link = create("a", { className: "its-games", textContent: "Its games", href });
    this.#bar.append(make("span", "quiet", test), link);
  }

  /** @param {Player[]} marked */
  #buttons(marked) {
    /** @type {HTMLElement[]} */
    const found = [];
    const now = () => /** @type {Answer} */ (this.#answer);
    const { state } = now().report;
    const names = marked.map((each) => each.name);
    const out = marked.filter((each) => each.state === "withdrawn").length;
    /**
     * @param {string} words
     * @param {Asked} question
     * @param {string} [classes]
     */
    const add = (words, question, classes = "beyond") => {
      const press = (/** @type {HTMLElement} */ opener) => this.#place.ask(opener, question(now));
      found.push(button(`button ${classes}`, [words], press));
    };
    const isOver = state === "over";
    if (!out && !isOver) add("Withdraw …", (now) => toWithdraw(now, names));
    if (names.length === 1 && state !== "open") {
      add("Award a game …", (now) => toAward(now, names[0]), "");
      add(isOver ? "Void a game …" : "Void or replay …", (now) => toVoid(now, names[0]));
    }
    if (!out && !isOver && names.length <= 2) add("Forbid a pair …", (now) => toForbid(now, names));
    if (!out && !isOver && !marked.some((each) => each.house) && now().testers.length)
      add("Test game …", (now) => toTest(now, names));
    if (out === names.length && !isOver) add("Readmit …", () => toReadmit(names));
    return found;
  }
}

/**
 * Return how the latest test game of a player went.
 * @param {Answer} answer
 * @param {string} player
 */
function testOf({ report }, player) {
  const latest = report.tests.findLast((each) => each.player === player);
  if (!latest) return "";
  const word = { waits: "waits", passed: "✓ passed", failed: "✕ failed" }[latest.state];
  return `Test against ${latest.house}: ${word}${latest.why ? `, ${latest.why}` : ""}`;
}

let count = 0; // rows so far

/** A player's row. */
class Row {
  /** @type {Player | null} */
  #player = null;
  /** @type {Answer | null} */
  #answer = null;
  #at = 0; // when the server has said so
  element = copyOf("#row");
  #box = find("input", this.element, HTMLInputElement);

  /**
   * @param {string} player
   * @param {() => void} marked called when the row is marked, or not any more
   */
  constructor(player, marked) {
    const label = find("label", this.element, HTMLLabelElement);
    this.#box.id = label.htmlFor = `player-${++count}`;
    this.#box.ariaLabel = `Mark ${player}`;
    label.replaceChildren(isolated(player));
    this.#box.addEventListener("change", () => {
      this.element.classList.toggle("marked", this.isMarked);
      marked();
    });
  }

  get isMarked() {
    return this.#box.checked;
  }

  /**
   * @param {Player} player
   * @param {Answer} answer
   */
  show(player, answer) {
    this.#player = player;
    this.#answer = answer;
    this.#at = performance.now();
    const { kind, faults, in_a_row, most } = player;
    if (kind !== null) {
      const mark = find(".mark", this.element);
      const [letter, title] = kindOf(kind);
      mark.hidden = false; // it stays when the player is not connected, and its kind is not known
      mark.title = title;
      write(mark, letter);
      write(find(".kind", this.element), ` ${title}`);
    }
    const group = groupOf(answer.report, player.name) ?? "";
    const its = find(".group", this.element);
    its.hidden = !group;
    its.title = group;
    write(its, group);
    this.element.classList.toggle("missing", isMissing(player, answer.report));
    this.element.classList.toggle("out", player.state === "out" && answer.report.state !== "over");
    this.element.classList.toggle("withdrawn", player.state === "withdrawn");
    showAgainst(find(".against", this.element), player, againstOf(player, answer.report));
    const none = (/** @type {number} */ number) => (number ? "" : " none");
    const row = in_a_row ? `${in_a_row} of ${most}` : "0";
    const all = find(".faults", this.element);
    all.title = `In a row: ${row}`; // a narrow table has no column for it
    write(all, faults ? `✕ ${faults}` : "0", `number faults${none(faults)}`);
    write(find(".in-a-row", this.element), row, `number in-a-row${none(in_a_row)}`);
    this.tick();
  }

  /** Show for how long the player has been away. */
  tick() {
    if (!this.#player || !this.#answer) return;
    const passed = (performance.now() - this.#at) / 1000;
    const { sign, words, share } = presenceOf(this.#player, this.#answer.report, passed);
    write(find(".sign", this.element), sign);
    write(find(".words", this.element), words);
    find(".gone", this.element, SVGElement).classList.toggle("none", share === null);
    find(".filled", this.element, SVGElement).setAttribute("width", String(Math.round((share ?? 0) * BAR)));
  }
}

/**
 * @param {HTMLElement} cell
 * @param {Player} player
 * @param {Part[]} parts
 */
function showAgainst(cell, { game, pairing, number }, parts) {
  const text = `${plain(parts)} ${game} ${number}`;
  if (cell.dataset.shown === text) return;
  cell.dataset.shown = text;
  const words = make("span", "", ...parts);
  words.title = plain(parts);
  const which = number === null ? "test game" : `game ${pairing}.${number}`;
  const link = game === null ? [] : [", ", create("a", { textContent: which, href: address("game", game) })];
  cell.replaceChildren(make("span", "facing", words, ...link));
}
