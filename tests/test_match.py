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
    assert main(["match", *words]) == 1
    assert "--resume goes on with it" in capsys.readouterr().err
    assert main(["match", "--resume"]) == 0
    assert is_whole(6)
    monkeypatch.setattr("sys.stdout", None)
    assert main(["match", "--resume", "--jsonl", "again"]) == 1
    assert capsys.readouterr().err == "c4gateway: error: standard output is closed\n"
    assert Path("again").read_text() == Path("l").read_text()


def test_bots_on_a_wire_play_with_either_colour(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--player", f"a={GOOD}", "--player", f"b={with_fault('one game')}", "--games", "4"]
    assert main(["match", *words]) == 0
    assert "4 of 4 games, " in capsys.readouterr().out
    assert is_whole(4)
    assert sorted(path.name for path in Path("match.jsonl.logs").iterdir()) == ["a.log", "b.log"]


def lost_by(name: str) -> list[str]:
    """Return in which ways a player has lost."""
    found = [each["game"] for each in games()]
    losers = [
        (each["players"][2 - each["winner"]]["name"], each["reason"]) for each in found if each["winner"]
    ]
    return [*dict.fromkeys(reason for loser, reason in losers if loser == name)]


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


@pytest.mark.thorough
@pytest.mark.operation
@pytest.mark.parametrize(
    ("fault", "status", "said", "lost"),
    [
        ("crash", 0, "b: ended with status 1: ValueError: out of ideas", ["left"]),
        ("illegal", 0, "", ["illegal"]),
        ("garbage", 0, "b: sent what is no message of its dialect: 'HELLO THERE'", None),
        ("one game", 0, "", None),
        ("start", 1, "b: failed 3 times in a row; it plays no more, 8 games are left out", []),
    ],
)
def test_fault_of_a_bot_is_told_and_does_not_stop_the_others(
    fault: str, status: int, said: str, lost: list[str] | None
) -> None:
    others = ("--player", "a=random", "--player", "c=aimafast")
    done = run(*others, "--player", f"b={with_fault(fault)}", "--games", "4")
    assert done.returncode == status
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert len(games()) == (4 if fault == "start" else 12)
    found = [each["game"] for each in games()]
    reasons = [
        each["reason"]
        for each in found
        if each["winner"] and each["players"][2 - each["winner"]]["name"] == "b"
    ]
    assert lost is None or [*dict.fromkeys(reasons)] == lost
