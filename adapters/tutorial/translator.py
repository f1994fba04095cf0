"""Translates between the tutorial dialect and the hub.

Knows the table for each `init`, the colour of each side, and the words for each objection. Does not know how
a message is written, nor whose turn it is. It remembers what the client can know: where it sits, its colour,
and how its latest game ended.
"""

import base64
import hashlib
import secrets
from collections.abc import Iterable
from typing import assert_never

from adapters.client.contract import Farewell
from adapters.tutorial.messages import (
    COLORS,
    FULL,
    IS_FULL,
    NO_RESULT,
    NOT_AVAILABLE,
    NOT_FOUND,
    NOT_YOUR_TURN,
    OVER,
    ClientMessage,
    Color,
    Error,
    Init,
    InitRequest,
    Play,
    PlayRequest,
    ServerMessage,
    Win,
)
from gateway.game.board import FIRST, SECOND, Board, Side, other
from gateway.game.commands import AtTable, Command, Enter, Place, Unfit, Wish, place_for
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
from gateway.game.ids import GameId
from gateway.game.manners import Afterwards, Illegal, Manners

MANNERS = Manners(
    kind="tutorial",
    illegal=Illegal.RETRY,  # PROTOCOL.md 5.4
    afterwards=Afterwards.STEP_OUT,  # PROTOCOL.md 6.5
    strict_entry=True,  # PROTOCOL.md 3.8
    moves_early=True,  # PROTOCOL.md 4.5
)

_ENTERING = (  # why nobody enters; the first that applies is sent
    (Objection.UNREADABLE, "Send a JSON object with the type init or play."),
    (Objection.BANNED, "This player is banned."),
    (Objection.TOKEN_WRONG, "The token for this name is missing or wrong."),
    (Objection.NOT_REGISTERED, "Only registered names are let in."),
    (Objection.NAME_RESERVED, "This name belongs to a player of the server."),
    (Objection.TOO_LONG, "A name or a key is too long."),
    (Objection.PLAYING, "You are in a game."),
    (Objection.WAITING, "You wait for an opponent."),
    (Objection.UNFIT | Objection.TABLE_EMPTY, NOT_FOUND),
    (Objection.TABLE_FULL, IS_FULL),
    (Objection.NOT_AVAILABLE, NOT_AVAILABLE),
)
_MOVING = (  # why a column is refused, in the original's order (PROTOCOL.md 5.3)
    (Objection.NOT_ENTERED, "Send init first."),
    (Objection.WAITING, "Column has to be an integer from 0 to 6."),
    (Objection.NOT_YOUR_TURN, NOT_YOUR_TURN),
    (Objection.NOT_A_COLUMN | Objection.OUTSIDE, "Column has to be an integer from 0 to 6."),
    (Objection.COLUMN_FULL, FULL),
)
_NOT_FOUND = Objection.UNFIT | Objection.TABLE_EMPTY
_DENIED = (
    Objection.BANNED
    | Objection.TOKEN_WRONG
    | Objection.NOT_REGISTERED
    | Objection.NAME_RESERVED
    | Objection.TOO_LONG
    | Objection.TABLE_FULL
    | Objection.NOT_AVAILABLE
)
_KEY_BYTES = 12


def new_key() -> str:
    """Return a key that nobody can guess: 16 letters, digits, - and _."""
    return secrets.token_urlsafe(_KEY_BYTES)


def guest() -> str:
    """Return a name for a player that has given none; each call returns another one."""
    return f"guest-{secrets.token_hex(4)}"


def watch_key(table: str) -> str:
    """Return the key for spectators of a table. It does not show the name of the table (PROTOCOL.md 7.1)."""
    digest = hashlib.blake2b(table.casefold().encode(), digest_size=_KEY_BYTES, person=b"c4gateway watch")
    return base64.urlsafe_b64encode(digest.digest()).decode()


def place_in(table: str | None, against: str | None) -> Place | None:
    """Return the place that a URL with these parameters asks for; None if it has neither of them."""
    if table is None and against is None:
        return None
    return place_for(table, None if against is None else Wish(against))


