"""Standard output and standard error of a server, from outside: in any state, and as JSON."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from forking import PATIENCE, ROOT
from served import EVERY_PORT, begun, until

pytestmark = pytest.mark.operation

GATEWAY = (sys.executable, "-m", "gateway", "--db", "none", "--no-web")


@pytest.fixture
def port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@contextmanager
def in_shell(words: Sequence[str], streams: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command with standard streams as a shell opens or closes them."""
    command = ["sh", "-c", f'exec "$@" {streams}', "sh", *words]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("streams", [">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", ">/dev/full 2>/dev/full"])
@pytest.mark.parametrize("options", [(), ("--workers", "2")])
def test_closed_or_full_stream_does_not_stop_a_start(port: int, streams: str, options: Sequence[str]) -> None:
    with in_shell((*GATEWAY, "--tcp", str(port), *options), streams) as process:
        while True:
            try:
                sock = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
                break
            except ConnectionRefusedError:
                assert process.poll() is None
        with sock:
            sock.sendall(b"NAME ann\n")
            assert until(sock, b"\n") == b"SUCCESS\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


def test_results_are_kept_where_all_streams_are_closed(port: int, tmp_path: Path) -> None:
    """The descriptors of the streams are not those of the sockets to the server's own processes."""
    words = [
        sys.executable,
        "-m",
        "gateway",
        "--db",
        str(tmp_path / "games.db"),
        "--web",
        str(port),
        "--tcp",
        "0",
    ]
    with in_shell(words, "<&- >&- 2>&-") as process:
        asked = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        answer = b""
        while b'{"ok": true' not in answer:
            assert process.poll() is None
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as sock:
                    sock.sendall(asked)
                    answer = b"".join(iter(lambda: sock.recv(4096), b""))
            except ConnectionRefusedError:
                pass
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


def objects(text: str) -> list[dict[str, object]]:
    """Return the lines of a text, each of which is a JSON object."""
    found = [json.loads(line) for line in text.splitlines()]
    assert all(isinstance(each, dict) for each in found)
    return found


def test_all_that_a_server_prints_is_json_if_asked() -> None:
    with begun([*GATEWAY, *EVERY_PORT, "--log-json"], 3) as gateway:
        status, err = gateway.stop()
    assert status == 0
    told = objects("".join(gateway.announced))
    assert [each["event"] for each in told] == ["announced"] * 3
    assert [str(each["message"]).split()[0] for each in told] == ["nac4", "arena", "droidcon"]
    assert [each["event"] for each in objects(err)] == ["started", "stopping"]


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize(
    ("options", "environment", "status", "words"),
    [
        (["--log-json", "--tcp", "{taken}"], {}, 1, "Address already in use"),
        (["--log-json", "--tcp", "x"], {}, 2, "is not a whole number"),
        (["--log-json", "--config", "/nowhere"], {}, 2, "No such file"),
        (["--tcp", "x"], {"C4GATEWAY_LOG_JSON": "1"}, 2, "is not a whole number"),
    ],
)
def test_why_a_server_does_not_start_is_json_if_asked(
    options: list[str], environment: dict[str, str], status: int, words: str, workers: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [*GATEWAY, "--workers", workers, *(each.replace("{taken}", port) for each in options)],
            cwd=ROOT,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert (done.returncode, done.stdout) == (status, "")
    [line] = objects(done.stderr)
    assert (line["event"], line["level"]) == ("not_started", "error")
    assert words in str(line["message"])


CRASHES = {
    "uncaught": "raise ValueError('slip')",
    "thread": "import threading; t = threading.Thread(target=lambda: 1 / 0); t.start(); t.join()",
    "ignored": "class A:\n def __del__(self): raise ValueError('slip')\nA()",
    "warning": "import warnings; warnings.warn('slip')",
}


@pytest.mark.parametrize("crash", CRASHES)
def test_what_python_says_of_errors_is_json_if_asked(crash: str) -> None:
    program = f"from gateway.server.streams import prepare\nprepare(as_json=True)\n{CRASHES[crash]}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    [line] = objects(done.stderr)
    assert "slip" in json.dumps(line) or "ZeroDivisionError" in str(line["exception"])


@pytest.mark.parametrize("module", ["gateway.store.worker", "adapters.web.serving"])
def test_crash_of_a_process_of_the_server_s_is_json_if_asked(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gateway.server.streams", module, "no number"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 1
    [line] = objects(done.stderr)
    assert "invalid literal for int()" in str(line["exception"])
