// The view Play as a state machine: `next` returns the state that follows a state and an event. Pure; draws nothing.
//
// The game comes from the arena connection. The live stream adds what that dialect lacks: names, clocks, the time of
// each move, and reasons for an end that the position does not show.
import { ending, opposite } from "./rules.js";

/**
 * @typedef {import("./rules.js").Side} Side
 * @typedef {import("./arena.js").ArenaEvent} ArenaEvent
 * @typedef {import("./arena.js").Position} Position
 * @typedef {import("./games.js").LiveGame} LiveGame
 * @typedef {import("./games.js").Player} Player
 * @typedef {import("./games.js").StreamEvent} StreamEvent
 */

/**
 * A request for a game: the person's name, and the opponent's name or table. Without both, the opponent is anyone.
 * @typedef {{ me: string, opponent: { name?: string, kind?: string, table?: string } }} Request
 */

/**
 * A part of a sentence: text, or the opponent, whose name may become known only later.
 * @typedef {string | typeof OPPONENT} MessagePart
 */

/**
 * A game that has begun.
 * @typedef {object} Game
 * @property {Request} request
 * @property {Side} side the person's own
 * @property {string} moves
 * @property {number} since when the latest move was made
 * @property {Pick<LiveGame, "game" | "players" | "reason" | "left" | "away"> | null} live the game in the live stream,
 *   once known
 * @property {number | null} used seconds of the opponent's latest move, once known
 * @property {MessagePart[]} message the latest sentence about it
 */

/**
 * @typedef {{ at: "choosing", trouble: string }} Choosing
 * @typedef {{ at: "asking", request: Request, since: number, isLong: boolean, last: Over | null }} Asking
 *   `isLong` is true once the page shows that it waits. Until then it still shows the last game.
 * @typedef {Game & { at: "playing", toMove: Side | null, isSent: boolean, isLeaving: boolean }} Playing
 *   `isSent` is true while a move is on its way, `isLeaving` once the person was asked whether to leave and lose.
 * @typedef {Game & { at: "over", winner: Side | null, cause: string | null, trouble: string, stored: string | null }} Over
 *   `cause` is the reason for the end, if the connection shows it. `trouble` is a text if the connection was lost.
 *   `stored` is the id of the stored game.
 * @typedef {Choosing | Asking | Playing | Over} State
 */

/**
 * A stored game, as the API returns it.
 * @typedef {{ id: string, moves: string, players: [Player, Player], winner: number | null, reason: string }} StoredGame
 */

/**
 * An event: an action of the person, a message of the connection or the stream, or a result that arrives later.
 * @typedef {{ type: "ask", request: Request, now: number }
 *   | { type: "late" }
 *   | { type: "choose" }
 *   | { type: "drop" }
 *   | { type: "full", column: number }
 *   | { type: "leave" }
 *   | { type: "stay" }
 *   | { type: "arena", event: ArenaEvent, games: LiveGame[], now: number }
 *   | { type: "stream", event: StreamEvent, games: LiveGame[] }
 *   | { type: "stored", game: StoredGame }} Event
 */

/** Stands for the opponent in a sentence. */
export const OPPONENT = Symbol("opponent");

/** @type {Record<string, string>} */
const CAUSES = {
  four: "four in a row",
  full: "the board is full",
  time: "your opponent’s time was up",
  illegal: "your opponent made an illegal move",
  left: "your opponent left",
  gone: "your opponent left",
  aborted: "your opponent left before both had moved",
  stopped: "the server stopped the game",
  replayed: "your opponent’s connection broke. Play again to repeat the game",
};

/**
 * Return the state after an event: the same object if nothing changed.
 * @param {State} state
 * @param {Event} event
 * @returns {State}
 */
export function next(state, event) {
  switch (event.type) {
    case "ask":
      return ask(state, event.request, event.now);
    case "late":
      return state.at === "asking" ? { ...state, isLong: true } : state;
    case "choose":
      return { at: "choosing", trouble: "" };
    case "drop":
      return state.at === "playing" ? { ...state, isSent: true, isLeaving: false } : state;
    case "full":
      return state.at === "playing" ? { ...state, message: [`Column ${event.column} is full.`] } : state;
    case "leave":
      if (state.at !== "playing") return state;
      if (state.moves.length < 2 || state.isLeaving) return { at: "choosing", trouble: "" };
      return { ...state, isLeaving: true };
    case "stay":
      return state.at === "playing" && state.isLeaving ? { ...state, isLeaving: false } : state;
    case "arena":
      return hear(state, event.event, event.games, event.now);
    case "stream":
      return watch(state, event.event, event.games);
    case "stored":
      return state.at === "over" && state.moves === event.game.moves ? withStored(state, event.game) : state;
  }
}

