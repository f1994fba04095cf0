"""Gateways that are forked: where none can be, a test fails at once, and says why."""

import os
import signal
import sys
from contextlib import closing
from pathlib import Path

import forking
import pytest
from forking import PATIENCE, Forked

from conformance.lab.meters import children_of, has_proc

COMMAND = [sys.executable, "-W", "error", "-m", "gateway"]


@pytest.fixture(autouse=True)
def _source(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each of these tests have a process of its own that forks."""
    monkeypatch.setattr(forking, "_source", forking.cache(forking._source.__wrapped__))


@pytest.mark.parametrize(
    ("text", "words"),
    [("open(__file__)", "ResourceWarning: unclosed file"), ("exit('no module')", "no module")],
)
def test_what_a_gateway_would_complain_of_at_its_start_is_told(
    text: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(RuntimeError, match=words):
        Forked([*COMMAND, "--version"])


@pytest.mark.skipif(not has_proc(), reason="no /proc here")
def test_nobody_waits_for_a_process_that_has_died() -> None:
    before = {*children_of(os.getpid())}
    with closing(Forked([*COMMAND, "--no-web", "--db", "none", "--tcp", "0"])) as running:
        (source,) = {*children_of(os.getpid())} - before
        os.kill(source, signal.SIGKILL)
        os.waitid(os.P_PID, source, os.WEXITED | os.WNOWAIT)
        with pytest.raises(BrokenPipeError):
            Forked([*COMMAND, "--version"])
        running.kill()
        running.communicate(PATIENCE)
    assert running.returncode == -signal.SIGKILL
