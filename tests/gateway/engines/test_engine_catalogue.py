import random
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import pytest
from engine_positions import play
from hypothesis import given
from hypothesis import strategies as st

from gateway import engines
from gateway.engines import Engine, EngineUnavailable, UnknownEngine
from gateway.engines.catalogue import CATALOGUE, engine_named
from gateway.game.board import Board, Side

BUILT_IN = ("random", "aima", "aimafast", "aima10", "mc:20", "mcts:20", "mctime", "mctstime")


@pytest.fixture(autouse=True)
def _same_lot() -> None:
    random.seed(1)


def winner(first: Engine, second: Engine) -> Side | None:
    board = Board()
    while not board.over:
        board = board.drop((second if board.turn else first)(board, 60.0))
    return board.winner


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_engine_plays_a_legal_move_within_a_small_budget(name: str) -> None:
    engine = engine_named(name)
    for board in (Board(), play("333333"), play("436014551160150155104632660465204242223333"[:-1])):
        assert board.has_room(engine(board, 0.001))


def test_random_plays_all_columns_in_the_long_run() -> None:
    engine = engine_named("random")
    assert {engine(play("333333"), 1.0) for _ in range(200)} == {0, 1, 2, 4, 5, 6}


@pytest.mark.parametrize("name", ["aimafast", "mc:60", "mcts:60"])
def test_engine_that_thinks_beats_random(name: str) -> None:
    engines = engine_named(name), engine_named("random")
    assert [winner(*engines), winner(*engines[::-1])] == [0, 1]


@pytest.mark.parametrize("name", ["foo", "", "Random", "aima ", "mctime5", "7"])
def test_an_unknown_name_is_answered_with_what_there_is(name: str) -> None:
    with pytest.raises(UnknownEngine) as raised:
        engine_named(name)
    assert CATALOGUE in str(raised.value)


@pytest.mark.parametrize("kind", ["mc", "mcts"])
@pytest.mark.parametrize("number", [":0", "", ":1.5", ":²", ":" + "9" * 5000, ":1:2"])
def test_simulations_are_a_whole_number_from_1_up(kind: str, number: str) -> None:
    with pytest.raises(UnknownEngine, match=f"as in {kind}:1000"):
        engine_named(kind + number)


@given(st.text())
def test_no_name_raises_anything_else(name: str) -> None:
    with suppress(UnknownEngine, EngineUnavailable):
        assert callable(engine_named(name))


# An engine of the user's own.


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of the module ``own_engine``."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_engine", raising=False)
    return tmp_path / "own_engine.py"


def test_an_engine_of_ones_own_is_found_by_module_and_function(own: Path) -> None:
    own.write_text("def leftmost(board, budget):\n    return 0\n")
    assert engine_named("own_engine:leftmost")(Board(), 1.0) == 0


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("", "own_engine:play", "there is no function 'play' in .*own_engine.py"),
        ("play = 3", "own_engine:play", "there is no function 'play' in .*own_engine.py"),
        ("def (", "own_engine:play", "cannot be imported: .*own_engine.py, line 1"),
        ("import nowhere_at_all", "own_engine:play", "No module named 'nowhere_at_all'"),
        ("raise ImportError('two\\nlines')", "own_engine:play", "imported: ImportError: two lines"),
        ("1 / 0", "own_engine:play", "cannot be imported: ZeroDivisionError: division by zero"),
        ("raise SystemExit(5)", "own_engine:play", "cannot be imported: SystemExit: 5"),
        ("", "sys:play", "there is no function 'play' in the module 'sys'"),
        ("", "own_engine_2:play", "No module named 'own_engine_2'"),
        ("", "own_engine.inner:play", "No module named 'own_engine.inner'"),
        ("", "own_engine:", "neither module:function nor one of"),
        ("", ":play", "neither module:function nor one of"),
        ("", ".own_engine:play", "neither module:function nor one of"),
        ("", "own_engine:a:b", "neither module:function nor one of"),
    ],
)
def test_what_is_wrong_with_it_is_said_in_one_line(own: Path, text: str, name: str, message: str) -> None:
    own.write_text(text)
    with pytest.raises(UnknownEngine, match=message) as raised:
        engine_named(name)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("numpy", [None, ModuleType("numpy")])
@pytest.mark.parametrize("name", ["mc:10", "mctstime"])
def test_monte_carlo_without_numpy_or_with_an_old_one_says_what_to_install(
    name: str, numpy: ModuleType | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", numpy)
    monkeypatch.delattr(engines, "montecarlo", raising=False)
    for module in ("montecarlo", "playouts"):
        monkeypatch.delitem(sys.modules, f"gateway.engines.{module}", raising=False)
    with pytest.raises(EngineUnavailable, match="pip install 'numpy>=2'"):
        engine_named(name)


def test_perfect_without_its_solver_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bitbully", None)
    with pytest.raises(EngineUnavailable, match="pip install bitbully"):
        engine_named("perfect")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("azq:x.py:X", "azg:"),
        ("UGI:./x", "ugi:"),
        ("ugi ./x", "ugi:"),
        ("pettingzo:x.py:X", "pettingzoo:"),
        ("kaggel:x.py", "kaggle:"),
        ("aimafats", "aimafast"),
        ("Random", "random"),
    ],
)
def test_name_that_is_nearly_right_is_answered_with_the_right_one(name: str, meant: str) -> None:
    with pytest.raises(UnknownEngine, match=rf"\(did you mean {meant}\?\)"):
        engine_named(name)
