// What is asked before each act of the director: the fields, and what follows from the act.
import { button, choice, choiceOf, labelled, listed, make, plain, renew } from "./director_forms.js";
import {
  exchanged,
  followed,
  gamesOf,
  missingOf,
  noteOn,
  orderOf,
  pairsOf,
  slotsOf,
} from "./director_state.js";
import { create, write } from "./dom.js";
import { plural } from "./format.js";

/**
 * @typedef {import("./dom.js").Part} Part
 * @typedef {import("./director_forms.js").Question} Question
 * @typedef {import("./director_state.js").Answer} Answer
 * @typedef {import("./director_state.js").Game} Game
 *
 * What the server said last. A form that is open follows it.
 * @typedef {() => Answer} Now
 * @typedef {(now: Now) => Question} Asked
 */

const COUNTS_NOT = "Whatever was or will be played in this game does not count.";

// Acts for players. `names` are the marked ones.

/**
 * @param {Now} now
 * @param {string[]} names
 * @returns {Question}
 */
export function toWithdraw(now, names) {
  const isOne = names.length === 1;
  const lost = () => {
    const open = names.flatMap((each) => gamesOf(now(), each).filter(({ result }) => !result)).length;
    const games = open === 1 ? "open game is" : `${open} open games are`;
    return open ? `${isOne ? "Its" : "Their"} ${games} lost when nothing else can be played. ` : "";
  };
  const back = isOne
    ? "It cannot come back, unless you readmit it."
    : "They cannot come back, unless you readmit them.";
  return {
    title: ["Withdraw ", ...listed(names)],
    follows: () => [lost(), back],
    words: () => ["Withdraw"],
    isBad: true,
    asksWhy: true,
    acts: () => names.map((player) => ({ act: "withdraw", parameters: { player } })),
  };
}

/**
 * @param {string[]} names
 * @returns {Question}
 */
export function toReadmit(names) {
  return {
    title: ["Readmit ", ...listed(names)],
    follows: () => ["From the next pairing on; games that are lost by now stay lost."],
    words: () => ["Readmit"],
    asksWhy: true,
    acts: () => names.map((player) => ({ act: "readmit", parameters: { player } })),
  };
}

/**
 * @param {Now} now
 * @param {string} player
 * @returns {Question}
 */
export function toAward(now, player) {
  let games = gamesOf(now(), player);
  const which = choice(games.map((game) => ({ value: game.id, words: inWords(game) })));
  const list = labelled("Game", which);
  list.classList.add("long");
  const to = choice([
    { value: "player", words: [{ name: player }] },
    { value: "other", words: ["its opponent"] },
    { value: "draw", words: ["nobody: a draw"] },
  ]);
  const chosen = () => games.find((game) => game.id === which.value);
  /** @returns {string} */
  const winner = () => ({ player, other: chosen()?.against ?? "" })[to.value] ?? "draw";
  return {
    title: ["Award a game of ", { name: player }],
    fields: [list, labelled("Award it to", to)],
    follows: () => [...replacing(chosen()), COUNTS_NOT],
    replaced: () => plain(chosen()?.result ?? []),
    follow: () => {
      games = followed(games, gamesOf(now(), player));
      for (const [index, game] of games.entries()) {
        const words = plain(inWords(game));
        const option = which.options[index];
        if (!option) which.append(new Option(words, game.id));
        else if (option.text !== words) option.text = words;
      }
    },
    words: () => (to.value === "draw" ? ["Make it a draw"] : ["Award it to ", { name: winner() }]),
    asksWhy: true,
    acts: () => [{ act: "award", parameters: { game: which.value, to: winner() } }],
  };
}

/**
 * @param {Now} now
 * @param {string} game
 * @param {string} to
 * @returns {Question}
 */
export function toAwardTo(now, game, to) {
  const its = () => gamesOf(now(), to).find(({ id }) => id === game);
  return {
    title: ["Award the game to ", { name: to }],
    follows: () => [...replacing(its()), COUNTS_NOT],
    replaced: () => plain(its()?.result ?? []),
    words: () => ["Award it to ", { name: to }],
    asksWhy: true,
    acts: () => [{ act: "award", parameters: { game, to } }],
  };
}

