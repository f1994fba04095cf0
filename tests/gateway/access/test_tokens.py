"""The operator's token, where none was given."""

import os
import stat
from pathlib import Path

import pytest

from adapters.dialects import DIALECTS
from gateway.access.tokens import admin_token, read_token
from gateway.options import server
from gateway.options.names import TOKEN_FILE as FILE


def token(folder: Path, *arguments: str) -> str | None:
    return admin_token(server.parse(["--db", str(folder / "games.db"), *arguments], DIALECTS))


def test_first_start_makes_one_for_this_user_alone_and_says_where(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    assert token(tmp_path, "--admin-token", "sesame") == "sesame"
    assert os.listdir(tmp_path) == []
    made, file = token(tmp_path), tmp_path / FILE
    assert made is not None
    assert len(made) == 22
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == [FILE]
    [line] = caplog.messages
    assert str(file) in line
    assert made not in line
    assert token(tmp_path) == made == read_token(str(file))
    assert len(caplog.messages) == 1
    killed = tmp_path / "killed"
    killed.mkdir()
    (killed / f"{FILE}.{os.getpid()}").touch()  # in a container the next start has the same number
    assert token(killed) is not None
    caplog.clear()
    assert token(tmp_path / "missing") is None  # which stops no start
    assert "do not work" in caplog.text
    assert "give --admin-token" in caplog.text


def test_without_a_file_of_a_database_it_is_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here = admin_token(server.parse(["--db", "none"], DIALECTS))
    assert here == read_token(FILE)
    assert here == admin_token(server.parse(["--db", "postgresql://db/c4"], DIALECTS))


@pytest.mark.parametrize(
    ("text", "mode"),
    [("sesame\n", 0o604), ("sesame\n", 0o620), ("", 0o600), ("a b\n", 0o600), ("\xff", 0o600)],
)
def test_file_that_is_no_secret_is_not_used(
    tmp_path: Path, text: str, mode: int, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / FILE
    file.write_text(text)
    file.chmod(mode)
    assert token(tmp_path) is None
    assert str(file) in caplog.text
    assert "sesame" not in caplog.text


@pytest.mark.parametrize(("worker", "said"), [("", True), ("alone", False), ("with others", True)])
def test_node_of_a_cluster_says_that_a_token_of_its_own_reaches_no_other_node(
    tmp_path: Path, worker: str, said: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("C4_WORKER", worker)
    node = ("--cluster", "redis://127.0.0.1", "--db", "none")
    admin_token(server.parse(node, DIALECTS))
    assert ("work on this node alone" in caplog.text) is said
    caplog.clear()
    admin_token(server.parse([*node, "--admin-token", "sesame"], DIALECTS))
    assert caplog.text == ""
