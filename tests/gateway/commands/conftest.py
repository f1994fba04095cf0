"""What the tests of the commands share: an empty folder, and ``c4gateway tournament``."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.__main__ import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run, and which has their files by default."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUDO_USER", "op")
    return tmp_path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command; return its exit status, and what it printed on stdout and stderr."""

    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main(["tournament", *words])
        return status, *capsys.readouterr()

    return run
