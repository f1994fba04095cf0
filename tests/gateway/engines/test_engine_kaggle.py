"""Agents of Kaggle's ConnectX: what they see, how their time is kept, and which function of a file it is."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from engine_positions import play

from gateway.engines import EngineLate, UnknownEngine, kaggle
from gateway.engines.kaggle import Agent, agent_in
from gateway.game.board import Board

Make = Callable[[str], Agent]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Return what makes an agent of the text of its file."""
    monkeypatch.setattr("sys.path", [])
    file = tmp_path / "agent.py"

    def making(text: str) -> Agent:
        file.write_text(text)
        return agent_in(str(file))

    return making


@pytest.mark.parametrize("choice", ["None", "7", "-1", "float('inf')", "'3'", "[3]"])
def test_what_is_no_column_is_returned_as_it_is(choice: str, make: Make) -> None:
    assert make(f"def agent(o): return {choice}")(Board(), 1.0) == eval(choice)


def test_library_that_an_agent_lacks_is_named_with_the_environment_in_which_agents_run(make: Make) -> None:
    with pytest.raises(UnknownEngine) as raised:
        make("import no_such_library")
    assert str(raised.value).endswith(
        "cannot be executed: ModuleNotFoundError: No module named 'no_such_library';"
        f" to install it where engines run: {sys.executable} -m pip install no_such_library"
    )


@pytest.mark.parametrize(
    "text",
    [
        "def agent(observation): return observation.step",
        "def agent(observation, configuration): return configuration.columns - 4",
        "agent = lambda observation: observation['step']",
        "def one(o, c): return 1\ndef two(o, c): return 3\nCONSTANT = 5\n",
        "class Agent:\n    def __call__(self, observation, configuration): return observation.step\n"
        "agent = Agent()",
    ],
)
def test_agent_is_the_last_callable_and_takes_one_argument_or_two(text: str, make: Make) -> None:
    assert make(text)(play("012"), 1.0) == 3


def test_agent_sees_the_board_from_the_top_left_by_attribute_and_by_item(make: Make) -> None:
    agent = make("def agent(observation, configuration): return [observation, configuration]")
    seen, settings = agent(play("0065"), 1.0)
    assert seen.board == seen["board"] == [0] * 28 + [2, 0, 0, 0, 0, 0, 0] + [1, 0, 0, 0, 0, 2, 1]
    assert (seen.mark, seen.step, seen.remainingOverageTime) == (1, 4, 60.0)
    assert (settings.rows, settings["columns"], settings.inarow) == (6, 7, 4)
    assert agent(play("006"), 1.0)[0].mark == 2
    seen.mark = 2
    assert seen["mark"] == 2
    with pytest.raises(AttributeError):
        _ = seen.nothing


@pytest.mark.parametrize(("budget", "limit"), [(float("inf"), 2.0), (0.5, 0.5)])
def test_agent_has_two_seconds_or_what_there_is(budget: float, limit: float, make: Make) -> None:
    settings = make("def agent(o, c): return c")(Board(), budget)
    assert (settings.actTimeout, settings.timeout, settings.agentTimeout) == (limit, limit, 60.0)


def test_file_is_executed_once_for_each_game(make: Make) -> None:
    agent = make("moves = 0\ndef agent(o):\n    global moves\n    moves += 1\n    return moves\n")
    assert [agent(play(columns), 1.0) for columns in ("", "10", "1023", "5", "513")] == [1, 2, 3, 1, 2]


def test_moves_may_take_sixty_seconds_beyond_their_time_in_a_game(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = make("def agent(o): return int(o.remainingOverageTime / 30)")
    now = iter([0.0, 32.0, 40.0, 41.0, 50.0, 82.0, 100.0, 102.5])
    monkeypatch.setattr(kaggle, "monotonic", lambda: next(now))
    assert [agent(play(columns), 9.0) for columns in ("", "20", "2013")] == [2, 1, 1]
    with pytest.raises(EngineLate, match=r"the agent took 2\.5 s"):
        agent(play("201314"), 9.0)


def test_agent_may_import_what_lies_beside_it(make: Make, tmp_path: Path) -> None:
    (tmp_path / "beside_the_agent.py").write_text("COLUMN = 5")
    assert make("from beside_the_agent import COLUMN\ndef agent(o): return COLUMN")(Board(), 1.0) == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "LookupError: there is no function in it"),
        ("x = 3", "LookupError: there is no function in it"),
        ("def (", "SyntaxError: .*agent.py, line 1"),
        ("import nowhere_at_all", "No module named 'nowhere_at_all'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise ValueError('two\\nlines')", "ValueError: two lines"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_one_line(text: str, message: str, make: Make) -> None:
    with pytest.raises(UnknownEngine, match=message) as raised:
        make(text)
    assert "\n" not in str(raised.value)


def test_file_that_is_not_there_is_said_not_to_be() -> None:
    with pytest.raises(UnknownEngine, match=r"'nowhere\.py' cannot be read: No such file"):
        agent_in("nowhere.py")
