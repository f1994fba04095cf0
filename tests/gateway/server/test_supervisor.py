"""Programs that are kept running, by small ones that say what they are told to."""

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from gateway.server.supervisor import EndedError, Program, Supervisor

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="it is Linux that ends them with this process"
)

PATIENCE = 30.0
SAY = """
import os, signal, socket, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR1})
def say(state):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(state.encode(), os.environ["NOTIFY_SOCKET"])
"""
READY = SAY + "say('A=1\\nREADY=1'); "
WAIT = "signal.sigwait({signal.SIGTERM, signal.SIGUSR1})"


def program(text: str, name: str = "one") -> Program:
    environment = {name: text for name, text in os.environ.items() if not name.startswith("COV")}
    return Program(name, [sys.executable, "-S", "-c", text], environment)


@asynccontextmanager
async def kept(folder: Path, *programs: Program, period: float = math.inf) -> AsyncIterator[Supervisor]:
    """Keep programs running while the context lasts; then stop them."""
    supervisor = Supervisor(programs, folder, period)
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            for one in programs:
                nursery.start_soon(supervisor.keep, one)
            yield supervisor
            supervisor.stop(signal.SIGTERM)


async def until(what: Callable[[], bool]) -> None:
    while not what():  # noqa: ASYNC110  processes tell nobody
        await trio.sleep(0.005)


async def test_all_are_ready_once_each_has_said_so(tmp_path: Path) -> None:
    programs = [program(READY + WAIT, "one"), program(READY + WAIT, "two")]
    async with kept(tmp_path, *programs) as supervisor:
        assert not programs[0].is_up
        assert await supervisor.all_ready()
        assert all(each.is_up for each in programs)


async def test_program_that_ends_is_started_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    one = program(READY + WAIT)
    async with kept(tmp_path, one) as supervisor:
        await supervisor.all_ready()
        first = one.process
        assert first is not None
        first.kill()
        await until(lambda: one.is_up and one.process is not first)
    [record] = caplog.records
    assert record.getMessage() == "one has ended with status -9; it is restarted in 0 s"
    assert record.levelname == "ERROR"


async def test_program_that_ends_again_and_again_is_started_after_a_pause(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    one = program(READY + WAIT)
    async with kept(tmp_path, one):
        for ended in (1, 2):
            await until(lambda: one.is_up)
            assert one.process is not None
            one.process.terminate()
            await until(lambda number=ended: len(caplog.records) == number)
    first, second = (record.__dict__["seconds"] for record in caplog.records)
    assert 0.0 == first < second
    assert {record.levelname for record in caplog.records} == {"INFO"}


async def test_program_that_was_never_ready_is_not_started_anew(tmp_path: Path) -> None:
    supervisor = Supervisor([program("raise SystemExit(3)")], tmp_path)
    with pytest.raises(ExceptionGroup) as ends:
        await supervisor.keep(supervisor.programs[0])
    assert ends.group_contains(EndedError, match=r"^one has ended before it was ready, with status 3$")


async def test_program_that_stands_still_is_killed_and_started_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one = program(READY + "assert os.environ['WATCHDOG_USEC'] == '200000'; " + WAIT)
    async with kept(tmp_path, one, period=0.2):
        await until(lambda: bool(caplog.records))
    assert "status -9" in caplog.records[0].getMessage()


async def test_who_waits_until_a_program_is_ready_is_told_that_it_is_stopped(tmp_path: Path) -> None:
    one = program(SAY + WAIT)
    async with kept(tmp_path, one) as supervisor:
        await until(lambda: one.process is not None)
        supervisor.stop(signal.SIGTERM)
        assert not await supervisor.all_ready()


async def test_first_run_alone_has_the_output(tmp_path: Path) -> None:
    source, output = os.pipe()
    runs = tmp_path / "runs"
    count = f"with open({str(runs)!r}, 'a') as runs: runs.write('x')\n"
    one = program(f"print('hello', flush=True)\n{count}{READY}{WAIT}")
    one.output = output
    async with kept(tmp_path, one) as supervisor:
        await supervisor.all_ready()
        assert one.process is not None
        one.process.terminate()
        await until(lambda: runs.exists() and len(runs.read_text()) > 1)
    os.close(output)
    assert os.read(source, 1024) + os.read(source, 1024) == b"hello\n"
    os.close(source)


async def test_program_ends_if_this_is_cancelled(tmp_path: Path) -> None:
    one = program(READY + WAIT)
    supervisor = Supervisor([one], tmp_path)
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(supervisor.keep, one)
            await supervisor.all_ready()
            process = one.process
            nursery.cancel_scope.cancel()
    assert process is not None
    assert process.returncode == 0


PARENT = """
import os, subprocess, sys, time
tied = [sys.executable, "-P", "-m", "gateway.runtime.processes", str(os.getpid()), "9"]
subprocess.Popen([*tied, "sh", "-c", "echo begun; exec sleep 60"])
time.sleep(60)
"""


def test_program_ends_with_the_process_that_started_it() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"begun\n"
        began = time.monotonic()
        parent.kill()
        assert parent.stdout.read() == b""  # once nobody has it open
        assert time.monotonic() - began < PATIENCE


def test_program_does_not_begin_if_who_started_it_has_ended() -> None:
    command = [sys.executable, "-P", "-m", "gateway.runtime.processes", "1", "9", "echo", "begun"]
    assert subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=PATIENCE).stdout == b""


def test_sockets_that_are_handed_on_are_for_the_program_itself() -> None:
    command = [sys.executable, "-P", "-m", "gateway.runtime.processes", str(os.getpid()), "9"]
    shown = subprocess.run(
        [*command, "sh", "-c", "echo $$ $LISTEN_PID"],
        stdout=subprocess.PIPE,
        env={**os.environ, "LISTEN_FDS": "1", "LISTEN_PID": "1"},
        check=True,
        timeout=PATIENCE,
    ).stdout.split()
    assert shown[0] == shown[1]