/**
 * Return whether it is the person's turn, and no move is on its way.
 * @param {State} state
 * @returns {state is Playing}
 */
export function isMine(state) {
  return state.at === "playing" && state.toMove === state.side && !state.isSent;
}

/**
 * Return the name of the opponent, as far as it is known.
 * @param {Game} game
 */
export function opponentOf({ live, side, request }) {
  return live?.players[opposite(side)].name ?? request.opponent.name ?? "your opponent";
}

/**
 * Return whether a side's connection broke, and its seat is kept.
 * @param {Game} game
 * @param {Side} side
 */
export function isAway({ live }, side) {
  return Boolean(live?.away[side]);
}

/**
 * Return why a game ended, as far as it is known. Only the live stream shows time and illegal moves, and that a game
 * will be played again. The arena connection shows the latter as a departure of the opponent.
 * @param {Over} over
 */
export function causeOf({ cause, moves, live }) {
  if (live?.reason === "replayed") return live.reason;
  return cause ?? ending(moves) ?? live?.reason ?? "";
}

/**
 * Return how a game ended, as a title.
 * @param {Over} over
 */
export function titleOf(over) {
  const cause = causeOf(over);
  if (over.trouble) return "Connection lost";
  if (cause === "gone") return "Game over";
  if (over.winner === null) return cause === "full" ? "Draw" : "Nobody won";
  return over.winner === over.side ? "You won" : "You lost";
}

/**
 * Return what the title of the tab says to a person who looks at another one; empty if nothing.
 * @param {State} state
 */
export function headlineOf(state) {
  if (state.at === "over") return titleOf(state);
  return isMine(state) ? "Your move" : "";
}

/**
 * @param {State} state
 * @param {Request} request
 * @param {number} now
 * @returns {State}
 */
function ask(state, request, now) {
  if (state.at === "asking" || state.at === "playing") return state; // the second half of a double click
  return { at: "asking", request, since: now, isLong: false, last: state.at === "over" ? state : null };
}

/**
 * Return the state after an event of the arena connection.
 * @param {State} state
 * @param {ArenaEvent} event
 * @param {LiveGame[]} games
 * @param {number} now
 * @returns {State}
 */
function hear(state, event, games, now) {
  if (state.at !== "asking" && state.at !== "playing") return state;
  switch (event.type) {
    case "state":
      return moved(
        state.at === "asking" ? begun(state.request, event.position, now) : state,
        event.position,
        games,
        now,
      );
    case "disconnected":
      if (state.at === "asking") return state;
      // The message names no winner; there is none if a node of the cluster was lost.
      return finished(state, { winner: null, cause: state.moves.length < 2 ? "aborted" : "gone" });
    case "ignored":
      if (state.at === "asking") return { at: "choosing", trouble: `The server says: ${event.reason}.` };
      return {
        ...state,
        isSent: false,
        message: [`The move was refused: ${event.reason}. Choose another column.`],
      };
    case "lost": {
      const closed = event.reason && `The server closed the connection: ${event.reason}.`;
      if (state.at === "asking") {
        const trouble = `${closed || "The server cannot be reached."} Try again when it is running.`;
        return { at: "choosing", trouble };
      }
      const lost = "The connection is lost. If both players had moved, you have lost the game.";
      return finished(state, { trouble: closed || lost });
    }
    default:
      return state;
  }
}

/**
 * Return a new game, before its first position is applied.
 * @param {Request} request
 * @param {Position} position
 * @param {number} now
 * @returns {Playing}
 */
function begun(request, { side }, now) {
  /** @type {MessagePart[]} */
  const mover = side === 0 ? ["You move"] : [OPPONENT, " moves"];
  return {
    at: "playing",
    request,
    side,
    moves: "",
    toMove: 0,
    since: now,
    live: null,
    used: null,
    isSent: false,
    isLeaving: false,
    message: ["The game begins. ", ...mover, " first."],
  };
}

/**
 * @param {Playing} state
 * @param {Position} position
 * @param {LiveGame[]} games
 * @param {number} now
 * @returns {Playing | Over}
 */
