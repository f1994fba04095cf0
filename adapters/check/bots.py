"""The bots that are checked, told apart by their names, and when the check of all of them is over.

Knows what was recorded of each. Does not know connections. A process that ends with an error is taken for
that of the bot that has just hung up.
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
from adapters.client.rules import Requirements

NAMELESS = "(no name)"
_FURTHER = "(further names)"
_KEPT = 20
"""Hang-ups and kinds of failures that are kept; there may be thousands."""
_CRASH = 1.0
"""Seconds at most from when a bot hangs up until its process ends, if the reason for both is the same."""


@dataclass(eq=False, slots=True)
class Bot:
    """A bot, and the records of its connections."""

    name: str
    mixed: str = ""
    """Why this may be about several bots, if it may."""
    records: list[list[What]] = field(default_factory=list)
    """Those of its connections. They grow, and nothing in them changes."""


class Bots:
    """All bots of a check."""

    def __init__(
        self,
        options: CheckOptions,
        requirements: Requirements,
        hint: Callable[[str], str] = lambda _: "",
    ) -> None:
        """`hint` returns which other dialect a text is of, as the end of a sentence."""
        self.options, self.requirements, self.hint = options, requirements, hint
        self._afterwards = requirements.translator(options.own, "", False).manners.afterwards
        self.is_done = trio.Event()
        """Set when there is nothing more to see."""
        self.connections = 0
        """How many there have been, of bots and others."""
        self.silent = 0
        """Connections on which nobody gave a name in time: after one, others get the patience and no more."""
        self.failures: Failures = {}
        """What bots said last that failed, by how they ended and the last line."""
        self._bots: dict[str, Bot] = {}
        self._hang_ups: deque[tuple[float, Callable[[str], None]]] = deque(maxlen=_KEPT)
        """When bots hung up of late, and what takes how their process failed."""
        self._missing = 0
        """Bots that cannot come."""

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._bots)

    def of(self, name: str | None) -> Bot:
        """Return a bot by its name. Where there is one bot, all connections are its own.

        Where more names come than there are bots, the further ones share a report: a bot with another name
        on each connection would have the check begin anew for ever.
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
        """Return what is known of a bot by now."""
        rules, patience = self.requirements.rules, self.options.patience
        connections = len(bot.records)
        checkup = Checkup(bot.name, rules, connections=connections, patience=patience, mixed=bot.mixed)
        for record in bot.records:
            judge(record, self.requirements, self._afterwards, checkup)
        return checkup

    def conclude(self, strangers: Sequence[Fault] = (), connections: int = 0) -> list[Checkup]:
        """Return what is known of the bots, by their names, after all.

        Where a bot is missing, that includes what strangers did on so many connections.
        """
        checkups = {name: self.checkup(bot) for name, bot in self._bots.items()}
        if strangers and len(checkups) < self.options.bots:
            nameless = checkups.setdefault(NAMELESS, Checkup(NAMELESS, self.requirements.rules))
            nameless.connections += connections
            nameless.faults += strangers
        return sorted((each.conclude() for each in checkups.values()), key=lambda each: each.name)

    # The end.

    def give_up(self) -> None:
        """Note that a bot cannot come."""
        self._missing += 1
        self.end_if_over()

    def end_if_over(self) -> bool:
        """End the check if nothing more is to be seen of any bot; return whether it is over."""
        over = sum(self.checkup(bot).is_over for bot in self._bots.values())
        if over + self._missing >= self.options.bots:
            self.is_done.set()
        return self.is_done.is_set()

    # Processes.

    def hung_up(self, crashed: Callable[[str], None]) -> None:
        """Note that a bot has hung up; `crashed` is called if its process turns out to have failed."""
        self._hang_ups.append((trio.current_time(), crashed))

    def failed(self, command: str, how: str, words: Sequence[str]) -> None:
        """Note how a bot that had connected ended, where it failed, and the lines that it said last."""
        if len(self.failures) < _KEPT:
            self.failures.setdefault((f"{command!r} {how}", *words[-1:]), words)
        recent, is_alone = self._recent_hang_ups(), self.options.bots == 1
        if recent and (is_alone or len(recent) == 1):  # otherwise it may have been another bot
            self._hang_ups.remove(recent[-1])
            _, crashed = recent[-1]
            crashed(": ".join([f"{'its process' if is_alone else repr(command)} {how}", *words[-1:]]))

    async def wait_for_crash(self) -> None:
        """Give bots that have just hung up time to end, so that it is known how."""
        if self._recent_hang_ups():
            await trio.sleep(_CRASH)

    def _recent_hang_ups(self) -> list[tuple[float, Callable[[str], None]]]:
        """Return those of which it may yet turn out that a process has failed."""
        since = trio.current_time() - _CRASH
        return [each for each in self._hang_ups if each[0] >= since]
