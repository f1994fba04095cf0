"""The command, from outside: what it prints, and how it ends."""

import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import cycle
from pathlib import Path

import pytest
from worlds.server import EVERY_PORT, PATIENCE, ROOT, Served, begun, everything, ran, served, until

from conformance.lab.meters import children_of, has_proc
from gateway import __version__
from gateway.__main__ import main
from gateway.options.names import EVERY
from gateway.runtime.listening import own_addresses, reachable

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
LIMIT = 9
"""Seconds within which the command ends. Its clients have three; a silent one would otherwise have sixty."""


def dialled(gateway: Served, dialect: str) -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", gateway.port(dialect)), timeout=PATIENCE)
    sock.settimeout(PATIENCE)
    return sock


def ask_and_ask(sock: socket.socket, noise: bytes) -> None:
    """Send until the server takes no more, or has hung up, and read nothing."""
    sock.setblocking(False)
    with suppress(BlockingIOError, ConnectionError):
        for _ in range(2000):
            sock.send(noise)


def stopped_in_time(gateway: Served, number: int = signal.SIGTERM) -> str:
    """Stop a server, which must not take long nor fail; return its stderr."""
    begin = time.monotonic()
    status, err = gateway.stop(number)
    assert time.monotonic() - begin < LIMIT
    assert status == 0
    return err


# Starting.


@pytest.fixture(scope="module")
def gateway() -> Iterator[Served]:
    """A gateway that every dialect is spoken with, without a page."""
    with served(*EVERY_PORT) as running:
        yield running


def test_command_says_where_to_point_a_bot_and_how_to_begin(gateway: Served) -> None:
    assert [dialect for dialect, _, _ in gateway.addresses] == ["nac4", "arena", "droidcon"]
    nac4, arena, droidcon = gateway.announced
    assert "ws://127.0.0.1:" in nac4
    assert "connect alice" in nac4
    assert '{"type": "start", "id": "alice"}' in arena
    assert f"nc 127.0.0.1 {gateway.port('droidcon')}" in droidcon
    assert len({port for _, _, port in gateway.addresses}) == 3


# What cannot be started.


