"""The bots of a check: tells them apart by name, and decides when the check is over.

Knows the records of each bot. Does not know connections.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import trio

from adapters.check.checkup import Checkup
from adapters.check.judging import judge
from adapters.check.options import CheckOptions
from adapters.check.record import Fault, Part, What
from adapters.check.report import Failures
from adapters.check.scenarios import SCENARIOS, in_which_bot_opens
from adapters.client.rules import Requirements

NAMELESS = "(no name)"
_FURTHER = "(further names)"
_KEPT = 20
"""The most hang-ups, and the most kinds of failures, that are kept. There may be thousands in a check."""
_CRASH = 1.0
"""A bot's hang-up counts as a crash if its process fails within this many seconds."""


@dataclass(eq=False, slots=True)
class Bot:
    """A bot, and the records of its connections."""

    name: str
    mixed: str = ""
    """The reason to suspect that several bots share these records; empty if there is none."""
    connections: int = 0
    records: list[list[What]] = field(default_factory=list)
    """One record for each connection. A record only grows."""

    def add(self, record: list[What]) -> None:
        """Count a connection, and add its record, unless the bot was away when it came.

        Then it belongs to the record of the game to which it comes back. If it does not come back to it,
        nothing is left that could be judged.
        """
        self.connections += 1
        if not any(Part.latest(each).is_cut for each in self.records):
            self.records.append(record)


class Bots:
    """All bots of a check."""

    def __init__(
        self,
        options: CheckOptions,
        requirements: Requirements,
        hint: Callable[[str], str] = lambda _: "",
    ) -> None:
        """`hint` returns words that name the other dialect to which a text belongs, or an empty text."""
        self.options, self.requirements, self.hint = options, requirements, hint
        manners = requirements.translator(options.own, "", False).manners
        self._afterwards = manners.afterwards
        self._scenarios = in_which_bot_opens() if manners.opens else SCENARIOS
        self.is_done = trio.Event()
        """Set when the check is over."""
        self.connections = 0
        """The number of connections so far, of bots and of strangers."""
        self.silent = 0
        """The number of connections whose bot gave no name in time. After the first such connection, a bot
        without a name gets only the patience, not the longer time of slow bots."""
        self.failures: Failures = {}
        """The last lines on stderr of processes that failed. The key is how the process ended, and its last
        line."""
        self.absences: set[trio.Event] = set()
        """One for each bot that may come back after its connection was cut. Set when it cannot any more."""
        self._bots: dict[str, Bot] = {}
        self._hang_ups: deque[tuple[float, Callable[[str], None]]] = deque(maxlen=_KEPT)
        """The latest hang-ups: the time of each, and a function to record how the bot's process failed."""
        self._missing = 0
        """The number of bots that cannot connect."""

    def __len__(self) -> int:
        """Return the number of bots."""
        return len(self._bots)

    def of(self, name: str | None) -> Bot:
        """Return the bot with this name. If only one bot is expected, every connection belongs to it.

        All names beyond the expected number share one bot. Otherwise a bot that uses a new name on each
        connection would begin a new check each time.
        """
        name, expected = name or NAMELESS, self.options.bots
        if expected == 1 and self._bots:
            (found,) = self._bots.values()
            found.name = name if found.name == NAMELESS else found.name
        elif (
            name in self._bots or name == NAMELESS or len(self._bots.keys() - {NAMELESS, _FURTHER}) < expected
        ):
            found = self._bots.setdefault(name, Bot(name))
        else:
            found = self._bots.setdefault(_FURTHER, Bot(_FURTHER, "more names than bots"))
        if any(Part.latest(record).is_on for record in found.records):
            found.mixed = found.mixed or "several connections at once"
        return found

    def checkup(self, bot: Bot) -> Checkup:
        """Return the checkup of a bot, computed from its records so far."""
        rules, patience = self.requirements.rules, self.options.patience
        checkup = Checkup(
            bot.name,
            rules,
            self._scenarios,
            connections=bot.connections,
            patience=patience,
            mixed=bot.mixed,
        )
        for record in bot.records:
            judge(record, self.requirements, self._afterwards, checkup)
        return checkup

    def conclude(self, strangers: Sequence[Fault] = (), connections: int = 0) -> list[Checkup]:
        """Return the final checkups of all bots, sorted by name.

        `strangers` are the faults of connections on which no bot spoke, and `connections` is their number. If
        a bot is missing, both are attributed to a bot without a name.
        """
        checkups = {name: self.checkup(bot) for name, bot in self._bots.items()}
        if strangers and len(checkups) < self.options.bots:
            nameless = checkups.setdefault(NAMELESS, Checkup(NAMELESS, self.requirements.rules))
            nameless.connections += connections
            nameless.faults += strangers
        return sorted((each.conclude() for each in checkups.values()), key=lambda each: each.name)

    # The end.

    def give_up(self) -> None:
        """Record that a bot cannot connect."""
        self._missing += 1
        self.end_if_over()

    def end_if_over(self) -> bool:
        """End the check if no expected bot is left to check. Return whether the check is over.

        A bot is not left if its check is over or it cannot connect.
        """
        over = sum(self.checkup(bot).is_over for bot in self._bots.values())
        if over + self._missing >= self.options.bots:
            self.is_done.set()
        return self.is_done.is_set()

    # Processes.

    def hung_up(self, crashed: Callable[[str], None]) -> None:
        """Record that a bot has hung up.

        If the bot's process fails soon afterwards, `crashed` is called with a description of the failure.
        """
        self._hang_ups.append((trio.current_time(), crashed))

    def failed(self, command: str, how: str, words: Sequence[str]) -> None:
        """Record that a bot's process failed after it had connected.

        `how` says how the process ended, and `words` are its last lines on stderr. The failure is attributed
        to the bot that has just hung up.
        """
        if len(self.failures) < _KEPT:
            self.failures.setdefault((f"{command!r} {how}", *words[-1:]), words)
        recent, is_alone = self._recent_hang_ups(), self.options.bots == 1
        if recent and (is_alone or len(recent) == 1):  # otherwise any of several bots may have failed
            self._hang_ups.remove(recent[-1])
            _, crashed = recent[-1]
            crashed(": ".join([f"{'its process' if is_alone else repr(command)} {how}", *words[-1:]]))

    async def process_ended(self) -> None:
        """Wait until no bot may come back any more: a process that is started again is another bot.

        The bot of the only process cannot come back after the process has ended.
        """
        if self.options.bots == 1:
            for absence in self.absences:
                absence.set()
        while self.absences:
            await next(iter(self.absences)).wait()

    async def wait_for_crash(self) -> None:
        """If a bot has just hung up, give its process time to end."""
        if self._recent_hang_ups():
            await trio.sleep(_CRASH)

    def _recent_hang_ups(self) -> list[tuple[float, Callable[[str], None]]]:
        """Return the hang-ups of the last `_CRASH` seconds, oldest first."""
        since = trio.current_time() - _CRASH
        return [each for each in self._hang_ups if each[0] >= since]
