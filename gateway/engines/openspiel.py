"""Bots for OpenSpiel's ``connect_four``, which play with its package pyspiel or without it.

A bot has `step`, which takes a state and returns a column. Without pyspiel it gets a stand-in, `State`, with
the methods that bots use. A class or function that makes bots is called for each game. A bot cannot be
stopped. The name of the file must come from the user's command line, never from the network.
"""

import inspect
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from random import Random, getrandbits
from types import SimpleNamespace
from typing import Any

from gateway.engines import EngineError, UnknownEngine
from gateway.engines.external import after, follows
from gateway.engines.files import call, missing, named, plays, require
from gateway.game.board import COLUMNS, ROWS, Board, other

NAME = "connect_four"
_TERMINAL, _INVALID = -4, -1
_MARKS = "xo"
_RNGS = ("rng", "random_state")


def bot_in(text: str) -> "Bot":
    """Return the bot of FILE:NAME. Raises UnknownEngine."""
    found = named("openspiel", text)
    is_maker = inspect.isclass(found)
    if is_maker:
        require(found, _offers(0), first=False)
    elif inspect.isfunction(found):
        is_maker = not missing(found, _offers(0), first=False)
    if not plays(found, "step"):
        raise UnknownEngine(f"openspiel:{text} has no method step(state), and is no function")
    return Bot(found, is_maker=is_maker)


class Bot:
    """An engine that asks a bot."""

    def __init__(self, found: Any, *, is_maker: bool) -> None:
        """Set the bot; with `is_maker`, what makes a bot for each game."""
        self._found = found
        self._is_maker = is_maker
        self._bot: Any = None
        self._left: Board | None = None
        """The board after the bot's latest move; None if it has not moved, or if its move was illegal."""

    def __call__(self, board: Board, _budget: float) -> Any:
        """Return the bot's answer. Raises any exception of the bot."""
        if self._left is None or not follows(self._left, board):
            self._begin(board)
        elif hasattr(self._bot, "inform_action"):
            self._bot.inform_action(_state(self._left), other(board.turn), board.moves[-1])
        choice = getattr(self._bot, "step", self._bot)(_state(board))
        self._left = after(board, choice)
        return choice

    def _begin(self, board: Board) -> None:
        if self._is_maker:
            offers = _offers(board.turn)
            self._bot = call(self._found, offers["game"], offers)
            if not plays(self._bot, "step"):
                made = f"{self._found.__qualname__} returned {type(self._bot).__name__}"
                raise EngineError(f"{made}, which has no method step(state), and is no function")
        else:
            self._bot = self._found
            if hasattr(self._bot, "restart"):
                self._bot.restart()


def _offers(player: int) -> dict[str, Any]:
    """Return what the maker of a bot may ask for, by the names of its parameters."""
    rng: Any = Random(getrandbits(32))
    if find_spec("numpy") is not None:
        rng = import_module("numpy.random").RandomState(getrandbits(32))
    offers: dict[str, Any] = {"game": _game(), "player_id": player, "player": player}
    return {**offers, **dict.fromkeys(_RNGS, rng)}


def _game() -> Any:
    return import_module("pyspiel").load_game(NAME) if find_spec("pyspiel") is not None else Game()


def _state(board: Board) -> Any:
    state = _game().new_initial_state()
    for column in board.moves:
        state.apply_action(column)
    return state


class Game:
    """The game, with the methods of pyspiel's."""

    def new_initial_state(self) -> "State":
        """Return the state before the first move."""
        return State()

    def num_distinct_actions(self) -> int:
        """Return the number of columns."""
        return COLUMNS

    def num_players(self) -> int:
        """Return the number of players."""
        return 2

    def max_game_length(self) -> int:
        """Return the number of cells."""
        return COLUMNS * ROWS

    def min_utility(self) -> float:
        """Return the return of a player that loses."""
        return -1.0

    def max_utility(self) -> float:
        """Return the return of a player that wins."""
        return 1.0

    def utility_sum(self) -> float:
        """Return the sum of all returns."""
        return 0.0

    def observation_tensor_shape(self) -> list[int]:
        """Return the planes, rows and columns of an observation."""
        return [3, ROWS, COLUMNS]

    def observation_tensor_size(self) -> int:
        """Return the number of figures of an observation."""
        return 3 * ROWS * COLUMNS

    def get_type(self) -> SimpleNamespace:
        """Return the name of the game."""
        return SimpleNamespace(short_name=NAME, long_name="Connect Four")

    def __str__(self) -> str:
        return f"{NAME}()"


