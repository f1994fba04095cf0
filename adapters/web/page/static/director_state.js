// The view of the director: what its parts say, computed from the server's answer. Draws nothing.
import { capital, minutes, plural } from "./format.js";

/**
 * The server's answer, as far as this view uses it; adapters/web/openapi.json explains the fields.
 * @typedef {import("./dom.js").Part} Part
 * @typedef {{ number: number, game: string, first: string, winner: 0 | 1 | 2 }} Result
 * @typedef {{ number: number, winner: string | null }} Award
 * @typedef {{ number: number, stage: number, round: number, players: [string, string], state: "over" | "waiting",
 *   games: Result[], voided: number[], awarded: Award[], forfeits: number[] }} Pairing
 * @typedef {{ rank: number, name: string, group: string | null, withdrawn: string | null }} Standing
 * @typedef {{ number: number, made: number, by: string | null, words: string, why: string, undone: boolean }} Entry
 * @typedef {{ player: string, house: string, state: "waits" | "passed" | "failed", why: string }} Test
 * @typedef {{ stage: number, round: number, at: number | null, about: number | null, waits_for: number[] }} Next
 * @typedef {{ players: [string | null, string | null], winner: string | null }} Slot
 * @typedef {{ number: number, format: string, round: number, rounds: number | null, groups: object[],
 *   standings: Standing[], bracket: Slot[][] | null }} Stage
 *
 * @typedef {object} Report
 * @property {string} name
 * @property {"open" | "running" | "paused" | "over"} state
 * @property {boolean} ended_early
 * @property {number} round
 * @property {number | null} rounds
 * @property {number} stage
 * @property {Stage[]} stages
 * @property {{ games: number, players: number | null, start: number | null, roster: Record<string, string> }} settings
 * @property {Standing[]} standings
 * @property {Pairing[]} pairings
 * @property {{ stage: number, round: number, player: string }[]} byes
 * @property {string | null} announcement
 * @property {Next | null} next
 * @property {string[][]} next_set
 * @property {string[]} missing of the roster and of those that are expected, who has not entered
 * @property {[string, string][]} forbidden
 * @property {Entry[]} log
 * @property {Entry | null} undo
 * @property {Test[]} tests
 *
 * @typedef {object} Player
 * @property {string} name
 * @property {string | null} kind null if it is not connected
 * @property {boolean} house
 * @property {"plays" | "waits" | "away" | "absent" | "withdrawn" | "out"} state out: it plays no more
 * @property {number | null} for
 * @property {number | null} of
 * @property {string | null} against
 * @property {string | null} game
 * @property {number | null} pairing null without a game, and in a test game
 * @property {number | null} number
 * @property {number} faults
 * @property {number} in_a_row
 * @property {number} most
 *
 * @typedef {object} Need
 * @property {string | null} game null if it has not begun
 * @property {number} pairing
 * @property {number} number
 * @property {[string, string]} players
 * @property {string} who
 * @property {string} other
 * @property {"stall" | "away" | "absent"} why
 * @property {string} words
 *
 * @typedef {{ report: Report, players: Player[], needs: Need[], house: string[], testers: string[] }} Answer
 */

/** @type {Record<string, string>} */
const FORMATS = { "round-robin": "round robin", swiss: "Swiss stage" };
const LAST_ROUNDS = ["final", "semi-final", "quarter-final"]; // the last one first

/** @param {Report} report */
export function formatOf(report) {
  return stageOf(report).format;
}

/** @param {Report} report */
function stageOf({ stage, stages }) {
  return stages[stage - 1];
}

/**
 * Return what a pair of a round is, such as "semi-final", "round of 16" or "round 3".
 * @param {Stage} stage
 * @param {number} round
 */
function roundOf({ format, rounds }, round) {
  if (format !== "knockout" || rounds === null || round > rounds) return `round ${round}`;
  return LAST_ROUNDS[rounds - round] ?? `round of ${2 ** (rounds - round + 1)}`;
}

/**
 * Return the first round of a bracket of which a match is not decided. Later ones may have begun.
 * @param {Slot[][]} bracket
 */
function roundOn(bracket) {
  const first = bracket.findIndex((slots) => slots.some(({ winner }) => winner === null));
  return first < 0 ? bracket.length : first + 1;
}

/**
 * Return the title of what is on, and how many of its pairs are over. As in the tournament's own view, a drawn pair of a
 * knockout that is played again stays one pair.
 * @param {Report} report
 */
