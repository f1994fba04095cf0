"""One bot's check: what all its records together show, and which games it still has to play.

Knows scenarios and topics. Does not know connections, nor the time.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from adapters.check.record import Fault, Task
from adapters.check.scenarios import NO_GAME, ONE_MORE, SCENARIOS, Scenario
from adapters.client.rules import ENDINGS, ORIGINALS, PROHIBITIONS, Rule, Topic

_BASIC = (Topic.OPENING, Topic.REPLY)
"""Without these nothing more is to be seen."""
_ENOUGH = 2
"""How often something has to happen before it counts as no accident."""
_RETRIES = 5
_MARGIN = 2
"""The recommended patience is this many times the longest time that the bot took."""


class Checkup:
    """What is known of one bot. It is computed anew from the records each time."""

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
        """`rules` are those of the dialect. `mixed` says why the records may be those of several bots."""
        self.name, self.connections, self.mixed = name, connections, mixed
        self.games = 0
        self.faults: list[Fault] = []
        self.rights: set[Topic] = {Topic.TRANSPORT} if connections else set()
        self.late: list[float] = []
        """The seconds that the bot took, for each time that it exceeded the patience."""
        self.may_be_slow = True
        """Whether the bot gets more time than the patience. False after it has had that once without
        effect."""
        self._rules, self._patience = rules, patience
        self._tasks = [Task(each, each.tries) for each in scenarios if each.topic in rules]
        self._scenarios = {task.scenario.topic: task.scenario for task in self._tasks}
        self._early_hang_up: Fault | None = None
        self._left: list[tuple[frozenset[Topic], Fault]] = []
        self._silent: list[Fault] = []
        """Faults where the bot did not hang up after a game, but did not move in the next one."""
        self._undecided: set[Topic] = set()
        """Topics of games after which the bot's behaviour is unknown."""
        self._stayed: set[Topic] = set()
        self._retried: Counter[Topic] = Counter()

    # What is next.

    @property
    def wants_refusal(self) -> bool:
        """Whether to refuse the bot when it asks for a game next."""
        return not self._tasks and not self.has_seen(Topic.REFUSED) and not self.is_over

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be seen of the bot."""
        return self._is_hopeless or (not self._tasks and self.has_seen(Topic.REFUSED))

    @property
    def plays_on(self) -> bool:
        """Whether the bot seems to play further games on a connection."""
        return len(self._silent) < _ENOUGH or bool(self._stayed)

    @property
    def is_too_slow(self) -> bool:
        """Whether the bot exceeds the patience so often that the check would take too long."""
        return len(self.late) > _ENOUGH

    @property
    def slow(self) -> str:
        """How slow the bot is, and which patience would be enough; empty if it was never too slow."""
        if not self.late:
            return ""
        slowest = max(self.late)
        return (
            f"it took up to {slowest:.1f} s to go on, and --patience is {self._patience:g}; "
            f"--patience {math.ceil(_MARGIN * slowest)} would do"
        )

    @property
    def _is_hopeless(self) -> bool:
        """Whether the bot seems not to play at all, or plays too slowly."""
        if self.is_too_slow or any(fault.topic in _BASIC and fault.is_grave for fault in self.faults):
            return True
        if Topic.ENTRY in self.rights:
            return len(self.faults) > _ENOUGH and not self.rights & {*_BASIC}
        return self.connections > _ENOUGH

    def next_task(self, bot_opens: bool | None = None, *, is_first: bool) -> Task | None:
        """Return the next game for a connection; None if there is none.

        `is_first` is whether it is the first one on that connection. `bot_opens` is whether the bot moves
        first; None if that is not decided yet.
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
        """Whether the bot did right or wrong on a topic, or the dialect has no rule for it."""
        wrong = any(fault.topic is topic for fault in self.faults)
        return wrong or topic in self.rights or topic not in self._rules

    def began(self, task: Task) -> None:
        """Record that a game began."""
        self.games += task.scenario is not NO_GAME
        if task in self._tasks:
            self._tasks.remove(task)

    def right(self, *topics: Topic) -> None:
        """Record that the bot did right."""
        self.rights.update(topics)

    def came_late(self, seconds: float) -> None:
        """Record that the bot did right after so many seconds, which is more than its patience."""
        self.late.append(seconds)

    def wrong(self, fault: Fault) -> None:
        """Record that the bot did wrong."""
        if fault.topic in ORIGINALS and not self._rules[fault.topic].is_grave:
            fault = replace(fault, is_grave=False)
        elif fault.crash:
            fault = replace(fault, is_grave=True)
        self.faults.append(fault)
        self._tasks = [each for each in self._tasks if self._behind(each.scenario.topic) is not fault.topic]

    def failed(self, task: Task, fault: Fault, after: frozenset[Topic] | None) -> None:
        """Record that the bot failed in a game, with the probable fault. The game is played again.

        `after` is what the game before it on the connection has shown, if the bot has sent nothing since;
        None if there was no game before. The fault counts if the bot fails again.
        """
        if after is None and task.suspected is not None:
            self.wrong(fault)
        else:
            again = Task(task.scenario, 1, fault, was_first=after is None, after=after or frozenset())
            self._tasks.insert(0, again)

    def gave_up(self, fault: Fault) -> None:
        """Record that the bot hung up while it waited for an opponent that came late.

        This has no effect if another connection of the bot has played that game meanwhile.
        """
        task = next((each for each in self._tasks if each.is_late), None)
        if task is not None:
            self._tasks.remove(task)
            self.failed(task, fault, None)

    def finished(self, task: Task, topics: frozenset[Topic]) -> None:
        """Record that a game was played to its end. `topics` are those that it has shown."""
        if task.suspected is not None and task.was_first:
            self.wrong(_seen_once(task.suspected, "and not when it was played again"))
        elif task.suspected is not None and task.after:
            self.left(task.after, task.suspected, is_silent=True)
        elif task.suspected is not None:
            self.wrong(replace(task.suspected, topic=Topic.NEXT))
        elif task.scenario.topic not in topics and task.tries > 1:
            self._tasks.insert(0, Task(task.scenario, task.tries - 1))
        seen = topics & {*ENDINGS, Topic.FULL}
        self._tasks = [each for each in self._tasks if each.scenario.topic not in seen]

    def spoiled(self, task: Task) -> None:
        """Record that a game ended early because of a mistake that counts against the bot already."""
        if task.spoiled < _ENOUGH:
            self._tasks.append(replace(task, spoiled=task.spoiled + 1))

    def went(self, fault: Fault) -> None:
        """Record that the bot hung up. `fault` counts if the bot never asks for a game."""
        self._early_hang_up = self._early_hang_up or fault

    def stayed(self, topics: frozenset[Topic]) -> None:
        """Record that the bot went on after a game that has shown `topics`."""
        self._stayed |= topics
        self.right(*topics)
        self._look_again()

    def left(self, topics: frozenset[Topic], fault: Fault, *, is_silent: bool = False) -> None:
        """Record that the bot hung up after a game that has shown `topics`.

        `fault` counts if that is a mistake. With `is_silent`, the bot did not hang up, but did not move in
        the next game.
        """
        self._left.append((topics, fault))
        self._silent += [fault] if is_silent else []
        self._look_again()

    def unsettled(self, topics: frozenset[Topic]) -> None:
        """Record that the server hung up after a game that has shown `topics`, before the bot could go on."""
        for topic in topics - self._stayed:
            self._undecided.add(topic)
            if topic in (*ENDINGS, Topic.MERGED):  # the end of a game and the next game arrive together, too
                self._retry(topic)

    def _look_again(self) -> None:
        """Plan again the games after which the bot left, unless it always leaves or once stayed."""
        for topic, times in self._suspects().items() if self._stayed else ():
            if times < _ENOUGH:
                self._retry(topic)

    def _suspects(self) -> Counter[Topic]:
        """Return the topics of games after which the bot left and never stayed, and how often."""
        return Counter(topic for topics, _ in self._left for topic in topics - self._stayed)

    def _retry(self, topic: Topic) -> None:
        """Plan a scenario again, and then one more game, unless it is planned already."""
        planned = any(task.scenario.topic is topic for task in self._tasks)
        if topic in self._scenarios and not planned and self._retried[topic] < _RETRIES:
            self._retried[topic] += 1
            scenario = self._scenarios[topic]
            self._tasks += Task(scenario, scenario.tries), Task(ONE_MORE)

    def conclude(self) -> "Checkup":
        """Decide what the bot's leaving shows, once nothing more is to be seen of it; return the checkup.

        A bot may leave between two games. But if it goes on after other games, and left twice, and each time,
        after games with the same kind of end, then it does not cope with that end.
        """
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
                self.wrong(_seen_once(replace(fault, topic=topic), "and after others it went on"))
            elif fault.crash:
                self.wrong(replace(fault, topic=Topic.NEXT))
            else:
                self.rights |= topics
        self.rights |= self._undecided
        if self._early_hang_up is not None and not self.faults and Topic.ENTRY not in self.rights:
            self.wrong(self._early_hang_up)
        for task in self._tasks:
            if task.suspected is not None:  # the bot did not come again, so the doubt remains
                fault = task.suspected
                plain = fault.topic in (*_BASIC, Topic.FULL) and not task.was_first
                self.wrong(replace(fault, topic=Topic.NEXT) if plain else fault)
        self._leave_out_what_follows()
        self._presume()
        return self

    def _leave_out_what_follows(self) -> None:
        """Remove faults that follow from another fault of the bot."""
        wrong = {fault.topic for fault in self.faults if fault.is_grave}
        self.faults = [fault for fault in self.faults if self._behind(fault.topic) not in wrong]
        if Topic.COLUMN in wrong:  # a bot that counts columns from 1 has a wrong board
            self.faults = [each for each in self.faults if each.topic is not Topic.FULL]
        if Topic.MERGED in wrong:  # packets merge by chance, too, and such a bot stalls then
            self.faults = [each for each in self.faults if each.topic is Topic.MERGED or not each.is_stall]

    def _presume(self) -> None:
        """Count as right the rules that the bot had occasion to break and did not break."""
        if Topic.ENTRY in self.rights:
            self.rights |= {Topic.NAME, Topic.AGAIN, Topic.WORDS, Topic.ENDS}
        if self.rights & {*_BASIC}:
            self.rights |= {*PROHIBITIONS}
        self.rights -= {fault.topic for fault in self.faults}

    def _behind(self, topic: Topic) -> Topic | None:
        rule = self._rules.get(topic)
        return None if rule is None else rule.behind


def _seen_once(fault: Fault, words: str) -> Fault:
    """Return `fault` as a remark: it was seen once, and `words` say what speaks against it."""
    return replace(fault, words=f"{fault.words}; once, {words}", is_grave=False)
