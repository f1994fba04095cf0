"""Engines of packages with entry points."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from worlds.plugins import install

from gateway.engines import UnknownEngine
from gateway.engines.catalogue import PLUGINS, check_engine, engine_named, limits_itself, runs_user_code
from gateway.game.board import Board

Install = Callable[..., None]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return what installs the package ``c4own``, its module ``plugged_engine``, and entry points."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "plugged_engine", raising=False)

    def write(source: str, **points: str) -> None:
        values = {name: f"plugged_engine:{value}" for name, value in points.items()}
        install(tmp_path, "c4own", PLUGINS, values, {"plugged_engine": source})

    return write


MIDDLE = "def middle(board, budget):\n    return 3\n"
DEEP = """\
from gateway.engines import WithArgument

def make(text):
    if text == "crash":
        raise SystemExit(3)
    return lambda board, budget: int(text)

DEEP = WithArgument(make, "DEPTH")
"""


def test_entry_point_is_an_engine_by_its_name(installed: Install) -> None:
    installed(MIDDLE, own="middle")
    check_engine("own")
    assert "plugged_engine" not in sys.modules
    assert engine_named("own")(Board(), 1.0) == 3
    assert (runs_user_code("own"), limits_itself("own")) == (True, False)


def test_engine_may_take_an_argument(installed: Install) -> None:
    installed(DEEP, deep="DEEP")
    assert engine_named("deep:5")(Board(), 1.0) == 5
    assert (runs_user_code("deep:5"), limits_itself("deep:5")) == (True, False)


def test_built_in_name_wins(installed: Install) -> None:
    installed(MIDDLE, random="middle", exec="middle", mc="middle")
    assert {engine_named("random")(Board(), 1.0) for _ in range(100)} != {3}
    assert not runs_user_code("random")
    for name in ("exec:true", "mc:9"):
        engine_named(name)
    assert "plugged_engine" not in sys.modules


def test_name_of_a_plug_in_comes_before_that_of_a_module(installed: Install) -> None:
    installed(DEEP, plugged_engine="DEEP")
    assert engine_named("plugged_engine:2")(Board(), 1.0) == 2


@pytest.mark.parametrize(
    ("source", "name", "words"),
    [
        ("import nowhere_at_all", "own", "No module named 'nowhere_at_all'"),
        ("def broken(:", "own", "SyntaxError"),
        ("raise SystemExit(3)", "own", "SystemExit: 3"),
        ("raise BaseException('two\\nlines')", "own", "BaseException: two lines"),
        ("", "own", "AttributeError"),
        ("thing = 5", "own", "plugged_engine:thing is no function"),
        ("thing = print", "own:5", "takes no argument"),
        (DEEP + "thing = DEEP", "own", "needs an argument, as in own:DEPTH"),
        (DEEP + "thing = DEEP", "own:", "needs an argument, as in own:DEPTH"),
        (DEEP + "thing = WithArgument(int, '')", "own:x", "invalid literal"),
        (DEEP + "thing = DEEP", "own:crash", "SystemExit: 3"),
    ],
)
def test_broken_one_is_named_in_one_line_and_only_where_it_is_asked_for(
    installed: Install, source: str, name: str, words: str
) -> None:
    installed(source, own="thing")
    engine_named("aimafast")
    with pytest.raises(UnknownEngine) as raised:
        engine_named(name)
    text = str(raised.value)
    assert words in text
    assert "own" in text
    assert "\n" not in text


def test_broken_one_is_named_with_its_package_and_how_to_remove_it(installed: Install) -> None:
    installed("import nowhere_at_all", own="thing")
    with pytest.raises(UnknownEngine, match=r"plug-in 'own' .*'c4own' .*pip uninstall c4own$"):
        engine_named("own")
