"""A server with several workers, as an operator has it: one command, one set of ports, one stop."""

import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

import pytest
from worlds.server import PATIENCE, Served, begun

from gateway.__main__ import main
from gateway.server.local_redis import PROGRAMS

pytestmark = [
    pytest.mark.operation,
    pytest.mark.skipif(
        sys.platform != "linux" or not any(map(shutil.which, PROGRAMS)),
        reason="there is no Redis on Linux here",
    ),
]
COMMAND = [sys.executable, "-P", "-m", "gateway", "--workers", "2", "--no-web", "--db", "none"]


@pytest.fixture(autouse=True)
def private_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Have what is temporary in a folder of this test's own; short, as a socket's path has to be."""
    with TemporaryDirectory(prefix="c4", dir="/tmp") as folder:
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)


@contextmanager
def serving(*options: str, addresses: int = 1) -> Iterator[Served]:
    with begun([*COMMAND, *(options or ("--tcp", "0"))], addresses) as gateway:
        yield gateway


def children(pid: int) -> dict[int, str]:
    """Return the command lines of a process's children."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return {int(each): Path(f"/proc/{each}/cmdline").read_text().replace("\0", " ") for each in found}


def workers(gateway: Served) -> list[int]:
    return [pid for pid, line in children(gateway.process.pid).items() if "-m gateway --" in line]


def wait_for_end(pids: Sequence[int]) -> None:
    """Wait until no process has these ids."""
    for pid in pids:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        ended, _, _ = select.select([descriptor], [], [], PATIENCE)
        os.close(descriptor)
        assert ended


def visitors(gateway: Served, stack: ExitStack) -> list[socket.socket]:
    """Return connections to the port, each with a name."""
    found = []
    for number in range(32):
        sock = socket.create_connection(("127.0.0.1", gateway.port("droidcon")))
        found.append(stack.enter_context(sock))
        sock.settimeout(PATIENCE)
        sock.sendall(f"NAME visitor{number}\n".encode())
        assert sock.recv(1024)
    return found


def hung_up(visitors: Sequence[socket.socket]) -> list[socket.socket]:
    """Return those that were hung up on; the server has to have done so already."""
    found = []
    for each in visitors:
        each.setblocking(False)
        try:
            if not each.recv(1024):
                found.append(each)
        except BlockingIOError:
            pass
        except ConnectionResetError:
            found.append(each)
    return found


def test_workers_share_a_port_and_one_that_dies_costs_its_own_clients_alone(private_folder: Path) -> None:
    with serving() as gateway, ExitStack() as stack:
        inside = visitors(gateway, stack)
        victim, other = workers(gateway)
        os.kill(victim, signal.SIGKILL)
        wait_for_end([victim])
        assert 0 < len(hung_up(inside)) < len(inside)
        visitors(gateway, stack)  # whoever comes while it is away finds the other one
        status, log = gateway.stop()
        assert status == 0
        assert re.search(r"worker [12] has ended with status -9; it is restarted", log)
        wait_for_end([other])
    assert [*private_folder.iterdir()] == []


def test_nothing_outlives_a_server_that_is_killed() -> None:
    with serving() as gateway:
        family = [*children(gateway.process.pid)]
        assert len(family) == 3
        gateway.process.kill()
        wait_for_end(family)


def test_operator_s_commands_are_for_all_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("C4GATEWAY_ADMIN_TOKEN", "sesame")
    command = [word for word in COMMAND if word != "--no-web"]
    options = ("--tcp", "0", "--web", "0", "--players", str(tmp_path / "players"))
    (tmp_path / "players").write_text("")
    audit = ("--audit", str(tmp_path / "audit"))
    with begun([*command, *options, *audit], 2) as gateway, ExitStack() as stack:
        inside = visitors(gateway, stack)
        gateway.await_log("linked with node")
        monkeypatch.setenv("C4GATEWAY_WEB", str(gateway.port("page")))

        def run(*words: str) -> str:
            assert main(words) == 0
            return capsys.readouterr().out

        nodes = {line.split()[-1] for line in run("who").splitlines()[1:]}
        assert len(nodes) == 2
        assert run("kick", "127.0.0.1") == "32 players were hung up on\n"
        assert len(hung_up(inside)) == 32
        run("announce", "Round 2")
        run("pause")
        victim = workers(gateway)[1]
        os.kill(victim, signal.SIGKILL)
        wait_for_end([victim])
        page, same, deadline = f"http://127.0.0.1:{gateway.port('page')}", 0, time.monotonic() + PATIENCE
        gateway.await_log(" listens: ")
        while same < 12:  # the system chooses the worker that answers
            assert time.monotonic() < deadline
            with suppress(OSError), urlopen(f"{page}/api/notice") as answer:
                is_known = json.load(answer) == {"announcement": "Round 2", "paused": True}
                same = same + 1 if is_known else 0
        assert "within 30 s" in run("drain", "--seconds", "30")
        status, log = gateway.end()
    assert status == 0
    assert log.count("may be finished within 30 s") == log.count("drained: all games are over") == 2


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_games_are_finished_on_sigterm_alone(number: signal.Signals) -> None:
    with serving("--tcp", "0", "--drain", "60") as gateway, ExitStack() as stack:
        visitors(gateway, stack)
        status, log = gateway.stop(number)
    assert status == 0
    assert log.count("drained: all games are over") == (2 if number == signal.SIGTERM else 0)


@pytest.mark.thorough
def test_manager_hears_of_one_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "m"))
        manager.settimeout(PATIENCE)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "m"))
        with serving() as gateway:
            assert manager.recv(1024) == b"READY=1"
            gateway.process.send_signal(signal.SIGHUP)
            assert manager.recv(1024).startswith(b"RELOADING=1\n")
            assert manager.recv(1024) == b"READY=1"
            status, log = gateway.stop()
            assert manager.recv(1024).startswith(b"STOPPING=1\n")
            manager.setblocking(False)
            with pytest.raises(BlockingIOError):
                manager.recv(1024)
    assert (status, log.count("reloaded: ")) == (0, 2)


def failed(*options: str) -> list[str]:
    """Return what a server says that does not start, which is why."""
    ended = subprocess.run(
        [*COMMAND, *options], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    return ended.stderr.splitlines()


def test_start_that_fails_says_so_once() -> None:
    [line] = failed("--tcp", "0", "--players", "/nowhere")
    assert line.startswith("c4gateway: error: /nowhere: there is no such file")


@pytest.mark.thorough
def test_sockets_that_are_handed_over_are_every_worker_s() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        # A shell knows its own id before it becomes the server, and has the descriptor where it is expected.
        script = f'exec 3<&{listening.fileno()}; LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=droidcon exec "$@"'
        with begun(["bash", "-c", script, "-", *COMMAND], 1, [listening.fileno()]) as gateway:
            assert gateway.port("droidcon") == port
            with ExitStack() as stack:
                visitors(gateway, stack)
            assert gateway.stop()[0] == 0
