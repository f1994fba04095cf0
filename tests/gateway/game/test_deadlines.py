from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gateway.game.deadlines import Deadlines

KEYS = st.integers(0, 7)
TIMES = st.integers(0, 50)


def test_an_alarm_is_due_once_at_its_time() -> None:
    deadlines: Deadlines[str] = Deadlines()
    deadlines.set("a", 5)
    assert list(deadlines.due(4.9)) == []
    assert list(deadlines.due(5)) == ["a"]
    assert list(deadlines.due(6)) == []


def test_a_later_setting_takes_the_place_of_an_earlier_one() -> None:
    deadlines: Deadlines[str] = Deadlines()
    deadlines.set("a", 5)
    deadlines.set("a", 8)
    assert list(deadlines.due(7)) == []
    deadlines.set("a", 7.5)
    assert list(deadlines.due(7.5)) == ["a"]
    assert list(deadlines.due(100)) == []


def test_a_cancelled_alarm_is_never_due() -> None:
    deadlines: Deadlines[str] = Deadlines()
    deadlines.set("a", 5)
    deadlines.cancel("a")
    deadlines.cancel("b")
    assert list(deadlines.due(100)) == []


def test_alarms_are_due_earliest_first() -> None:
    deadlines: Deadlines[str] = Deadlines()
    deadlines.set("moved", 1)
    deadlines.set("fixed", 5)
    deadlines.set("moved", 9)
    assert list(deadlines.due(10)) == ["fixed", "moved"]


def test_an_alarm_set_while_others_are_due_is_due_with_them() -> None:
    deadlines: Deadlines[str] = Deadlines()
    deadlines.set("a", 1)
    heard = []
    for key in deadlines.due(10):
        heard.append(key)
        if key == "a":
            deadlines.set("b", 3)
    assert heard == ["a", "b"]


def test_an_alarm_cancelled_while_others_are_due_is_not_due() -> None:
    deadlines: Deadlines[str] = Deadlines()
    deadlines.set("a", 1)
    deadlines.set("b", 2)
    due = deadlines.due(10)
    assert next(due) == "a"
    deadlines.cancel("b")
    assert list(due) == []


def test_cancelled_alarms_do_not_pile_up() -> None:
    deadlines: Deadlines[int] = Deadlines()
    for key in range(10_000):
        deadlines.set(key, 300)
        deadlines.cancel(key)
    assert len(deadlines._queue) < 100
    assert len(deadlines._queued) < 100


def test_an_alarm_that_is_moved_and_cancelled_in_turn_does_not_pile_up() -> None:
    deadlines: Deadlines[int] = Deadlines()
    for when in range(10_000, 0, -1):
        deadlines.set(1, when)
        deadlines.cancel(1)
    assert len(deadlines._queue) < 100


def test_the_last_alarm_to_go_leaves_nothing_due() -> None:
    deadlines: Deadlines[str] = Deadlines()
    assert deadlines.next_due() is None
    deadlines.set("a", 5)
    assert deadlines.next_due() == 5
    assert list(deadlines.due(5)) == ["a"]
    assert deadlines.next_due() is None


class AlarmsAgreeWithADictionary(RuleBasedStateMachine):
    """The same as a plain dictionary of times, searched whole at each look."""

    def __init__(self) -> None:
        super().__init__()
        self.deadlines: Deadlines[int] = Deadlines()
        self.model: dict[int, float] = {}
        self.now = 0

    @rule(key=KEYS, ahead=TIMES)
    def set(self, key: int, ahead: int) -> None:
        self.deadlines.set(key, self.now + ahead)
        self.model[key] = self.now + ahead

    @rule(key=KEYS)
    def cancel(self, key: int) -> None:
        self.deadlines.cancel(key)
        self.model.pop(key, None)

    @rule(first=st.integers(100, 200), number=st.integers(70, 90))
    def set_and_cancel_many(self, first: int, number: int) -> None:
        for key in range(first, first + number):
            self.deadlines.set(key, self.now + key)
        for key in range(first, first + number):
            self.deadlines.cancel(key)

    @rule(seconds=st.integers(0, 30))
    def look(self, seconds: int) -> None:
        self.now += seconds
        due = list(self.deadlines.due(self.now))
        assert sorted(due) == sorted(key for key, when in self.model.items() if when <= self.now)
        times = [self.model.pop(key) for key in due]
        assert times == sorted(times)

    @precondition(lambda self: self.model)
    @invariant()
    def nothing_is_due_before_the_next_alarm(self) -> None:
        next_due = self.deadlines.next_due()
        assert next_due is not None
        assert next_due <= min(self.model.values())

    @invariant()
    def the_queue_stays_short(self) -> None:
        assert len(self.deadlines._queued) <= 64 + 2 * len(self.model) + 100


AlarmsAgreeWithADictionary.TestCase.settings = settings(stateful_step_count=30)
test_alarms_agree_with_a_dictionary = AlarmsAgreeWithADictionary.TestCase
