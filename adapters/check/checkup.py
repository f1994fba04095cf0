"""One bot's check: what all its records together show, and which games it still has to play.

Knows scenarios and topics, and hears what the records show. Does not know connections, nor the time. Most of
what a bot does wrong is seen in what it says. Two things have to be concluded:

- A bot that fails in a later game of a connection may not be ready for a further game, or not for what is odd
  in this one. So the scenario is played again, as the first one of a connection. If that goes well, the fault
  is the further game (`Topic.NEXT`).
- A bot may leave between two games. But if it goes on after other games, and left twice, and always, after
  games that ended like this one, then this kind of end is what it does not cope with.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from adapters.check.record import Fault, Task
from adapters.check.scenarios import NO_GAME, ONE_MORE, SCENARIOS, Scenario
from adapters.client.rules import ENDINGS, ORIGINALS, PROHIBITIONS, Rule, Topic

_BASIC = (Topic.OPENING, Topic.REPLY)
"""Without these there is nothing more to see."""
_ENOUGH = 2
"""Times that something happens until it is no accident."""
_RETRIES = 5
_AMPLE = 2
"""How many times as long as it took at most a bot should be given."""


class Checkup:
    """What is known of one bot. It is worked out anew from the records whenever somebody asks."""

    def __init__(
        self,
        name: str,
        rules: Mapping[Topic, Rule],
        scenarios: Iterable[Scenario] = SCENARIOS,
        *,
        connections: int = 0,
        patience: float = 0.0,
        mixed: str = "",
    ) -> None:
        """`rules` are those of the dialect. `mixed` says why this may be about several bots, if it may."""
        self.name, self.connections, self.mixed = name, connections, mixed
        self.games = 0
        self.faults: list[Fault] = []
        self.rights: set[Topic] = {Topic.TRANSPORT} if connections else set()
        self.late: list[float] = []
        """The seconds that the bot took, each time that it was late."""
        self.may_be_slow = True
        """Whether the bot may need more time than it is given: not if it has had that once, in vain."""
        self._rules, self._patience = rules, patience
        self._tasks = [Task(each, each.tries) for each in scenarios if each.topic in rules]
        self._scenarios = {task.scenario.topic: task.scenario for task in self._tasks}
        self._went: Fault | None = None
        self._left: list[tuple[frozenset[Topic], Fault]] = []
        self._silent: list[Fault] = []
        """Where the bot did not hang up after a game, but did not move in the next one."""
        self._undecided: set[Topic] = set()
        """What was seen, but not what the bot did after it."""
        self._stayed: set[Topic] = set()
        self._retried: Counter[Topic] = Counter()

    # What is next.

    @property
    def wants_refusal(self) -> bool:
        """Whether the bot is to be refused when it asks for a game next."""
        return not self._tasks and not self.has_seen(Topic.REFUSED) and not self.is_over

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be seen of the bot."""
        return self._is_hopeless or (not self._tasks and self.has_seen(Topic.REFUSED))

    @property
    def plays_on(self) -> bool:
        """Whether the bot plays further games on a connection, as far as anybody knows."""
        return len(self._silent) < _ENOUGH or bool(self._stayed)

    @property
    def is_too_slow(self) -> bool:
        """Whether the bot is late so often that the check would take too long."""
        return len(self.late) > _ENOUGH

    @property
    def slow(self) -> str:
        """How slow the bot is, and which patience would do for it, if it was late for something."""
        if not self.late:
            return ""
        slowest = max(self.late)
        return (
            f"it took up to {slowest:.1f} s to go on, and --patience is {self._patience:g}; "
            f"--patience {math.ceil(_AMPLE * slowest)} would do"
        )

    @property
    def _is_hopeless(self) -> bool:
        """Whether the bot does not play at all, as far as anybody can see, or too slowly."""
        if self.is_too_slow or any(fault.topic in _BASIC and fault.is_grave for fault in self.faults):
            return True
        if Topic.ENTRY in self.rights:
            return len(self.faults) > _ENOUGH and not self.rights & {*_BASIC}
        return self.connections > _ENOUGH

    def next_task(self, bot_opens: bool | None = None, *, is_first: bool) -> Task | None:
        """Return the next game for a connection, its first one if that; None where there is none.

        `bot_opens` says whether the bot moves first, where that is settled.
        """
        for task in () if self._is_hopeless else self._tasks:
            side = task.scenario.bot_opens
            if (bot_opens is None or side in (None, bot_opens)) and (is_first or not task.is_first):
                return task
        return None

    def opens(self, task: Task) -> bool:
        """Return whether the bot moves first in a game."""
        return self.games % 2 == 0 if task.scenario.bot_opens is None else task.scenario.bot_opens

    # What was seen.

    def has_seen(self, topic: Topic) -> bool:
        """Whether the bot did right or wrong about a topic, or the dialect has no such rule."""
        wrong = any(fault.topic is topic for fault in self.faults)
        return wrong or topic in self.rights or topic not in self._rules

    def began(self, task: Task) -> None:
        """Note that a game began."""
        self.games += task.scenario is not NO_GAME
        if task in self._tasks:
            self._tasks.remove(task)

    def right(self, *topics: Topic) -> None:
        """Note that the bot did right."""
        self.rights.update(topics)

    def came_late(self, seconds: float) -> None:
        """Note that the bot did something that is right, but took so many seconds, more than its patience."""
        self.late.append(seconds)

    def wrong(self, fault: Fault) -> None:
        """Note that the bot did wrong."""
        if fault.topic in ORIGINALS and not self._rules[fault.topic].is_grave:
            fault = replace(fault, is_grave=False)
        elif fault.crash:
            fault = replace(fault, is_grave=True)
        self.faults.append(fault)
        self._tasks = [each for each in self._tasks if self._behind(each.scenario.topic) is not fault.topic]

    def failed(self, task: Task, fault: Fault, after: frozenset[Topic] | None) -> None:
        """Note that the bot failed in a game, and what that seems to be about.

        `after` is what the game before on the connection had shown, if the bot did nothing at all since; None
        if there was no game before. A failure counts when it happens again.
        """
        if after is None and task.suspected is not None:
            self.wrong(fault)
        else:
            again = Task(task.scenario, 1, fault, was_first=after is None, after=after or frozenset())
            self._tasks.insert(0, again)

    def gave_up(self, fault: Fault) -> None:
        """Note that the bot hung up while it waited for an opponent that was late.

        That tells nothing where another connection of the bot has taken that game meanwhile.
        """
        task = next((each for each in self._tasks if each.is_late), None)
        if task is not None:
            self._tasks.remove(task)
            self.failed(task, fault, None)

    def finished(self, task: Task, topics: frozenset[Topic]) -> None:
        """Note that a game was played to its end, which shows what there is to see of `topics`."""
        if task.suspected is not None and task.was_first:
            self.wrong(_once(task.suspected, "and not when it was played again"))
        elif task.suspected is not None and task.after:
            self.left(task.after, task.suspected, is_silent=True)
        elif task.suspected is not None:
            self.wrong(replace(task.suspected, topic=Topic.NEXT))
        elif task.scenario.topic not in topics and task.tries > 1:
            self._tasks.insert(0, Task(task.scenario, task.tries - 1))
        seen = topics & {*ENDINGS, Topic.FULL}
        self._tasks = [each for each in self._tasks if each.scenario.topic not in seen]

    def spoiled(self, task: Task) -> None:
        """Note that a game was cut short by something that has been held against the bot already."""
        if task.spoiled < _ENOUGH:
            self._tasks.append(replace(task, spoiled=task.spoiled + 1))

    def went(self, fault: Fault) -> None:
        """Note that the bot hung up, which is `fault` if it never asks for a game."""
        self._went = self._went or fault

    def stayed(self, topics: frozenset[Topic]) -> None:
        """Note that the bot went on after a game that ended so."""
        self._stayed |= topics
        self.right(*topics)
        self._look_again()

    def left(self, topics: frozenset[Topic], fault: Fault, *, is_silent: bool = False) -> None:
        """Note that the bot hung up after a game that ended so, which would be `fault` if it is one.

        A silent bot did not hang up, but did not move in the next game.
        """
        self._left.append((topics, fault))
        self._silent += [fault] if is_silent else []
        self._look_again()

    def unsettled(self, topics: frozenset[Topic]) -> None:
        """Note that the server hung up after a game that ended so, so that nobody knows what the bot did."""
        for topic in topics - self._stayed:
            self._undecided.add(topic)
            if topic in (*ENDINGS, Topic.MERGED):  # the end of a game and the next one come together, too
                self._retry(topic)

    def _look_again(self) -> None:
        """Play again what the bot has left after, unless that is what it always does, or known by now."""
        for topic, times in self._suspects().items() if self._stayed else ():
            if times < _ENOUGH:
                self._retry(topic)

    def _suspects(self) -> Counter[Topic]:
        """Return what the bot has left after, and never stayed after, and how often."""
        return Counter(topic for topics, _ in self._left for topic in topics - self._stayed)

    def _retry(self, topic: Topic) -> None:
        """Play a scenario again, and then one more game, unless that is to be done already."""
        planned = any(task.scenario.topic is topic for task in self._tasks)
        if topic in self._scenarios and not planned and self._retried[topic] < _RETRIES:
            self._retried[topic] += 1
            scenario = self._scenarios[topic]
            self._tasks += Task(scenario, scenario.tries), Task(ONE_MORE)

    def conclude(self) -> "Checkup":
        """Decide what the bot left after, once nothing more is to be seen of it; return the checkup."""
        suspects = self._suspects()
        guilty = {topic for topic in suspects if suspects[topic] >= _ENOUGH and self._stayed}
        if not self._stayed and self._silent:
            self.wrong(replace(max(self._silent, key=lambda fault: fault.is_grave), topic=Topic.NEXT))
        for topics, fault in self._left:
            found = [topic for topic in (*ENDINGS, *suspects) if topic in topics & guilty]
            wrong = {*guilty, *(each.topic for each in self.faults)}
            if found and self._behind(found[0]) in wrong:
                pass
            elif found:
                self.wrong(replace(fault, topic=found[0], is_grave=True))
            elif self._stayed and topics & suspects.keys():
                topic = next(topic for topic in (*ENDINGS, *suspects) if topic in topics & suspects.keys())
                self.wrong(_once(replace(fault, topic=topic), "and after others it went on"))
            elif fault.crash:
                self.wrong(replace(fault, topic=Topic.NEXT))
            else:
                self.rights |= topics
        self.rights |= self._undecided
        if self._went is not None and not self.faults and Topic.ENTRY not in self.rights:
            self.wrong(self._went)
        for task in self._tasks:
            if task.suspected is not None:  # the bot never came again, so that nobody knows which it was
                fault = task.suspected
                plain = fault.topic in (*_BASIC, Topic.FULL) and not task.was_first
                self.wrong(replace(fault, topic=Topic.NEXT) if plain else fault)
        self._leave_out_what_follows()
        self._presume()
        return self

    def _leave_out_what_follows(self) -> None:
        """Hold nothing against the bot that follows from another one of its mistakes."""
        wrong = {fault.topic for fault in self.faults if fault.is_grave}
        self.faults = [fault for fault in self.faults if self._behind(fault.topic) not in wrong]
        if Topic.COLUMN in wrong:  # a bot that counts columns from 1 takes another board for the board
            self.faults = [each for each in self.faults if each.topic is not Topic.FULL]
        if Topic.MERGED in wrong:  # packets merge by chance, too, and then such a bot stalls anywhere
            self.faults = [each for each in self.faults if each.topic is Topic.MERGED or not each.is_stall]

    def _presume(self) -> None:
        """Count as right what the bot never did wrong, though it could have."""
        if Topic.ENTRY in self.rights:
            self.rights |= {Topic.NAME, Topic.AGAIN, Topic.WORDS, Topic.ENDS}
        if self.rights & {*_BASIC}:
            self.rights |= {*PROHIBITIONS}
        self.rights -= {fault.topic for fault in self.faults}

    def _behind(self, topic: Topic) -> Topic | None:
        rule = self._rules.get(topic)
        return None if rule is None else rule.behind


def _once(fault: Fault, words: str) -> Fault:
    """Return a fault that is remarked, because it was seen once."""
    return replace(fault, words=f"{fault.words}; once, {words}", is_grave=False)
