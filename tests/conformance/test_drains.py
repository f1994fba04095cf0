"""Stopping a gateway that lets games be finished: a short run, and a gateway that breaks its word."""

import json
import sys
import tempfile
from pathlib import Path

import pytest

from conformance.__main__ import main
from conformance.launch import COMMAND

WORDS = ["--drains", "1", "--pairs", "12", "--results", "20", "--within", "0.01", "--seed", "9"]
BREAKS_ITS_WORD = """
import sys
from gateway.__main__ import main
from gateway.server import app
async def drain(*_):
    pass
app.drain = drain
sys.exit(main())
"""


@pytest.mark.lab
def test_short_run_finds_every_game_finished(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    report = tmp_path / "drains.json"
    status = main(["drains", *WORDS, "--json", str(report)])
    out, err = capsys.readouterr()
    assert status == 0, out + err
    assert "\nclients hurt:           0\n" in out
    assert out.endswith("good\n")
    found = json.loads(report.read_text())
    assert found["playing"] > 0
    assert found["verdict"]["told"] >= 10
    assert [path.name for path in tmp_path.iterdir()] == ["drains.json"]


@pytest.mark.lab
def test_gateway_that_cuts_games_off_is_found_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    command = (sys.executable, "-c", BREAKS_ITS_WORD, *COMMAND[3:])
    monkeypatch.setattr("conformance.lab.drains.COMMAND", command)
    assert main(["drains", *WORDS]) == 1
    out, _ = capsys.readouterr()
    assert "\nhurt: " in out
    assert out.endswith("NOT GOOD\n")
    assert len(list(tmp_path.glob("drains-*/drains.db"))) == 1