function moved(state, { side, moves, toMove, winner }, games, now) {
  const isNew = moves !== state.moves;
  const since = isNew ? now : state.since;
  const playing = matched({ ...state, side, moves, toMove, since, isSent: false }, games);
  if (winner !== undefined) return finished(playing, { winner });
  if (!isNew || !moves) return playing;
  const column = moves[moves.length - 1];
  const opponent = isAway(playing, opposite(side)) ? " is away." : " thinks.";
  /** @type {MessagePart[]} */
  const message =
    toMove === side
      ? [OPPONENT, ` played column ${column}. Your move.`]
      : [`You played column ${column}. `, OPPONENT, opponent];
  return { ...playing, message };
}

/**
 * @param {Playing} state
 * @param {{ winner?: Side | null, cause?: string | null, trouble?: string }} end
 * @returns {Over}
 */
function finished(
  { request, side, moves, since, live, used, message },
  { winner = null, cause = null, trouble = "" },
) {
  const game = { request, side, moves, since, live, used, message };
  return explained({ ...game, at: "over", winner, cause, trouble, stored: null });
}

/**
 * Return the game with a message on how it ended.
 * @param {Over} over
 * @returns {Over}
 */
function explained(over) {
  const cause = causeOf(over);
  const words = cause === "time" && over.winner !== over.side ? "your time was up" : (CAUSES[cause] ?? cause);
  const kept = "The connection is lost. Your seat is kept: Play again goes on with the game.";
  const trouble = over.trouble && isAway(over, over.side) ? kept : over.trouble;
  return { ...over, message: [trouble || `${titleOf(over)}${words ? `: ${words}` : ""}.`] };
}

/**
 * Return the state after an event of the live stream.
 * @param {State} state
 * @param {StreamEvent} event
 * @param {LiveGame[]} games
 * @returns {State}
 */
function watch(state, { name, data }, games) {
  if (state.at !== "playing" && state.at !== "over") return state;
  const seen = matched(state, games);
  const isOther = name === "moved" && data.game === seen.live?.game && data.side !== seen.side;
  const timed = isOther ? { ...seen, used: data.used } : seen;
  if (timed.at === "over") {
    const isNew =
      timed.live?.reason !== state.live?.reason || isAway(timed, timed.side) !== isAway(state, state.side);
    return isNew ? explained(timed) : timed;
  }
  const absence = timed.live?.away[opposite(timed.side)];
  if (!absence === !isAway(state, opposite(state.side))) return timed;
  const back = ` is back.${timed.toMove === timed.side ? " Your move." : ""}`;
  const gone = `’s connection broke. The seat is kept for ${absence?.grace} s.`;
  return { ...timed, message: [OPPONENT, absence ? gone : back] };
}

/**
 * Return the state with its game in the live stream: the same game as before, or else the newest that may be the
 * person's.
 * @template {Playing | Over} T
 * @param {T} state
 * @param {LiveGame[]} games
 * @returns {T}
 */
function matched(state, games) {
  const newest = [...games].sort((one, other) => (one.game < other.game ? 1 : -1));
  const live =
    newest.find(({ game }) => game === state.live?.game) ?? newest.find((game) => isLike(state, game));
  if (!live || live === state.live) return state;
  // In a game to which the person has come back, the latest move was made before its position arrived.
  const since = live.moves === state.moves ? Math.min(state.since, live.asked) : state.since;
  return { ...state, live, since };
}

/**
 * Return whether a game of the live stream may be the person's. One of the two may be up to two moves ahead.
 * @param {Playing | Over} state
 * @param {LiveGame} game
 */
function isLike(state, { players, moves, reason }) {
  const isNear = Math.abs(moves.length - state.moves.length) <= 2 && (reason === null || state.at === "over");
  const isSame = moves.startsWith(state.moves) || state.moves.startsWith(moves);
  return isNear && isSame && players[state.side].name === state.request.me;
}

/**
 * Return the game with the stored values: its id, the names, and why it ended.
 * @param {Over} state
 * @param {StoredGame} game
 * @returns {Over}
 */
function withStored(state, { id, players, winner, reason }) {
  const live = state.live ?? { game: id, players, reason, left: null, away: [null, null] };
  if (state.cause === "gone") {
    const side = winner ? /** @type {Side} */ (winner - 1) : null;
    return explained({ ...state, stored: id, live, cause: reason, winner: side });
  }
  return state.live ? { ...state, stored: id } : explained({ ...state, stored: id, live });
}
