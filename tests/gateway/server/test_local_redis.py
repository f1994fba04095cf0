"""The registry that workers have for themselves."""

import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import trio
import trio.testing

from gateway.options.clustering import registry_url
from gateway.server import local_redis
from gateway.server.local_redis import private_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="c4") as path:  # short: a socket's path is
        yield Path(path)


def test_what_to_install_is_said_where_there_is_none(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(
        OSError, match=r"apt install redis-server \(or valkey-server\), or name one with --cluster"
    ):
        local_redis.command(folder)


@pytest.mark.parametrize("name", local_redis.PROGRAMS)
def test_whichever_is_installed_is_taken(name: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda asked: f"/bin/{asked}" if asked == name else None)
    assert local_redis.command(folder)[0] == f"/bin/{name}"


def test_url_is_one_that_a_node_takes(folder: Path) -> None:
    assert registry_url(local_redis.url(folder)) == f"unix://{folder}/redis.sock"


@pytest.mark.parametrize("name", ["a b", "x" * 100, "a?b", "a%b"])
def test_folder_that_can_have_no_socket_is_named(name: str) -> None:
    with pytest.raises(OSError, match="set TMPDIR to a short one"):
        local_redis.url(Path("/tmp") / name)


def test_registry_learns_no_secret_of_the_server() -> None:
    ours = {"C4GATEWAY_ADMIN_TOKEN": "x", "NOTIFY_SOCKET": "/y", "LISTEN_FDS": "1", "PATH": "/bin"}
    ours["PGPASSWORD"] = "z"
    assert local_redis.environment(ours) == {"PATH": "/bin"}


async def test_registry_that_does_not_answer_is_an_error(
    folder: Path, autojump_clock: trio.testing.MockClock
) -> None:
    with pytest.raises(OSError, match="does not answer"):
        await local_redis.answering(folder)


@pytest.mark.skipif(not any(map(shutil.which, local_redis.PROGRAMS)), reason="there is no Redis")
def test_registry_answers_at_its_socket_alone_and_writes_nothing(folder: Path) -> None:
    process = subprocess.Popen(local_redis.command(folder), stdout=subprocess.DEVNULL)
    with process:
        try:
            trio.run(local_redis.answering, folder)
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(folder / "redis.sock"))
                client.sendall(b"SET a 1\r\nCONFIG GET port\r\n")
                answer = b""
                while answer.count(b"\r\n") < 6:
                    answer += client.recv(1024)
        finally:
            process.terminate()
    assert answer.startswith(b"+OK\r\n")
    assert answer.endswith(b"$1\r\n0\r\n")
    assert process.returncode == 0
    assert [*folder.iterdir()] == []


# The folder of several workers: it goes at the end, and after a kill at the next start.

_HOLDS = """
import sys
from gateway.server.local_redis import private_folder
with private_folder() as folder:
    (folder / "redis.sock").touch()
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_folder_goes_at_the_end(place: Path) -> None:
    with private_folder() as folder:
        (folder / "redis.sock").touch()
        assert folder.stat().st_mode & 0o777 == 0o700
    assert [*place.iterdir()] == []


def test_folder_of_a_killed_process_goes_at_the_next_start_and_no_living_one_s(
    place: Path,
) -> None:
    command = [sys.executable, "-c", _HOLDS]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as killed,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as living,
    ):
        assert killed.stdout is not None
        assert living.stdout is not None
        left, used = (Path(each.stdout.readline().strip()) for each in (killed, living))
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert left.exists()
        others = place / "c4gateway-other"
        others.mkdir()
        with private_folder() as folder:
            assert {*place.iterdir()} == {used, folder, others}
        living.communicate()
    assert [*place.iterdir()] == [others]
