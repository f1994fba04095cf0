"""One game of a bot: what has happened in it so far, and what that shows.

Knows the scenario and the board. Does not know the hub, nor what was said.
"""

from dataclasses import dataclass, field

from adapters.check.checkup import Task
from adapters.check.scenarios import Deed, Pace
from adapters.client.rules import Topic
from gateway.game.board import COLUMNS, FIRST, SECOND, Board, Side
from gateway.game.events import Ended, Reason

_THIRD = 3
"""The request to move at which its opponent leaves, or its time is up, where that is to be."""


@dataclass(eq=False, slots=True)
class Play:
    """A game, from when it began."""

    task: Task | None = None
    """None where there is nothing to play, as before the first game."""
    number: int = 0
    """The game's, among all of the bot's."""
    opens: bool = False
    board: Board = field(default_factory=Board)
    is_on: bool = True
    requests: int = 0
    """How often the bot was asked to move."""
    refusals: int = 0
    """Its refused messages in a row."""
    refused: Topic | None = None
    """What the latest of these is about."""
    is_done: bool = False
    """Whether what is odd about the game has happened."""
    has_moved: bool = False
    is_asked: bool = False
    """Whether the bot is asked to move."""
    was_full: bool = False
    """Whether the bot has moved while a column was full."""
    is_faulted: bool = False
    """Whether something was held against the bot in this game."""
    remarked: set[Topic] = field(default_factory=set)
    """What was remarked, or held against it."""

    @property
    def title(self) -> str:
        """What the game is about, for people."""
        return "" if self.task is None else self.task.scenario.title

    @property
    def side(self) -> Side:
        """The bot's."""
        return FIRST if self.opens else SECOND

    @property
    def crosses(self) -> bool:
        """Whether a move of the bot's may cross the end that the game is to have."""
        return self.is_asked and self._deed in (Deed.LEAVE_ASKED, Deed.BOT_LOSES_ON_TIME)

    @property
    def _deed(self) -> Deed:
        return Deed.NOTHING if self.task is None else self.task.scenario.deed

    def asked(self, board: Board) -> None:
        """Note that the bot is asked to move."""
        self.requests, self.board, self.is_asked = self.requests + 1, board, True

    def moved(self, board: Board) -> None:
        """Note a legal move of the bot's."""
        self.was_full = self.was_full or self._has_full_column
        self.board, self.has_moved, self.is_asked, self.refusals = board, True, False, 0
        self.refused = None

    def is_due(self, deed: Deed) -> bool:
        """Whether it is time for a deed while the bot is to move."""
        return self._deed is deed and self.requests == _THIRD

    def is_lost_on_time(self, ended: Ended) -> bool:
        """Whether the bot's time was up though it was not meant to be; note it if it was."""
        if ended.reason is not Reason.TIME or ended.winner == self.side:
            return False
        self.is_done = self._deed is Deed.BOT_LOSES_ON_TIME
        return not self.is_done

    def is_forfeited(self, ended: Ended) -> bool:
        """Whether the bot has lost by an illegal move."""
        return ended.reason is Reason.ILLEGAL and ended.winner != self.side

    def seen(self, ended: Ended) -> frozenset[Topic]:
        """Return the topics of which the game, which is over, has shown what there is to see."""
        topics = set[Topic]()
        if ended.reason is Reason.FULL:
            topics.add(Topic.DRAW)
        elif ended.reason is Reason.FOUR:
            topics.add(Topic.WIN if ended.winner == self.side else Topic.LOSS)
        if self.was_full and not self.is_faulted:
            topics.add(Topic.FULL)
        if self._is_odd and self.task is not None:
            topics.add(self.task.scenario.topic)
        return frozenset(topics)

    def reason(self) -> Topic:
        """Return what a bot that does not go on seems not to cope with."""
        if self.refused is not None:
            return self.refused
        if self._is_odd and self.task is not None:
            return self.task.scenario.topic
        if self._has_full_column:
            return Topic.FULL
        return Topic.REPLY if self.board.moves else Topic.OPENING

    @property
    def _is_odd(self) -> bool:
        return self.is_done or (self.task is not None and self.task.scenario.pace is not Pace.MESSAGES)

    @property
    def _has_full_column(self) -> bool:
        return any(not self.board.has_room(column) for column in range(COLUMNS))
