// Boards that a template only names: <div class="board" data-moves="3342">.
import { Board } from "./board.js";

for (const place of document.querySelectorAll("div.board[data-moves]")) {
  new Board(place).show(place.dataset.moves);
}