def ran_program(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def complaint(err: str) -> str:
    """Return the one line on stderr."""
    (line,) = err.splitlines()
    assert line.startswith("c4gateway: error: ")
    return line


@contextmanager
def taken_port() -> Iterator[int]:
    """Give a port on which somebody else listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield taken.getsockname()[1]


SEVERAL = """
import json, sys
from gateway import __version__
from gateway.__main__ import main
print([main(arguments) for arguments in json.loads(sys.argv[1])])
"""


def test_what_the_system_refuses_is_one_line_and_status_1(tmp_path: Path) -> None:
    """A port in use, for bots and for the page, what is no host, and no directory; one process tries all."""
    place = tmp_path / "none" / "games.db"
    with taken_port() as port:
        in_use = f"127.0.0.1, port {port}: Address already in use"
        starts = [
            ("256.256.256.256", ["--tcp", "0", "--host", "256.256.256.256", "--db", "none"]),
            ("a..b", ["--tcp", "0", "--host", "a..b", "--db", "none"]),
            (in_use, ["--nac4", "0", "--tcp", str(port), "--db", "none"]),
            (in_use, ["--tcp", "0", "--web", str(port), "--db", str(tmp_path / "games.db")]),
            (f"c4gateway: error: {place}: No such file or directory\n", ["--tcp", "0", "--db", str(place)]),
        ]
        done = ran_program(SEVERAL, json.dumps([arguments for _, arguments in starts]))
    assert done.stdout == f"{[1] * len(starts)}\n"
    for (words, _), line in zip(starts, done.stderr.splitlines(keepends=True), strict=True):
        assert line.startswith("c4gateway: error: ")
        assert words in line


@pytest.mark.parametrize("arguments", [["--clock", "nan"], ["--frobnicate"]])
def test_bad_value_or_unknown_option_is_one_line_and_status_2(arguments: list[str]) -> None:
    status, out, err = ran(*arguments)
    assert (status, out) == (2, "")
    assert arguments[-1] in complaint(err)


def test_unknown_command_is_told_which_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["standing", "--db", "none"])
    assert ended.value.code == 2
    line = complaint(capsys.readouterr().err)
    assert "there is no command 'standing', but standings, grades, " in line
    assert "; did you mean 'standings'?" in line
    assert all(f" {command}" in line for command in EVERY)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-V"], f"c4gateway {__version__}, database version "),
        (["version"], f"c4gateway {__version__}, database version "),
        (["help"], "usage: c4gateway "),
        (["help", "standings"], "usage: c4gateway standings "),
        (["help", "player", "add"], "usage: c4gateway player add "),
        (["help", "match"], "usage: c4gateway match "),
    ],
)
def test_help_and_version_are_words_too(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(said)


def test_command_behind_options_is_told_where_it_belongs(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--db", "none", "standings", "--least", "9"])
    assert ended.value.code == 2
    line = complaint(capsys.readouterr().err)
    assert "a command comes before its options: c4gateway standings ... " in line


# Stopping.


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_stops_an_empty_server_at_once_with_status_0(number: signal.Signals) -> None:
    with served(*EVERY_PORT, "--log-json") as gateway:
        err = stopped_in_time(gateway, number)
    started, stopping = map(json.loads, err.splitlines())
    assert [each["address"] for each in started["listening"]] == [
        f"{host}:{port}" for _, host, port in gateway.addresses
    ]
    assert (started["event"], started["results"]) == ("started", "nowhere")
    assert (stopping["event"], stopping["signal"]) == ("stopping", number.name)
    assert stopping["message"] == f"stopping on {number.name}"


@pytest.mark.operation
def test_clients_of_the_worst_kind_do_not_hold_up_the_stop() -> None:
    with served(*EVERY_PORT) as gateway, ExitStack() as stack:
        for dialect in ("nac4", "arena", "droidcon"):
            stack.enter_context(dialled(gateway, dialect))  # says nothing at all
        for begun in (b"GET / HT", HANDSHAKE[:-2]):  # stops in mid-handshake
            stack.enter_context(dialled(gateway, "nac4")).sendall(begun)
        for dialect in ("nac4", "arena"):  # never answers a close frame
            mute = stack.enter_context(dialled(gateway, dialect))
            mute.sendall(HANDSHAKE)
            until(mute, b"\r\n\r\n")
        for dialect, noise in (("droidcon", b"x\n" * 1000), ("arena", b"\x81\x81\x00\x00\x00\x00x" * 500)):
            deaf = stack.enter_context(dialled(gateway, dialect))  # asks and asks, and never reads
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            if dialect == "arena":
                deaf.sendall(HANDSHAKE)
            ask_and_ask(deaf, noise)
        err = stopped_in_time(gateway)
    assert "Traceback" not in err


def test_signal_stops_a_server_that_waits_for_its_database() -> None:
    pytest.importorskip("psycopg", reason="needs the driver for PostgreSQL")
    with socket.create_server(("127.0.0.1", 0)) as mute:
        mute.settimeout(PATIENCE)
        database = f"postgresql://127.0.0.1:{mute.getsockname()[1]}/games?connect_timeout=600"
        with served("--tcp", "0", "--db", database, addresses=0) as gateway:
            waiting, _ = mute.accept()
            err = stopped_in_time(gateway)
            with waiting:
                everything(waiting)  # the process that waits has ended, too
    assert err.endswith("stopping on SIGTERM\n")


@pytest.mark.skipif(not has_proc(), reason="no /proc here")
def test_nothing_outlives_the_stop_though_the_store_hangs_and_signals_come_again(tmp_path: Path) -> None:
    with served(*EVERY_PORT, "--db", str(tmp_path / "games.db")) as gateway:
        [worker] = children_of(gateway.process.pid)
        os.kill(worker, signal.SIGSTOP)
        begin = time.monotonic()
        for number in cycle((signal.SIGINT, signal.SIGTERM)):
            gateway.process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                gateway.process.wait(0.01)
                break
        assert time.monotonic() - begin < LIMIT
        status, err = gateway.end()
    assert status == 0
    assert "Traceback" not in err
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def test_server_that_listens_at_all_addresses_names_those_that_others_reach() -> None:
    hosts = [address.partition(":0")[0] for address in reachable("0.0.0.0:0", own_addresses())]
    with served("--nac4", "0", "--tcp", "0", "--host", "0.0.0.0", addresses=2 * len(hosts)) as gateway:
        found = [(name, host) for name, host, _ in gateway.addresses]
        assert found == [(name, host) for name in ("nac4", "droidcon") for host in hosts]
        _, host, port = gateway.addresses[-1]
        assert f"try: nc {host} {port} " in gateway.announced[-1]
        assert "droidcon 0.0.0.0:" in stopped_in_time(gateway)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.operation)])
def test_page_is_shown_as_a_code_on_a_terminal(workers: int) -> None:
    pytest.importorskip("segno")
    options = ("--arena", "0", "--web", "0", "--db", "none", "--host", "0.0.0.0", "--qr")
    command = [sys.executable, "-m", "gateway", *options, "--workers", str(workers)]
    terminal, end = pty.openpty()
    with (
        open(terminal, "rb", buffering=0) as screen,
        open(end, "wb") as stdout,
        subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.DEVNULL
        ) as process,
    ):
        shown = b""
        while b"\nqr " not in shown and select.select([screen], [], [], PATIENCE)[0]:
            shown += screen.read(65_536)
        process.terminate()
        assert process.wait(PATIENCE) == 0
    text = shown.decode()
    has_code = "\N{FULL BLOCK}" in text
    assert has_code == (reachable("0.0.0.0:0", own_addresses()) != ["0.0.0.0:0"])
    assert has_code or "no code: other machines" in text


# The page.


def test_page_and_log_tell_of_a_game_once_it_was_played(tmp_path: Path) -> None:
    options = (*EVERY_PORT, "--rounds", "1", "--web", "0", "--db", str(tmp_path / "games.db"))
    with served(*options, addresses=4) as gateway, ExitStack() as stack:
        assert [name for name, _, _ in gateway.addresses] == ["page", "nac4", "arena", "droidcon"]
        url = f"http://127.0.0.1:{gateway.port('page')}"
        assert gateway.announced[0] == f"page      {url:26} games live, standings, play\n"
        with dialled(gateway, "page") as client:
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            head, _, body = everything(client).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200")
        assert json.loads(body) == {"ok": True, "waiting": 0}
        ann, bob = (stack.enter_context(dialled(gateway, "droidcon")) for _ in range(2))
        for sock, name in ((ann, b"ann"), (bob, b"bob")):
            sock.sendall(b"NAME " + name + b"\nJOIN x\n")
            until(sock, b"SUCCESS\nSUCCESS\n")
        until(ann, b"YOUR_MOVE\n")
        ann.sendall(b"PUT 9\n")
        everything(ann)
        with dialled(gateway, "page") as client:
            client.sendall(b"GET /api/games HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            [game] = json.loads(everything(client).partition(b"\r\n\r\n")[2])["games"]
        assert [player["name"] for player in game["players"]] == ["ann", "bob"]
        assert (game["winner"], game["reason"], game["table"]) == (2, "illegal", "x")
        err = stopped_in_time(gateway)
    assert "game 'bob' beats 'ann': illegal move, moving second, moves " in err
    assert "Traceback" not in err
    assert "ERROR" not in err


def test_browser_at_a_bots_port_is_sent_to_the_page() -> None:
    with served("--nac4", "0", "--web", "0", addresses=2) as gateway, dialled(gateway, "nac4") as browser:
        browser.sendall(b"GET / HTTP/1.1\r\nHost: localhost:1234\r\nAccept: text/html\r\n\r\n")
        answer = everything(browser).decode()
    assert answer.startswith("HTTP/1.1 303 See Other\r\n")
    assert f"\r\nLocation: http://localhost:{gateway.port('page')}/\r\n" in answer


def unasked(port: int) -> list[str]:
    """Return a command whose page has this usual port."""
    program = f"""
import sys
from gateway import __main__
from gateway.options import server
server.WEB_PORT = {port}
sys.exit(__main__.main())
"""
    return [sys.executable, "-W", "error", "-c", program, "--db", "none"]


def test_page_is_on_unless_its_usual_port_is_in_use_which_costs_the_page_alone() -> None:
    with begun([*unasked(0), "--tcp", "0"], 2) as gateway:
        assert [name for name, _, _ in gateway.addresses] == ["page", "droidcon"]
        err = stopped_in_time(gateway)
        assert ("ERROR" in err, "left out" in err) == (False, False)
    with taken_port() as port, begun([*unasked(port), "--tcp", "0"], 1) as gateway:
        assert [name for name, _, _ in gateway.addresses] == ["droidcon"]
        err = stopped_in_time(gateway)
    assert f"WARNING the page is left out: port {port} is in use; give it another with --web PORT" in err


def test_second_server_is_refused_in_one_line_that_does_not_speak_of_the_page() -> None:
    with taken_port() as page, taken_port() as port:
        done = subprocess.run(
            [*unasked(page), "--tcp", str(port)],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert complaint(done.stderr).endswith(f", port {port}: Address already in use")
    assert done.returncode == 1


# Logging.


# Elsewhere.

ELSEWHERE = """
import sys
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None  # so that to import it is an error, as on Windows
"""


@pytest.mark.parametrize("system", ["win32", "cygwin", "freebsd14"])
def test_system_that_is_not_supported_is_one_line_and_status_1(system: str) -> None:
    done = ran_program(
        ELSEWHERE + f"sys.platform = {system!r}\nfrom gateway.__main__ import main\nstatus = main()\n"
        "assert 'trio' not in sys.modules\nsys.exit(status)"
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert complaint(done.stderr) == f"c4gateway: error: it runs on Linux and macOS, not on {system}"


def test_bot_needs_no_module_that_only_unix_has() -> None:
    done = ran_program(ELSEWHERE + "from adapters.bot.__main__ import main\nmain(['--version'])")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("c4bot ")
