"""The command, from outside: how it lets games be finished, reloads, and gets on with a service manager."""

import fcntl
import json
import os
import pty
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import certificates
import pytest
import websocket
import websockets.exceptions
from scripted_clients import ArenaClient, DroidconClient, Nac4Client, connected, play_out
from shared_ports import MOVES, got, on_one_port
from shared_ports import opened as asked
from worlds.server import EVERY_PORT, PATIENCE, ROOT, Served, begun, everything, ran, served

from conformance.lab.meters import children_of, has_proc
from gateway.access.accounts import Account, digest_of, new_token

pytestmark = pytest.mark.operation

LONG = "600"
"""Seconds that no test waits for."""


@contextmanager
def game(gateway: Served) -> Iterator[tuple[DroidconClient, DroidconClient]]:
    """Give two clients in a game, the one first who is to move."""
    ann, bob = DroidconClient(gateway, "ann", "x"), DroidconClient(gateway, "bob", "x")
    with connected(ann, bob):
        assert ann.hear() == bob.hear() == "NEW_GAME"
        yield ann, bob


def hear_log(gateway: Served, event: str) -> dict[str, object]:
    """Read the log up to a record of this event."""
    return dict(json.loads(gateway.await_log(f'"event": "{event}"')))


def refuses(port: int) -> bool:
    """Whether nobody listens on a port any more; one that was accepted meanwhile is hung up on."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as late:
            assert late.recv(1) == b""
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:
        pass
    return False


# Draining.


def test_game_that_is_on_is_finished_and_stored_and_no_other_begins(tmp_path: Path) -> None:
    database = str(tmp_path / "games.db")
    with served(*EVERY_PORT, "--db", database, "--drain", LONG, "--log-json") as gateway:
        with game(gateway) as (ann, bob), connected(DroidconClient(gateway, "cid", "y")) as (waiting,):
            gateway.process.send_signal(signal.SIGTERM)
            assert hear_log(gateway, "draining")["seconds"] == 600
            assert waiting.rest() == ""
            while not refuses(gateway.port("droidcon")):
                pass
            play_out(ann, bob, MOVES)
            assert ann.rest() == bob.rest() == ""
        status, err = gateway.end()
    assert status == 0
    told = {record["event"]: record for record in map(json.loads, err.splitlines())}
    assert told["drained"]["players"] == 0
    assert told["game_over"]["reason"] == "four"
    status, exported, _ = ran("export", "--db", database)
    assert status == 0
    (stored,) = map(json.loads, exported.splitlines())
    assert (stored["winner"], stored["reason"]) == (1, "four")


def test_players_of_every_dialect_finish_their_game_and_hear_good_bye() -> None:
    with served(*EVERY_PORT, "--drain", LONG, "--log-json") as gateway:
        with connected(Nac4Client(gateway, "ann", "x"), ArenaClient(gateway, "bob", "x")) as clients:
            gateway.process.send_signal(signal.SIGTERM)
            hear_log(gateway, "draining")
            play_out(*clients, MOVES)
            for client in clients:
                with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
                    client.hear()
                assert closed.value.rcvd is not None
                assert closed.value.rcvd.code == 1001
        status, err = gateway.end()
    assert status == 0
    assert '"reason": "four"' in err


def test_one_port_serves_the_page_while_the_last_games_are_finished_and_lets_no_bot_in() -> None:
    with on_one_port("--drain", LONG, "--log-json") as gateway, game(gateway) as players:
        gateway.process.send_signal(signal.SIGTERM)
        hear_log(gateway, "draining")
        assert got(gateway, "/healthz")[0] == 503
        with pytest.raises(websocket.WebSocketBadStatusException, match="503") as refused:
            asked(gateway, "/nac4")
        assert refused.value.resp_body == b"The server is stopping. Try again later.\n"
        with socket.create_connection(("127.0.0.1", gateway.port("droidcon")), timeout=PATIENCE) as late:
            late.sendall(b"NAME eve\n")
            assert everything(late) == b""
        play_out(*players, MOVES)
        assert gateway.end()[0] == 0


@pytest.mark.parametrize(
    ("seconds", "signals", "events"),
    [
        (LONG, [signal.SIGTERM, signal.SIGINT], ["stopping", "drained", "game_over"]),
        (LONG, [signal.SIGINT], ["started", "stopping", "game_over"]),
        ("0.2", [signal.SIGTERM], ["started", "draining", "drained", "game_over"]),
    ],
    ids=["second signal", "interrupt", "time is up"],
)
def test_games_are_cut_off(seconds: str, signals: list[signal.Signals], events: list[str]) -> None:
    with served(*EVERY_PORT, "--drain", seconds, "--log-json") as gateway:
        with game(gateway) as (ann, bob):
            gateway.process.send_signal(signals[0])
            if len(signals) > 1:
                hear_log(gateway, "draining")
                gateway.process.send_signal(signals[1])
            assert (ann.rest(), bob.rest()) == ("YOUR_MOVE\n", "")
        status, err = gateway.end()
    assert status == 0
    told = [json.loads(line) for line in err.splitlines()]
    assert [each["event"] for each in told] == [*events, "player_gone", "player_gone"]
    assert told[len(events) - 1]["reason"] == "stopped"


# SIGHUP.


def test_protected_names_are_read_again_and_stay_where_their_file_is_broken(tmp_path: Path) -> None:
    file = tmp_path / "players"
    file.touch()
    with served(*EVERY_PORT, "--players", str(file), "--log-json") as gateway:
        file.write_text(f"{Account('ann', digest_of(new_token())).line}\n")
        gateway.process.send_signal(signal.SIGHUP)
        told = hear_log(gateway, "names_read")
        assert (told["names"], told["came"], told["went"]) == (1, 1, 0)
        assert hear_log(gateway, "reloaded")["what"] == ["the players"]
        file.write_text("no account\n")
        gateway.process.send_signal(signal.SIGHUP)
        assert "line 1" in hear_log(gateway, "not_reloaded")["error"]
        file.write_text("")
        gateway.process.send_signal(signal.SIGHUP)
        told = hear_log(gateway, "not_reloaded")
        assert told["level"] == "error"
        assert "has no names, and 1 are protected; if that is intended" in told["error"]
        file.unlink()
        os.mkfifo(file)
        gateway.process.send_signal(signal.SIGHUP)
        assert "not a regular file" in hear_log(gateway, "not_reloaded")["error"]
        with socket.create_connection(("127.0.0.1", gateway.port("droidcon")), timeout=PATIENCE) as ann:
            ann.sendall(b"NAME ann\n")
            assert ann.makefile("r").readline() == "Error INVALID_COMMAND\n"
        assert gateway.stop()[0] == 0


@certificates.needs_openssl
def test_certificate_is_read_again_for_new_clients_and_stays_where_a_file_is_none(tmp_path: Path) -> None:
    files, other = certificates.make(tmp_path), certificates.make(tmp_path, "other")

    def dialled(trusted: certificates.Files) -> ssl.SSLSocket:
        sock = socket.create_connection(("127.0.0.1", gateway.port("droidcon")), PATIENCE)
        return trusted.client().wrap_socket(sock, server_hostname="127.0.0.1")

    with served(*EVERY_PORT, *files.options, "--log-json") as gateway, dialled(files) as before:
        for part in ("certificate", "key"):
            shutil.copy(getattr(other, part), getattr(files, part))
        gateway.process.send_signal(signal.SIGHUP)
        assert hear_log(gateway, "reloaded")["what"] == ["the players", "the certificate"]
        dialled(other).close()
        os.unlink(files.key)
        os.mkfifo(files.key)
        gateway.process.send_signal(signal.SIGHUP)
        assert f"--tls-key: {files.key} is a pipe" in str(hear_log(gateway, "not_reloaded")["error"])
        dialled(other).close()
        before.sendall(b"NAME ann\n")
        assert before.recv(100) == b"SUCCESS\n"
        assert gateway.stop()[0] == 0


@pytest.mark.skipif(not has_proc(), reason="no /proc here")
def test_signal_for_all_processes_of_a_terminal_costs_no_worker(tmp_path: Path) -> None:
    with served(*EVERY_PORT, "--db", str(tmp_path / "games.db"), "--log-json") as gateway:
        workers = children_of(gateway.process.pid)
        for process in (*workers, gateway.process.pid):
            os.kill(process, signal.SIGHUP)
        hear_log(gateway, "reloaded")
        assert children_of(gateway.process.pid) == workers
        assert gateway.stop()[0] == 0


@pytest.mark.parametrize("options", [(), ("--log-json",)])
def test_server_whose_terminal_is_closed_stops(options: Sequence[str]) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "gateway", "--no-web", "--db", "none", *EVERY_PORT, *options]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs, text=True
    )
    with process:
        assert process.stdout is not None
        for _ in range(3):
            process.stdout.readline()
        os.close(theirs)
        os.close(ours)
        process.send_signal(signal.SIGHUP)
        assert process.wait(timeout=PATIENCE) == 0


# A service manager.


@contextmanager
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], str]]:
    """Give what returns the next state that the server tells its manager."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(PATIENCE)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        yield lambda: listening.recv(1024).decode()


