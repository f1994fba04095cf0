"""Files of the user's Python code: how they are found, and what is said where they are not what was meant."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.engines import EngineUnavailable, UnknownEngine
from gateway.engines.catalogue import check_engine, engine_named, limits_itself, runs_user_code
from gateway.engines.files import call, named
from gateway.game.board import Board

KINDS = ("azg", "openspiel", "pettingzoo")
Write = Callable[..., Path]


# How they are found.


@pytest.mark.parametrize("name", ["player.py", "my player.py", "a:b/player", "random.py", "c4/player.py"])
def test_file_may_have_any_name(name: str, write: Write) -> None:
    assert named("azg", f"{write('COLUMN = 3', name)}:COLUMN") == 3


def test_file_may_import_what_lies_beside_it_and_in_its_package(write: Write) -> None:
    write("", "c4players/__init__.py")
    write("ONE = 1", "c4players/beside_in_the_package.py")
    write("TWO = 2", "beside_the_package.py")
    text = (
        "from .beside_in_the_package import ONE\nimport beside_in_the_package\n"
        "from beside_the_package import TWO\nTHREE = ONE + TWO\n"
    )
    assert named("azg", f"{write(text, 'c4players/best.py')}:THREE") == 3


def test_file_is_executed_once_and_as_a_module_that_can_be_found(write: Write) -> None:
    file = write(
        "from dataclasses import dataclass\nprint('once')\n"
        "@dataclass\nclass One:\n    x: 'int'\nclass Two: pass\n"
        "import sys\nME = sys.modules[__name__]\n"
    )
    assert named("azg", f"{file}:ME").One is named("azg", f"{file}:One")


def test_folder_that_is_imported_from_elsewhere_is_said_to_be(write: Write) -> None:
    write("", "one/c4same/__init__.py")
    write("", "two/c4same/__init__.py")
    named("azg", f"{write('X = 1', 'one/c4same/x.py')}:X")
    with pytest.raises(UnknownEngine, match=r"there is another module 'c4same\.x', .*one/c4same/x\.py"):
        named("azg", f"{write('X = 2', 'two/c4same/x.py')}:X")


# What is wrong with them.


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ask", [engine_named, check_engine])
@pytest.mark.parametrize(
    ("text", "rest", "message"),
    [
        ("def (", ":Player", "cannot be executed: SyntaxError: .*player.py, line 1"),
        ("", "", "lacks a name, as in [a-z]*:FILE.py:NAME: there is no class or function"),
        ("class One: pass\ndef two(): pass\nthree = 3", "", "as in .*: there is One, two, three$"),
        ("class One: pass", ":", "as in .*: there is One$"),
        ("class One: pass", ":1", "lacks a name"),
        ("", "/player.py:Player", "cannot be read: Not a directory"),
    ],
)
def test_what_is_wrong_with_a_name_is_said_in_one_line_before_the_file_is_executed(
    kind: str, ask: Callable[[str], object], text: str, rest: str, message: str, write: Write
) -> None:
    with pytest.raises(UnknownEngine, match=message) as raised:
        ask(f"{kind}:{write(text)}{rest}")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("kind", KINDS)
def test_file_that_is_not_there_and_folder_are_said_to_be_so(kind: str, tmp_path: Path) -> None:
    with pytest.raises(UnknownEngine, match=r"'nowhere\.py' cannot be read: No such file"):
        check_engine(f"{kind}:nowhere.py:Player")
    with pytest.raises(UnknownEngine, match="cannot be read: Is a directory"):
        check_engine(f"{kind}:{tmp_path}:Player")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("class One: pass\nx = y = 2\nOne.two = 2", r"there is no 'Player' in .*player\.py, but One, x, y$"),
        ("x = 1\n" + "".join(f"def f{i}(): pass\n" for i in range(20)), "but x, f0, .*f10 and 9 more$"),
        ("import torch_of_nobody", "pip install torch_of_nobody$"),
        ("raise ImportError('pyspiel', name='pyspiel')", "ImportError: pyspiel$"),
        ("raise ModuleNotFoundError('no', name='pyspiel')", "pip install open_spiel$"),
        ("raise SystemExit(3)", "cannot be executed: SystemExit: 3"),
        ("1 / 0", "cannot be executed: ZeroDivisionError: division by zero"),
        ("Player = 3", "is no function$"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_one_line(
    kind: str, text: str, message: str, write: Write
) -> None:
    file = write(text)
    check_engine(f"{kind}:{file}:Player")  # it does not execute the file
    with pytest.raises(UnknownEngine, match=message) as raised:
        engine_named(f"{kind}:{file}:Player")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("kind", KINDS)
def test_class_that_wants_more_than_there_is_is_refused_with_what_there_is(kind: str, write: Write) -> None:
    file = write(
        "class Player:\n    def __init__(self, game, net, depth=3): ...\n    def play(self, board): ...\n"
    )
    with pytest.raises(UnknownEngine, match=r"needs (game, )?net, but there is only .*(game|env)"):
        engine_named(f"{kind}:{file}:Player")


@pytest.mark.parametrize("kind", ["azg", "pettingzoo"])
def test_kind_that_needs_numpy_says_what_to_install(
    kind: str, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    monkeypatch.delitem(sys.modules, f"gateway.engines.{kind}", raising=False)
    for ask in (engine_named, check_engine):
        with pytest.raises(EngineUnavailable, match=f"{kind} needs numpy .* pip install 'numpy>=2'"):
            ask(f"{kind}:{write('def play(board): return 3')}:play")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", ["None", "-1", "3.0", "'3'", "7"])
def test_what_is_no_column_is_returned_as_it_is(kind: str, value: str, write: Write) -> None:
    engine = engine_named(f"{kind}:{write(f'def choose(seen): return {value}')}:choose")
    assert [engine(Board(), 1.0), engine(Board(), 1.0)] == [eval(value)] * 2


@pytest.mark.parametrize("kind", KINDS)
def test_engine_of_a_file_runs_in_the_caller_s_process_and_takes_the_time_it_takes(kind: str) -> None:
    assert runs_user_code(f"{kind}:x.py:X")
    assert limits_itself(f"{kind}:x.py:X")


# How functions are called.


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (lambda: 5, 5),
        (dict, {}),  # its signature is unknown
        (lambda anything: anything, "main"),
        (lambda a, b: (a, b), ("a", "b")),
        (lambda b, /, a: (b, a), ("b", "a")),
        (lambda x, *, b, c=1: (x, b, c), ("main", "b", 1)),
        (lambda x, y=1, a=2: (x, y, a), ("main", 1, "a")),
        (lambda x=1, *_, **__: x, 1),
    ],
)
def test_function_is_called_with_what_its_parameters_name(
    function: Callable[..., object], given: object
) -> None:
    assert call(function, "main", {"a": "a", "b": "b"}) == given
