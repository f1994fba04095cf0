"""Translates between the Droidcon dialect and the hub.

Knows the manners of Droidcon clients, and the error for each set of objections. Does not know how a
line is written, nor who the opponent is. It remembers only the client's side in the latest game.
"""

from collections.abc import Iterable
from functools import cache
from typing import assert_never

from adapters.client.contract import Farewell
from adapters.droidcon.messages import ClientMessage, Error, Join, Name, Put, ServerMessage, Word
from gateway.game.board import COLUMNS, FIRST, Side, other
from gateway.game.commands import Command, Enter, InLobby, Introduce, Place, Play, Unfit, Wish, place_for
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
)
from gateway.game.manners import Afterwards, Illegal, Manners

ROUNDS = 4
"""Games that the original plays against one opponent (PROTOCOL.md 4.6)."""

_TESTER = "TEST"
_YOUR_MOVE = (Word.YOUR_MOVE,)
_PUTS = tuple((Put(column),) for column in range(COLUMNS))
_PUT_ERRORS = (  # in the order of PROTOCOL.md 5.9 and 5.10
    (Objection.NOT_ENTERED, Error.NOT_JOINED_TO_CHANNEL),
    (Objection.NOT_A_COLUMN, Error.WRONG_COLUMN_FORMAT),
    (Objection.WAITING, Error.NOT_YOUR_TURN),
    (Objection.OUTSIDE, Error.INVALID_COLUMN),
    (Objection.COLUMN_FULL, Error.COLUMN_IS_FULL),
    (Objection.NOT_YOUR_TURN, Error.NOT_YOUR_TURN),
)
_JOIN_ERRORS = (  # in the order of PROTOCOL.md 3.5
    (Objection.UNFIT | Objection.TOO_LONG, Error.INVALID_COMMAND),  # PROTOCOL.md 3.12, 3.14
    (Objection.NO_NAME, Error.NO_NAME_SET),
    (Objection.TABLE_FULL, Error.CHANNEL_IS_FULL),
    (Objection.WAITING | Objection.PLAYING, Error.ALREADY_IN_CHANNEL),
    (Objection.NOT_AVAILABLE, Error.PLAYER_NOT_AVAILABLE),
)


class DroidconTranslator:
    """The translator of one Droidcon client."""

    __slots__ = ("_manners", "_side")

    def __init__(self, rounds: int = ROUNDS) -> None:
        self._manners = _manners(rounds)
        self._side: Side = FIRST

    @property
    def manners(self) -> Manners:
        """The manners of Droidcon clients."""
        return self._manners

    def receive(self, message: ClientMessage, number: int = 0) -> Command:
        """Return the command for a message."""
        match message:
            case Put():
                return Play(message.column, number)
            case Name(nick):
                return Introduce(nick, nick.upper() != _TESTER, number)  # PROTOCOL.md 3.9
            case Join(channel) if channel.startswith("@") and not channel[1:].strip():
                return Unfit(number)  # PROTOCOL.md 3.12
            case Join(channel):
                return Enter(_place(channel), None, number)
        assert_never(message)

    def observe(self, event: Event, asked: ClientMessage | str | None = None) -> Iterable[ServerMessage]:
        """Return the messages to send for an event. For a refusal, `asked` is the refused message."""
        messages: Iterable[ServerMessage] = ()
        match event:
            case Moved():
                if event.mover != self._side:
                    messages = _PUTS[event.column]
            case ToMove():
                messages = _YOUR_MOVE
            case Started(_, you):
                self._side = you
                messages = [Word.NEW_GAME]
            case Ended():
                messages = self._ending(event)
            case Introduced() | Entered():
                messages = [Word.SUCCESS]
            case Refused(objections):
                messages = _refusal(objections, asked)
            case Resumed() | Shown() | Overlooked() | Dismissed():
                pass  # `Resumed` is never for these clients: their manners say that they do not resume
            case _:
                assert_never(event)
        return messages

    def farewell(self, dismissed: Dismissed) -> Farewell:
        """Return a farewell without a code or a reason, because lines have neither."""
        return Farewell()

    def _ending(self, ended: Ended) -> Iterable[ServerMessage]:
        if ended.column is not None and ended.board.turn == self._side:
            yield Put(ended.column)
        winner = ended.winner
        if ended.reason is Reason.ABORTED and ended.leaver is not None:
            winner = other(ended.leaver)  # PROTOCOL.md 4.13
        elif not ended.has_result:
            return  # the dialect has no message for a game without a result
        if winner is None:
            yield Word.DRAW
        else:
            yield Word.YOU_WON if winner == self._side else Word.YOU_LOST


@cache
def _manners(rounds: int) -> Manners:
    """Return the manners of clients. Cached, so that all clients of a server share one value."""
    return Manners(
        kind="droidcon",
        illegal=Illegal.FORFEIT,  # PROTOCOL.md 5.1
        afterwards=Afterwards.HANG_UP,  # PROTOCOL.md 4.7
        rounds=rounds,
        hears_itself=False,  # PROTOCOL.md 4.3
        resumes=False,  # PROTOCOL.md 8.3
        entry_limit=300.0,  # PROTOCOL.md 1
    )


def _place(channel: str) -> Place:
    if channel.startswith("@"):
        return InLobby(Wish(channel[1:].strip(), any_case=True))
    return place_for(channel, None)


def _refusal(objections: Objection, asked: ClientMessage | str | None) -> Iterable[ServerMessage]:
    yield _error(objections, asked)
    if isinstance(asked, Put) and Objection.WAITING in objections:
        yield Word.YOU_LOST  # PROTOCOL.md 5.8. No game is on, so `_ending` does not send it.


def _error(objections: Objection, asked: ClientMessage | str | None) -> Error:
    errors = _PUT_ERRORS if isinstance(asked, Put) else _JOIN_ERRORS
    if isinstance(asked, Put | Join):
        for objection, error in errors:
            if objections & objection:
                return error
    return Error.INVALID_COMMAND
