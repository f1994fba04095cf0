// A player's connection to the server, in the arena dialect (adapters/arena/PROTOCOL.md), written in JSON.
//
// Sides and columns count from 0 here, as everywhere in the page.

export class Arena {
  // `heard(what, about)` is called with:
  //   "state", {moves, side, toMove, winner}: a string of columns, one's own side, whose turn it is or null,
  //            and the winner, null for a draw, undefined while the game is on
  //   "end", "disconnected": the game is over, or the opponent has left it
  //   "ignored", {reason}: what was asked cannot be done
  //   "lost", {reason}: the connection is gone
  constructor(address, heard) {
    this.address = address;
    this.heard = heard;
    this.socket = null;
  }

  // Ask for a game: {id, against, table} as in PROTOCOL.md 3.1.
  start(wanted) {
    const text = JSON.stringify({ type: "start", ...wanted });
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(text);
    else this.#connect(text);
  }

  move(column) {
    this.socket?.send(JSON.stringify({ type: "move", move: column }));
  }

  close() {
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }

  #connect(first) {
    this.close();
    const socket = new WebSocket(this.address);
    this.socket = socket;
    socket.addEventListener("open", () => socket.send(first));
    socket.addEventListener("message", (event) => this.socket === socket && this.#hear(JSON.parse(event.data)));
    socket.addEventListener("close", (event) => {
      if (this.socket !== socket) return;
      this.socket = null;
      this.heard("lost", { reason: event.reason });
    });
  }

  #hear(message) {
    if (message.type === "state") this.heard("state", position(message));
    else if (message.type === "ignored") this.heard("ignored", { reason: message.reason });
    else this.heard(message.type);
  }
}

function position({ moves, you, turn, winner }) {
  return {
    moves: moves.join(""),
    side: you - 1,
    toMove: turn ? turn - 1 : null,
    winner: winner ? winner - 1 : winner === 0 ? null : undefined,
  };
}
