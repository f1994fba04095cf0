"""Where c4bot takes its token from, and that it shows it nowhere."""

from pathlib import Path

import pytest

from adapters.bot.options import TOKEN_VARIABLE, parse

ARGUMENTS = ["nac4", "127.0.0.1:8080", "--name", "ann"]


@pytest.fixture(autouse=True)
def no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)


def refused(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """Return the one line that says what is wrong."""
    with pytest.raises(SystemExit) as stop:
        parse([*ARGUMENTS, *options])
    assert stop.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_token_is_that_of_the_file_else_that_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert parse(ARGUMENTS).entry.token is None
    monkeypatch.setenv(TOKEN_VARIABLE, "environment")
    assert parse(ARGUMENTS).entry.token == "environment"
    (tmp_path / "token").write_text(" file\n")
    assert parse([*ARGUMENTS, "--token-file", str(tmp_path / "token")]).entry.token == "file"
    monkeypatch.setenv(TOKEN_VARIABLE, "")
    assert parse(ARGUMENTS).entry.token is None


def test_token_is_in_no_text_of_the_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, "sesame")
    assert "sesame" not in repr(parse(ARGUMENTS))


@pytest.mark.parametrize("text", ["", "two words", "t\xf6ken", "x" * 257])
def test_file_without_a_token_is_refused_without_showing_it(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "token"
    file.write_text(text, encoding="utf-8")
    line = refused(capsys, "--token-file", str(file))
    assert f"{file} does not hold a token" in line
    assert "words" not in line


def test_file_that_cannot_be_read_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--token-file: " in refused(capsys, "--token-file", str(tmp_path / "none"))
    (tmp_path / "bytes").write_bytes(b"\xff")
    assert "--token-file: " in refused(capsys, "--token-file", str(tmp_path / "bytes"))


def test_variable_without_a_token_is_refused_without_showing_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, "open sesame")
    line = refused(capsys)
    assert f"{TOKEN_VARIABLE} does not hold a token" in line
    assert "sesame" not in line
