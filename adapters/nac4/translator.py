"""Translates between the nac4 dialect and the hub.

Knows the command for each client message, the messages for each event, and the dialect's manners. Does not
know text, sockets, or the opponent's dialect. It remembers only what the client knows: whether the client has
entered, and its colour.
"""

import re
from collections.abc import Iterable
from typing import assert_never

from adapters.client.board_marks import BoardMarks
from adapters.client.contract import Farewell
from adapters.nac4.messages import (
    USER_LIMIT,
    ClientMessage,
    Connect,
    Connected,
    EndGame,
    GenMove,
    NewGame,
    NotConnected,
    PlayMove,
    ServerMessage,
)
from gateway.game.board import COLUMNS, FIRST, ROWS, Board, Side
from gateway.game.commands import LONGEST_NAME, Command, Enter, Place, Play
from gateway.game.events import (
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
    Resumed,
    Shown,
    Started,
    ToMove,
    Why,
)
from gateway.game.manners import Afterwards, Illegal, Manners

MANNERS = Manners(
    kind="nac4",
    illegal=Illegal.PENALTY,  # PROTOCOL.md 5.3
    afterwards=Afterwards.STAND_BY,  # PROTOCOL.md 5.9
    hears_itself=False,  # PROTOCOL.md 5.2
    clocked=True,  # PROTOCOL.md 6.6
    unique_name=True,  # PROTOCOL.md 3.3
    strict_entry=True,  # PROTOCOL.md 3.6
    entry_limit=60.0,
)

_USED = Objection.NAME_TAKEN | Objection.NAME_RESERVED
_DENIED = Objection.TOKEN_WRONG | Objection.NOT_REGISTERED | Objection.BANNED
_CLOSED = _USED | _DENIED | Objection.TABLE_FULL | Objection.NOT_AVAILABLE | Objection.TOO_LONG
_COLORS = "RY"
_PLAY = ("PlayR", "PlayY")
_CELLS = BoardMarks(b".RY")
_ROW_BY_ROW = bytes(column * ROWS + row for row in range(ROWS) for column in range(COLUMNS))
_BATTLE = {Reason.FOUR: "Ok", Reason.FULL: "Ok", Reason.TIME: "Timeout"}
_NOT_A_USER = re.compile(r"[^A-Za-z0-9_-]")
_EXPECTED = "expected connect and a name of 1 to 64 letters digits minus or underscore"


class Nac4Translator:
    """The translator of one nac4 client."""

    __slots__ = ("_entered", "_original", "_place", "_side")

    def __init__(self, place: Place, *, original: bool = False) -> None:
        self._place = place
        self._original = original
        self._entered = False
        self._side: Side = FIRST

    @property
    def manners(self) -> Manners:
        """The manners of nac4 clients."""
        return MANNERS

    def receive(self, message: ClientMessage, number: int = 0) -> Command:
        """Return the command for a message."""
        match message:
            case PlayMove():
                return Play(message.move, number)
            case Connect(user):
                return Enter(self._place, user, number)
        assert_never(message)

    def observe(self, event: Event, asked: ClientMessage | str | None = None) -> Iterable[ServerMessage]:
        """Return the messages to send for an event. For a refusal, `asked` is the refused message."""
        messages: Iterable[ServerMessage] = ()
        match event:
            case Moved():
                pass  # PROTOCOL.md 5.2
            case ToMove():
                color = _COLORS[self._side]
                messages = (GenMove(_cells(event.board), color, _PLAY[self._side], event.rest or 0.0),)
            case Started(_, you, (red, yellow)) | Resumed(_, you, (red, yellow)):
                self._side = you
                messages = (NewGame(_user(red), _user(yellow)),)
            case Ended(_, board, _, reason):
                messages = (
                    EndGame(_cells(board), _COLORS[self._side], _status(event), self._battle(reason)),
                )
            case Entered(name):
                self._entered = True
                messages = (Connected(f"hello {name}"),)
            case Refused(objections) if not self._entered:
                messages = (NotConnected(_info(objections, asked)),)
            case Refused() | Overlooked() | Shown() | Introduced() | Dismissed():
                pass  # PROTOCOL.md 5.5, 5.6
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
            case Why.REFUSED if dismissed.objections & _CLOSED:
                return Farewell(1008)
            case Why.REFUSED | Why.SILENT:
                return Farewell(1002, "connect expected")
            case _:
                return Farewell(1000)

    def _battle(self, reason: Reason) -> str:
        battle = _BATTLE.get(reason, "Disconnected")  # PROTOCOL.md 5.10, 7.7
        if self._original and battle == "Disconnected":
            return "Ok"  # PROTOCOL.md 5.11
        return battle


def _status(ended: Ended) -> str:
    if not ended.has_result:
        return _PLAY[ended.board.turn]  # PROTOCOL.md 5.14
    return "Tie" if ended.winner is None else f"Win{_COLORS[ended.winner]}"


def _cells(board: Board) -> str:
    """Return the board's marks, row by row. `draw` returns them by column; `translate` puts them in order."""
    return _ROW_BY_ROW.translate(_CELLS.draw(board).ljust(256)).decode()


def _user(name: str) -> str:
    return _NOT_A_USER.sub("_", name)[:USER_LIMIT] or "_"  # PROTOCOL.md 7.1


def _denial(objections: Objection) -> str:
    if Objection.BANNED in objections:
        return "is banned"  # PROTOCOL.md 3.12
    wrong = Objection.TOKEN_WRONG in objections
    return "needs its token" if wrong else "is not registered"  # PROTOCOL.md 3.10, 3.11


def _info(objections: Objection, asked: ClientMessage | str | None) -> str:
    if objections & _USED and isinstance(asked, Connect):
        return f"{asked.user} already used"
    if objections & _DENIED and isinstance(asked, Connect):
        return f"{asked.user} {_denial(objections)}"
    if Objection.TABLE_FULL in objections:
        return "table is full"
    if Objection.NOT_AVAILABLE in objections:
        return "this player is not available now"
    if Objection.TOO_LONG in objections:
        return f"table and against have at most {LONGEST_NAME} characters"
    return _EXPECTED
