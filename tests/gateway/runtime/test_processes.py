"""How a child process is started: what it hears of signals, where it finds its modules, where it writes."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gateway.runtime.processes import StartedProcess, ended, message_frame, start

LIMIT = 30.0


@contextmanager
def echoing() -> Iterator[StartedProcess]:
    """Run a process that says back what it hears, and ends by itself once nobody is left to hear it."""
    child = start("echoing")
    with child.socket:
        yield child
    assert ended(child.process, LIMIT) == 0


def answer(child: StartedProcess) -> bytes:
    """Return what the process says when it hears `?`."""
    child.socket.settimeout(LIMIT)
    child.socket.sendall(b"?")
    return child.socket.recv(100)


def test_signals_that_stop_a_server_leave_its_process_alone_and_stop_the_server_as_before() -> None:
    with echoing() as child:
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()
        assert answer(child) == message_frame(b"?")
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(child.process.pid, number)
        assert answer(child) == message_frame(b"?")


def test_whatever_is_printed_in_the_process_is_no_answer_nor_the_server_s_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('Initialising')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with echoing() as child:
        assert answer(child) == message_frame(b"?")
    assert capfd.readouterr() == ("", "ERROR:root:on stderr\n")


def test_a_process_imports_what_its_server_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a module behind the standard library's of the same name."""
    (tmp_path / "subprocess.py").write_text("raise SystemExit('not this one')")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    with echoing() as child:
        assert answer(child) == message_frame(b"?")


def test_a_process_needs_nothing_of_where_its_server_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gateway.py").write_text("raise SystemExit('not this one')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with echoing() as child:
        assert answer(child) == message_frame(b"?")
