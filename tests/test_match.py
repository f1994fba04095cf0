"""The command ``c4gateway match`` as a whole: engines, bots, faults, and what survives a kill."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from forking import ROOT

from gateway.__main__ import main
from gateway.store.formats import jsonl

COMMAND = (sys.executable, "-m", "gateway", "match")
GOOD = f"{sys.executable} {ROOT / 'tests' / 'faulty_bot.py'} {{host}} {{port}} none"
BOTS = ("--player", f"a={GOOD}", "--player", f"b={sys.executable} -m adapters.bot nac4 {{host}}:{{port}}"
        " --engine random --games 0")  # fmt: skip
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def with_fault(fault: str) -> str:
    return GOOD.replace(" none", f" '{fault}'")


def games() -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in Path("match.jsonl").read_text().splitlines()]
    return lines[1:]


def is_whole(wanted: int) -> bool:
    """Whether each game of a pairing is there, once, with the colours that it should have."""
    found = games()
    first = next(each["game"]["players"][0]["name"] for each in found if each["number"] == 0)
    right = all((each["game"]["players"][0]["name"] == first) == (each["number"] % 2 == 0) for each in found)
    return right and sorted(each["number"] for each in found) == list(range(wanted))


def test_engines_play_and_a_match_that_is_over_has_nothing_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["--player", "a=random", "--player", "b=mc:2", "--games", "6", "--openings", "4"]
    assert main(["match", *words, "--pgn", "p", "--jsonl", "l", "--json", "j"]) == 0
    assert "6 of 6 games, " in capsys.readouterr().out
    assert is_whole(6)
    assert Path("p").read_text().count("[Event ") == 6
    assert [len(jsonl.read(line)) for line in Path("l").read_text().splitlines()] == [1] * 6
    assert json.loads(Path("j").read_text())["games"] == 6
    openings = [each["game"]["moves"][:4] for each in games()]
    assert openings[::2] == openings[1::2]
    assert main(["match", *words, "--state", "match.jsonl"]) == 1
    assert "--resume goes on with it" in capsys.readouterr().err
    assert main(["match", "--resume"]) == 0
    assert is_whole(6)
    monkeypatch.setattr("sys.stdout", None)
    assert main(["match", "--resume", "--jsonl", "again"]) == 1
    assert capsys.readouterr().err == "c4gateway: error: standard output is closed\n"
    assert Path("again").read_text() == Path("l").read_text()


ENGINES = {
    "absent": "import no_such_library",
    "third": "def move(board, budget): return len(board.moves) % 7 if len(board.moves) < 4 else 1 / 0",
}


@pytest.mark.parametrize(
    ("who", "why"),
    [
        (
            "absent:move",
            "failed 3 times in a row before its first move; engine 'absent:move' cannot be imported:",
        ),
        (
            "third:move",
            "left 9 of 9 games, which --recover would count as lost; the engine failed: ZeroDivisionError:",
        ),
        (
            "exec:sh no_such_script",
            "failed 3 times in a row before its first move; the engine failed: sh no_such_script ",
        ),
        (
            "ugi:sh no_such_script",
            "failed 3 times in a row before its first move; the engine failed: sh no_such_script ended",
        ),
        (
            "azg:third.py:move",
            "failed 3 times in a row before its first move; the engine failed: TypeError: move() missing",
        ),
        (
            "/no/such/bot {port}",
            "failed 3 times in a row before its first move; cannot be started: /no/such/bot: No such",
        ),
    ],
)
def test_player_that_fails_has_no_result(capsys: pytest.CaptureFixture[str], who: str, why: str) -> None:
    for name, text in ENGINES.items():
        Path(f"{name}.py").write_text(text)
    words = ["--player", "a=random", "--player", f"b={who}", "--games", "40", "--sprt", "elo1=300"]
    assert main(["match", *words, "--json", "j"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("a against b: no result\n")
    assert f"\nno result for b: {why}" in said
    assert "(log: match.jsonl.logs/" in said
    assert "\nSPRT logistic elo0=0 elo1=300: no verdict\n" in said
    found = json.loads(Path("j").read_text())
    assert [each["elo"] for each in found["players"]] == [None, None]
    assert found["sprt"]["refused"] == "a player failed"


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("crash", "left 9 of 9 games, which --recover would count as lost; ended with status 1: Value"),
        (
            "start",
            "failed 3 times in a row before its first move; ended with status 1: I do not start (log: ",
        ),
    ],
)
def test_bot_that_crashes_has_no_result_and_its_opponent_is_not_blamed(
    capsys: pytest.CaptureFixture[str], fault: str, why: str
) -> None:
    words = ["--player", f"a={with_fault('one game')}", "--player", f"b={with_fault(fault)}"]
    assert main(["match", *words, "--games", "20"]) == 1
    said = capsys.readouterr().out
    assert f"\nno result for b: {why}" in said
    assert "no result for a" not in said


def test_match_that_stopped_at_a_crash_goes_on_with_such_games_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("third.py").write_text(ENGINES["third"])
    assert main(["match", "--player", "a=random", "--player", "b=third:move", "--games", "20"]) == 1
    assert main(["match", "--resume", "--recover"]) == 0
    assert is_whole(20)


def test_matches_in_one_folder_have_a_file_each_and_the_latest_goes_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--player", "a=random", "--player", "b=random", "--games", "2"]
    assert [main(["match", *words]) for _ in range(3)] == [0, 0, 0]
    said = capsys.readouterr().err
    assert ["the games are kept in match-2.jsonl" in said, "match-3.jsonl" in said] == [True, True]
    assert sorted(path.name for path in Path().glob("match*")) == [
        f"match{number}.jsonl{logs}" for number in ("-2", "-3", "") for logs in ("", ".logs")
    ]
    assert main(["match", "--resume"]) == 0
    assert "match-3.jsonl" in capsys.readouterr().err


def test_bots_on_a_wire_play_with_either_colour(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--player", f"a={GOOD}", "--player", f"b={with_fault('one game')}", "--games", "4"]
    assert main(["match", *words]) == 0
    assert "4 of 4 games, " in capsys.readouterr().out
    assert is_whole(4)
    assert sorted(path.name for path in Path("match.jsonl.logs").iterdir()) == ["a.log", "b.log"]


def run(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=False, env=ENVIRONMENT)


@pytest.mark.operation
def test_bots_of_different_dialects_play_at_several_tables() -> None:
    done = run(*BOTS, "--player", "c=random", "--games", "10", "--concurrency", "3")
    assert (done.returncode, done.stderr) == (0, "")
    assert "30 of 30 games, " in done.stdout
    kinds = {player["kind"] for each in games() for player in each["game"]["players"]}
    assert kinds == {"nac4", "droidcon"}


@pytest.mark.operation
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGHUP])
def test_match_goes_on_with_no_game_lost_or_twice(number: signal.Signals) -> None:
    os.mkfifo("ready")
    words = [*BOTS[2:], "--player", f"a={with_fault('tells')}", "--games", "60"]
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which is inherited, and ignored under nohup
    with subprocess.Popen([*COMMAND, *words], stderr=subprocess.PIPE, env=ENVIRONMENT) as match:
        signal.signal(signal.SIGHUP, before)
        Path("ready").read_bytes()
        match.send_signal(number)
        match.communicate()
    assert match.returncode == (-number if number == signal.SIGKILL else 128 + number)
    assert 10 <= len(games()) < 60
    done = run("--resume")
    assert (done.returncode, done.stderr) == (0, "")
    assert is_whole(60)
