"""The checkup of one bot: the findings from its records, and the games that it still has to play.

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
"""The basic topics. If a bot has a grave fault in one of them, the check of the bot ends early."""
_ENOUGH = 2
"""How many times something has to happen before it does not count as an accident."""
_RETRIES = 5
_MARGIN = 2
"""The recommended patience is this many times the longest time that the bot took."""


class Checkup:
    """The findings about one bot. A checkup is computed from the records each time it is needed."""

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
        """Begin without findings. `rules` are the dialect's rules.

        `mixed` is the reason to suspect that several bots share the records; empty if there is none.
        """
        self.name, self.connections, self.mixed = name, connections, mixed
        self.games = 0
        self.faults: list[Fault] = []
        self.rights: set[Topic] = {Topic.TRANSPORT} if connections else set()
        self.late: list[float] = []
        """The seconds that the bot took, for each time that it exceeded the patience."""
        self.back_after: float | None = None
        """The seconds after which the bot has come back to the game in which its connection was cut."""
        self.may_be_slow = True
        """Whether the bot gets more time than the patience. False after it has exceeded that time, too."""
        self._rules, self._patience = rules, patience
        tasks = [Task(each, each.tries) for each in scenarios if each.topic in rules]
        self._tasks = [task for task in tasks if not task.is_last]
        self._last = next((task for task in tasks if task.is_last), None)
        """The task that is played when nothing else is left to observe; None once it has begun."""
        self.plays_last = False
        """Whether the last game of the check is on, perhaps while the bot is away."""
        self._scenarios = {task.scenario.topic: task.scenario for task in self._tasks}
        self._early_hang_up: Fault | None = None
        self._left: list[tuple[frozenset[Topic], Fault]] = []
        self._silent: list[Fault] = []
        """Faults of a bot that did not hang up after a game, and then did not move in the next one."""
        self._undecided: set[Topic] = set()
        """Topics of games after which it is unknown whether the bot goes on."""
        self._stayed: set[Topic] = set()
        self._retried: Counter[Topic] = Counter()

    # The next game.

    @property
    def wants_refusal(self) -> bool:
        """Whether to refuse the bot's next request for a game."""
        return not self._tasks and not self.has_seen(Topic.REFUSED) and not self.is_over

    @property
    def is_over(self) -> bool:
        """Whether the check of the bot is over."""
        is_left = self._tasks or self._last is not None or self.plays_last
        return self._is_hopeless or not (is_left or not self.has_seen(Topic.REFUSED))

    @property
    def plays_on(self) -> bool:
        """Whether the bot seems to play more than one game on a connection."""
        return len(self._silent) < _ENOUGH or bool(self._stayed)

    @property
    def is_too_slow(self) -> bool:
        """Whether the bot exceeds the patience so often that the check would take too long."""
        return len(self.late) > _ENOUGH

    @property
    def slow(self) -> str:
        """A text that says how slow the bot is and which patience would do; empty if it was never late."""
        if not self.late:
            return ""
        slowest = max(self.late)
        return (
            f"it took up to {slowest:.1f} s to go on, and --patience is {self._patience:g}; "
            f"--patience {math.ceil(_MARGIN * slowest)} would do"
        )

    @property
    def _is_hopeless(self) -> bool:
        """Whether to end the check of the bot early, because it seems not to play at all or is too slow."""
        if self.is_too_slow or any(fault.topic in _BASIC and fault.is_grave for fault in self.faults):
            return True
        if Topic.ENTRY in self.rights:
            return len(self.faults) > _ENOUGH and not self.rights & {*_BASIC}
        return self.connections > _ENOUGH

    def next_task(self, bot_opens: bool | None = None, *, is_first: bool) -> Task | None:
        """Return the next game for a connection; None if no game is left for it.

        `is_first` says whether the game is the first on the connection. `bot_opens` says whether the bot
        moves first; it is None if that is not decided yet.
        """
        tasks = self._tasks
        if not tasks and self._last is not None and self.has_seen(Topic.REFUSED):
            tasks = [self._last]
        for task in () if self._is_hopeless else tasks:
            side = task.scenario.bot_opens
            if (bot_opens is None or side in (None, bot_opens)) and (is_first or not task.is_first):
                return task
        return None

    def opens(self, task: Task) -> bool:
        """Return whether the bot moves first in a game."""
        return self.games % 2 == 0 if task.scenario.bot_opens is None else task.scenario.bot_opens

    # The findings.

    def has_seen(self, topic: Topic) -> bool:
        """Return whether the bot kept or broke the rule of a topic, or the dialect has no rule for it."""
        wrong = any(fault.topic is topic for fault in self.faults)
        return wrong or topic in self.rights or topic not in self._rules

    def began(self, task: Task) -> None:
        """Record that a game began."""
        self.games += task.scenario is not NO_GAME
        if task in self._tasks:
            self._tasks.remove(task)
        if task.is_last:
            self._last = None
        is_left = self._tasks or self._last is not None
        self.plays_last = task.scenario is not NO_GAME and not is_left

    def right(self, *topics: Topic) -> None:
        """Record that the bot kept the rules of these topics."""
        self.rights.update(topics)

    def came_late(self, seconds: float) -> None:
        """Record that the bot acted as expected, but only after `seconds`, longer than its patience."""
        self.late.append(seconds)

    def came_back(self, seconds: float) -> None:
        """Record that the bot came back after its connection was cut, and played its game to the end."""
        self.back_after = seconds
        self.right(Topic.BACK)

    def wrong(self, fault: Fault) -> None:
        """Record a fault. Cancel games that could only show the same mistake again."""
        if fault.topic in ORIGINALS and not self._rules[fault.topic].is_grave:
            fault = replace(fault, is_grave=False)
        elif fault.crash:
            fault = replace(fault, is_grave=True)
        self.faults.append(fault)
        self._tasks = [each for each in self._tasks if self._behind(each.scenario.topic) is not fault.topic]

    def failed(self, task: Task, fault: Fault, after: frozenset[Topic] | None) -> None:
        """Record that the bot failed in a game, with the probable fault. The game is played again.

        The fault counts if the bot fails again. `after` is None in the first game of a connection. In a later
        game, `after` has the topics that the previous game covered, or is empty if the bot has moved since.
        """
        if after is None and task.suspected is not None:
            self.wrong(fault)
        else:
            again = Task(task.scenario, 1, fault, was_first=after is None, after=after or frozenset())
            self._tasks.insert(0, again)

    def gave_up(self, fault: Fault) -> None:
        """Record that the bot hung up while it waited for a late opponent.

        This has no effect if the bot has meanwhile played that game on another connection.
        """
        task = next((each for each in self._tasks if each.is_late), None)
        if task is not None:
            self._tasks.remove(task)
            self.failed(task, fault, None)

    def finished(self, task: Task, topics: frozenset[Topic]) -> None:
        """Record that a game was played to its end, and the `topics` that it covered."""
        self.plays_last = False
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
        """Record that a game ended early because of a mistake that is already recorded.

        The game is played again, at most twice.
        """
        if task.spoiled < _ENOUGH:
            self._tasks.append(replace(task, spoiled=task.spoiled + 1))

    def went(self, fault: Fault) -> None:
        """Record that a connection has ended. `fault` counts only if the bot never asks for a game."""
        self._early_hang_up = self._early_hang_up or fault

    def stayed(self, topics: frozenset[Topic]) -> None:
        """Record that the bot went on after a game that covered `topics`."""
        self._stayed |= topics
        self.right(*topics)
        self._look_again()

    def left(self, topics: frozenset[Topic], fault: Fault, *, is_silent: bool = False) -> None:
        """Record that the bot left after a game that covered `topics`.

        `fault` counts if `conclude` finds that leaving was a mistake. `is_silent` means that the bot did not
        hang up, but also did not move in the next game.
        """
        self._left.append((topics, fault))
        self._silent += [fault] if is_silent else []
        self._look_again()

    def unsettled(self, topics: frozenset[Topic]) -> None:
        """Record that the server hung up after a game that covered `topics`, before the bot could go on."""
        for topic in topics - self._stayed:
            self._undecided.add(topic)
            if topic in (*ENDINGS, Topic.MERGED):  # with MERGED, the next game arrives with the end
                self._retry(topic)

    def _look_again(self) -> None:
        """If the bot ever went on after a game, plan again the games after which it left only once.

        Omit games of a topic after which it also stayed.
        """
        for topic, times in self._suspects().items() if self._stayed else ():
            if times < _ENOUGH:
                self._retry(topic)

    def _suspects(self) -> Counter[Topic]:
        """Return how many times the bot left after each topic. Omit topics after which it also stayed."""
        return Counter(topic for topics, _ in self._left for topic in topics - self._stayed)

    def _retry(self, topic: Topic) -> None:
        """Plan a topic's scenario and one more game after it, unless the scenario is already planned."""
        planned = any(task.scenario.topic is topic for task in self._tasks)
        if topic in self._scenarios and not planned and self._retried[topic] < _RETRIES:
            self._retried[topic] += 1
            scenario = self._scenarios[topic]
            self._tasks += Task(scenario, scenario.tries), Task(ONE_MORE)

    def conclude(self) -> "Checkup":
        """Decide at the end of the check whether the bot's leaving was a fault. Return the checkup.

        A bot may leave between two games. But it is a fault if the bot left at least twice after games of one
        topic, never stayed after such a game, and went on after other games.
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
            if task.suspected is not None:  # the bot did not come again, so the suspected fault counts
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
        if Topic.MERGED in wrong:  # packets also merge by chance, which stalls such a bot
            self.faults = [each for each in self.faults if each.topic is Topic.MERGED or not each.is_stall]

    def _presume(self) -> None:
        """Count as kept the rules that the bot could have broken and did not break."""
        if Topic.ENTRY in self.rights:
            self.rights |= {Topic.NAME, Topic.AGAIN, Topic.WORDS, Topic.ENDS}
        if self.rights & {*_BASIC}:
            self.rights |= {*PROHIBITIONS}
        self.rights -= {fault.topic for fault in self.faults}

    def _behind(self, topic: Topic) -> Topic | None:
        rule = self._rules.get(topic)
        return None if rule is None else rule.behind


def _seen_once(fault: Fault, words: str) -> Fault:
    """Return `fault` as a remark that the fault was seen only once. `words` say why it is doubtful."""
    return replace(fault, words=f"{fault.words}; once, {words}", is_grave=False)
