"""Files that options name: what is none ends the start at once, with a line that says which it is."""

import os
import socket
from pathlib import Path

import pytest
from worlds.server import ran

from adapters.bot.options import parse
from gateway.options.terminal import in_one_line
from gateway.runtime.files import read_file


@pytest.fixture
def pipe(tmp_path: Path) -> str:
    """A pipe to which nobody writes."""
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    return path


def test_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"1234")
    assert read_file(str(file), "--config", 4) == b"1234"
    with pytest.raises(OSError, match=r"--config: .*/file is larger than 3 bytes; is it the right file\?"):
        read_file(str(file), "--config", 3)


def test_what_is_no_file_is_one_line_that_names_the_option(tmp_path: Path, pipe: str) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        for path, words in (
            (pipe, "is a pipe or a device, not a regular file; give the path of a file"),
            ("/dev/zero", "is a pipe or a device, not a regular file"),
            (str(tmp_path), "Is a directory"),
            (str(tmp_path / "none"), "No such file or directory"),
            (str(tmp_path / "socket"), "socket: "),
            ("a\0b", "is not a path"),
        ):
            with pytest.raises(OSError) as error:
                read_file(path, "--config", 10)
            line = in_one_line(error.value)
            assert line.startswith("--config: ")
            assert words in line


@pytest.mark.parametrize("option", ["--config", "--tls-key"])
def test_server_does_not_wait_for_a_pipe(option: str, pipe: str, tmp_path: Path) -> None:
    (tmp_path / "cert.pem").write_text("a certificate")
    more = ("--tls-cert", str(tmp_path / "cert.pem")) if option == "--tls-key" else ()
    status, out, err = ran("--port", "0", "--db", "none", option, pipe, *more)
    assert (status, out) == (2 if option == "--config" else 1, "")
    assert f"{option}: {pipe} is a pipe or a device, not a regular file" in err
    assert err.count("\n") == 1


def test_variable_that_names_the_file_of_options_is_in_the_line(
    pipe: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("C4GATEWAY_CONFIG", pipe)
    assert f"C4GATEWAY_CONFIG: {pipe} is a pipe" in ran("config")[2]


def test_bot_does_not_wait_for_a_token_in_what_is_no_file(
    pipe: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in (pipe, "/dev/zero"):
        with pytest.raises(SystemExit):
            parse(["nac4", "127.0.0.1:1", "--token-file", file])
        assert f"--token-file: {file} is a pipe or a device" in capsys.readouterr().err
