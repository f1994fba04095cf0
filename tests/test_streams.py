"""Standard output and standard error of a server, from outside: in any state, and as JSON."""

import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from forking import PATIENCE, ROOT
from several_nodes import HAS_REGISTRY
from test_several_workers import wait_for_end
from worlds.server import EVERY_PORT, begun, until

from conformance.lab.meters import children_of, has_proc
from gateway.server import local_redis

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


@pytest.mark.parametrize(
    ("streams", "options"),
    [
        *(
            (streams, ())
            for streams in (">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", ">/dev/full 2>/dev/full")
        ),
        ("<&- >&- 2>&-", ("--workers", "2")),
        (">/dev/full 2>/dev/full", ("--log-json",)),
    ],
)
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


@pytest.mark.parametrize(
    ("options", "environment", "status", "words"),
    [
        (["--log-json", "--tcp", "{taken}"], {}, 1, "Address already in use"),
        (["--log-json", "--tcp", "{taken}", "--workers", "2"], {}, 1, "Address already in use"),
        (["--log-json", "--tcp", "x"], {}, 2, "is not a whole number"),
        (["--log-json", "--config", "/nowhere"], {}, 2, "No such file"),
        (["--tcp", "x"], {"C4GATEWAY_LOG_JSON": "1"}, 2, "is not a whole number"),
    ],
)
def test_why_a_server_does_not_start_is_json_if_asked(
    options: list[str], environment: dict[str, str], status: int, words: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [*GATEWAY, *(each.replace("{taken}", port) for each in options)],
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
    program = "from gateway.server.streams import prepared\nwith prepared(as_json=True):\n"
    program += textwrap.indent(CRASHES[crash], " ")
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


@pytest.fixture
def fatal(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Have Python say something where it crashes; give what. No file is left of that."""
    monkeypatch.setenv("PYTHONFAULTHANDLER", "1")
    limits = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, limits[1]))
    yield "Fatal Python error: Segmentation fault"
    resource.setrlimit(resource.RLIMIT_CORE, limits)


def said(err: str) -> list[object]:
    """Return what was written to stderr as text, all lines of which came out as JSON."""
    return [each["message"] for each in objects(err) if each["event"] == "stderr"]


def test_crash_of_the_server_is_json_if_asked(fatal: str) -> None:
    with begun([*GATEWAY, *EVERY_PORT, "--log-json"], 3) as gateway:
        status, err = gateway.stop(signal.SIGSEGV)
    assert status == -signal.SIGSEGV
    assert fatal in said(err)


@pytest.mark.skipif(not has_proc(), reason="needs /proc")
def test_crashes_of_the_server_s_processes_are_json_if_asked(fatal: str, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "gateway", "--db", str(tmp_path / "games.db"), "--web", "0", "--tcp", "0"]
    with begun([*words, "--log-json"], 2) as gateway:
        with socket.create_connection(("127.0.0.1", gateway.port("droidcon")), timeout=PATIENCE) as sock:
            sock.sendall(b"NAME ann\nJOIN @aimafast\n")
            until(sock, b"YOUR_MOVE\n")
            sock.sendall(b"PUT 3\n")
            until(sock, b"YOUR_MOVE\n")  # so a worker has thought
            crashed = {"gateway.store.worker", "adapters.web.serving", "multiprocessing.spawn"}
            for pid in children_of(gateway.process.pid):
                line = Path(f"/proc/{pid}/cmdline").read_text()
                for each in [each for each in crashed if each in line]:
                    crashed.remove(each)
                    os.kill(pid, signal.SIGSEGV)
                    wait_for_end([pid])  # or what they say would be mixed up
            assert crashed == set()
        _, err = gateway.stop()
    assert said(err).count(fatal) == 3


@pytest.mark.skipif(not HAS_REGISTRY or sys.platform != "linux", reason="there is no Redis on Linux here")
def test_all_that_workers_and_their_redis_server_write_is_json_if_asked(
    fatal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / local_redis.PROGRAMS[0]
    found = next(filter(None, map(shutil.which, local_redis.PROGRAMS)))
    program.write_text(f'#!/bin/sh\necho "a word of Redis" >&2\nexec {found} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with begun([*GATEWAY, "--tcp", "0", "--workers", "2", "--log-json"], 1) as gateway:
        for pid in children_of(gateway.process.pid):
            if "--node" in Path(f"/proc/{pid}/cmdline").read_text():
                os.kill(pid, signal.SIGSEGV)
                break
        else:
            raise AssertionError
        log = b""
        assert gateway.process.stderr is not None
        while b"node_ended" not in log:
            line = gateway.process.stderr.readline()
            assert line, "the server has ended"
            log += line
        _, err = gateway.stop()
    lines = said(log.decode() + err)
    assert lines.count("a word of Redis") == 1
    assert lines.count(fatal) == 1