function pairsOn(report) {
  const stage = stageOf(report);
  if (stage.bracket?.length) {
    const round = roundOn(stage.bracket);
    const slots = stage.bracket[round - 1];
    const met = slots.filter(({ players }) => round > 1 || !players.includes(null));
    const title = roundOf(stage, round).replace(/-final$/, "-finals");
    const over = met.filter(({ winner }) => winner !== null).length;
    return { title: capital(title), over, total: met.length };
  }
  const pairs = report.pairings.filter((each) => isNow(report, each));
  const over = pairs.filter(({ state }) => state === "over").length;
  return { title: stage.groups.length ? "Groups" : "", over, total: pairs.length };
}

/**
 * Whether a pairing or a bye belongs to the Swiss round that is on; in the other formats, to the stage.
 * @param {Report} report
 * @param {{ stage: number, round: number }} each
 */
function isNow(report, each) {
  return each.stage === report.stage && (each.round === report.round || formatOf(report) !== "swiss");
}

/**
 * Return what is on: "Round 6 of 9 is on", "Groups: 19 of 54 pairs over".
 * @param {Report} report
 */
export function titleOf(report) {
  const { state, ended_early, round, rounds, stage, stages, next } = report;
  if (state === "open") return "It has not begun";
  if (state === "over") return ended_early ? "It was ended early" : "It is over";
  if (formatOf(report) === "swiss") {
    const ofStages = stages.length > 1 ? `Stage ${stage}: ` : "";
    return `${ofStages}Round ${round} of ${rounds} is ${state === "paused" ? "paused" : next?.at ? "over" : "on"}`;
  }
  const { title, over, total } = pairsOn(report);
  const of = title ? `${title}: ` : "";
  return `${state === "paused" ? "Paused. " : ""}${of}${over} of ${plural(total, "pair")} over`;
}

/**
 * Return a text that changes when something else is on: another round, stage or state, but not with each pair.
 * @param {Report} report
 */
export function whatIsOn(report) {
  const isOver = Boolean(report.next?.at);
  return JSON.stringify([report.state, report.stage, report.round, pairsOn(report).title, isOver]);
}

/**
 * Return how far it is if the title does not say so, and what begins when; times are in milliseconds of Unix time.
 * @param {Report} report
 * @returns {(string | { at: number })[]}
 */
export function progressOf(report) {
  const { state, settings, next, next_set, stage, stages } = report;
  if (state === "over") return [];
  if (state === "open") {
    if (settings.start !== null) return ["It begins at ", { at: 1000 * settings.start }, "."];
    if (settings.players !== null) return [`It begins when ${settings.players} players are here.`];
    return ["It begins when you start it."];
  }
  const { over, total } = pairsOn(report);
  const isSwiss = formatOf(report) === "swiss";
  const done = isSwiss ? `${over} of ${plural(total, "pair")} over` : "";
  if (!next) return [done];
  const coming = stages[next.stage - 1];
  const isStage = next.stage !== stage;
  const word = isStage ? (FORMATS[coming.format] ?? coming.format) : roundOf(coming, next.round);
  const what = isStage || coming.format === "knockout" ? `the ${word}` : word;
  const begins = isSwiss ? `; ${what}` : capital(what);
  /** @type {(string | { at: number })[]} */
  let time = [];
  if (next.at) time = [`${begins} begins at `, { at: next.at }];
  else if (next.about) time = [`${begins}${isSwiss ? "" : " begins"} about `, { at: next.about }];
  else if (next.waits_for.length === 1) time = [`${begins} waits for pair ${next.waits_for[0]} only`];
  return [done, ...time, next_set.length ? `; round ${next.round} is set by hand` : ""];
}

// Players.

/**
 * Return the group of a player, or null.
 * @param {Report} report
 * @param {string} name
 */
export function groupOf({ standings, settings }, name) {
  return standings.find((each) => each.name === name)?.group ?? (settings.roster[name] || null);
}

/**
 * Return who has not entered, by name, with group and what came of the latest test.
 * @param {Report} report
 */
export function missingOf(report) {
  return report.missing
    .toSorted((one, other) => one.localeCompare(other))
    .map((name) => {
      const test = report.tests.findLast(({ player }) => player.toLowerCase() === name.toLowerCase());
      const word = test && { waits: "in its test", failed: "test failed", passed: "" }[test.state];
      return { name, group: groupOf(report, name), test: word ?? "" };
    });
}

/**
 * Return how many players are here, how many should be, and how many play no more: "3 here", "1 away, 2 not here",
 * "1 withdrawn". Each may be empty; when all is over, nobody should be here.
 * @param {Answer} answer
 */
