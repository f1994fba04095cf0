"""Values that only the type checker guards: as good as frozen dataclasses for all who read them."""

import pickle
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.game.board import Board
from gateway.game.commands import Play
from gateway.game.events import Moved, ToMove
from gateway.game.values import value


@value
class Thing:
    one: int
    two: str
    three: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Other:
    one: int
    two: str
    three: tuple[int, ...] = ()


VALUES = st.tuples(st.integers(), st.text(), st.lists(st.integers()).map(tuple))


@given(VALUES, VALUES)
def test_things_are_equal_where_their_kinds_and_fields_are(
    one: tuple[int, str, tuple[int, ...]], two: tuple[int, str, tuple[int, ...]]
) -> None:
    assert (Thing(*one) == Thing(*two)) == (one == two)
    assert hash(Thing(*one)) == hash(Thing(*one))
    assert pickle.loads(pickle.dumps(Thing(*one))) == Thing(*one)
    assert Thing(*one) not in (Other(*one), one)


@pytest.mark.parametrize(
    "made", [Board(), Play(3), Moved("", 0, 3, Board()), ToMove("", 1, Board(), None)], ids=type
)
def test_what_a_move_makes_has_no_room_for_more(made: object) -> None:
    assert not hasattr(made, "__dict__")
