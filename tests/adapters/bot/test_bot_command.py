"""The command ``c4bot``: against a running gateway, and against nobody.

Of two bots that meet, one runs in the process of the tests and the other elsewhere: in a process where one
bot plays after the other, or in one of its own where that hears signals, or somebody types.
"""

import io
import json
import math
import os
import pty
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from threading import Thread

import pytest
from worlds.server import EVERY_PORT, PATIENCE, ROOT, Served, served

from adapters.bot.__main__ import main
from gateway.engines.catalogue import engine_named
from gateway.game.board import Board


@pytest.fixture(scope="module")
def gateway() -> Iterator[Served]:
    with served(*EVERY_PORT, "--rounds", "2") as running:
        yield running


@contextmanager
def botted(*arguments: str, stdin: int = subprocess.DEVNULL) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "adapters.bot", *arguments],
        cwd=ROOT,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


OTHERS = """
import json, socket, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from adapters.bot.__main__ import main
with socket.socket(fileno=int(sys.argv[1])) as tests:
    for line in tests.makefile():
        with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
            status = main(json.loads(line))
        tests.sendall(json.dumps([status, out.getvalue(), err.getvalue()]).encode() + b"\\n")
"""


class Other:
    """A process where one bot plays after the other; nobody types there."""

    def __init__(self, tests: socket.socket) -> None:
        self._tests = tests
        self._answers = tests.makefile()

    def begin(self, *arguments: str) -> None:
        """Let a bot play, once those before have ended."""
        self._tests.sendall(f"{json.dumps(arguments)}\n".encode())

    def ended(self) -> tuple[int, str, str]:
        """Wait for the next end of a bot; return exit status, stdout, stderr."""
        status, out, err = json.loads(self._answers.readline())
        return status, out, err


@pytest.fixture(scope="module")
def other() -> Iterator[Other]:
    ours, theirs = socket.socketpair()
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", OTHERS, str(theirs.fileno())],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        pass_fds=[theirs.fileno()],
    ) as process:
        theirs.close()
        ours.settimeout(PATIENCE)
        try:
            yield Other(ours)
        finally:
            process.kill()
            ours.close()


class Interrupting(io.StringIO):
    """Takes what a bot prints, and interrupts the bot when that begins."""

    def write(self, text: str) -> int:
        if not self.tell():
            signal.raise_signal(signal.SIGINT)
        return super().write(text)


def complaints(err: str) -> str:
    """Return what was said on stderr, but for what chance brings.

    That is an opponent that is long in coming.
    """
    return "".join(line for line in err.splitlines() if " waits at " not in line)


def ended(process: subprocess.Popen[str], typed: str | None = None) -> tuple[int, str, str]:
    out, err = process.communicate(typed, timeout=PATIENCE)
    return process.returncode, out, err


def ran(*arguments: str, out: io.StringIO | None = None) -> tuple[int, str, str]:
    """Run a bot to its end here; return exit status, stdout, stderr."""
    out, err, status = out or io.StringIO(), io.StringIO(), 2
    with redirect_stdout(out), redirect_stderr(err), suppress(SystemExit):  # because of a wrong option
        status = main(arguments)
    return status, out.getvalue(), err.getvalue()


def where(gateway: Served, dialect: str) -> tuple[str, str]:
    """Return the command's words for a dialect and its address."""
    address = f"127.0.0.1:{gateway.port(dialect)}"
    return dialect, address if dialect == "droidcon" else f"ws://{address}"


@contextmanager
def breaking(port: int) -> Iterator[int]:
    """Give a port that leads to the server, where the first connection breaks in the middle of a game."""

    def carry(source: socket.socket, to: socket.socket, pieces: float) -> None:
        """Carry so many pieces from end to end, then break off the connection."""
        with suppress(OSError):
            while (data := source.recv(65_536)) and pieces:
                to.sendall(data)
                pieces -= 1
        for end in (source, to):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def serve() -> None:
        with suppress(OSError):
            # The first pieces are the handshake, the name and a move, or the name and two moves
            for pieces in (3, math.inf):
                ends = listening.accept()[0], socket.create_connection(("127.0.0.1", port))
                for source, to, most in ((*ends, pieces), (*ends[::-1], math.inf)):
                    threads.append(Thread(target=carry, args=(source, to, most)))
                    threads[-1].start()
                connections.extend(ends)

    connections, threads = list[socket.socket](), list[Thread]()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = Thread(target=serve)
        serving.start()
        yield listening.getsockname()[1]
        serving.join(PATIENCE)
    for thread in threads:
        thread.join(PATIENCE)
    for each in connections:
        each.close()


