"""Engines that are programs of their own: what they hear, and what becomes of those that fail."""

import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from engine_positions import play

from gateway.engines import EngineError, EngineLate, UnknownEngine, external
from gateway.engines.external import FLAT, IN_ROWS, SPEECHES, Platform, Program, program
from gateway.game.board import Board

ECHO = "import sys\nfor line in sys.stdin:\n    print({answer}, flush=True)\n"

Make = Callable[..., Program]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Return what makes engines of the text of a Python program; its directory is the program's argument."""
    made: list[Program] = []

    def making(text: str, field: str = "position") -> Program:
        file = tmp_path / f"engine{len(made)}.py"
        file.write_text(text)
        command = shlex.join([sys.executable, "-IS", str(file), str(tmp_path)])
        made.append(program(f"field={field} {command}"))
        return made[-1]

    yield making
    for each in made:
        each.close()


# What they hear.

OF_RIDDLES = """\
settings player_names player0,player1
settings your_bot player1
settings timebank 1500
settings time_per_move 1500
settings your_botid 1
settings field_width 7
settings field_height 6
update game round 2
"""
OF_THEAIGAMES = """\
settings timebank 1500
settings time_per_move 1500
settings player_names player1,player2
settings your_bot player2
settings your_botid 2
settings field_columns 7
settings field_rows 6
update game round 4
"""


@pytest.mark.parametrize(
    ("speech", "settings", "cells"),
    [
        (FLAT, OF_RIDDLES, ".," * 28 + "1,.,.,.,.,.,.,0,.,.,.,.,.,0"),
        (IN_ROWS, OF_THEAIGAMES, "0,0,0,0,0,0,0;" * 4 + "2,0,0,0,0,0,0;1,0,0,0,0,0,1"),
    ],
)
def test_platforms_tell_settings_then_field_and_request(speech: Platform, settings: str, cells: str) -> None:
    board = play("006")
    lines = [*speech.greeting(board, 1.5), *speech.question(board, 1.5)]
    assert "\n".join(lines) == f"{settings}update game field {cells}\naction move 1500"


@pytest.mark.parametrize(("speech", "rounds"), [(FLAT, [1, 1, 2, 2, 3]), (IN_ROWS, [1, 2, 3, 4, 5])])
def test_round_is_two_moves_or_one(speech: Platform, rounds: list[int]) -> None:
    asked = [next(speech.question(play("01234"[:moves]), 1.0)) for moves in range(5)]
    assert asked == [f"update game round {number}" for number in rounds]


RECORDING = """
import sys
heard = open(sys.argv[1] + "/heard", "a")
print("start", file=heard)
for line in sys.stdin:
    heard.write(line)
    if not line.startswith(("settings", "update")):
        heard.flush()
        print({answer!r}, flush=True)
"""


@pytest.mark.parametrize(
    ("field", "answer", "starts"),
    [("flat", "place_disc 3", ("", "6")), ("rows", "place_disc 3", ("", "6")), ("position", "4", ("",))],
)
def test_platform_s_bot_has_a_process_for_each_game_and_hears_the_settings_once(
    field: str, answer: str, starts: tuple[str, ...], make: Make, tmp_path: Path
) -> None:
    engine, speech, told = make(RECORDING.format(answer=answer), field), SPEECHES[field], list[str]()
    for columns in ("", "30", "3035", "6", "630"):
        board = play(columns)
        assert engine(board, 10.0) == 3
        told += ["start", *speech.greeting(board, 10.0)] if columns in starts else []
        told += speech.question(board, 10.0)
    assert (tmp_path / "heard").read_text().splitlines() == told


# What they answer.


def test_plain_engine_answers_a_column_counted_from_1(make: Make) -> None:
    engine = make(ECHO.format(answer="len(line)"))
    assert [engine(play(columns), 10.0) for columns in ("", "33", "33012")] == [0, 2, 5]


def test_program_that_ends_is_started_again_and_asked_again(make: Make, tmp_path: Path) -> None:
    once = "import sys\nopen(sys.argv[1] + '/starts', 'a').write('x')\ninput()\nprint(5, flush=True)\n"
    engine = make(once)
    assert [engine(Board(), 10.0) for _ in range(3)] == [4, 4, 4]
    assert (tmp_path / "starts").read_text() == "xxx"


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("raise SystemExit(7)", "exit status 7"),
        ("import os\nos.kill(os.getpid(), 9)", "signal 9, Killed"),
        ("import os, time\nos.close(1)\nwhile True: time.sleep(9)", "it closed its output"),
    ],
)
def test_program_that_ends_twice_without_an_answer_has_failed(text: str, how: str, make: Make) -> None:
    with pytest.raises(EngineError, match=f"ended without an answer: {how}"):
        make(text)(Board(), 10.0)


PLACE = "not place_disc and a column from 0 to 6 (field=position is for a column alone)"