def test_manager_hears_of_the_start_a_reload_and_the_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with manager(tmp_path, monkeypatch) as state, served(*EVERY_PORT, "--drain", "30") as gateway:
        assert state() == "READY=1"
        gateway.process.send_signal(signal.SIGHUP)
        assert state().startswith("RELOADING=1\nMONOTONIC_USEC=")
        assert state() == "READY=1"
        assert gateway.stop()[0] == 0
        assert state() == "STOPPING=1\nEXTEND_TIMEOUT_USEC=60000000"


def test_manager_hears_that_the_server_is_alive_until_it_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", "20000")
    with (
        manager(tmp_path, monkeypatch) as state,
        served(*EVERY_PORT, "--drain", LONG) as gateway,
        game(gateway),
    ):
        alive = 0
        while alive < 10:
            alive += state() == "WATCHDOG=1"
        gateway.process.send_signal(signal.SIGTERM)
        while not state().startswith("STOPPING=1"):
            pass
        assert [state() for _ in range(3)] == ["WATCHDOG=1"] * 3
        assert gateway.stop()[0] == 0


HANDING_OVER = """
import os, sys
numbers, names, *command = sys.argv[1:]
for place, number in enumerate(numbers.split()):
    os.dup2(int(number), 3 + place)
os.environ |= {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": str(place + 1), "LISTEN_FDNAMES": names}
os.execv(command[0], command)
"""
"""Becomes a command to which it hands over sockets."""