class State:
    """A state of the game, with the methods of pyspiel's. Player 0 moves first, and is x."""

    def __init__(self, board: Board = Board()) -> None:  # noqa: B008  boards are immutable
        self._boards = [board]

    @property
    def _board(self) -> Board:
        return self._boards[-1]

    def current_player(self) -> int:
        """Return 0 or 1; -4 after the end."""
        return _TERMINAL if self.is_terminal() else self._board.turn

    def legal_actions(self, player: int | None = None) -> list[int]:
        """Return the columns that can be played; none for the player that is not to move."""
        if self.is_terminal() or player not in (None, self.current_player()):
            return []
        return [column for column in range(COLUMNS) if self._board.has_room(column)]

    def legal_actions_mask(self, player: int | None = None) -> list[int]:
        """Return 1 for each column that can be played, and 0 for the others."""
        legal = self.legal_actions(player)
        return [int(column in legal) for column in range(COLUMNS)]

    def apply_action(self, action: int) -> None:
        """Play a column. Raises ValueError if it cannot be played."""
        self._boards.append(self._board.drop(int(action)))

    def apply_actions(self, actions: Iterable[int]) -> None:
        """Play several columns."""
        for action in actions:
            self.apply_action(action)

    def undo_action(self, player: int, action: int) -> None:
        """Take the latest move back."""
        self._boards.pop()

    def clone(self) -> "State":
        """Return a copy."""
        copy = State()
        copy._boards = list(self._boards)
        return copy

    __copy__ = clone

    def __deepcopy__(self, _: Any) -> "State":
        return self.clone()

    def child(self, action: int) -> "State":
        """Return a copy after a move."""
        copy = self.clone()
        copy.apply_action(action)
        return copy

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self._board.over

    def returns(self) -> list[float]:
        """Return 1 for the player that has won, -1 for the one that has lost, otherwise 0."""
        winner = self._board.winner
        return [0.0, 0.0] if winner is None else [1.0 - 2 * winner, 2.0 * winner - 1]

    rewards = returns

    def player_return(self, player: int) -> float:
        """Return one of the returns."""
        return self.returns()[player]

    player_reward = player_return

    def history(self) -> list[int]:
        """Return the columns played so far."""
        return list(self._board.moves)

    def history_str(self) -> str:
        """Return the columns played so far as a text."""
        return ", ".join(map(str, self._board.moves))

    def information_state_string(self, player: int | None = None) -> str:
        """Return the columns played so far as a text."""
        return self.history_str()

    def observation_string(self, player: int | None = None) -> str:
        """Return the board as a text."""
        return str(self)

    def observation_tensor(self, player: int | None = None) -> list[float]:
        """Return 1 and 0 for each cell, the bottom row first, in three planes.

        The first has the discs of the first mover, whoever asks, the second the other ones, the third the
        empty cells.
        """
        planes = [[0.0] * COLUMNS * ROWS, [0.0] * COLUMNS * ROWS, [1.0] * COLUMNS * ROWS]
        for column, row, side in self._board.placed():
            cell = row * COLUMNS + column
            planes[side][cell] = 1.0
            planes[2][cell] = 0.0
        return [*planes[0], *planes[1], *planes[2]]

    def action_to_string(self, *arguments: int) -> str:
        """Return a move as a text: of the player, if that is the first of two arguments, and the column."""
        player = arguments[0] if len(arguments) > 1 else self.current_player()
        return f"{_MARKS[player]}{arguments[-1]}"

    def string_to_action(self, *arguments: Any) -> int:
        """Return the column of such a text, which is the last argument."""
        return int(arguments[-1][1:])

    def move_number(self) -> int:
        """Return the number of moves so far."""
        return len(self._board.moves)

    def num_players(self) -> int:
        """Return the number of players."""
        return 2

    def num_distinct_actions(self) -> int:
        """Return the number of columns."""
        return COLUMNS

    def is_chance_node(self) -> bool:
        """Whether chance is to move: never."""
        return False

    is_simultaneous_node = is_mean_field_node = is_chance_node

    def is_player_node(self) -> bool:
        """Whether a player is to move."""
        return not self.is_terminal()

    def is_initial_state(self) -> bool:
        """Whether nobody has moved."""
        return not self._board.moves

    def get_game(self) -> Game:
        """Return the game."""
        return Game()

    def __str__(self) -> str:
        rows = [["."] * COLUMNS for _ in range(ROWS)]
        for column, row, side in self._board.placed():
            rows[ROWS - 1 - row][column] = _MARKS[side]
        return "".join(f"{''.join(row)}\n" for row in rows)
