import pickle

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gateway.game.deadlines import Deadlines

KEYS = st.integers(0, 7)
TIMES = st.integers(0, 50)


def test_alarms_that_are_set_or_cancelled_while_others_are_due_count_at_once() -> None:
    deadlines: Deadlines[str] = Deadlines()
    for key, when in (("moved", 1), ("fixed", 5), ("moved", 9), ("gone", 7)):
        deadlines.set(key, when)
    heard = []
    for key in deadlines.due(10):
        heard.append(key)
        if key == "fixed":
            deadlines.set("new", 8)
            deadlines.cancel("gone")
    assert heard == ["fixed", "new", "moved"]
    assert deadlines.next_due() is None


def size(deadlines: Deadlines[int]) -> int:
    return len(pickle.dumps(deadlines))


def test_cancelled_and_moved_alarms_do_not_pile_up() -> None:
    many, moved = Deadlines[int](), Deadlines[int]()
    for number in range(10_000):
        many.set(number, 300)
        many.cancel(number)
        moved.set(1, 10_000 - number)
        moved.cancel(1)
    assert max(size(many), size(moved)) < 3_000


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


AlarmsAgreeWithADictionary.TestCase.settings = settings(stateful_step_count=30)
test_alarms_agree_with_a_dictionary = AlarmsAgreeWithADictionary.TestCase