@contextmanager
def opened(count: int) -> Iterator[list[socket.socket]]:
    """Give sockets that listen, as a service manager has them."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        yield sockets


@contextmanager
def activated(sockets: list[socket.socket], names: str, *options: str) -> Iterator[Served]:
    """Run a gateway to which sockets are handed over."""
    high = [fcntl.fcntl(sock, fcntl.F_DUPFD, 100) for sock in sockets]
    command = [sys.executable, "-c", HANDING_OVER, " ".join(map(str, high)), names]
    command += [sys.executable, "-m", "gateway", "--db", "none", *options]
    try:
        with begun(command, len(sockets), pass_fds=high) as gateway:
            yield gateway
    finally:
        for number in high:
            os.close(number)


def test_sockets_that_are_handed_over_are_used_by_name_and_no_other_is_opened() -> None:
    names = "page:nac4:droidcon"
    with opened(3) as sockets, activated(sockets, names) as gateway:
        ports = [sock.getsockname()[1] for sock in sockets]
        assert {name: port for name, _, port in gateway.addresses} == dict(
            zip(names.split(":"), ports, strict=True)
        )
        with game(gateway):
            assert gateway.stop()[0] == 0


def test_client_that_comes_between_two_servers_is_served_by_the_second() -> None:
    with opened(1) as sockets:
        with activated(sockets, "droidcon", "--no-web") as gateway:
            assert gateway.stop()[0] == 0
        with socket.create_connection(sockets[0].getsockname(), timeout=PATIENCE) as early:
            early.sendall(b"NAME ann\n")
            with activated(sockets, "droidcon", "--no-web") as gateway:
                assert early.recv(100) == b"SUCCESS\n"
                assert gateway.stop()[0] == 0