/**
 * @param {Now} now
 * @param {string} player
 * @returns {Question}
 */
export function toVoid(now, player) {
  /** @type {Game[]} */
  let games = [];
  /** @type {Map<string, { box: HTMLInputElement, words: HTMLElement }>} */
  const rows = new Map();
  const boxes = make("div", "boxes");
  const follow = () => {
    games = followed(games, gamesOf(now(), player));
    for (const game of games) renew(rowOf(game).words, inWords(game));
  };
  /** @param {Game} game */
  const rowOf = ({ id, isOn }) => {
    const known = rows.get(id);
    if (known) return known;
    const row = {
      box: create("input", { type: "checkbox", checked: isOn && !rows.size }),
      words: make("span", ""),
    };
    boxes.append(make("label", "", row.box, row.words));
    rows.set(id, row);
    return row;
  };
  follow();
  const kind = choice([
    { value: "void", words: ["void: they count for neither player"] },
    { value: "replay", words: ["played again, if they are over"] },
  ]);
  const isOver = now().report.state === "over"; // nothing can be played again
  const marked = () => games.filter(({ id }) => rows.get(id)?.box.checked);
  const isVoid = () => kind.value === "void";
  const many = () => (marked().length ? plural(marked().length, "game") : "games");
  return {
    title: [isOver ? "Void games of " : "Void or replay games of ", { name: player }],
    fields: [
      make("fieldset", "asked", make("legend", "", "Games"), boxes),
      ...(isOver ? [] : [labelled("They are", kind)]),
    ],
    follows: () => {
      if (!marked().length) return [];
      const over = marked().filter(({ result }) => result);
      const replaced = over.length > 1 ? [`This replaces ${over.length} results. `] : replacing(over[0]);
      const are = `${many()} ${marked().length === 1 ? "is" : "are"}`;
      if (isVoid()) return [...replaced, `${are} void: counted for neither player, and not played again.`];
      return [...replaced, `${are} played again; what was played before does not count.`];
    },
    replaced: () => JSON.stringify(marked().map(({ id, result }) => [id, result])),
    follow,
    words: () => [isVoid() ? `Void ${many()}` : `Play ${many()} again`],
    isBad: true,
    asksWhy: true,
    acts: () => {
      const acts = marked().map(({ id }) => ({ act: kind.value, parameters: { game: id } }));
      return acts.length ? acts : "Choose a game.";
    },
  };
}

/**
 * @param {Game} game
 * @returns {Part[]}
 */
function inWords({ id, against, place, isOn, hasEnded, result }) {
  const state = isOn ? ["on"] : (result ?? ["not played yet"]);
  const where = place && ` (${place})`;
  return [`game ${id} against `, { name: against }, `${where}: ${hasEnded ? "ended, " : ""}`, ...state];
}

/**
 * Return the result that an act replaces, if there is one, as a sentence.
 * @param {Game} [game]
 * @returns {Part[]}
 */
function replacing(game) {
  return game?.result ? ["This replaces the result: ", ...game.result, ". "] : [];
}

/**
 * @param {Now} now
 * @param {string[]} names one or two
 * @returns {Question}
 */
export function toForbid(now, [player, second]) {
  const others = now()
    .players.map((each) => each.name)
    .filter((each) => each !== player);
  const other = choiceOf(others, second);
  return {
    title: second
      ? ["Forbid ", { name: player }, " and ", { name: second }, " to meet"]
      : ["Forbid a pair of ", { name: player }],
    fields: second ? [] : [labelled("It must not meet", other)],
    follows: () => {
      const games = gamesOf(now(), player).filter(({ against }) => against === other.value);
      const open = games.filter(({ result }) => !result).length;
      const are = open ? ` ${plural(open, "open game")} of theirs ${open === 1 ? "is" : "are"} void.` : "";
      return [{ name: player }, " and ", { name: other.value }, ` are not paired any more.${are}`];
    },
    words: () => ["Forbid it"],
    asksWhy: true,
    acts: () => [{ act: "forbid", parameters: { player, other: other.value } }],
  };
}

/**
 * @param {Now} now
 * @param {string[]} names
 * @returns {Question}
 */
