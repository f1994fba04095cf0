"""Translates between the RPI dialect and the hub.

Knows the manners of RPI clients in the lobby and at a table, and the message for each event. Does not know
how a message is written, nor who the opponent is. It remembers the client's side, whether the client knows
that it has a name, and whether it has just come back to its game.
"""

import re
from collections.abc import Iterable
from typing import assert_never

from adapters.client.contract import Farewell
from adapters.rpi.messages import (
    ClientMessage,
    Connect,
    Disconnect,
    Error,
    Invalid,
    Opponent,
    Ping,
    Play,
    Ready,
    Reconnect,
    ServerMessage,
    Start,
    Word,
)
from gateway.game.board import COLUMNS, FIRST, Side
from gateway.game.commands import AtTable, Command, Enter, Introduce, Place, Unfit
from gateway.game.commands import Play as PlayCommand
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

IN_LOBBY = Manners(
    kind="rpi",
    illegal=Illegal.FORFEIT,  # PROTOCOL.md 5.7
    afterwards=Afterwards.STEP_OUT,  # PROTOCOL.md 4.7
    hears_itself=False,  # PROTOCOL.md 5.2
    unique_name=True,  # PROTOCOL.md 3.3
)
AT_TABLE = Manners(
    kind="rpi",
    illegal=Illegal.GAME,  # PROTOCOL.md 5.8
    afterwards=Afterwards.STEP_OUT,
    hears_itself=False,
    unique_name=True,
)
RESERVED = "ACK"
"""As a name it would make the messages about it look like answers (PROTOCOL.md 3.2, 6.7)."""

_SEPARATORS = re.compile("[:,|\0-\x1f\x7f-\x9f\ud800-\udfff]")
_OPPONENTS = tuple((Opponent(column),) for column in range(COLUMNS))
_MOVE = Error("ERROR:INVALID:MOVE")


def in_alphabet(name: str) -> str:
    """Return a name of any dialect as this dialect can write it (PROTOCOL.md 6.7)."""
    name = _SEPARATORS.sub("_", name) or "_"
    return f"{name}_" if name == RESERVED else name


class RpiTranslator:
    """The translator of one RPI client."""

    __slots__ = ("_has_name", "_is_back", "_place", "_side")

    def __init__(self, place: Place) -> None:
        self._place = place
        self._side: Side = FIRST
        self._has_name = False
        """Whether the client was told that it has a name."""
        self._is_back = False
        """Whether the client has come back to its game, and was told no move since."""

    @property
    def manners(self) -> Manners:
        """The manners of RPI clients at this client's place."""
        return AT_TABLE if isinstance(self._place, AtTable) else IN_LOBBY

    def receive(self, message: ClientMessage, number: int = 0) -> Command:
        """Return the command for a message."""
        command: Command = Unfit(number)
        match message:
            case Play(column) if column is not None:  # otherwise PROTOCOL.md 5.9
                command = PlayCommand(column, number)
            case Connect(name) if _is_name(name):
                command = Enter(self._place, name, number, waits=False, resumes=False)
            case Reconnect(name) if _is_name(name):
                command = Enter(self._place, name, number, waits=False)
            case Ready():
                command = Enter(self._place, None, number)
            case Disconnect():
                command = Introduce(None, to=number)
            case _:
                pass
        return command

    def observe(self, event: Event, asked: ClientMessage | str | None = None) -> Iterable[ServerMessage]:
        """Return the messages to send for an event. For a refusal, `asked` is the refused message."""
        messages: Iterable[ServerMessage] = ()
        match event:
            case Moved(_, mover, column):
                self._is_back = False
                if mover != self._side:
                    messages = _OPPONENTS[column]
            case ToMove():
                if self._is_back:
                    messages = (_last(event),)
                self._is_back = False
            case Started(_, you):
                self._side, self._is_back = you, False
                messages = (Start(you == FIRST),)
            case Resumed(_, you):
                self._side, self._is_back = you, True
            case Ended():
                messages = self._ending(event)
            case Introduced(name):
                messages = _introduced(event)
                self._has_name = name is not None
            case Entered():
                messages = (self._entered(event),)
                self._has_name = True
            case Refused(objections):
                messages = _refusal(objections, asked)
            case Shown() | Overlooked() | Dismissed():
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
            case _:
                return Farewell(1000)

    def _entered(self, entered: Entered) -> ServerMessage:
        if entered.resumes:
            return Word.RECONNECTED  # PROTOCOL.md 8.3
        return Word.READY if self._has_name else Word.CONNECTED  # PROTOCOL.md 8.5

    def _ending(self, ended: Ended) -> Iterable[ServerMessage]:
        is_forfeit = ended.reason is Reason.ILLEGAL and self.manners.illegal is Illegal.FORFEIT
        if ended.leaver == self._side or (is_forfeit and ended.winner != self._side):
            yield Word.TERMINATED  # PROTOCOL.md 3.7, 5.7
            return
        if not ended.has_result:
            yield Word.TERMINATED  # PROTOCOL.md 5.6
        elif ended.winner is None:
            yield Word.DRAW
        else:
            yield Word.WINS if ended.winner == self._side else Word.LOSS
        yield Word.END  # PROTOCOL.md 4.7


def _is_name(name: str) -> bool:
    return bool(name.strip()) and name != RESERVED and not _SEPARATORS.search(name)


def _last(request: ToMove) -> ServerMessage:
    """Return what a client that has come back is told if it has the move (PROTOCOL.md 8.3)."""
    moves = request.board.moves
    return Opponent(moves[-1]) if moves else Start(is_first=True)


def _introduced(event: Introduced) -> Iterable[ServerMessage]:
    if event.name is None:
        return (Word.DISCONNECTED,)
    return (Word.TERMINATED, Word.RECONNECTED) if event.resumes else (Word.CONNECTED,)  # PROTOCOL.md 8.6


def _refusal(objections: Objection, asked: ClientMessage | str | None) -> Iterable[ServerMessage]:
    match asked:
        case Play():
            yield _MOVE
        case Connect(name):
            yield Error(f"ERROR:INVALID:CONNECT:{name}")
        case Reconnect(name):
            yield Error(f"ERROR:INVALID:RECONNECT:{name}")
        case Ready() if Objection.WAITING in objections:
            yield Word.READY  # PROTOCOL.md 4.3
        case Ready() if Objection.NO_NAME in objections:
            yield Error("ERROR:INVALID")  # PROTOCOL.md 4.4
        case Ready():
            yield Error("ERROR:INVALID:READY")
        case Disconnect():
            yield Error("ERROR:INVALID:DISCONNECT")
        case Invalid(error):
            yield Error(error)
        case Ping():
            pass
        case _:
            yield Error("ERROR:UNKNOWN")
