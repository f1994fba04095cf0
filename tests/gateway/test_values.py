"""Values that only the type checker guards: as good as frozen dataclasses for all who read them."""

import pickle
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from gateway.board import Board
from gateway.commands import Play
from gateway.events import Moved, ToMove
from gateway.values import value


@value
class Thing:
    one: int
    two: str
    three: tuple[int, ...] = ()


VALUES = st.tuples(st.integers(), st.text(), st.lists(st.integers()).map(tuple))


@given(VALUES, VALUES)
def test_things_are_equal_where_their_fields_are(
    one: tuple[int, str, tuple[int, ...]], two: tuple[int, str, tuple[int, ...]]
) -> None:
    assert (Thing(*one) == Thing(*two)) == (one == two)
    assert hash(Thing(*one)) == hash(Thing(*one))
    assert pickle.loads(pickle.dumps(Thing(*one))) == Thing(*one)


def test_thing_equals_nothing_of_another_kind() -> None:
    @dataclass(frozen=True, slots=True)
    class Other:
        one: int
        two: str
        three: tuple[int, ...] = ()

    assert Thing(1, "") != Other(1, "")
    assert Thing(1, "") != (1, "", ())


def test_what_a_move_makes_has_no_room_for_more() -> None:
    board = Board()
    for made in (board, Play(3), Moved(0, 3, board), ToMove(board, None)):
        assert not hasattr(made, "__dict__")


def test_type_checker_refuses_to_assign_to_a_field() -> None:
    Board().moves = ()  # type: ignore[misc]  # which mypy, being strict, calls unused if it is
