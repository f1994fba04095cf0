"""The server: options in, a running server out.

The composition root: the only module that knows both the gateway and its adapters. `__main__`, which reads
the options, knows only the list of the dialects.
"""

import argparse
import gc
import logging
import random
import resource
import secrets
import select
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import trio

from adapters.connection import serve_connection
from adapters.epoll import EpollReader
from adapters.front_ends import DIALECTS
from adapters.house.server import House, is_installed
from adapters.house.thinking import Thinker
from adapters.sockets import DirectSocket
from adapters.wire import Backlogs, Turns, Wire
from gateway.game.commands import HOUSE_PLAYERS
from gateway.game.ids import RUNS, game_ids
from gateway.game.results import NoResults
from gateway.game.session import Terms
from gateway.hub.hub import Hub
from gateway.hub.interfaces import HubForPlayers
from gateway.matchmaking.standard import LobbyAndTables
from gateway.server.app import (
    FrontEnd,
    Listening,
    PortInUseError,
    Service,
    addresses_of,
    adopt,
    listen,
    open_port,
    run,
    stop_asked_for,
)
from gateway.server.arguments import in_one_line, let_output_take_any_text
from gateway.server.arrivals import ArrivalTimes
from gateway.server.logs import log_fault, log_games, log_start, set_up_logging
from gateway.server.notifying import READY, keep_alive, notify
from gateway.server.options import NO_WEB, PAGE, WEB_PORT
from gateway.server.reloading import Reloads, reload_on_hangup

if TYPE_CHECKING:
    from gateway.server.archive import Archive

logger = logging.getLogger("gateway.server")


def main(options: argparse.Namespace) -> int:
    """Run the server; return the exit status: 0 when it was stopped, 1 when the system refused something."""
    let_output_take_any_text()
    set_up_logging(options.log_level, as_json=options.log_json)
    status = 0
    _allow_many_connections()
    _collect_seldom()
    _wait_for_no_thread()
    try:
        trio.run(_serve, options)
    except* OSError as refusals:
        print(f"c4gateway: error: {in_one_line(refusals)}", file=sys.stderr)
        status = 1
    except* KeyboardInterrupt:
        pass
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # it is over; one more Ctrl-C changes nothing
    return status


def _allow_many_connections() -> None:
    """Let the process have as many files open as it may; a connection is one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _collect_seldom() -> None:
    """Let the cyclic garbage collector skip what is loaded, and run less often: it costs play time."""
    gc.freeze()
    gc.set_threshold(50_000)


def _wait_for_no_thread() -> None:
    """Let a thread that computes give way to the event loop soon; by Python's default moves are late."""
    sys.setswitchinterval(1e-4)


async def _serve(options: argparse.Namespace) -> None:
    terms = Terms(options.clock, options.penalty, options.idle, options.rejoin)
    lot = random.Random(options.seed)
    matchmaker = LobbyAndTables(lot, options.games_per_pair, options.house_after)
    reloads = Reloads()
    arrivals = ArrivalTimes()
    trio.lowlevel.add_instrument(arrivals)
    epoll = EpollReader() if hasattr(select, "epoll") else None
    async with AsyncExitStack() as until_all_is_stored, _kept(options) as archive:
        place = "nowhere" if archive is None else archive.label
        hub = Hub(
            terms,
            matchmaker,
            NoResults() if archive is None else archive.results,
            log_fault,
            game_ids(secrets.randbelow(RUNS) if archive is None else archive.run),
        )
        log_games(hub.feed, arrivals.delay_since)
        page = await _open_page(options)
        wired = partial(_wired, arrivals, epoll, Backlogs(), Turns())
        front_ends = _front_ends(options, hub, wired, _port(page))
        listening = [await _listening(front_end, options) for front_end in front_ends]
        opened = [(PAGE, addresses_of(page))]
        opened += [(each.front_end.name, each.addresses()) for each in listening]
        services: list[Service] = [_web(options, archive, page, listening, hub)] if page else []
        if not page and options.web != NO_WEB:
            _say_that_there_is_no_page()
        async with trio.open_nursery() as nursery:
            thinker = Thinker(options.house_workers, terms)
            if epoll is not None:
                nursery.start_soon(epoll.run)
            hub.engage(House(hub, nursery, thinker, options.house))
            nursery.start_soon(keep_alive)
            await nursery.start(reload_on_hangup, reloads)
            stop = await until_all_is_stored.enter_async_context(stop_asked_for(options.drain))
            await run(hub, listening, partial(_announce, opened, place), stop, services)
            nursery.cancel_scope.cancel()


