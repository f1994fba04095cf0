"""Engines that speak UGI: what they hear, and what becomes of those that do not keep to it."""

import shlex
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from engine_positions import play

from gateway.engines import EngineError, EngineLate, UnknownEngine, external
from gateway.engines.catalogue import engine_named
from gateway.engines.external import Program
from gateway.engines.ugi import program
from gateway.game.board import Board

Make = Callable[..., Program]

ENGINE = """
import sys
folder = sys.argv[1]
heard = open(folder + "/heard", "a")

def say(*words):
    print(*words, flush=True)

for line in sys.stdin:
    heard.write(line)
    heard.flush()
    word = line.split()[0]
{body}
"""
KEEPS_TO_IT = """\
    if word in ("ugi", "uci"):
        say("id name fake"); say("option name Hash type spin default 1"); say(word + "ok")
    elif word == "isready":
        say("readyok")
    elif word == "go":
        say("info depth 1 pv d"); say("bestmove {move}")
    elif word == "quit":
        break
"""


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Return what makes engines that do `body` with each line, after other lines of the program."""
    made: list[Program] = []

    def making(body: str = KEEPS_TO_IT, move: str = "d", options: str = "", before: str = "") -> Program:
        file = tmp_path / f"my engine {len(made)}: ugi.py"
        file.write_text(textwrap.dedent(before) + ENGINE.format(body=body.replace("{move}", move)))
        command = shlex.join([sys.executable, "-IS", str(file), str(tmp_path)])
        made.append(program(f"{options} {command}"))
        return made[-1]

    yield making
    for each in made:
        each.close()


# What they hear.


def test_engine_hears_the_moves_so_far_and_of_each_new_game_in_one_process(
    make: Make, tmp_path: Path
) -> None:
    engine = make()
    for columns in ("", "30", "6"):
        assert engine(play(columns), 1.5) == 3
    engine.close()
    assert (tmp_path / "heard").read_text().splitlines() == [
        *("ugi", "isready"),
        *("uginewgame", "isready", "position startpos", "isready", "go movetime 1500"),
        *("position startpos moves d a", "isready", "go movetime 1500"),
        *("uginewgame", "isready", "position startpos moves g", "isready", "go movetime 1500"),
        "quit",
    ]


@pytest.mark.parametrize(
    ("options", "move", "said"),
    [
        ("", "d", "d a g"),
        ("columns=1", "4", "4 1 7"),
        ("columns=0", "3", "3 0 6"),
        ("columns=1 says=uci", "4 ponder 1", "4 1 7"),
    ],
)
def test_notation_of_columns_is_that_of_the_options(
    options: str, move: str, said: str, make: Make, tmp_path: Path
) -> None:
    assert make(move=move, options=options)(play("306"), 1.0) == 3
    heard = (tmp_path / "heard").read_text()
    assert f"position startpos moves {said}\n" in heard
    assert heard.startswith(
        "uci\nisready\nucinewgame\n" if "uci" in options else "ugi\nisready\nuginewgame\n"
    )


def test_two_games_at_once_are_parted_by_new_games(make: Make, tmp_path: Path) -> None:
    engine = make()
    for columns in ("", "6", "30", "63"):
        engine(play(columns), 1.0)
    assert (tmp_path / "heard").read_text().count("uginewgame") == 4


# What they answer.


@pytest.mark.parametrize("move", ["D", "4", "d4", "0000", "", "(none)", "h", "abc"])
def test_move_in_another_notation_is_shown_with_the_option_for_it(move: str, make: Make) -> None:
    with pytest.raises(
        EngineError, match=r"answered 'bestmove ?.*', not bestmove and a column .* columns=1 "
    ):
        make(move=move)(Board(), 1.0)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("    pass\n", "did not reply to 'ugi' with 'ugiok' within 0"),
        ("    say('unknown command')\n", "did not reply to 'ugi' with 'ugiok' within 0"),
        ("    if word == 'ugi': say('ugiok')\n", "did not reply to 'isready' with 'readyok' within 0"),
        ("    while True: say('info')\n", "did not reply to 'ugi' with 'ugiok' within 0"),
    ],
)
def test_engine_that_never_gets_ready_is_told_by_the_line_that_it_owes_a_reply(
    body: str, message: str, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external, "START", 0.3)
    with pytest.raises(EngineLate, match=message):
        make(body)(Board(), 60.0)


def test_getting_ready_takes_no_time_from_the_move(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external, "LATE", 0.2)
    assert make(before="import time\ntime.sleep(0.4)\n")(Board(), 0.01) == 3


def test_engine_that_thinks_on_is_told_to_stop(
    make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(external, "LATE", 2.0)
    thinks_on = KEEPS_TO_IT.replace('word == "go"', 'word == "stop"')
    assert make(thinks_on)(Board(), 0.01) == 3
    assert (tmp_path / "heard").read_text().endswith("go movetime 10\nstop\n")


def test_engine_that_does_not_stop_either_is_late(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external, "LATE", 0.2)
    floods = KEEPS_TO_IT.replace('say("bestmove {move}")', "\n        while True: say('info ' * 3000)")
    with pytest.raises(EngineLate, match=r"did not answer in 0.1 s, and was killed 0.2 s later"):
        make(floods)(Board(), 0.1)


def test_second_bestmove_is_none_for_the_next_move(make: Make) -> None:
    engine = make(move='d\\nbestmove a"); say("info string more')
    assert engine(Board(), 1.0) == 3
    with pytest.raises(EngineError, match="said 'bestmove a' before it was asked for a move"):
        engine(play("30"), 1.0)


def test_engine_that_dies_at_a_move_is_started_again_with_all_moves(make: Make, tmp_path: Path) -> None:
    dies = 'open(folder + "/go", "a").write("x"); open(folder + "/go").read() == "xx" and 1 / 0'
    engine = make(KEEPS_TO_IT.replace('say("info depth 1 pv d")', dies))
    assert [engine(play(columns), 1.0) for columns in ("", "30")] == [3, 3]
    assert (tmp_path / "heard").read_text().count("position startpos moves d a\n") == 2


def test_engine_that_always_dies_has_failed_with_its_status(make: Make) -> None:
    with pytest.raises(EngineError, match="ended without an answer: exit status 7"):
        make("    raise SystemExit(7)\n")(Board(), 1.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no command; an engine is run as in ugi:./engine"),
        ("columns=1", "there is no command"),
        ("columns=2 cat", "'columns=2' is none of columns=a, columns=1, columns=0, says=ugi, says=uci"),
        ("says=ugh cat", "'says=ugh' is none of columns=a"),
        ("no-such-engine --x", "there is no program 'no-such-engine'"),
    ],
)
def test_command_that_cannot_be_run_is_told_before_any_game(text: str, message: str) -> None:
    with pytest.raises(UnknownEngine, match=message):
        engine_named(f"ugi:{text}")
