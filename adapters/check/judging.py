"""Judges the record of a connection, and adds the findings to the checkup of its bot.

Knows the clauses of a dialect, and the values of a record. Does not know connections, the hub or the time.
Counts one fault for each game, because one mistake leads to further ones.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from adapters.check.checkup import Checkup
from adapters.check.record import (
    HUNG_UP,
    Began,
    Closed,
    Crashed,
    Fault,
    Late,
    Line,
    Mark,
    Overdue,
    Part,
    Refusal,
    Returned,
    What,
    lines,
)
from adapters.check.scenarios import Conduct
from adapters.client.rules import ENDINGS, Requirements, Topic, has_full_column, in_words, silent_at
from gateway.game.events import Ended, Moved, Objection, Overlooked, Reason, Shown, ToMove
from gateway.game.manners import Afterwards

STUCK = 200
"""A bot that sends this many refused messages in a row is assumed to do so forever."""
_MORE = 3
"""The number of refused messages that are excused after a game with the original server's messages."""
_SHOWN = 80
"""The most characters of a refused text that are quoted in a fault."""


def judge(
    record: Sequence[What], requirements: Requirements, afterwards: Afterwards, checkup: Checkup
) -> None:
    """Add the findings from the record of a connection to the checkup of its bot.

    `afterwards` says what happens after a game in the bot's dialect.
    """
    judging = _Judging(record, requirements, afterwards, checkup)
    for index, what in enumerate(record):
        judging.take(index, what)


def refusals(part: Part, requirements: Requirements) -> Sequence[Topic]:
    """Return the topics of the messages that were refused since the bot's latest legal move."""
    topics = list[Topic]()
    for what in part.whats:
        if isinstance(what, Moved):
            topics = []
        elif isinstance(what, Refusal) and what.sent.message is not None:
            topic = offence(what, requirements)
            topics += [] if topic is None else [topic]
    return topics


def offence(refusal: Refusal, requirements: Requirements) -> Topic | None:
    """Return the topic that a refused message breaks; None if the message was not a mistake."""
    if Objection.TABLE_FULL in refusal.objections:
        return None
    return requirements.offence(refusal.sent, refusal.objections)


def stalled_at(part: Part, requirements: Requirements) -> Topic:
    """Return the topic that a bot probably failed at, if it stopped in the middle of a game."""
    if refused := refusals(part, requirements):
        return refused[-1]
    if part.is_odd:
        return part.scenario.topic
    return silent_at(part.board)


def shown(part: Part, ended: Ended) -> frozenset[Topic]:
    """Return the topics that a finished game covered."""
    topics = set[Topic]()
    if ended.reason is Reason.FULL:
        topics.add(Topic.DRAW)
    elif ended.reason is Reason.FOUR:
        topics.add(Topic.WIN if ended.winner == part.side else Topic.LOSS)
    if any(has_full_column(one.board) and isinstance(two, Moved) for one, two in pairwise(part.turns)):
        topics.add(Topic.FULL)
    if part.is_odd:
        topics.add(part.scenario.topic)
    return frozenset(topics)


def crosses(part: Part) -> bool:
    """Return whether the game may have ended while a move of the bot was on its way."""
    is_asked = isinstance(next(reversed(part.turns), None), ToMove)
    return is_asked and part.scenario.conduct in (Conduct.LEAVE_ASKED, Conduct.BOT_LOSES_ON_TIME)


