"""Translates between the I32CFSP dialect and the hub.

Knows the manners of I32CFSP clients, and the word for each event. Does not know how a line is written, nor
who the opponent is. It remembers only the client's side, which is the first mover's in every game.
"""

from collections.abc import Iterable
from typing import assert_never

from adapters.client.contract import Farewell
from adapters.i32cfsp.messages import (
    AiGame,
    Blank,
    ClientMessage,
    Drop,
    Hello,
    Pop,
    ServerMessage,
    Welcome,
    Word,
)
from gateway.game.board import COLUMNS, FIRST, Side, other
from gateway.game.commands import Command, Enter, InLobby, Introduce, Nothing, Play
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

MANNERS = Manners(
    kind="i32cfsp",
    illegal=Illegal.RETRY,  # PROTOCOL.md 4.5
    afterwards=Afterwards.ONE_GAME,  # PROTOCOL.md 5.1
    resumes=False,  # PROTOCOL.md 7.4
    entry_limit=300.0,  # PROTOCOL.md 1
    strict=True,  # PROTOCOL.md 1.6 and 1.7
    opens=True,  # PROTOCOL.md 3.5
    house_at_once=True,  # PROTOCOL.md 3.6
)
_READY, _OKAY = (Word.READY,), (Word.OKAY,)
_INVALID = (Word.INVALID, Word.READY)
_ERROR = (Word.ERROR,)
_DROPS = tuple((Drop(column + 1),) for column in range(COLUMNS))


class I32cfspTranslator:
    """The translator of one I32CFSP client."""

    __slots__ = ("_side",)

    def __init__(self) -> None:
        self._side: Side = FIRST

    @property
    def manners(self) -> Manners:
        """The manners of I32CFSP clients."""
        return MANNERS

    def receive(self, message: ClientMessage, number: int = 0) -> Command:
        """Return the command for a message."""
        match message:
            case Drop(column):
                return Play(column - 1, number)
            case Pop():
                return Play(None, number)  # PROTOCOL.md 4.6
            case Hello(name):
                return Introduce(name, to=number)
            case AiGame():
                return Enter(InLobby(), None, number)
            case Blank():
                return Nothing(number)
        assert_never(message)

    def observe(self, event: Event, asked: ClientMessage | str | None = None) -> Iterable[ServerMessage]:
        """Return the messages to send for an event. For a refusal, `asked` is the refused message."""
        messages: Iterable[ServerMessage] = ()
        match event:
            case Moved():
                messages = _OKAY if event.mover == self._side else _DROPS[event.column]
            case ToMove():
                messages = _READY  # also the answer to the request for a game (PROTOCOL.md 3.4)
            case Started(_, you):
                self._side = you
            case Ended():
                messages = self._ending(event)
            case Introduced(str(name)):
                messages = [Welcome(name)]
            case Refused():
                messages = _INVALID if _may_retry(event) else _ERROR
            case Introduced() | Entered() | Resumed() | Shown() | Overlooked() | Dismissed():
                pass
            case _:
                assert_never(event)
        return messages

    def farewell(self, dismissed: Dismissed) -> Farewell:
        """Return a farewell without a code or a reason, because lines have neither."""
        return Farewell()

    def _ending(self, ended: Ended) -> Iterable[ServerMessage]:
        if ended.column is not None and ended.board.turn == self._side:
            yield Drop(ended.column + 1)
        winner = ended.winner
        if ended.reason is Reason.ABORTED and ended.leaver is not None:
            winner = other(ended.leaver)  # PROTOCOL.md 5.6
        elif winner is None:
            return  # PROTOCOL.md 5.4: a draw has no word
        # The client is red. Red is the first mover.
        yield Word.WINNER_RED if winner == FIRST else Word.WINNER_YELLOW


def _may_retry(refused: Refused) -> bool:
    """Whether a move was refused on the client's turn, so that it may try another one."""
    return refused.game is not None and Objection.NOT_YOUR_TURN not in refused.objections