@asynccontextmanager
async def _kept(options: argparse.Namespace) -> AsyncIterator["Archive | None"]:
    """Give the archive, or None if results are not kept. Raises OSError if they cannot be kept."""
    if options.db is None:
        yield None
        return
    from gateway.server.archive import keeping  # noqa: PLC0415  takes time, and not all keep results

    async with keeping(options.db, options.keep_wire) as kept:
        yield kept


async def _open_page(options: argparse.Namespace) -> list[trio.SocketListener]:
    """Open the page's port if it is wanted. If the usual port is in use, go without the page.

    Raises OSError if the system refuses the port.
    """
    if options.web == NO_WEB:
        return []
    if PAGE in options.sockets:
        return adopt(options.sockets[PAGE])
    if options.web is not None:
        return await open_port(options.web, options.host)
    try:
        return await open_port(WEB_PORT, options.host)
    except PortInUseError:
        return []


async def _listening(front_end: FrontEnd, options: argparse.Namespace) -> Listening:
    """Open the port of a front end, unless sockets for it were handed over. Raises OSError."""
    if front_end.name in options.sockets:
        return Listening(front_end, adopt(options.sockets[front_end.name]))
    return await listen(front_end, options.host)


def _say_that_there_is_no_page() -> None:
    logger.warning(
        "the page is left out: port %d is in use; give it another with --web PORT, or start with --no-web",
        WEB_PORT,
        extra={"event": "page_left_out", "port": WEB_PORT},
    )


def _wired(
    arrivals: ArrivalTimes,
    epoll: EpollReader | None,
    backlogs: Backlogs,
    turns: Turns,
    stream: trio.SocketStream,
) -> Wire:
    return Wire(DirectSocket(stream, epoll), arrivals, backlogs, turns)


def _front_ends(
    options: argparse.Namespace,
    hub: HubForPlayers,
    wired: Callable[[trio.SocketStream], Wire],
    page: int | None,
) -> list[FrontEnd]:
    """Return the front ends for the given ports; `page` is the port of the page, if there is one."""
    return [
        FrontEnd(
            each.name,
            getattr(options, each.option),
            partial(serve_connection, each.name, each.front_end(hub, options, page), wired),
        )
        for each in DIALECTS
        if getattr(options, each.option) is not None
    ]


def _web(
    options: argparse.Namespace,
    archive: "Archive | None",
    listeners: Sequence[trio.SocketListener],
    listening: Sequence[Listening],
    hub: Hub,
) -> Service:
    from adapters.web.link import Orders  # noqa: PLC0415  as above
    from adapters.web.process import WebProcess  # noqa: PLC0415

    orders = Orders(
        where=None if archive is None else archive.place.where,
        file=None if archive is None else archive.place.file,
        token=options.admin_token,
        log_level=options.log_level,
        log_json=options.log_json,
        origins=options.allow_origin,
        fronts=_fronts(listening),
        house=[name for name in sorted(HOUSE_PLAYERS) if is_installed(name)],
        idle=options.idle,
    )
    queue, clear = (None, None) if archive is None else (archive.open_games, archive.clear)
    return WebProcess(orders, listeners, queue, clear, hub)


def _fronts(listening: Sequence[Listening]) -> list[tuple[str, str, str, str, int | None]]:
    """Return the dialects for the page, as the fields of `adapters.web.site.Front`."""
    ports = {each.front_end.name: _port(each.listeners) for each in listening}
    return [(each.name, each.short, each.mark, each.scheme, ports.get(each.name)) for each in DIALECTS]


def _port(listeners: Sequence[trio.SocketListener]) -> int | None:
    """Return the port of the first listener, if there is one."""
    port: int | None = listeners[0].socket.getsockname()[1] if listeners else None
    return port


def _announce(opened: Sequence[tuple[str, Sequence[str]]], place: str) -> None:
    """Print where to point a bot, one line for each address, and where results are kept.

    Raises OSError where stdout is closed.
    """
    addresses = [(name, address) for name, where in opened for address in where]
    lines = [*(_line(name, address) for name, address in addresses), f"{'results':9} {place}"]
    try:
        print("\n".join(lines), flush=True)
    except OSError:
        sys.stdout = None  # the interpreter would try once more at its end
        raise
    log_start(addresses, place)
    notify(READY)


def _line(name: str, address: str) -> str:
    """Return an address, and what to try there."""
    examples = {each.name: (each.scheme, each.example) for each in DIALECTS}
    examples[PAGE] = "http", "games live, standings, play"
    scheme, example = examples[name]
    host, _, port = address.rpartition(":")
    shown = example.format(address=address, host=host.strip("[]"), port=port)
    return f"{name:9} {f'{scheme}://{address}' if scheme else address:26} {shown}"