@pytest.mark.parametrize(
    ("field", "answer", "expected"),
    [
        ("position", "8", "not a column from 1 to 7"),
        ("flat", "place_disc 7", PLACE),
        ("rows", "x" * 5000, PLACE),
    ],
)
def test_answer_that_names_no_column_is_told(field: str, answer: str, expected: str, make: Make) -> None:
    engine = make(ECHO.format(answer=repr(answer)), field)
    with pytest.raises(EngineError) as raised:
        engine(Board(), 10.0)
    assert str(raised.value).endswith(f" answered {answer[:60]!r}, {expected}")
    assert [SPEECHES["position"].column(each) for each in ("0", "column 4", "7")] == [None, None, 6]


@pytest.fixture
def nobody_holds(tmp_path: Path) -> Iterator[Callable[[], None]]:
    """Return what waits until nobody is left who could write to the file `alive`, which programs open."""
    os.mkfifo(tmp_path / "alive")
    end = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)

    def waiting() -> None:
        os.set_blocking(end, True)
        while os.read(end, 10):
            pass

    yield waiting
    os.close(end)


HELD = "import os, sys\nos.write(os.open(sys.argv[1] + '/alive', os.O_WRONLY), b'x')\n"


def test_program_that_does_not_answer_but_with_empty_lines_is_killed_with_all_that_it_started(
    make: Make, nobody_holds: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external, "LATE", 0.3)
    engine = make(f"{HELD}if not os.fork():\n    sys.stdin.read()\nwhile True: os.write(1, b'\\n' * 5000)")
    with pytest.raises(EngineLate, match=r"did not answer in 0.1 s, and was killed 0.3 s later"):
        engine(Board(), 0.1)
    nobody_holds()


def test_what_a_program_that_ended_has_started_is_killed(
    make: Make, nobody_holds: Callable[[], None]
) -> None:
    engine = make(
        f"{HELD}import signal\nif not os.fork():\n    signal.pause()\ninput()\nos.write(1, b'5\\n')\n"
    )
    assert engine(Board(), 10.0) == 4
    engine.close()
    nobody_holds()


def test_second_answer_is_none_to_the_next_question(make: Make) -> None:
    engine = make(ECHO.format(answer="'4\\n4'"))
    assert engine(Board(), 10.0) == 3
    with pytest.raises(EngineError, match=" said '4' before it was asked for a move"):
        engine(play("30"), 10.0)


BLOCKED = """
import sys
for line in sys.stdin:
    if len(line) > 1:
        open(sys.argv[1] + "/asked", "w").close()
        open(sys.argv[1] + "/never").read()
    print(4, flush=True)
"""


def test_program_that_nobody_waits_for_any_more_is_left_for_a_new_one(make: Make, tmp_path: Path) -> None:
    for name in ("asked", "never"):
        os.mkfifo(tmp_path / name)
    engine = make(BLOCKED)
    with ThreadPoolExecutor() as threads:
        abandoned = threads.submit(engine, play("33"), 60.0)
        (tmp_path / "asked").read_text()  # it thinks
        assert engine(Board(), 60.0) == 3
        with pytest.raises(EngineError, match="was asked for another move meanwhile"):
            abandoned.result()
    assert engine(Board(), 60.0) == 3


def test_what_it_says_on_stderr_is_seen(make: Make, capfd: pytest.CaptureFixture[str]) -> None:
    engine = make("import sys\nprint('I think', file=sys.stderr)\n" + ECHO.format(answer="4"))
    assert engine(Board(), 10.0) == 3
    assert capfd.readouterr().err == "I think\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no command"),
        ("field=flat", "there is no command"),
        ("no-such-program --x", "there is no program 'no-such-program'"),
        ("field=round cat", "'field=round' is none of field=flat, field=rows, field=position"),
        ("'cat", "No closing quotation"),
        ("\0", "there is no program '.x00'"),
    ],
)
def test_command_that_cannot_be_run_is_told_before_any_game(text: str, message: str) -> None:
    with pytest.raises(UnknownEngine, match=message) as raised:
        program(text)
    assert "\n" not in str(raised.value)


def test_program_that_the_system_does_not_run_has_failed(tmp_path: Path) -> None:
    file = tmp_path / "engine"
    file.write_bytes(b"\x7fELF")
    file.chmod(0o755)
    engine = program(shlex.quote(str(file)))
    with pytest.raises(EngineError, match="cannot be run: "):
        engine(Board(), 1.0)


def test_program_that_is_being_started_while_a_signal_comes_is_ended_too(tmp_path: Path) -> None:
    class Stopped(BaseException):
        pass

    def stop(*_: object) -> None:
        raise Stopped

    before = signal.signal(signal.SIGTERM, stop)
    engine = program(f"sh -c 'echo $$ > {tmp_path}/pid; kill -TERM $PPID; exec sleep 1000'")
    try:
        with pytest.raises(Stopped):
            engine(Board(), 60.0)
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / "pid").read_text()), 0)
    finally:
        engine.close()
        signal.signal(signal.SIGTERM, before)
