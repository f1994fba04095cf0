from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gateway.alarms import Alarms

KEYS = st.integers(0, 7)
TIMES = st.integers(0, 50)


def test_an_alarm_is_due_once_at_its_time() -> None:
    alarms: Alarms[str] = Alarms()
    alarms.set("a", 5)
    assert list(alarms.due(4.9)) == []
    assert list(alarms.due(5)) == ["a"]
    assert list(alarms.due(6)) == []


def test_a_later_setting_takes_the_place_of_an_earlier_one() -> None:
    alarms: Alarms[str] = Alarms()
    alarms.set("a", 5)
    alarms.set("a", 8)
    assert list(alarms.due(7)) == []
    alarms.set("a", 7.5)
    assert list(alarms.due(7.5)) == ["a"]
    assert list(alarms.due(100)) == []


def test_a_cancelled_alarm_is_never_due() -> None:
    alarms: Alarms[str] = Alarms()
    alarms.set("a", 5)
    alarms.cancel("a")
    alarms.cancel("b")
    assert list(alarms.due(100)) == []


def test_alarms_are_due_earliest_first() -> None:
    alarms: Alarms[str] = Alarms()
    alarms.set("moved", 1)
    alarms.set("fixed", 5)
    alarms.set("moved", 9)
    assert list(alarms.due(10)) == ["fixed", "moved"]


def test_an_alarm_set_while_others_are_due_is_due_with_them() -> None:
    alarms: Alarms[str] = Alarms()
    alarms.set("a", 1)
    heard = []
    for key in alarms.due(10):
        heard.append(key)
        if key == "a":
            alarms.set("b", 3)
    assert heard == ["a", "b"]


def test_an_alarm_cancelled_while_others_are_due_is_not_due() -> None:
    alarms: Alarms[str] = Alarms()
    alarms.set("a", 1)
    alarms.set("b", 2)
    due = alarms.due(10)
    assert next(due) == "a"
    alarms.cancel("b")
    assert list(due) == []


def test_cancelled_alarms_do_not_pile_up() -> None:
    alarms: Alarms[int] = Alarms()
    for key in range(10_000):
        alarms.set(key, 300)
        alarms.cancel(key)
    assert len(alarms._queue) < 100
    assert len(alarms._queued) < 100


def test_an_alarm_that_is_moved_and_cancelled_in_turn_does_not_pile_up() -> None:
    alarms: Alarms[int] = Alarms()
    for when in range(10_000, 0, -1):
        alarms.set(1, when)
        alarms.cancel(1)
    assert len(alarms._queue) < 100


def test_the_last_alarm_to_go_leaves_nothing_due() -> None:
    alarms: Alarms[str] = Alarms()
    assert alarms.next_due() is None
    alarms.set("a", 5)
    assert alarms.next_due() == 5
    assert list(alarms.due(5)) == ["a"]
    assert alarms.next_due() is None


class AlarmsAgreeWithADictionary(RuleBasedStateMachine):
    """The same as a plain dictionary of times, searched whole at each look."""

    def __init__(self) -> None:
        super().__init__()
        self.alarms: Alarms[int] = Alarms()
        self.model: dict[int, float] = {}
        self.now = 0

    @rule(key=KEYS, ahead=TIMES)
    def set(self, key: int, ahead: int) -> None:
        self.alarms.set(key, self.now + ahead)
        self.model[key] = self.now + ahead

    @rule(key=KEYS)
    def cancel(self, key: int) -> None:
        self.alarms.cancel(key)
        self.model.pop(key, None)

    @rule(first=st.integers(100, 200), number=st.integers(70, 90))
    def set_and_cancel_many(self, first: int, number: int) -> None:
        for key in range(first, first + number):
            self.alarms.set(key, self.now + key)
        for key in range(first, first + number):
            self.alarms.cancel(key)

    @rule(seconds=st.integers(0, 30))
    def look(self, seconds: int) -> None:
        self.now += seconds
        due = list(self.alarms.due(self.now))
        assert sorted(due) == sorted(key for key, when in self.model.items() if when <= self.now)
        times = [self.model.pop(key) for key in due]
        assert times == sorted(times)

    @precondition(lambda self: self.model)
    @invariant()
    def nothing_is_due_before_the_next_alarm(self) -> None:
        next_due = self.alarms.next_due()
        assert next_due is not None
        assert next_due <= min(self.model.values())

    @invariant()
    def the_queue_stays_short(self) -> None:
        assert len(self.alarms._queued) <= 64 + 2 * len(self.model) + 100


AlarmsAgreeWithADictionary.TestCase.settings = settings(max_examples=60, stateful_step_count=30)
test_alarms_agree_with_a_dictionary = AlarmsAgreeWithADictionary.TestCase
