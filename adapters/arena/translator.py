"""Translates between the arena dialect and the hub.

Knows which column a `move` means, which table or opponent a `start` asks for, and the reason for each
objection. Does not know how a map is written, nor whose turn it is. It remembers the client's number, and
whether the latest message told the client that its `state_request` was ignored.
"""

from collections.abc import Iterable
from typing import assert_never

from adapters.arena.messages import (
    ClientMessage,
    Disconnected,
    End,
    Ignored,
    Move,
    Other,
    ServerMessage,
    Start,
    State,
    StateRequest,
)
from adapters.client.board_marks import BoardMarks
from adapters.client.contract import Farewell
from gateway.game.board import FIRST, Board, Side
from gateway.game.commands import (
    LONGEST_NAME,
    Ask,
    Command,
    Enter,
    Place,
    Play,
    Unfit,
    Wish,
    is_house_name,
    place_for,
)
from gateway.game.events import (
    Dismissed,
    Ended,
    Entered,
    Event,
    Introduced,
    Moved,
    Objection,
    Overlooked,
    Refused,
    Resumed,
    Shown,
    Started,
    ToMove,
    Why,
)
from gateway.game.manners import Afterwards, Illegal, Manners

MANNERS = Manners(
    kind="arena",
    illegal=Illegal.RETRY,  # PROTOCOL.md 5.11
    afterwards=Afterwards.STEP_OUT,  # PROTOCOL.md 4.10
    entry_limit=300.0,  # PROTOCOL.md 1
)
_CELLS = BoardMarks(b"\0\1\2")
_NO_ID = "You need to include an id"
_UNKNOWN = "Unknown message type"
_REASONS = (  # the first that applies is sent (PROTOCOL.md 5.7)
    (Objection.UNREADABLE, "Malformed message"),
    (Objection.NOT_ENTERED, "Only start messages allowed in current state"),
    (Objection.WAITING, "Waiting for match"),
    (Objection.PLAYING, _UNKNOWN),
    (Objection.NOT_YOUR_TURN, "Not your turn"),
    (Objection.NOT_A_COLUMN | Objection.OUTSIDE | Objection.COLUMN_FULL, "Invalid move"),
    (Objection.BANNED, "This player is banned"),
    (Objection.TOKEN_WRONG, "The token for this id is missing or wrong"),
    (Objection.NOT_REGISTERED, "Only registered ids are let in"),
    (Objection.TABLE_FULL, "Table is full"),
    (Objection.NOT_AVAILABLE, "This player is not available now"),
    (Objection.TOO_LONG, f"table and against have to be at most {LONGEST_NAME} characters"),
)


class ArenaTranslator:
    """The translator of one arena client."""

    __slots__ = ("_against", "_repeated", "_side", "_table")

    def __init__(self, table: str | None = None, against: str | None = None) -> None:
        self._table = table
        """The table for each `start` that has no table."""
        self._against = against
        """The opponent for each `start` that has no opponent."""
        self._side: Side = FIRST
        self._repeated = False
        """Whether the latest message told the client that its state_request was ignored."""

    @property
    def manners(self) -> Manners:
        """The manners of arena clients."""
        return MANNERS

    def receive(self, message: ClientMessage, number: int = 0) -> Command:
        """Return the command for a message."""
        match message:
            case Move():
                return Play(_column(message.move), number)
            case StateRequest():
                return Ask(number)
            case Start():
                if _fault(message) is not None:
                    return Unfit(number)
                return Enter(self._wanted(message), str(message.id), number)
            case Other():
                return Unfit(number)
        assert_never(message)

    def observe(self, event: Event, asked: ClientMessage | str | None = None) -> Iterable[ServerMessage]:
        """Return the messages to send for an event. For a refusal, `asked` is the refused message."""
        repeated, self._repeated = self._repeated, False
        messages: Iterable[ServerMessage] = ()
        match event:
            case Moved():
                messages = (self._state(event.board, event.column),)
            case ToMove():
                pass
            case Started(_, you):
                self._side = you
                messages = (self._state(Board()),)
            case Resumed(_, you, _, board):
                self._side = you
                messages = (self._state(board, board.moves[-1] if board.moves else None),)
            case Shown(_, board):
                messages = (self._state(board),)
            case Ended():
                messages = self._ending(event)
            case Refused(objections):
                self._repeated = isinstance(asked, StateRequest)  # PROTOCOL.md 5.12
                messages = () if repeated and self._repeated else (_ignored(objections, asked),)
            case Entered() | Introduced() | Overlooked() | Dismissed():
                pass
            case _:
                assert_never(event)
        return messages

    def farewell(self, dismissed: Dismissed) -> Farewell:
        """Return the close code and reason for a dismissal."""
        match dismissed.why:
            case Why.STOPPED:
                return Farewell(1001, "server stops")
            case Why.FAULT:
                return Farewell(1011, "internal error")
            case Why.SILENT:
                return Farewell(1002, "start expected")
            case _:
                return Farewell(1000)

    def _wanted(self, start: Start) -> Place:
        table = start.table if isinstance(start.table, str) and start.table.strip() else self._table
        against = start.against if isinstance(start.against, str) else self._against
        return place_for(table, None if against is None else Wish(against))

    def _ending(self, ended: Ended) -> Iterable[ServerMessage]:
        if ended.leaver is not None or not ended.has_result:
            yield Disconnected()  # PROTOCOL.md 4.8: no `state` before it, no `end` after it
            return
        winner = 0 if ended.winner is None else ended.winner + 1
        yield self._state(ended.board, ended.column, winner)
        yield End()

    def _state(self, board: Board, last_move: int | None = None, winner: int | None = None) -> State:
        turn = board.turn + 1 if winner is None else 0
        return State(turn, self._side + 1, _CELLS.of(board), board.moves, last_move, winner)


def _column(move: object) -> int | None:
    return move if isinstance(move, int) and not isinstance(move, bool) else None


def _fault(start: Start) -> str | None:
    """Return what is wrong with a `Start`; None if it is valid."""
    if not isinstance(start.id, str) or not start.id.strip():
        return _NO_ID
    if len(start.id) > LONGEST_NAME:
        return f"id has to be at most {LONGEST_NAME} characters"
    if is_house_name(start.id):
        return f'"{start.id}" is a reserved id used for a reference player'
    if not isinstance(start.against, str | None):
        return "against has to be an id or null"
    if not isinstance(start.table, str | None):
        return "table has to be a string"
    return None


def _ignored(objections: Objection, message: ClientMessage | str | None) -> Ignored:
    if message is None or isinstance(message, str):
        return Ignored(message or "", _reason(objections | Objection.UNREADABLE))
    fault = _fault(message) if isinstance(message, Start) else None
    if fault is not None and Objection.NOT_ENTERED in objections:
        return Ignored(message.said, fault)
    return Ignored(message.said, _reason(objections))


def _reason(objections: Objection) -> str:
    return next((text for objection, text in _REASONS if objections & objection), _UNKNOWN)