export function toTest(now, names) {
  const house = choiceOf(now().testers);
  return {
    title: ["Test game of ", ...listed(names)],
    fields: [labelled("Against", house)],
    follows: () => ["Two games as soon as the player is free, also during a pause. They do not count."],
    words: () => ["Test"],
    asksWhy: true,
    acts: () => names.map((player) => ({ act: "test", parameters: { player, house: house.value } })),
  };
}

// Acts for the tournament.

/**
 * @param {Now} now
 * @returns {Question}
 */
export function toAddHouse(now) {
  const house = choiceOf(now().house);
  return {
    title: ["Add a house player"],
    fields: [labelled("House player", house)],
    follows: () => [{ name: house.value }, " takes part from the next pairing on."],
    words: () => ["Add ", { name: house.value }],
    asksWhy: true,
    acts: () => [{ act: "house", parameters: { player: house.value } }],
  };
}

/**
 * @param {Now} now
 * @returns {Question}
 */
export function toEnter(now) {
  const { report } = now();
  const field = create("input", { maxLength: 256, autocomplete: "off", spellcheck: false });
  const missing = create("datalist", { id: "missing" });
  const follow = () => {
    const options = missingOf(now().report).map(({ name, group }) => new Option(group ?? "", name));
    missing.replaceChildren(...options);
  };
  follow();
  field.setAttribute("list", missing.id);
  return {
    title: ["Enter a player"],
    fields: [labelled("The name with which its bot connects", field), missing],
    follow,
    follows: () => [
      "It takes part from the next pairing on, also without a test. Its bot sits down at the table ",
      { name: report.name },
      ".",
    ],
    words: () => ["Enter ", { name: field.value.trim() }],
    asksWhy: true,
    acts: () => {
      const player = field.value.trim();
      return player ? [{ act: "enter", parameters: { player } }] : "Type the player’s name.";
    },
  };
}

/**
 * @param {Now} now
 * @returns {Question}
 */
export function toEnd(now) {
  const { name, standings, state } = now().report;
  const field = create("input", { autocomplete: "off", spellcheck: false });
  const first = standings.filter((each) => each.rank === 1).map((each) => each.name);
  const leader = state !== "open" && first.length === 1 ? [" Now ", { name: first[0] }, " is first."] : [];
  return {
    title: ["End ", { name }, " for good"],
    fields: [labelled("Type the tournament’s name to confirm", field)],
    follows: () => ["Games that are on are finished and count. No further game begins.", ...leader],
    words: () => ["End the tournament"],
    isBad: true,
    asksWhy: true,
    acts: () => (field.value.trim() === name ? [{ act: "end" }] : `The tournament’s name is: ${name}`),
  };
}

/**
 * @param {Now} now
 * @returns {Question}
 */
export function toSetNext(now) {
  const { report } = now();
  const { standings } = report.stages[report.stage - 1];
  const present = standings.filter((each) => each.withdrawn === null).map((each) => each.name);
  let slots = slotsOf(orderOf(report.next_set.flat(), present));
  const lists = slots.map((name, index) => {
    const list = choiceOf(slots, name);
    list.ariaLabel = `Pair ${(index >> 1) + 1}, ${index % 2 ? "second" : "first"} player`;
    list.addEventListener("input", () => {
      slots = exchanged(slots, index, list.value);
      show();
    });
    return list;
  });
  const notes = slots.filter((_, index) => index % 2).map(() => make("span", "note"));
  function show() {
    for (const [index, list] of lists.entries()) list.value = slots[index];
    for (const [pair, note] of notes.entries()) {
      write(note, noteOn(report, slots[2 * pair], slots[2 * pair + 1]));
    }
  }
  show();
  const reset = button("ask", ["Back to the order of the standings"], () => {
    slots = slotsOf(present);
    show();
  });
  const pairs = notes.map((note, pair) => make("li", "", lists[2 * pair], "–", lists[2 * pair + 1], note));
  return {
    title: ["The next round by hand"],
    fields: [make("ol", "pairs", ...pairs), make("p", "reset", reset)],
    follows: () => [
      "A player that you choose changes places with the one that was there. ",
      "The round is played with these pairs, whatever the points are then.",
    ],
    words: () => ["Set the round"],
    asksWhy: true,
    acts: () => [{ act: "next", parameters: { pairs: pairsOf(slots) } }],
  };
}
