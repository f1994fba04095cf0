// Draws boards in elements of a template: <div class="board" data-moves="3342">.
import { Board } from "./board.js";
import { findAll } from "./dom.js";

for (const place of findAll("div.board[data-moves]")) {
  new Board(place).show(place.dataset.moves ?? "");
}
