"""The process that serves the web, from outside: it starts, stops, dies and comes again."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from game_records import game
from web_world import TOKEN, keep
from worlds.server import PATIENCE, ROOT, Served, served

from adapters.web.link import Orders, encode
from conformance.lab.meters import children_of, has_proc
from gateway.game.evaluation import Evaluation
from gateway.runtime.processes import frame
from gateway.store import analyses
from gateway.store.analyses import Analysis
from gateway.store.database import open_to_read, open_to_write

pytestmark = pytest.mark.skipif(not has_proc(), reason="no /proc here")


@contextmanager
def site(tmp_path: Path, *options: str, games: int = 1) -> Iterator[Served]:
    """A gateway with a web front end over a database with so many games in it."""
    path = str(tmp_path / "games.db")
    database = open_to_write(path)
    keep(database, [game()] * games)
    database.close()
    with served("--tcp", "0", "--web", "0", "--db", path, *options, addresses=2) as gateway:
        yield gateway


def child(gateway: Served, module: str) -> int:
    """Return the process of the gateway's that runs this module."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        for number in children_of(gateway.process.pid):
            if module.encode() in Path(f"/proc/{number}/cmdline").read_bytes():
                return number
    raise AssertionError(f"nobody runs {module}")


def web(gateway: Served) -> int:
    return child(gateway, "adapters.web.serving")


def dialled(gateway: Served) -> socket.socket:
    return socket.create_connection(("127.0.0.1", gateway.port("page")), PATIENCE)


def said_on(sock: socket.socket) -> tuple[int, object]:
    """Return status and body of the one answer that comes."""
    data = b""
    while chunk := sock.recv(65_536):
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def got(gateway: Served, path: str, verb: str = "GET", more: str = "") -> tuple[int, object]:
    with dialled(gateway) as sock:
        sock.sendall(f"{verb} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{more}\r\n".encode())
        return said_on(sock)


@pytest.mark.operation
def test_process_gives_way_is_started_again_when_it_was_killed_and_ends_with_the_server_alone(
    tmp_path: Path,
) -> None:
    with site(tmp_path) as gateway:
        assert got(gateway, "/healthz") == (200, {"ok": True, "waiting": 0})
        number = web(gateway)
        own = os.getpriority(os.PRIO_PROCESS, 0)
        assert os.getpriority(os.PRIO_PROCESS, number) == min(19, own + 15)
        for each in (signal.SIGINT, signal.SIGTERM):  # which a terminal sends to all processes
            os.kill(number, each)
        assert got(gateway, "/api/games/1")[0] == 200
        assert web(gateway) == number
        for _ in range(2):
            os.kill(web(gateway), signal.SIGKILL)
            assert got(gateway, "/api/games/1")[0] == 200  # who comes meanwhile waits
        last = web(gateway)
        assert last != number
        status, err = gateway.stop()
    errors = [line for line in err.splitlines() if "ERROR" in line or "has ended" in line]
    assert (status, len(errors)) == (0, 2)
    assert all("the process that serves the web has ended, with status -9" in line for line in errors)
    with pytest.raises(ProcessLookupError):
        os.kill(last, 0)


def test_process_ends_when_the_server_is_killed(tmp_path: Path) -> None:
    with site(tmp_path) as gateway, dialled(gateway) as idle, dialled(gateway) as busy:
        assert got(gateway, "/healthz")[0] == 200
        busy.sendall(b"GET /api/gam")
        gateway.process.kill()
        gateway.process.wait(PATIENCE)
        for sock in (idle, busy):
            with pytest.raises(ConnectionResetError):  # noqa: PT012 - or hung up on, in the usual way
                if sock.recv(1) == b"":
                    raise ConnectionResetError
        with pytest.raises(ConnectionRefusedError):  # noqa: PT012 - once the process is gone, nobody listens
            while True:
                dialled(gateway).close()


def test_warnings_and_a_clear_are_lines_of_the_server_s_log_and_the_token_is_not(
    tmp_path: Path,
) -> None:
    database = tmp_path / "games.db"
    with site(tmp_path, "--admin-token", TOKEN, "--log-json", games=2) as gateway:
        database.rename(database.with_suffix(".away"))
        assert got(gateway, "/api/games")[0] == 503
        database.with_suffix(".away").rename(database)
        assert got(gateway, "/api/clear", "POST") == (403, {"error": "this needs the admin token"})
        shown = f"Authorization: Bearer {TOKEN}\r\n"
        removed = {"games": 2, "players": 2}
        assert got(gateway, "/api/clear", "POST", shown) == (200, {"removed": removed})
        assert got(gateway, "/api/games/1")[0] == 404
        _, err = gateway.stop()
        said = [json.loads(line)["message"] for line in err.splitlines()]
        assert any(line.startswith("a web page cannot be had: ") for line in said)
        [clear] = [line for line in said if "are cleared" in line]
        assert "all results are cleared: 2 games of 2 players" in clear
        assert TOKEN not in err + "".join(gateway.announced)


def test_games_are_analysed_by_themselves_also_after_the_process_was_killed(tmp_path: Path) -> None:
    pytest.importorskip("bitbully", reason="the solver of the extra 'perfect' is not installed")
    with site(tmp_path, games=2) as gateway:
        os.kill(web(gateway), signal.SIGKILL)
        database, found = open_to_read(str(tmp_path / "games.db")), dict[str, Analysis]()
        deadline = time.monotonic() + 4 * PATIENCE
        while len(found) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
            with database.reading() as connection:
                found = analyses.of(connection, ["1", "2"])
        database.close()
        status, err = gateway.stop()
    assert [each.mistake and each.mistake.move for each in found.values()] == [
        6,
        6,
    ]  # by not closing the column
    assert found["1"].turned[-1].better == [0]
    assert found["1"].evaluations[-1] == Evaluation(0, 7)
    assert (status, "solve" in err) == (0, False)


def test_mistake_of_ours_in_the_process_is_a_line_of_the_log_and_ends_it() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "adapters.web.serving", str(theirs.fileno())],
            cwd=ROOT,
            pass_fds=[theirs.fileno()],
            stderr=subprocess.PIPE,
        )
        ours.sendall(frame(encode(Orders("postgresql://host:port", None, None, "info", True))))
        _, err = process.communicate(timeout=PATIENCE)
    [line] = map(json.loads, err.splitlines())
    assert (process.returncode, line["event"], "StoreError" in line["exception"]) == (1, "web_failed", True)
