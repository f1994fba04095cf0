"""Values that only the type checker guards: as good as frozen dataclasses for all who read them."""

import pickle
import subprocess
import sys
from dataclasses import dataclass, fields

from hypothesis import given
from hypothesis import strategies as st
from worlds.server import ROOT

from gateway.game.board import Board
from gateway.game.commands import Play
from gateway.game.events import Moved, ToMove
from gateway.game.values import value


@value
class Thing:
    one: int
    two: str
    three: tuple[int, ...] = ()


MADE = {
    "Board()": Board(),
    "Play(3)": Play(3),
    "Moved('', 0, 3, Board())": Moved("", 0, 3, Board()),
    "ToMove('', 1, Board(), None)": ToMove("", 1, Board(), None),
}
"""What a move makes, and how."""
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
    for made in MADE.values():
        assert not hasattr(made, "__dict__")


def test_type_checker_refuses_to_assign_to_any_field_of_what_a_move_makes() -> None:
    imports = [f"from {type(made).__module__} import {type(made).__name__}" for made in MADE.values()]
    targets = [(how, field.name) for how, made in MADE.items() for field in fields(made)]
    program = "\n".join([*imports, *(f"{how}.{name} = {how}.{name}" for how, name in targets)])
    words = [sys.executable, "-m", "mypy", "--config-file=", "-c", program]
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    *errors, _ = found.stdout.splitlines()
    for error, (_, name) in zip(errors, targets, strict=True):
        assert f'Property "{name}" defined in' in error
        assert "is read-only" in error
