"""Sending junk: the same again for the same seed, tracebacks counted however they are cut, a short run."""

import json
import sys
from pathlib import Path
from random import Random

import pytest

from conformance.__main__ import main
from conformance.lab.junk import command
from conformance.lab.junk.command import Log, Row, readable
from conformance.lab.junk.texts import PIECES, PORTS, talk_for
from conformance.launch import COMMAND

BROKEN = """
import sys
from adapters.client import framing
from gateway.__main__ import main
framing.to_text = None
sys.exit(main())
"""
TRACEBACK = b"ERROR x\nTraceback (most recent call last):\n  File\nValueError\n"


@pytest.mark.parametrize("port", PORTS)
def test_talks_are_the_same_again_for_the_same_seed(port: str) -> None:
    def talks(seed: str) -> list[list[bytes]]:
        lot = Random(seed)
        return [talk_for(port, lot) for _ in range(200)]

    assert talks("a") == talks("a")
    assert talks("a") != talks("b")
    assert all(1 <= len(talk) <= PIECES + 1 for talk in talks("a"))


def test_tracebacks_are_counted_wherever_the_log_is_cut() -> None:
    said = b"2026 WARNING y\n" + TRACEBACK * 3
    for at in range(len(said)):
        log = Log()
        log.hear(said[:at])
        log.hear(said[at:])
        assert log.tracebacks == 3


def test_port_is_good_that_answers_and_wrote_no_traceback() -> None:
    good = Row("nac4", 10, 2, 0, True)
    assert readable([good]).endswith("good\n")
    assert readable([good, Row("web", 10, 2, 1, True)]).endswith("NOT GOOD\n")
    assert "NO\n" in readable([Row("web", 10, 2, 0, False)])


@pytest.mark.lab
def test_nothing_that_a_client_sends_to_a_dialects_port_writes_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.json"
    words = ["junk", "--pieces", "300", "--only", "nac4,arena,droidcon", "--seed", "1", "--json", str(report)]
    assert main(words) == 0, capsys.readouterr()
    rows = json.loads(report.read_text())["ports"]
    assert [(row["port"], row["pieces"], row["tracebacks"]) for row in rows] == [
        ("nac4", 100, 0),
        ("arena", 100, 0),
        ("droidcon", 100, 0),
    ]


@pytest.mark.lab
def test_server_that_writes_tracebacks_is_not_good(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "STARTING", (sys.executable, "-c", BROKEN, *COMMAND[3:]))
    assert main(["junk", "--pieces", "100", "--only", "droidcon", "--seed", "1"]) == 1
    out, err = capsys.readouterr()
    assert out.endswith("NOT GOOD\n")
    assert "Traceback" in err


@pytest.mark.parametrize("words", [["--only", "telnet"], ["--pieces", "0"]])
def test_command_line_that_makes_no_sense_is_status_2(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["junk", *words]) == 2
    assert capsys.readouterr().err.startswith("conformance: ")