class TutorialTranslator:
    """The translator of one tutorial client."""

    __slots__ = ("_ended", "_has_entered", "_key", "_name", "_place", "_side", "table", "watch")

    def __init__(self, name: str, key: str, place: Place | None = None) -> None:
        """`name` is for a client that gives none, `key` for its own game, and `place` is that in its URL."""
        self._name, self._key, self._place = name, key, place
        self.table: str | None = None
        """The table where the client sits; None in the lobby."""
        self.watch: str | None = None
        """The key for spectators of the client's game; None in the lobby, before the game."""
        self._side: Side = FIRST
        self._has_entered = False
        self._ended: Reason | None = None
        """Why the latest game ended; None if the client has entered again since."""

    @property
    def manners(self) -> Manners:
        """The manners of tutorial clients."""
        return MANNERS

    def receive(self, message: ClientMessage, number: int = 0) -> Command:
        """Return the command for a message."""
        match message:
            case PlayRequest(column):
                return PlayCommand(column, number)
            case InitRequest(join, None, name):
                chosen = name if name is not None and name.strip() else self._name
                if join is None:
                    return Enter(self._place or AtTable(self._key), chosen, number)
                key = join.strip()
                return Enter(AtTable(key, must_be_taken=True), chosen, number) if key else Unfit(number)
            case InitRequest():
                return Unfit(number)
        assert_never(message)

    def observe(self, event: Event, asked: ClientMessage | str | None = None) -> Iterable[ServerMessage]:
        """Return the messages to send for an event. For a refusal, `asked` is the refused message."""
        messages: Iterable[ServerMessage] = ()
        match event:
            case Moved():
                messages = (disc(event.board, event.column),)
            case ToMove():
                pass
            case Started(game, you):
                messages = self._started(you, game)
            case Resumed(game, you, _, board):
                messages = self._resumed(you, game, board)
            case Ended():
                messages = self._ending(event)
            case Entered():
                messages = self._entered(event)
            case Refused(objections):
                messages = (Error(self._words(objections, asked)),)
            case Introduced() | Shown() | Overlooked() | Dismissed():
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
            case Why.REFUSED if dismissed.objections & _DENIED:
                return Farewell(1008)
            case Why.REFUSED if not dismissed.objections & _NOT_FOUND:
                return Farewell(1002, "init expected")
            case Why.SILENT:
                return Farewell(1002, "init expected")
            case _:
                return Farewell(1000)

    def _entered(self, entered: Entered) -> Iterable[ServerMessage]:
        self.table, self._has_entered, self._ended = entered.table, True, None
        self.watch = None if entered.table is None else watch_key(entered.table)
        if self._implied != SECOND:  # PROTOCOL.md 3.3
            yield self._init()

    def _started(self, you: Side, game: GameId) -> Iterable[ServerMessage]:
        self._begin(you, game)
        if you != self._implied:  # PROTOCOL.md 4.3
            yield self._init(COLORS[you])

    def _begin(self, you: Side, game: GameId) -> None:
        self._side, self._ended = you, None
        if self.table is None:
            self.watch = game  # PROTOCOL.md 4.3

    def _resumed(self, you: Side, game: GameId, board: Board) -> Iterable[ServerMessage]:
        self._begin(you, game)
        yield self._init(COLORS[you], len(board.moves))  # PROTOCOL.md 8.2
        for column, row, side in board.placed():
            yield Play(COLORS[side], column, row)

    def _ending(self, ended: Ended) -> Iterable[ServerMessage]:
        self._ended = ended.reason
        if ended.column is not None:
            yield disc(ended.board, ended.column)
        yield from result(ended.winner, ended.reason, ended.leaver)

    @property
    def _implied(self) -> Side | None:
        """The side that a client of the original assumes: red in its own game, yellow in one that it joins.

        None if the URL asks for a place, so that the client cannot know (PROTOCOL.md 4.3).
        """
        if self._place is not None:
            return None
        return FIRST if self.table == self._key else SECOND

    def _init(self, player: Color | None = None, moves: int = 0) -> Init:
        return Init(self.table, self.watch, player, moves)

    def _words(self, objections: Objection, asked: ClientMessage | str | None) -> str:
        if isinstance(asked, InitRequest) or objections & (Objection.UNREADABLE | Objection.UNFIT):
            return next((words for each, words in _ENTERING if objections & each), NOT_FOUND)
        if Objection.NOT_ENTERED in objections and self._has_entered:
            if self._ended is not Reason.FULL:
                return OVER
            return FULL if self._side == FIRST else NOT_YOUR_TURN  # PROTOCOL.md 6.2
        return next((words for each, words in _MOVING if objections & each), OVER)


def result(winner: Side | None, reason: Reason, leaver: Side | None) -> Iterable[ServerMessage]:
    """Yield the message about the end of a game, if there is one."""
    if reason is Reason.ABORTED and leaver is not None:
        winner = other(leaver)  # PROTOCOL.md 6.3
    if winner is not None:
        yield Win(COLORS[winner])
    elif reason is not Reason.FULL:  # PROTOCOL.md 6.2
        yield Error(NO_RESULT)  # PROTOCOL.md 6.4


def disc(board: Board, column: int) -> Play:
    """Return the message about the disc on top of a column, which is the latest one on the board."""
    return Play(COLORS[1 - board.turn], column, board.moves.count(column) - 1)
