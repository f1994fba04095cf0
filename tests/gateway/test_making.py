import pickle
from dataclasses import FrozenInstanceError, dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.making import maker


@dataclass(frozen=True, slots=True)
class Thing:
    one: int
    two: str
    three: tuple[int, ...] = ()


make_thing = maker(Thing)
VALUES = st.tuples(st.integers(), st.text(), st.lists(st.integers()).map(tuple))


@given(VALUES)
def test_what_is_made_quickly_is_what_the_class_makes(values: tuple[int, str, tuple[int, ...]]) -> None:
    made, plain = make_thing(*values), Thing(*values)
    assert type(made) is Thing
    assert made == plain
    assert hash(made) == hash(plain)
    assert repr(made) == repr(plain)
    assert pickle.loads(pickle.dumps(made)) == plain


def test_what_is_made_quickly_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        make_thing(1, "", ()).one = 2  # type: ignore[misc]


def test_a_field_that_is_missing_is_an_error_though_it_has_a_default() -> None:
    with pytest.raises(TypeError):
        make_thing(1, "")


def test_a_class_without_slots_is_refused() -> None:
    @dataclass(frozen=True)
    class Loose:
        one: int

    with pytest.raises(TypeError):
        maker(Loose)(1)
