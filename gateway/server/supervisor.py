"""Several servers on one machine, which share its ports: what the operator sees of them is one server.

Knows the options, ports and signals. Does not know how a game is played: a worker is the same command with
other options (`workers`), and this process loads nothing that serves. The rules it keeps:

- The first worker starts alone, so that a start that fails says so once; the others follow together.
- Nothing is announced, to people or to a manager such as systemd, before all of them are ready.
- SIGTERM and SIGINT reach each worker as often as they come; SIGHUP those that can take it.
"""

import math
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import trio

from gateway.options.arguments import Description, Options, in_one_line
from gateway.options.options import WEB_PORT, page_port
from gateway.options.workers import ALONE, WORKER, arguments, wanted
from gateway.runtime.activation import FIRST
from gateway.runtime.json_stderr import complain
from gateway.runtime.notifying import READY, keep_alive, notify, reloading, stopping, watchdog
from gateway.runtime.reserving import PortInUseError, reserved
from gateway.server import local_redis, qr
from gateway.server.crew import Crew, EndedError, Member, Order
from gateway.server.logs import set_up_logging
from gateway.server.private_folder import private_folder
from gateway.server.reloading import has_terminal
from gateway.server.streams import OF_LOG, write

_LONGEST_TEXT = 65_536
"""Bytes of what a worker announces: more than it does, and no more than a pipe takes."""
_COMMAND = [sys.executable, "-P", "-m", "gateway"]

REGISTRY = "redis"
"""What the workers' own one is called in the log."""


def main(options: Options, given: Sequence[str], dialects: Sequence[Description]) -> int:
    """Run as many servers as the options say; return the exit status, as for one."""
    set_up_logging(options.log_level, as_json=options.log_json)
    status = 0
    try:
        with _prepared(options, given, dialects) as (folder, orders, registry):
            trio.run(_run, options, folder, orders, registry)
    except* OSError as refusals:
        complain(in_one_line(refusals), as_json=options.log_json)
        status = 1
    except* EndedError as ends:
        status = _status(ends, as_json=options.log_json)
    except* KeyboardInterrupt:
        pass
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # it is over; one more Ctrl-C changes nothing
    return status


def _status(ends: BaseExceptionGroup[EndedError], *, as_json: bool) -> int:
    """Return the exit status where programs ended before they were ready; say so if they did not."""
    end: BaseException = ends
    while isinstance(end, BaseExceptionGroup):
        end = end.exceptions[0]
    assert isinstance(end, EndedError)
    if end.name == REGISTRY or end.status < 0:
        complain(str(end), as_json=as_json)
    return max(1, end.status)


@contextmanager
def _prepared(
    options: Options, given: Sequence[str], dialects: Sequence[Description]
) -> Iterator[tuple[Path, list[Order], Order | None]]:
    """Reserve the ports; give a private folder, and how the workers and their registry are started.

    Raises OSError.
    """
    with ExitStack() as opened:
        folder = opened.enter_context(private_folder())
        url, registry = None, None
        if options.cluster is None:
            url = local_redis.url(folder)
            environment = local_redis.environment(os.environ)
            registry = Order(REGISTRY, local_redis.command(folder), environment, dies_by=signal.SIGKILL)
        try:
            ports = opened.enter_context(
                reserved(wanted(options, dialects, page_port(options)), options.host)
            )
        except PortInUseError as error:
            hint = f"; without --web or --no-web the page takes {WEB_PORT}" if options.web is None else ""
            raise PortInUseError(f"{error}{hint}") from error
        lines = [arguments(options, given, each, ports, url) for each in range(1, options.workers + 1)]
        orders = [_order(options, index, words) for index, words in enumerate(lines, 1)]
        yield folder, orders, registry


def _order(options: Options, index: int, words: Sequence[str]) -> Order:
    sockets = range(FIRST, FIRST + sum(map(len, options.sockets.values())))
    others = ("NOTIFY_", "WATCHDOG_", *(() if sockets else ("LISTEN_",)))
    environment = {name: text for name, text in os.environ.items() if not name.startswith(others)}
    environment[WORKER] = ALONE if options.cluster is None else "with others"
    inherited = [*sockets]
    if options.log_json:  # their own log is JSON already, and takes no detour
        inherited.append(sys.stderr.fileno())
        environment[OF_LOG] = str(sys.stderr.fileno())
    return Order(f"worker {index}", [*_COMMAND, *words], environment, sockets=inherited)


async def _run(options: Options, folder: Path, orders: Sequence[Order], registry: Order | None) -> None:
    """Run the workers until they are stopped. Raises OSError, EndedError."""
    crew = Crew([Member(order) for order in orders], folder, watchdog() or math.inf)
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals, _pipe() as pipe:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(keep_alive)
            nursery.start_soon(_obey, crew, options.drain, signals)
            nursery.start_soon(_drain, crew)
            if registry is not None:
                member = Member(registry)
                nursery.start_soon(crew.keep_silent, member)
                await local_redis.answering(folder)
                member.now_ready()
            await _play(crew, pipe, with_qr=qr.is_shown(options))
            nursery.cancel_scope.cancel()


@contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    """Give the two ends of a pipe; of the first one reads what there is."""
    ends = os.pipe()
    os.set_blocking(ends[0], False)
    try:
        yield ends
    finally:
        for each in ends:
            os.close(each)


async def _play(crew: Crew, pipe: tuple[int, int], *, with_qr: bool) -> None:
    """Start the first worker, and the others once it is ready; return when all have ended."""
    first, *others = crew.members
    announced, first.output = pipe
    async with trio.open_nursery() as nursery:
        nursery.start_soon(crew.keep, first)
        nursery.start_soon(_announce, crew, announced, with_qr)
        await first.ready.wait()
        for each in others:
            nursery.start_soon(crew.keep, each)


async def _announce(crew: Crew, announced: int, with_qr: bool) -> None:
    """Print what the first worker has printed, once all are ready."""
    if await crew.all_ready():
        await trio.lowlevel.wait_readable(announced)
        text = os.read(announced, _LONGEST_TEXT).decode(errors="backslashreplace")
        write(text + qr.below(text) if with_qr else text)
        notify(READY)


async def _obey(crew: Crew, drain: float, signals: AsyncIterator[int]) -> None:
    """Do what signals ask for, until cancelled."""
    had_terminal = has_terminal()
    async with trio.open_nursery() as nursery:
        async for number in signals:
            if number == signal.SIGHUP and (has_terminal() or not had_terminal):
                nursery.start_soon(_reload, crew)
                continue
            asked = signal.SIGTERM if number == signal.SIGHUP else number
            _stop(crew, asked, drain if asked == signal.SIGTERM else 0.0)


async def _drain(crew: Crew) -> None:
    """Let all workers drain once the operator has asked one of them for it."""
    seconds = await crew.drain_asked_for()
    if not crew.is_stopping:
        _stop(crew, signal.SIGTERM, seconds)


def _stop(crew: Crew, number: int, seconds: float) -> None:
    """Pass on a signal, after which games may go on for so many seconds."""
    if not crew.is_stopping:
        notify(stopping(seconds))
        crew.stop()
    for each in crew.members:
        each.send(number)


async def _reload(crew: Crew) -> None:
    """Let the workers read their files again; one that starts just now does so anyway."""
    notify(reloading())
    for each in crew.members:
        if each.is_up:
            each.ready = trio.Event()
            each.send(signal.SIGHUP)
    if await crew.all_ready():
        notify(READY)
