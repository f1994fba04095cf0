// A player's connection to the server. It uses the arena dialect (adapters/arena/PROTOCOL.md), with JSON messages.
//
// Sides and columns count from 0 here, as everywhere in the page.

/** @typedef {import("./rules.js").Side} Side */

/**
 * A position as a player sees it.
 * @typedef {object} Position
 * @property {string} moves the columns, each a digit
 * @property {Side} side the player's own
 * @property {Side | null} toMove
 * @property {Side | null | undefined} winner null for a draw, undefined while the game is on
 */

/**
 * An event: a position, the end of the game, the departure of the opponent, the refusal of a message, or the loss of
 * the connection.
 * @typedef {{ type: "state", position: Position }
 *   | { type: "end" }
 *   | { type: "disconnected" }
 *   | { type: "ignored", reason: string }
 *   | { type: "lost", reason: string }} ArenaEvent
 */

export class Arena {
  #address;
  #listener;
  /** @type {WebSocket | null} */
  #socket = null;

  /**
   * Connect to `address` at the first `start`, and call `listener` with each event.
   * @param {string} address
   * @param {(event: ArenaEvent) => void} listener
   */
  constructor(address, listener) {
    this.#address = address;
    this.#listener = listener;
  }

  /**
   * Ask for a game, as in PROTOCOL.md 3.1.
   * @param {{ id: string, against?: string, table?: string }} wanted
   */
  start(wanted) {
    const text = JSON.stringify({ type: "start", ...wanted });
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(text);
    else this.#connect(text);
  }

  /** @param {number} column */
  move(column) {
    this.#socket?.send(JSON.stringify({ type: "move", move: column }));
  }

  close() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  /** @param {string} first the first message */
  #connect(first) {
    this.close();
    const socket = new WebSocket(this.#address);
    this.#socket = socket;
    socket.addEventListener("open", () => socket.send(first));
    socket.addEventListener("message", ({ data }) => {
      if (this.#socket === socket) this.#listener(eventOf(JSON.parse(data)));
    });
    socket.addEventListener("close", ({ reason }) => {
      if (this.#socket !== socket) return;
      this.#socket = null;
      this.#listener({ type: "lost", reason });
    });
  }
}

/**
 * @typedef {{ type: "state", moves: number[], you: number, turn: number, winner?: number }} StateMessage
 * @typedef {{ type: "ignored", reason: string } | { type: "end" } | { type: "disconnected" }} OtherMessage
 */

/**
 * Convert a message of the server into an event.
 * @param {StateMessage | OtherMessage} message
 * @returns {ArenaEvent}
 */
export function eventOf(message) {
  if (message.type !== "state") return message;
  const { moves, you, turn, winner } = message;
  return {
    type: "state",
    position: {
      moves: moves.join(""),
      side: sideOf(you) ?? 0,
      toMove: sideOf(turn),
      winner: winner === undefined ? undefined : sideOf(winner),
    },
  };
}

/**
 * Return the side of player 1 or 2; null for 0.
 * @param {number} player
 * @returns {Side | null}
 */
function sideOf(player) {
  return player ? /** @type {Side} */ (player - 1) : null;
}
