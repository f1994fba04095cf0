"""Records the texts between the server and one client, game by game, as evidence.

Knows the events with which a game begins and ends. Does not know dialects, nor what happens to a finished
log. Recording delays the moves of other players, so to record a text costs only one append to a list. Times
in arguments are trio's; times in logs are seconds since the event `Started`.
"""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Protocol, TypeAlias

from gateway.game.board import Side
from gateway.game.events import (
    Ended,
    Event,
    Overlooked,
    Reason,
    Refused,
    Remark,
    Resumed,
    Spoken,
    Started,
    ToMove,
    Way,
)
from gateway.game.ids import GameId

LONGEST = 500
"""The most characters kept of a text to the client. In a game without mistakes, no text has more than 300."""
SHORT = 100
"""The most characters kept of a text from the client. In a game without mistakes, every text has fewer."""
FULL = 30_000
"""The most characters of a log. In a longer log, every text is cut to `SHORT`. A game without mistakes has at
most 21,000 characters."""
HEAD = 50
"""The number of texts kept from the beginning of a game. A game without mistakes has 70 texts in all."""
TAIL = 200
"""The number of texts kept from the end of a game. Texts in the middle are dropped, because most games are
lost at the end."""

TURNING = (Started, Resumed, Ended)
"""Events with which a log begins and ends."""
NOTED = frozenset({*TURNING, Refused, Overlooked})
"""Events that a wire log has to record as soon as they are delivered."""

_TEXT = itemgetter(2)
_ROOM = HEAD + TAIL + 50
_WON = {
    Reason.FOUR: "won: four in a row",
    Reason.TIME: "won: the opponent's time was up",
    Reason.LEFT: "won: the opponent left",
    Reason.ILLEGAL: "won: the opponent's move was illegal",
}
_LOST = {
    Reason.FOUR: "lost: the opponent has four in a row",
    Reason.TIME: "lost on time",
    Reason.LEFT: "lost by leaving",
    Reason.ILLEGAL: "lost by an illegal move",
}
_Mark: TypeAlias = tuple[int, Started | Resumed | Ended]


class Enclose(Protocol):
    """Stores the log of one side of a game, as `Results.enclose` does."""

    def __call__(self, game: GameId, side: Side, said: Sequence[Spoken], /, *, is_part: bool) -> object:
        """Store a log."""


Hide: TypeAlias = Callable[[str], str]
"""Takes a text from a client; returns it without its secrets."""


class GameLog:
    """The record of one side of a game."""

    __slots__ = ("began", "begun", "ended", "game", "is_part", "left_out", "lines", "side")

    def __init__(self, started: Started | Resumed, at: float) -> None:
        """`at` is the time of the event."""
        self.game = started.game
        self.side = started.you
        self.is_part = isinstance(started, Resumed)
        """Whether the game has texts on other connections of the player."""
        self.began = at - started.age if isinstance(started, Resumed) else at
        self.begun = False
        """Whether the start of the game was sent to the client."""
        self.ended: Ended | None = None
        """The end of the game, even if it was not sent to the client."""
        self.lines: list[Spoken] = []
        """The lines, oldest first. `WireLog` adds them, and limits their number."""
        self.left_out = 0
        """The number of lines that were dropped after the first `HEAD`."""

    def make_room(self) -> None:
        """Drop the lines between the first `HEAD` and the last `TAIL`."""
        self.left_out += len(self.lines) - HEAD - TAIL
        del self.lines[HEAD:-TAIL]

    def remark(self, way: Way, remark: Remark) -> None:
        """Add the server's remark to the latest text, if that text went in the direction `way`."""
        if self.lines and self.lines[-1][1] == way:
            self.lines[-1] = (*self.lines[-1][:3], remark)

    def whole(self) -> Sequence[Spoken]:
        """Return the lines, with a note in place of those that were left out."""
        if len(self.lines) > HEAD + TAIL:
            self.make_room()
        if sum(map(len, map(_TEXT, self.lines))) > FULL:
            self.lines = [_shortened(line) for line in self.lines]
        if self.lines and self.lines[0][0] < 0:  # the text arrived before the game began
            self.lines[0] = (0.0, *self.lines[0][1:])
        if self.left_out:
            gap: Spoken = (self.lines[HEAD][0], "note", "", f"{self.left_out} lines left out")
            self.lines.insert(HEAD, gap)
        return self.lines