class _Judging:
    """Judges the entries of one record, one after the other."""

    def __init__(
        self, record: Sequence[What], requirements: Requirements, afterwards: Afterwards, checkup: Checkup
    ) -> None:
        self._record, self._requirements = record, requirements
        self._afterwards, self._checkup = afterwards, checkup
        self._crash = next((what.words for what in record if isinstance(what, Crashed)), "")
        self._start = self._index = 0
        """The index of the first entry of the current part, and that of the entry that is being judged."""
        self._before = Part()
        self._pending: frozenset[Topic] = frozenset()
        """The topics that the latest game covered. They count as right if the bot goes on after that game."""
        self._excused = 0
        """The number of further refused messages to excuse, because the server may have caused them."""
        self._crossing = 0
        """The number of moves for finished games that may still arrive. In the next game they are out of
        turn, and they are excused."""
        self._held: set[Topic] = set()
        """The topics of the faults and remarks in this part."""
        self._is_faulted = False
        """Whether this part has a fault that is more than a remark."""
        self._is_cut = False
        """Whether the connection was cut, as the scenario requires."""
        self._returned: float | None = None
        """The seconds after which the bot has come back; None if it has not."""

    @property
    def _part(self) -> Part:
        """The current part, up to the entry that is being judged."""
        return Part(self._record[self._start : self._index + 1])

    def take(self, index: int, what: What) -> None:
        """Judge the next entry."""
        checkup = self._checkup
        self._index = index
        if self._is_cut:
            self._take_after_cut(what)
            return
        match what:
            case Began(task):
                self._before = Part(self._record[self._start : index])
                self._start, self._held, self._is_faulted = index, set(), False
                checkup.began(task)
            case Mark.ENTERED:
                checkup.right(Topic.ENTRY, *([Topic.REFUSED] if Mark.DECLINED in self._part.whats else []))
                self._stays()
            case Moved(board=board):
                checkup.right(Topic.REPLY if len(board.moves) > 1 else Topic.OPENING)
                checkup.right(*([Topic.NEXT] if self._part.began.place > 1 else []))
                self._stays()
            case Shown():
                self._excused += 1  # a bot that asks for the board is told its turn twice, and may move twice
            case Overlooked():
                self._crossing = max(0, self._crossing - 1)
            case Mark.CUT:
                self._is_cut = True
            case Refusal():
                self._take_refusal(what)
            case Ended():
                self._take_end(what)
            case Late(seconds):
                checkup.came_late(seconds)
            case Overdue():
                checkup.may_be_slow = False
                self._take_overdue(what)
            case Closed():
                self._take_close(what)
            case _:
                pass

    def _take_refusal(self, refusal: Refusal) -> None:
        sent, topic = refusal.sent, offence(refusal, self._requirements)
        if topic is None:
            return
        if sent.message is None:
            words = f"it sent '{sent.text[:_SHOWN].rstrip()}', which is no message here{sent.hint}"
            self._wrong(topic, words)
        elif self._excused:
            self._excused -= 1
        elif self._crossing and topic in (Topic.TURN, Topic.IDLE):
            self._crossing -= 1
        else:
            text = sent.text.rstrip("\r\n")[:_SHOWN]
            words = f"it sent {text}, but {in_words(refusal.objections)}"
            self._wrong(topic, words)
            if len(refusals(self._part, self._requirements)) == STUCK and not self._is_faulted:
                self._wrong(topic, f"{words}, and so were {STUCK} messages in a row", is_grave=True)

    def _take_end(self, ended: Ended) -> None:
        part = self._part
        # Only in some dialects does the hub wait for such a move, and then for at most half a second
        self._crossing += crosses(part)
        if self._afterwards is Afterwards.STEP_OUT:
            self._excused += _MORE * part.scenario.as_original
        if part.is_out_of_time(ended) and part.scenario.conduct is not Conduct.BOT_LOSES_ON_TIME:
            self._fails("it did not move before its time was up")
        elif ended.leaver == part.side and self._is_refused_next:
            self._checkup.spoiled(part.began.task)
        elif ended.leaver == part.side:
            is_between = bool(self._pending) and not part.has_moved
            words = "when the next game had begun" if is_between else "before the game was over"
            leaves_series = self._afterwards is Afterwards.HANG_UP
            self._fails(f"{HUNG_UP} {words}", is_grave=leaves_series or not is_between)
        elif ended.reason is Reason.ILLEGAL and ended.winner != part.side:
            self._checkup.spoiled(part.began.task)
        else:
            topics = shown(part, ended)
            self._pending = topics - {Topic.FULL} if self._is_faulted else topics
            self._checkup.finished(part.began.task, self._pending)

    @property
    def _is_refused_next(self) -> bool:
        """Whether a refusal ended the game. It is recorded only when it is sent, just after the end."""
        rest = self._record[self._index + 1 :]
        return isinstance(next((what for what in rest if not isinstance(what, Line)), None), Refusal)

    def _take_overdue(self, overdue: Overdue) -> None:
        if overdue.unfinished:
            unfinished = overdue.unfinished[:60].decode(errors="backslashreplace")
            self._wrong(Topic.ENDS, f"{overdue.words}, only '{unfinished}' without an end")
        elif self._part.is_on:
            self._fails(overdue.words)
        elif overdue.topic is not None:
            self._wrong(overdue.topic, overdue.words)
        elif self._pending:
            self._checkup.left(self._pending, self._fault(Topic.NEXT, overdue.words))
            self._pending = frozenset()

    def _take_close(self, closed: Closed) -> None:
        checkup, marks = self._checkup, self._part.whats
        checkup.plays_last = False
        is_dismissed = Mark.DISMISSED in marks
        if not self._is_faulted:
            checkup.went(self._fault(Topic.ENTRY, f"{HUNG_UP} before it had asked for a game"))
        if closed.has_ponged:
            checkup.right(Topic.PING)
        elif closed.pings and is_dismissed:
            self._wrong(Topic.PING, "no pong came", is_grave=True)
        if Mark.KEPT_WAITING in marks and not is_dismissed:
            checkup.gave_up(self._fault(Topic.WAIT, f"{HUNG_UP} while it waited for an opponent"))
        if self._pending and is_dismissed and self._afterwards is Afterwards.ONE_GAME:
            self._take_last_close()
        elif self._pending and is_dismissed:
            checkup.unsettled(self._pending)
        elif self._pending:
            checkup.left(self._pending, self._fault(Topic.NEXT, f"{HUNG_UP} after the game"))
        if Mark.DECLINED in marks and (closed.has_hung_up or not is_dismissed):
            checkup.right(Topic.REFUSED)
        if is_dismissed and closed.has_hung_up:
            checkup.right(Topic.CLOSE)
        elif is_dismissed:
            checkup.may_be_slow = False
            self._wrong(Topic.CLOSE, f"its end was still open after {closed.limit:g} s")

    def _take_last_close(self) -> None:
        """Judge how the bot took the end of the only game of its connection."""
        topics = [topic for topic in (*ENDINGS, *self._pending) if topic in self._pending]
        if not self._crash:
            self._checkup.right(*self._pending)
        elif topics and not self._is_faulted:
            self._checkup.wrong(replace(self._fault(topics[0], "it crashed at the end"), crash=self._crash))

    def _take_after_cut(self, what: What) -> None:
        """Judge whether the bot comes back and plays the game to its end. If it does not, that is a remark.

        What else it does there is not judged: that has been seen in other games.
        """
        checkup, part = self._checkup, self._part
        checkup.plays_last = checkup.plays_last and not isinstance(what, Closed | Ended | Overdue)
        words = ""
        match what:
            case Returned(seconds):
                self._returned = seconds
            case Late(seconds):
                checkup.came_late(seconds)
            case Overdue():
                words = what.words
            case Ended() if part.is_out_of_time(what):
                words = "its time was up"
            case Ended() if what.leaver == part.side:
                words = f"{HUNG_UP} before the game was over"
            case Ended() if what.reason is Reason.ILLEGAL and what.winner != part.side:
                words = "it made an illegal move"
            case Ended() if self._returned is not None and not checkup.has_seen(Topic.BACK):
                checkup.came_back(self._returned)
            case Closed():
                words = "it did not play the game to its end"
            case _:
                pass
        if words and not checkup.has_seen(Topic.BACK):
            if self._returned is not None:
                words = f"it came back after {self._returned:.1f} s, but {words}"
            elif self._crash:
                words = f"it did not come back: {self._crash}"
            # A crash is no mistake here, so it is in the words alone
            self._checkup.wrong(replace(self._fault(Topic.BACK, words, is_grave=False), crash=""))

    def _stays(self) -> None:
        if self._pending:
            self._checkup.stayed(self._pending)
            self._pending = frozenset()

    def _fails(self, words: str, *, is_grave: bool = True) -> None:
        """Record that the bot stopped in the middle of a game. Without `is_grave` this is only a remark."""
        part, checkup = self._part, self._checkup
        if self._is_faulted:
            return
        self._is_faulted = True
        is_confused = self._before.scenario.as_original and self._afterwards is Afterwards.STEP_OUT
        if is_confused and not part.has_moved:
            checkup.spoiled(part.began.task)
            return
        after = frozenset[Topic]() if part.has_moved else self._pending
        title = self._before.scenario.title if after else part.scenario.title
        topic = stalled_at(part, self._requirements)
        fault = self._fault(topic, words, title, is_grave=is_grave, is_stall=True)
        self._pending = frozenset()
        if topic is Topic.FULL and refusals(part, self._requirements):
            checkup.wrong(fault)  # the cause is the move into a full column, not the topic of the game
            checkup.spoiled(part.began.task)
        else:
            checkup.failed(part.began.task, fault, None if part.began.place == 1 else after)

    def _wrong(self, topic: Topic, words: str, *, is_grave: bool = False) -> None:
        """Record a fault.

        Without `is_grave`, do nothing if the part already has a grave fault, or a fault of the same topic.
        """
        rule = self._requirements.rules.get(topic)
        if rule is not None and (is_grave or not (self._is_faulted or topic in self._held)):
            is_grave = is_grave or rule.is_grave
            self._held.add(topic)
            self._is_faulted = self._is_faulted or is_grave
            self._checkup.wrong(self._fault(topic, words, is_grave=is_grave))

    def _fault(
        self,
        topic: Topic,
        words: str,
        title: str | None = None,
        *,
        is_grave: bool = True,
        is_stall: bool = False,
    ) -> Fault:
        part = self._part
        crash = self._crash if Mark.HUNG_UP in part.whats else ""
        exchange = lines(self._record[: self._index + 1])
        return Fault(
            topic, words, part.scenario.title if title is None else title, exchange, is_grave, is_stall, crash
        )