# Against the gateway.


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (("nac4", "--engine", "mc:50"), ("arena", "--engine", "random", "--encoding", "edn")),
        (("arena", "--engine", "mc:50"), ("droidcon", "--engine", "random")),
    ],
)
def test_engines_play_each_other_over_any_two_dialects(
    gateway: Served, other: Other, one: tuple[str, ...], two: tuple[str, ...]
) -> None:
    rest = ("--games", "2", "--table", f"{one[0]}-{two[0]}")
    other.begin(*where(gateway, two[0]), *two[1:], *rest)
    results = [ran(*where(gateway, one[0]), *one[1:], *rest, "--verbose"), other.ended()]
    assert [(status, complaints(err)) for status, _, err in results] == [(0, "")] * 2
    shown, quiet = (out for _, out, _ in results)
    assert "2 games: " in shown
    assert "2 games: " in quiet
    assert "(X)" in shown
    assert "(X)" not in quiet
    assert "moving first, 1 game: " in quiet
    assert "moving second, 1 game: " in quiet


@pytest.mark.parametrize("dialect", ["nac4", "arena", "droidcon"])
def test_game_whose_connection_breaks_goes_on_and_counts_once(other: Other, dialect: str) -> None:
    rest = ("--engine", "random", "--table", "t")
    with served(*EVERY_PORT, "--grace", "20") as gateway:
        other.begin(*where(gateway, dialect), "--name", "bob", *rest)
        with breaking(gateway.port(dialect)) as port:
            address = f"127.0.0.1:{port}" if dialect == "droidcon" else f"ws://127.0.0.1:{port}"
            status, out, err = ran(dialect, address, "--name", "ann", *rest, "--reconnect")
        assert (status, out[:8]) == (0, "1 game: ")
        assert "the connection broke in the middle of a game; trying to come back" in err
        assert (
            "a game begins, which counts as the same one" if dialect == "droidcon" else "the game goes on"
        ) in err
        status, out, _ = other.ended()
        assert (status, out[:8]) == (0, "1 game: ")


def test_person_plays_at_the_prompt(gateway: Served) -> None:
    arguments = (*where(gateway, "droidcon"), "--channel", "p", "--engine")
    with botted(*arguments, "manual", stdin=subprocess.PIPE) as person:
        assert person.stdin is not None
        person.stdin.write("nine\n" + "0\n1\n2\n3\n4\n5\n6\n" * 20)
        person.stdin.flush()
        assert ran(*arguments, "random")[0] == 0
        status, out, err = ended(person)
        assert (status, complaints(err)) == (0, "")
    assert "your column (0 to 6): type the number of a column, 0 to 6: " in out
    assert "1 game: " in out


def test_person_may_leave_while_nothing_is_typed(gateway: Served) -> None:
    """The thread that waits for a line does not hold up the end."""
    ours, theirs = pty.openpty()
    try:
        with botted(
            *where(gateway, "droidcon"), "--engine", "manual", "--channel", "w", stdin=theirs
        ) as process:
            assert process.stdout is not None
            assert "waits for a game" in process.stdout.readline()
            process.send_signal(signal.SIGINT)
            status, out, err = ended(process)
    finally:
        os.close(ours)
        os.close(theirs)
    assert (status, err) == (130, "")
    assert out.startswith("0 games: ")


@pytest.mark.parametrize("dialect", ["arena", "droidcon"])
def test_bot_that_is_interrupted_says_what_it_has_done(gateway: Served, dialect: str) -> None:
    options = ("--verbose", "--table", f"i-{dialect}", "--games", "0")
    status, out, err = ran(*where(gateway, dialect), *options, out=Interrupting())
    assert (status, out.splitlines()[1:], err) == (130, ["0 games: 0 won, 0 lost, 0 drawn"], "")


# Against nobody, or nobody of use.


def test_server_that_is_not_there_is_one_line_and_status_1() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        status, out, err = ran("nac4", f"127.0.0.1:{port}")
    assert (status, out) == (1, "")
    assert err == f"c4bot: error: no server at 127.0.0.1:{port}: Connection refused\n"


def test_seed_is_that_of_the_engines_lots() -> None:
    found = []
    for _ in range(2):
        assert ran("droidcon", "127.0.0.1:1", "--engine", "random", "--seed", "5")[0] == 1
        found.append([engine_named("random")(Board(), 1.0) for _ in range(20)])
    assert found[0] == found[1]


@pytest.mark.parametrize(("dialect", "port"), [("nac4", "arena"), ("arena", "nac4")])
def test_server_of_another_dialect_is_one_line_and_status_1(gateway: Served, dialect: str, port: str) -> None:
    status, out, err = ran(dialect, f"127.0.0.1:{gateway.port(port)}")
    assert (status, out) == (1, "")
    assert err.startswith("c4bot: error: ")
    assert err.count("\n") == 1


def test_stdout_that_takes_nothing_is_one_line_and_status_1(gateway: Served) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "adapters.bot", *where(gateway, "droidcon"), "--verbose"],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "c4bot: error: [Errno 28] No space left on device\n"