class WireLog:
    """Records the games of one client, one after the other.

    A log is passed to `enclose` when the end of its game has been sent, or when nothing more can be sent to
    the client. The next game may begin before that. So a text from the client belongs to the newest game, and
    a text to the client belongs to the oldest.
    """

    __slots__ = ("_enclose", "_hide", "_logs", "_marks")

    def __init__(self, enclose: Enclose, hide: Hide | None = None) -> None:
        """Call `enclose` with each log. `hide` removes secrets from the client's texts in the log."""
        self._enclose = enclose
        self._hide = hide
        self._logs: list[GameLog] = []
        """The logs of games whose end was not sent to the client yet; usually one, or none."""
        self._marks: list[_Mark] = []

    def note(self, at: float, event: Event) -> None:
        """Record an event that was delivered at `at`. It may be sent to the client later.

        The class of the event has to be in `NOTED`. `Refused` and `Overlooked` refer to the text that was
        `heard` last.
        """
        if isinstance(event, Started | Resumed):
            self._logs.append(GameLog(event, at))
        elif not self._logs:
            pass
        elif isinstance(event, Ended):
            self._logs[-1].ended = event
        elif isinstance(event, Overlooked):
            self._logs[-1].remark("in", "dropped: for a game that was over")
        elif isinstance(event, Refused):
            self._logs[-1].remark("in", event.objections)

    def heard(self, at: float, text: str) -> None:
        """Record a text from the client that arrived at `at`."""
        logs = self._logs
        if logs:
            log = logs[-1]
            lines = log.lines
            lines.append((at - log.began, "in", text if len(text) <= SHORT else _cut(text, SHORT), None))
            if len(lines) > _ROOM:
                log.make_room()

    def mark(self, index: int, event: Started | Resumed | Ended) -> None:
        """Record that the texts from `index` on, in the next call of `said`, belong to `event`."""
        self._marks.append((index, event))

    def said(self, at: float, texts: Sequence[str], request: ToMove | None) -> None:
        """Record texts sent to the client at `at`. `request` is the latest request to move, if any."""
        if self._marks:
            self._turn(at, texts)
        elif self._logs:
            self._say(at, texts)
        if request is not None and request.rest is not None and self._logs:
            self._logs[0].remark("out", request.rest)

    def remark(self, at: float, words: str) -> None:
        """Record a note, if a game is being played."""
        if self._logs:
            log = self._logs[-1]
            log.lines.append((at - log.began, "note", "", words))

    def close(self, at: float, *, is_kept: bool = False) -> None:
        """Pass all logs to `enclose`, because nothing more can be sent to the client.

        If the client's seat `is_kept` in a current game, its log waits for `end`.
        """
        for log in tuple(self._logs):
            if is_kept and log.ended is None:
                log.is_part = True
            else:
                self._hand_in(at)

    def end(self, at: float, ended: Ended, *, is_last: bool) -> None:
        """Pass the log of a game to `enclose` whose player has, or had, further connections.

        `is_last` says that there were no later ones. Then this log has the outcome.
        """
        self.note(at, ended)
        for _ in tuple(self._logs):
            self._hand_in(at, has_outcome=is_last)

    def _say(self, at: float, texts: Sequence[str]) -> None:
        log = self._logs[0]
        lines = log.lines
        at -= log.began
        for text in texts:
            lines.append((at, "out", text if len(text) <= LONGEST else _cut(text, LONGEST), None))
        if len(lines) > _ROOM:
            log.make_room()

    def _turn(self, at: float, texts: Sequence[str]) -> None:
        """Divide the texts among their games.

        Texts before the start of the next game belong to the current one.
        """
        start, over = 0, False
        for index, event in self._marks:
            if isinstance(event, Ended):
                over = True
                continue
            self._tell(at, texts[start:index], over)
            start, over = index, False
            if self._logs:  # else the game is over, and the player has another connection
                self._logs[0].begun = True
        self._marks = []
        self._tell(at, texts[start:], over)

    def _tell(self, at: float, texts: Sequence[str], over: bool) -> None:
        if self._logs and self._logs[0].begun:
            self._say(at, texts)
            if over:
                self._hand_in(at)

    def _hand_in(self, at: float, *, has_outcome: bool = True) -> None:
        log = self._logs.pop(0)
        ended = log.ended
        if ended is not None:
            if has_outcome:
                log.lines.append((at - log.began, "note", "", _outcome(ended, log.side)))
            lines = log.whole()
            if self._hide is not None:
                lines = [_hidden(line, self._hide) for line in lines]
            self._enclose(log.game, log.side, lines, is_part=log.is_part)


def _outcome(ended: Ended, side: Side) -> str:
    if ended.reason is Reason.ABORTED:
        return (
            f"aborted: {'this player' if ended.leaver == side else 'the opponent'} left before both had moved"
        )
    if ended.winner is None:
        return f"nobody won: {ended.reason.value}"
    words, word = (_WON, "won") if ended.winner == side else (_LOST, "lost")
    return words.get(ended.reason, f"{word}: {ended.reason.value}")


def _cut(text: str, limit: int) -> str:
    return f"{text[:limit]}... ({len(text)} characters)"


def _hidden(line: Spoken, hide: Hide) -> Spoken:
    at, way, text, remark = line
    return (at, way, hide(text), remark) if way == "in" else line


def _shortened(line: Spoken) -> Spoken:
    at, way, text, remark = line
    return (at, way, f"{text[:SHORT]}..." if way == "out" and len(text) > SHORT else text, remark)