export function countsOf({ players, report }) {
  /** @param {string} state @param {string} [word] */
  const count = (state, word = state) => {
    const found = players.filter((each) => each.state === state).length;
    return found ? [`${found} ${word}`] : [];
  };
  const withdrawn = count("withdrawn");
  if (report.state === "over") return { here: "", gone: "", done: withdrawn.join("") };
  const here = players.filter(({ state }) => state === "plays" || state === "waits").length;
  return {
    here: `${here} here`,
    gone: [...count("away"), ...count("absent", "not here")].join(", "),
    done: [...count("out"), ...withdrawn].join(" · "),
  };
}

/**
 * Whether a player should be here and is not. When all is over, nobody should be.
 * @param {Player} player
 * @param {Report} report
 */
export function isMissing({ state }, report) {
  return report.state !== "over" && (state === "away" || state === "absent");
}

/**
 * Return a player's state in words, when all is over its place, and the share of its time that has passed, or null.
 * `passed` are the seconds since the server said so.
 * @param {Player} player
 * @param {Report} report
 * @param {number} passed
 * @returns {{ sign: string, words: string, share: number | null }}
 */
export function presenceOf(player, report, passed) {
  const { state, of } = player;
  if (state === "withdrawn") return { sign: "✕", words: "withdrawn", share: null };
  if (report.state === "over") {
    const rank = report.standings.find((each) => each.name === player.name)?.rank;
    return { sign: "", words: rank ? `place ${rank}` : "", share: null };
  }
  if (state === "out") return { sign: "–", words: "out", share: null };
  if (state === "plays" || state === "waits") {
    return { sign: "✓", words: `here, ${state}`, share: null };
  }
  const word = state === "away" ? "away" : "not here";
  if (player.for === null || of === null) return { sign: "◌", words: word, share: null };
  const gone = Math.min(of, player.for + passed);
  const times = of >= 100 ? `${minutes(gone)} of ${minutes(of)}` : `${Math.floor(gone)} s of ${of}`;
  return { sign: "◌", words: `${word} ${times}`, share: gone / of };
}

/**
 * Return whom a player plays, or why it plays nobody.
 * @param {Player} player
 * @param {Report} report
 * @returns {Part[]}
 */
export function againstOf({ name, state, against }, report) {
  if (against !== null) return [{ name: against }];
  if (state === "withdrawn") {
    return [report.standings.find((each) => each.name === name)?.withdrawn ?? ""];
  }
  const stage = stageOf(report);
  const own = report.pairings.filter((each) => isNow(report, each) && each.players.includes(name));
  const latest = own.at(-1);
  if (state === "out")
    return latest ? ["lost to ", { name: otherOf(latest, name) }] : ["did not come through"];
  if (report.state === "over") return [];
  const open = own.find((each) => each.state === "waiting");
  if (open) return ["waits for ", { name: otherOf(open, name) }];
  const isIn = (/** @type {Slot[]} */ slots) => slots.some(({ players }) => players.includes(name));
  const reached = stage.bracket?.findLastIndex(isIn) ?? 0;
  if (reached > 0) return [`is in the ${roundOf(stage, reached + 1)}`]; // not in round 1, where all begin
  if (own.length) return [own.length === 1 ? "pair is over" : "all pairs are over"];
  const isFree = report.byes.some((each) => isNow(report, each) && each.player === name);
  return isFree ? ["free in this round"] : [];
}

/**
 * @param {Pairing} pairing
 * @param {string} name
 */
function otherOf({ players }, name) {
  return players[players[0] === name ? 1 : 0];
}

/**
 * A game of a pairing, also one that was not played yet. `id` is as the acts take it; `result` is null while the game is
 * open; `hasEnded` says that it was open when the games were listed first.
 * @typedef {{ id: string, against: string, place: string, isOn: boolean, result: Part[] | null,
 *   hasEnded: boolean }} Game
 */

/**
 * Return the games of a player: those that are on, then those to come, then the others, the newest first.
 * @param {Answer} answer
 * @param {string} name
 * @returns {Game[]}
 */
export function gamesOf({ report, players }, name) {
  const live = players.find((each) => each.name === name && each.game !== null);
  /** @type {Game[]} */
  const found = [];
  for (const pairing of report.pairings.toReversed()) {
    if (!pairing.players.includes(name)) continue;
    const against = otherOf(pairing, name);
    const place = placeOf(report, pairing);
    for (let number = report.settings.games; number >= 1; number--) {
      const isOn = live?.pairing === pairing.number && live.number === number;
      const result = isOn ? null : resultOf(pairing, number); // what is on replaces what was before
      found.push({ id: `${pairing.number}.${number}`, against, place, isOn, result, hasEnded: false });
    }
  }
  const order = (/** @type {Game} */ { isOn, result }) => (isOn ? 0 : result ? 2 : 1);
  return found.sort((one, other) => order(one) - order(other));
}

