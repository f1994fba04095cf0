"""One bot's check: which games it still has to play, and what is known of it.

Knows scenarios and topics. Does not know connections, nor the time. Most of what a bot does wrong is seen in
what it says. Two things have to be concluded:

- A bot that fails in a later game of a connection may not be ready for a further game, or not for what is odd
  in this one. So the scenario is played again, as the first one of a connection. If that goes well, the fault
  is the further game (`Topic.NEXT`).
- A bot may leave between two games. But if it goes on after other games, and left twice, and always, after
  games that ended like this one, then this kind of end is what it does not cope with.

The rule it keeps: one mistake is one fault. What follows from it is not held against the bot.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from adapters.check.record import Fault
from adapters.check.scenarios import ONE_MORE, SCENARIOS, Deed, Scenario
from adapters.client.rules import ENDINGS, ORIGINALS, PROHIBITIONS, Rule, Topic

_BASIC = (Topic.OPENING, Topic.REPLY)
"""Without these there is nothing more to see."""
_ENOUGH = 2
"""Times that something happens until it is no accident."""
_RETRIES = 5
_AMPLE = 2
"""How many times as long as it took at most a bot should be given."""


@dataclass(eq=False, slots=True)
class Task:
    """A scenario that is to be played."""

    scenario: Scenario
    tries: int
    suspected: Fault | None = None
    """Why it is played again, as the first game of a connection."""
    was_first: bool = False
    """Whether it was the first one when that was seen."""
    after: frozenset[Topic] = frozenset()
    """What the game before had shown, where the bot did nothing at all in this one."""
    spoiled: int = 0
    """How often it was cut short by something else that the bot did wrong."""

    @property
    def is_first(self) -> bool:
        """Whether it has to be the first game of a connection."""
        return self.suspected is not None or self.is_late

    @property
    def is_late(self) -> bool:
        """Whether the bot has to wait for its opponent."""
        return self.scenario.deed is Deed.COME_LATE


class Checkup:
    """What is known of one bot."""

    def __init__(
        self, name: str, rules: Mapping[Topic, Rule], scenarios: Iterable[Scenario] = SCENARIOS
    ) -> None:
        """`rules` are those of the dialect."""
        self.name = name
        self._rules = rules
        self.faults: list[Fault] = []
        self.rights: Counter[Topic] = Counter()
        self.games = self.connections = 0
        self._tasks = [Task(each, each.tries) for each in scenarios if each.topic in rules]
        self._scenarios = {task.scenario.topic: task.scenario for task in self._tasks}
        self.mixed = ""
        """Why this may be about several bots, if it may."""
        self.slow = ""
        """How slow the bot is, and which patience would do for it, if it was late for something."""
        self.may_be_slow = True
        """Whether the bot may need more time than it is given: not if it has had that once, in vain."""
        self._slowest = 0.0
        self._lates = 0
        """How often it was late."""
        self._went: Fault | None = None
        self._left: list[tuple[frozenset[Topic], Fault]] = []
        self._silent: list[Fault] = []
        self._undecided: set[Topic] = set()
        """What was seen, but not what the bot did after it."""
        self._stayed: Counter[Topic] = Counter()
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

    def opens(self, *, fresh: bool) -> bool | None:
        """Return whether the bot moves first next; None where there is no game on this connection."""
        task = self._next(None, fresh=fresh)
        if task is None:
            return None
        opens = task.scenario.bot_opens
        return self.games % 2 == 0 if opens is None else opens

    def is_late(self, *, fresh: bool) -> bool:
        """Whether the opponent of the next game comes late."""
        task = self._next(None, fresh=fresh)
        return task is not None and task.is_late

    @property
    def is_too_slow(self) -> bool:
        """Whether the bot is late so often that the check would take too long."""
        return self._lates > _ENOUGH

    @property
    def _is_hopeless(self) -> bool:
        """Whether the bot does not play at all, as far as anybody can see, or too slowly."""
        if self.is_too_slow or any(fault.topic in _BASIC and fault.is_grave for fault in self.faults):
            return True
        if self.rights[Topic.ENTRY]:
            return len(self.faults) > _ENOUGH and not any(self.rights[each] for each in _BASIC)
        return self.connections > _ENOUGH

    def take(self, *, bot_opens: bool, fresh: bool) -> Task | None:
        """Return the next game of a connection; `fresh`, if it is the first one there."""
        task = self._next(bot_opens, fresh=fresh)
        if task is not None:
            self._tasks.remove(task)
            self.games += 1
        return task

    def _next(self, bot_opens: bool | None, *, fresh: bool) -> Task | None:
        for task in () if self._is_hopeless else self._tasks:
            side = task.scenario.bot_opens
            if (bot_opens is None or side in (None, bot_opens)) and (fresh or not task.is_first):
                return task
        return None

    # What was seen.

    def right(self, *topics: Topic) -> None:
        """Note that the bot did right."""
        self.rights.update(topics)

    def came_late(self, seconds: float, patience: float) -> None:
        """Note that the bot did something that is right, but took more than `patience` seconds."""
        self._lates += 1
        self._slowest = max(self._slowest, seconds)
        self.slow = (
            f"it took up to {self._slowest:.1f} s to go on, and --patience is {patience:g}; "
            f"--patience {math.ceil(_AMPLE * self._slowest)} would do"
        )

    def wrong(self, fault: Fault) -> None:
        """Note that the bot did wrong."""
        if fault.topic in ORIGINALS and not self._rules[fault.topic].is_grave:
            fault = replace(fault, is_grave=False)
        elif fault.is_crash:
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
            was_first, after = after is None, after or frozenset()
            self._tasks.insert(0, Task(task.scenario, 1, fault, was_first, after))

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
        for topic in topics & {*ENDINGS, Topic.FULL}:
            self._tasks = [each for each in self._tasks if each.scenario.topic is not topic]

    def spoiled(self, task: Task) -> None:
        """Note that a game was cut short by something that has been held against the bot already."""
        if task.spoiled < _ENOUGH:
            self._tasks.append(replace(task, spoiled=task.spoiled + 1))

    def went(self, fault: Fault) -> None:
        """Note that the bot hung up, which is `fault` if it never asks for a game."""
        self._went = self._went or fault

    def stayed(self, topics: frozenset[Topic]) -> None:
        """Note that the bot went on after a game that ended so."""
        self._stayed.update(topics)
        self.right(*topics)
        self._look_again()

    def left(self, topics: frozenset[Topic], fault: Fault, *, is_silent: bool = False) -> None:
        """Note that the bot hung up after a game that ended so, which would be `fault` if it is one.

        A silent bot did not hang up, but did not move in the next game.
        """
        self._left.append((topics, fault))
        if is_silent:
            self._silent.append(fault)
        self._look_again()

    def unsettled(self, topics: frozenset[Topic]) -> None:
        """Note that the server hung up after a game that ended so, so that nobody knows what the bot did."""
        for topic in topics - self._stayed.keys():
            self._undecided.add(topic)
            if topic in (*ENDINGS, Topic.MERGED):  # the end of a game and the next one come together, too
                self._retry(topic)

    def _suspects(self) -> set[Topic]:
        """Return what the bot has left after, and never stayed after."""
        return {topic for topics, _ in self._left for topic in topics} - self._stayed.keys()

    def _look_again(self) -> None:
        """Play again what the bot has left after, unless that is what it always does, or known by now."""
        for topic in self._suspects() if self._stayed else ():
            if sum(topic in topics for topics, _ in self._left) < _ENOUGH:
                self._retry(topic)

    def _retry(self, topic: Topic) -> None:
        """Play a scenario again, and then one more game, unless that is to be done already."""
        planned = any(task.scenario.topic is topic for task in self._tasks)
        if topic in self._scenarios and not planned and self._retried[topic] < _RETRIES:
            self._retried[topic] += 1
            scenario = self._scenarios[topic]
            self._tasks += Task(scenario, scenario.tries), Task(ONE_MORE, 1)

    def conclude(self) -> None:
        """Decide what the bot left after; call it once, in the end."""
        suspects = Counter(topic for topics, _ in self._left for topic in topics - self._stayed.keys())
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
            elif fault.is_crash:
                self.wrong(replace(fault, topic=Topic.NEXT))
            else:
                self.right(*topics)
        self.right(*self._undecided)
        if self._went is not None and not self.faults and not self.rights[Topic.ENTRY]:
            self.wrong(self._went)
        for task in self._tasks:
            if task.suspected is not None:  # the bot never came again, so that nobody knows which it was
                fault = task.suspected
                plain = fault.topic in (*_BASIC, Topic.FULL) and not task.was_first
                topic = Topic.NEXT if plain else fault.topic
                self.wrong(replace(fault, topic=topic))
        wrong = {fault.topic for fault in self.faults if fault.is_grave}
        self.faults = [fault for fault in self.faults if self._behind(fault.topic) not in wrong]
        if Topic.COLUMN in wrong:  # a bot that counts columns from 1 takes another board for the board
            self.faults = [each for each in self.faults if each.topic is not Topic.FULL]
        if Topic.MERGED in wrong:  # packets merge by chance, too, and then such a bot stalls anywhere
            self.faults = [each for each in self.faults if each.topic is Topic.MERGED or not each.is_stall]
        self._presume()

    def _behind(self, topic: Topic) -> Topic | None:
        rule = self._rules.get(topic)
        return None if rule is None else rule.behind

    def _presume(self) -> None:
        """Count as right what the bot never did wrong, though it could have."""
        wrong = {fault.topic for fault in self.faults}
        if self.rights[Topic.ENTRY]:
            self.right(Topic.NAME, Topic.AGAIN, Topic.WORDS, Topic.ENDS)
        if self.rights[Topic.OPENING] or self.rights[Topic.REPLY]:
            self.right(*PROHIBITIONS)
        for topic in wrong:
            del self.rights[topic]

    def has_seen(self, topic: Topic) -> bool:
        """Whether the bot did right or wrong about a topic, or the dialect has no such rule."""
        wrong = any(fault.topic is topic for fault in self.faults)
        return wrong or self.rights[topic] > 0 or topic not in self._rules


def _once(fault: Fault, words: str) -> Fault:
    """Return a fault that is remarked, because it was seen once."""
    return replace(fault, words=f"{fault.words}; once, {words}", is_grave=False)
