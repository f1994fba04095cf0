"""Bots for OpenSpiel: what they get, and the state that stands in for pyspiel's.

The expected values were recorded from pyspiel 2.0.2, which the tests do not need.
"""

import copy
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from engine_positions import play

from gateway.engines import EngineError
from gateway.engines.files import named
from gateway.engines.openspiel import Bot, Game, State, bot_in
from gateway.game.board import Board

Write = Callable[..., Path]


@pytest.fixture(autouse=True)
def _without_pyspiel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.engines.openspiel.find_spec", lambda _: None)


def state(columns: str) -> State:
    return State(play(columns))


# Bots.


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("class B:\n    def step(self, state): return state.move_number()", "B"),
        ("class B:\n    def step(self, state): return state.move_number()\nb = B()", "b"),
        ("def step(state): return state.move_number()", "step"),
        ("def step(s, game=None): return s.move_number()", "step"),
        ("class B:\n    def __call__(self, state): return state.move_number()", "B"),
    ],
)
def test_bot_is_a_class_or_an_object_with_step_or_a_function(text: str, name: str, write: Write) -> None:
    assert bot_in(f"{write(text)}:{name}")(play("0123"), 1.0) == 4


MAKES = """
class B:
    def __init__(self, *arguments):
        made.append(arguments)
    def step(self, state):
        return 0
    def inform_action(self, state, player, action):
        made.append((state.history(), player, action))
made = []
class Made(B):
    def __init__(self, player_id, rng):
        super().__init__(player_id, rng.choice([5]))
def bot(game, player):
    return B(str(game), player)
def unasked():
    return B()
"""


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [("Made", (0, 5), (1, 5)), ("bot", ("connect_four()", 0), ("connect_four()", 1)), ("unasked", (), ())],
)
def test_class_or_function_makes_a_bot_for_each_game_with_what_it_asks_for(
    name: str, first: tuple[object], second: tuple[object], write: Write
) -> None:
    file = write(MAKES)
    bot = bot_in(f"{file}:{name}")
    for columns in ("", "03", "3"):
        bot(play(columns), 1.0)
    assert named("openspiel", f"{file}:made") == [first, ([0], 1, 3), second]


def test_function_that_makes_no_bot_is_named(write: Write) -> None:
    bot = bot_in(f"{write('def make(game): print(game)')}:make")
    for _ in range(2):
        with pytest.raises(EngineError, match=r"make returned NoneType, which has no method step"):
            bot(Board(), 1.0)


def test_object_is_restarted_for_each_game(write: Write) -> None:
    file = write(
        "class B:\n    def restart(self): seen.clear()\n"
        "    def step(self, state): seen.append(state); return len(seen)\nseen = []\nbot = B()"
    )
    bot = bot_in(f"{file}:bot")
    assert [bot(play(columns), 1.0) for columns in ("", "12", "6")] == [1, 2, 1]


def test_pyspiel_is_used_where_it_is_installed(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    class Real(Game):
        def __str__(self) -> str:
            return "real"

    pyspiel = ModuleType("pyspiel")
    pyspiel.load_game = lambda name: {"connect_four": Real()}[name]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pyspiel", pyspiel)
    monkeypatch.setattr("gateway.engines.openspiel.find_spec", lambda name: name == "pyspiel" or None)
    bot = bot_in(f"{write('def bot(game): return lambda state: str(game)')}:bot")
    assert isinstance(bot, Bot)
    assert bot(Board(), 1.0) == "real"


# The state.


def test_state_in_the_middle_of_a_game_is_as_pyspiel_s() -> None:
    found = state("332")
    assert str(found) == found.observation_string(0) == ".......\n" * 4 + "...o...\n..xx...\n"
    assert (found.current_player(), found.is_terminal(), found.is_player_node()) == (1, False, True)
    assert (found.legal_actions(), found.legal_actions(1), found.legal_actions(0)) == (
        [*range(7)],
        [*range(7)],
        [],
    )
    assert (found.history(), found.history_str()) == ([3, 3, 2], "3, 3, 2")
    assert found.information_state_string(1) == "3, 3, 2"
    assert found.returns() == found.rewards() == [0.0, 0.0]
    assert (found.action_to_string(2), found.action_to_string(0, 2), found.string_to_action("o2")) == (
        "o2",
        "x2",
        2,
    )
    assert (found.move_number(), found.num_players(), found.num_distinct_actions()) == (3, 2, 7)
    assert (found.is_chance_node(), found.is_simultaneous_node(), found.is_initial_state()) == (False,) * 3
    first, second, empty = (
        found.observation_tensor()[:42],
        found.observation_tensor()[42:84],
        found.observation_tensor(1)[84:],
    )
    assert [number for number, each in enumerate(first) if each] == [2, 3]
    assert [number for number, each in enumerate(second) if each] == [10]
    assert [number for number, each in enumerate(empty) if not each] == [2, 3, 10]


@pytest.mark.parametrize(
    ("columns", "returns"),
    [
        ("0101010", [1.0, -1.0]),
        ("01010161", [-1.0, 1.0]),
        ("436014551160150155104632660465204242223333", [0.0, 0.0]),
    ],
)
def test_state_at_the_end_has_nobody_to_move(columns: str, returns: list[float]) -> None:
    found = state(columns)
    assert found.is_terminal()
    assert (found.current_player(), found.legal_actions(), found.legal_actions_mask()) == (-4, [], [0] * 7)
    assert (found.returns(), found.player_return(1), found.player_reward(0)) == (
        returns,
        returns[1],
        returns[0],
    )


def test_full_column_is_not_legal() -> None:
    found = state("000000")
    assert found.legal_actions() == [1, 2, 3, 4, 5, 6]
    assert found.legal_actions_mask(0) == [0, 1, 1, 1, 1, 1, 1]
    with pytest.raises(ValueError, match="column 0 cannot be played"):
        found.apply_action(0)


def test_states_are_copied_and_taken_back() -> None:
    found = state("3")
    child, clone, copied = found.child(2), found.clone(), copy.deepcopy(found)
    found.apply_actions([4, 5])
    assert [each.history() for each in (found, child, clone, copied)] == [[3, 4, 5], [3, 2], [3], [3]]
    found.undo_action(0, 5)
    assert found.history() == [3, 4]


def test_game_is_as_pyspiel_s() -> None:
    game = state("3").get_game()
    assert game.new_initial_state().is_initial_state()
    assert (game.num_distinct_actions(), game.num_players(), game.max_game_length()) == (7, 2, 42)
    assert (game.min_utility(), game.max_utility(), game.utility_sum()) == (-1.0, 1.0, 0.0)
    assert (game.observation_tensor_shape(), game.observation_tensor_size()) == ([3, 6, 7], 126)
    assert (str(game), game.get_type().short_name) == ("connect_four()", "connect_four")
