"""Events as a hub tells them to a client's translator, in any order: for properties of all dialects."""

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Any, TypeAlias

from hypothesis import strategies as st

from adapters.client.contract import Translator
from gateway.game.board import FIRST, SECOND, Board, Side, other
from gateway.game.events import (
    NOTHING,
    Dismissed,
    Ended,
    Entered,
    Event,
    Introduced,
    Moved,
    Objection,
    Overlooked,
    Reason,
    Refused,
    Shown,
    Started,
    ToMove,
    Why,
)

GAME = "00007-00000a"
NAMES = ("ann", "bob")
Told: TypeAlias = Event | tuple[Refused, object]
"""An event; a refusal comes with the message that it answers, or the text if that was none."""


def moved(board: Board) -> Moved:
    """Return the event of the last move on a board."""
    return Moved(GAME, other(board.turn), board.moves[-1], board)


def ended(board: Board, by_move: bool, winner: Side | None, reason: Reason, leaver: Side | None) -> Ended:
    """Return the end of a game, by the last move on its board or otherwise."""
    column = board.moves[-1] if by_move and board.moves else None
    return Ended(GAME, board, winner, reason, column, leaver)


def refused(objections: Objection, message: object) -> tuple[Refused, object]:
    """Return the refusal of a message, or of a text that was none."""
    return Refused(objections, 1), message


def told(translator: Translator[Any, Any], *events: Told) -> list[Any]:
    """Return the messages that a client is sent."""
    return [
        message
        for event in events
        for message in (translator.observe(*event) if isinstance(event, tuple) else translator.observe(event))
    ]


def played(columns: Iterable[int] | str) -> Board:
    """Return the board after these moves, those left out that cannot be made."""
    board = Board()
    for column in map(int, columns):
        if not board.over and board.has_room(column):
            board = board.drop(column)
    return board


sides: st.SearchStrategy[Side] = st.sampled_from((FIRST, SECOND))
boards = st.lists(st.integers(0, 6), max_size=42).map(played)
objections = st.sets(st.sampled_from(list(Objection))).map(lambda some: reduce(or_, some, NOTHING))


def events(messages: st.SearchStrategy[Any]) -> st.SearchStrategy[Told]:
    """Return any events; what is refused is one of `messages` or a text."""
    game = st.just(GAME)
    return st.one_of(
        st.builds(Introduced, st.from_regex("[!-~]+", fullmatch=True)),  # its own name, which it has sent
        st.builds(Entered, st.from_regex(r"[a-z]{1,9}", fullmatch=True)),
        st.builds(Started, game, sides, st.tuples(st.text(), st.text())),
        st.builds(ToMove, game, st.integers(1), boards, st.none() | st.floats(0, 1e6)),
        boards.filter(lambda board: bool(board.moves)).map(moved),
        st.builds(Shown, game, boards),
        st.builds(Overlooked, game),
        st.builds(refused, objections, messages | st.text()),
        st.builds(
            ended, boards, st.booleans(), st.none() | sides, st.sampled_from(Reason), st.none() | sides
        ),
        st.builds(Dismissed, st.sampled_from(Why), objections),
    )