/**
 * Return games as they are now, in the order in which they were listed before; new ones are the last.
 * @param {Game[]} before
 * @param {Game[]} now
 */
export function followed(before, now) {
  const ids = (/** @type {Game[]} */ games) => games.map(({ id }) => id);
  return orderOf(ids(before), ids(now)).flatMap((id) => {
    const game = now.find((each) => each.id === id);
    const was = before.find((each) => each.id === id);
    if (!game) return [];
    return [
      { ...game, hasEnded: game.result !== null && was !== undefined && (was.hasEnded || !was.result) },
    ];
  });
}

/**
 * Return where a pairing belongs: "round 3", "semi-final", "groups, round 2". A ladder has no rounds.
 * @param {Report} report
 * @param {Pairing} pairing
 */
function placeOf({ stages }, { stage, round }) {
  const its = stages[stage - 1];
  if (its.format === "ladder") return "";
  const of = its.groups.length
    ? "groups, "
    : stages.length > 1 && its.format !== "knockout"
      ? `stage ${stage}, `
      : "";
  return of + roundOf(its, round);
}

/**
 * Return the result of a game, in words, or null if it is open.
 * @param {Pairing} pairing
 * @param {number} number
 * @returns {Part[] | null}
 */
function resultOf(pairing, number) {
  if (pairing.voided.includes(number)) return ["void"];
  const award = pairing.awarded.find((each) => each.number === number);
  if (award) return award.winner === null ? ["made a draw"] : ["awarded to ", { name: award.winner }];
  if (pairing.forfeits.includes(number)) return ["forfeited"];
  const game = pairing.games.find((each) => each.number === number);
  if (!game) return null;
  if (game.winner === 0) return ["drawn"];
  return [{ name: game.winner === 1 ? game.first : otherOf(pairing, game.first) }, " won"];
}

/**
 * Return a text as parts, so that the players' names in it are isolated. A name is found where it stands as a word
 * of its own, and a longer one before a shorter one.
 * @param {string} text
 * @param {string[]} names
 * @returns {Part[]}
 */
export function partsOf(text, names) {
  const found = names.filter((name) => text.includes(name)).toSorted((a, b) => b.length - a.length);
  if (!found.length) return [text];
  const any = found.map((name) => name.replace(/[\^$\\.*+?()[\]{}|/]/g, "\\$&")).join("|");
  const word = new RegExp(`(?<![\\p{L}\\p{N}_-])(${any})(?![\\p{L}\\p{N}_-])`, "u");
  return text.split(word).map((part, index) => (index % 2 ? { name: part } : part));
}

/**
 * Return the order of rows: that of before, then the players that are new.
 * @param {string[]} before
 * @param {string[]} names
 */
export function orderOf(before, names) {
  return [
    ...before.filter((name) => names.includes(name)),
    ...names.filter((name) => !before.includes(name)),
  ];
}

// The next round by hand: slots, of which each two are a pair. The empty name is nobody.

/**
 * Return the slots for these players in their order.
 * @param {string[]} names
 */
export function slotsOf(names) {
  return names.length % 2 ? [...names, ""] : names;
}

/**
 * Put a player into a slot. Who was in it takes the place that the player had.
 * @param {string[]} slots
 * @param {number} index
 * @param {string} name
 */
export function exchanged(slots, index, name) {
  return slots.with(slots.indexOf(name), slots[index]).with(index, name);
}

/**
 * Return the pairs as the server takes them: [["alice","bob"],["carol"]]. A bye is the last one, so that the pairs that
 * the server reports are the slots again.
 * @param {string[]} slots
 */
export function pairsOf(slots) {
  const pairs = [];
  for (let index = 0; index < slots.length; index += 2) {
    pairs.push(slots.slice(index, index + 2).filter(Boolean));
  }
  return JSON.stringify(pairs.sort((one, other) => other.length - one.length));
}

/**
 * Return what is special about a pair.
 * @param {Report} report
 * @param {string} first
 * @param {string} second
 */
export function noteOn(report, first, second) {
  if (!first || !second) return "is free";
  const both = (/** @type {string[]} */ names) => names.includes(first) && names.includes(second);
  if (report.forbidden.some(both)) return "✕ forbidden pair";
  const met = report.pairings.filter((each) => both(each.players)).map((each) => each.round);
  return met.length ? `met in round ${met.join(", ")}` : "";
}
