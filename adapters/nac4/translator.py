"""The nac4 dialect in the terms of the hub, and back."""

import re
from collections.abc import Iterable
from typing import assert_never

from adapters.contract import Farewell
from adapters.nac4.codec import USER_LIMIT
from adapters.nac4.messages import (
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
from gateway.board import CELLS, COLUMNS, FIRST, Board, Side
from gateway.commands import Command, Enter, Place, Play
from gateway.events import (
    Dismissed,
    Ended,
    Entered,
    Event,
    Introduced,
    Moved,
    Objection,
    Reason,
    Refused,
    Shown,
    Started,
    ToMove,
    Why,
)
from gateway.manners import Afterwards, Illegal, Manners

MANNERS = Manners(
    illegal=Illegal.PENALTY,  # PROTOCOL.md 4.3
    afterwards=Afterwards.STAND_BY,  # PROTOCOL.md 4.8
    clocked=True,
    unique_name=True,
    strict_entry=True,
    entry_limit=60.0,
)

_COLORS = "RY"
_BATTLE = {
    Reason.FOUR: "Ok",
    Reason.FULL: "Ok",
    Reason.TIME: "Timeout",
    Reason.LEFT: "Disconnected",
    Reason.ILLEGAL: "Disconnected",
}
_NOT_A_USER = re.compile(r"[^A-Za-z0-9_-]")
_EXPECTED = "expected connect and a name of 1 to 64 letters digits minus or underscore"


class Nac4Translator:
    """What one nac4 client asks for and is told."""

    def __init__(self, place: Place, *, original: bool = False) -> None:
        self._place = place
        self._original = original
        self._entered = False
        self._side: Side = FIRST

    @property
    def manners(self) -> Manners:
        """What nac4 clients expect."""
        return MANNERS

    def receive(self, message: ClientMessage) -> Command:
        """Return what the client asks for."""
        match message:
            case Connect(user):
                return Enter(self._place, user, message)
            case PlayMove(move):
                return Play(move, message)
        assert_never(message)

    def observe(self, event: Event) -> Iterable[ServerMessage]:
        """Return what the client is told of `event`."""
        match event:
            case ToMove(board, rest):
                color = _COLORS[self._side]
                yield GenMove(_cells(board), color, f"Play{color}", rest or 0.0)
            case Started(you, (red, yellow)):
                self._side = you
                yield NewGame(_user(red), _user(yellow))
            case Ended(board, winner, reason):
                status = "Tie" if winner is None else f"Win{_COLORS[winner]}"
                yield EndGame(_cells(board), _COLORS[self._side], status, self._battle(reason))
            case Entered(name):
                self._entered = True
                yield Connected(f"hello {name}")
            case Refused() if not self._entered:
                yield NotConnected(_info(event))
            case Refused() | Moved() | Shown() | Introduced() | Dismissed():
                pass
            case _:
                assert_never(event)

    def farewell(self, dismissed: Dismissed) -> Farewell:
        """Return how to hang up on the client."""
        match dismissed.why:
            case Why.STOPPED:
                return Farewell(1001, "server stops")
            case Why.REFUSED if dismissed.objections & (Objection.NAME_TAKEN | Objection.TABLE_FULL):
                return Farewell(1008)
            case Why.REFUSED | Why.SILENT:
                return Farewell(1002, "connect expected")
            case _:
                return Farewell(1000)

    def _battle(self, reason: Reason) -> str:
        battle = _BATTLE[reason]
        if self._original and battle == "Disconnected":
            return "Ok"  # PROTOCOL.md 4.7
        return battle


def _cells(board: Board) -> str:
    cells = ["."] * CELLS
    for column, row, side in board.placed():
        cells[row * COLUMNS + column] = _COLORS[side]
    return "".join(cells)


def _user(name: str) -> str:
    return _NOT_A_USER.sub("_", name)[:USER_LIMIT] or "_"


def _info(refused: Refused) -> str:
    if Objection.NAME_TAKEN in refused.objections and isinstance(refused.to, Connect):
        return f"{refused.to.user} already used"
    if Objection.TABLE_FULL in refused.objections:
        return "table is full"
    return _EXPECTED
