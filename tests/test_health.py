"""The command ``c4gateway health``, as the image's health check runs it, and as an operator does."""

import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import certificates
import pytest
from worlds.server import PATIENCE, ROOT, begun, ran, until

from gateway.runtime.listening import own_addresses, reachable

ON_ALL = reachable("0.0.0.0:0", own_addresses())
"""Where a port is printed to be that listens at all addresses."""
TLS = "TLS"
"""Stands for the options of a certificate."""
PROGRAM = str(Path(sys.executable).with_name("c4gateway"))

pytestmark = pytest.mark.operation


def check(options: list[str], addresses: int) -> tuple[int, str, str]:
    """Run a server, which prints so many addresses; return what the image's check of it comes to."""
    (line,) = re.findall(r"^HEALTHCHECK .*CMD (.*)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    program, *words, pid = json.loads(line)
    assert (program, pid) == ("c4gateway", "1")
    with begun([PROGRAM, "--db", "none", *options], addresses) as gateway:
        done = subprocess.run(
            [PROGRAM, *words, str(gateway.process.pid)],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    return done.returncode, done.stdout, done.stderr


def free_port() -> str:
    """Return a port that nobody has: the check has to find it among the options."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return str(sock.getsockname()[1])


@pytest.mark.parametrize(
    ("port", "options", "addresses", "answer"),
    [
        ("--web", ["--tcp", "0"], 2, "HTTP/1.1 200"),
        ("--web", ["--tcp", "0", "--host", "0.0.0.0"], 2 * len(ON_ALL), "HTTP/1.1 200"),
        ("--port", [], 4, "HTTP/1.1 200"),
        ("--port", ["--proxy-protocol"], 4, "HTTP/1.1 200"),
        ("--port", ["--no-web"], 3, "HTTP/1.1 200"),
        ("--arena", ["--no-web"], 1, "HTTP/1.1 200"),
        ("--tcp", ["--no-web", "--proxy-protocol"], 1, "Error INVALID_COMMAND"),
        pytest.param("--port", [TLS], 4, "HTTP/1.1 200", marks=certificates.needs_openssl),
        pytest.param(
            "--port",
            ["--tls-only", "--proxy-protocol", TLS],
            4,
            "HTTP/1.1 200",
            marks=certificates.needs_openssl,
        ),
        pytest.param(
            "--web", ["--tcp", "0", "--tls-only", TLS], 2, "HTTP/1.1 200", marks=certificates.needs_openssl
        ),
    ],
)
def test_server_is_well_however_it_listens(
    port: str, options: list[str], addresses: int, answer: str, tmp_path: Path
) -> None:
    if TLS in options:
        options = [*options[:-1], *certificates.make(tmp_path).options]
    status, out, err = check([port, free_port(), *options], addresses)
    assert (status, out[: len(answer)], err) == (0, answer, "")


def test_server_that_is_full_is_well() -> None:
    port = free_port()
    command = [PROGRAM, "--db", "none", "--port", port, "--max-connections", "1"]
    with begun(command, 4), socket.socket() as client:
        client.settimeout(PATIENCE)
        client.connect(("127.0.0.1", int(port)))
        client.sendall(b"NAME ann\n")
        assert client.recv(8) == b"SUCCESS\n"
        assert ran("health", "--port", port) == (0, "HTTP/1.1 503 Service Unavailable\n", "")


@pytest.mark.parametrize(("more", "addresses"), [((), 4), (("--no-web",), 3)])
def test_server_that_drains_is_unhealthy(more: tuple[str, ...], addresses: int) -> None:
    port = free_port()
    command = [PROGRAM, "--db", "none", "--port", port, "--drain", "60", *more]
    with begun(command, addresses) as gateway, socket.socket() as ann, socket.socket() as bob:
        for client, name in ((ann, b"ann"), (bob, b"bob")):
            client.settimeout(PATIENCE)
            client.connect(("127.0.0.1", int(port)))
            client.sendall(b"NAME %s\nJOIN x\n" % name)
        until(ann, b"NEW_GAME")
        gateway.process.send_signal(signal.SIGTERM)
        gateway.await_log("may be finished")
        assert ran("health", "--port", port, *more)[0] == 1


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """Answer one client; give the port."""

    def serve() -> None:
        with sock.accept()[0] as client:
            client.recv(4096)
            client.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as sock:
        server = threading.Thread(target=serve)
        server.start()
        yield str(sock.getsockname()[1])
        server.join()


@pytest.mark.parametrize(
    ("answer", "option", "words"),
    [
        (b"HTTP/1.1 503 Service Unavailable\r\n\r\n{}", "--web", "HTTP/1.1 503 Service Unavailable"),
        (b"\x16\x03\xff\n\r\n", "--web", "\\xff"),
        (b"", "--web", "no answer"),
        (b"", "--tcp", "no answer"),
    ],
)
def test_another_answer_is_not_a_good_one(answer: bytes, option: str, words: str) -> None:
    more = ["--no-web"] if option == "--tcp" else []
    with answering(answer) as port:
        status, out, err = ran("health", option, port, *more)
    assert (status, out) == (1, "")
    assert err.startswith(f"c4gateway: unhealthy: 127.0.0.1, port {port}: ")
    assert words in err
    assert err.count("\n") == 1


def test_options_are_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setenv("C4GATEWAY_WEB", port)
    assert ran("health") == (1, "", f"c4gateway: unhealthy: 127.0.0.1, port {port}: Connection refused\n")


def test_process_that_is_another_program_has_no_options() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        status, _, err = ran("health", "--pid", str(other.pid))
        other.communicate(b"\n")
    assert status == 1
    assert f"unhealthy: process {other.pid} is not c4gateway" in err


def test_wrong_option_is_one_line() -> None:
    status, _, err = ran("health", "--wbe", "1")
    assert (status, err.count("\n")) == (2, 1)
