"""The module that builds and runs the server that the options describe.

It is the only module in `gateway` that imports both the hub and adapters. `__main__` chooses the command.
"""

import gc
import os
import random
import resource
import secrets
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import trio

from adapters.client.accepted import Serve
from adapters.client.dialect import Dialect
from adapters.client.plugins import served
from adapters.dialects import all_dialects
from adapters.entrance.admission import Admission, admission
from adapters.entrance.entrance import Entrance
from adapters.entrance.handshake import HttpPort
from adapters.entrance.one_port import OnePort, receiving
from adapters.entrance.ports import (
    OpenSocket,
    Ports,
    opened_ports,
    say_that_there_is_no_page,
)
from adapters.entrance.preamble import SILENCE
from adapters.house.server import House
from adapters.house.thinking import Thinker
from adapters.net.epoll import Poller, polling
from adapters.net.socket import Backlogs, Socket, taken
from gateway.access import lookalikes
from gateway.access.accounts import Accounts, open_accounts
from gateway.access.tokens import admin_token
from gateway.engines.catalogue import house_players
from gateway.game.clock import Terms
from gateway.game.ids import RUNS, first_game, game_ids
from gateway.game.results import NoResults
from gateway.hub.hub import Hub
from gateway.matchmaking.matchmaker import Matchmaker
from gateway.matchmaking.standard import LobbyAndTables
from gateway.options.clustering import ClusterOptions
from gateway.options.names import WORKER
from gateway.options.server import PAGE, ServerOptions, cluster_options, shared_rules
from gateway.options.terminal import in_one_line
from gateway.runtime.json_stderr import complain, json_line
from gateway.runtime.listening import own_addresses, reachable
from gateway.runtime.notifying import DRAINS, READY, keep_alive, notify
from gateway.runtime.processes import StartedProcess
from gateway.runtime.turns import TimedTurns, Turns
from gateway.server import qr
from gateway.server.app import (
    FrontEnd,
    Patience,
    Service,
    Stop,
    addresses_of,
    run,
    stop_asked_for,
)
from gateway.server.logs import log_fault, log_games, log_start, set_up_logging
from gateway.server.metrics.tally import GameCounts
from gateway.server.operating import Operator, reload_players
from gateway.server.reloading import Reload, reload_on_hangup
from gateway.server.streams import write
from gateway.tournament.tournaments import Tournaments

if TYPE_CHECKING:
    from adapters.cluster.node import ClusterNode
    from adapters.web.process import WebProcess
    from gateway.server.archive import Archive


METRICS = "metrics"
"""The name of the metrics port."""
Fronts: TypeAlias = Sequence[tuple[Dialect, Serve]]
"""The dialects, each with the function that serves its clients."""


def main(options: ServerOptions, writer: StartedProcess | None = None) -> int:
    """Run the server; return the exit status: 0 if it was stopped, 1 after an OSError.

    `writer` is the store process if it has been started already.
    """
    set_up_logging(options.log_level, as_json=options.log_json, node=options.node or "")
    status = 0
    _allow_many_connections()
    _collect_little()
    _wait_for_no_thread()
    try:
        trio.run(_serve, options, writer)
    except* OSError as refusals:
        complain(in_one_line(refusals), as_json=options.log_json)
        status = 1
    except* KeyboardInterrupt:
        pass
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # a further Ctrl-C must not change the exit status
    return status


def _allow_many_connections() -> None:
    """Raise the limit of open files to the maximum, since each connection needs one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _collect_little() -> None:
    """Exempt loaded modules from garbage collection, and make collections short.

    There is hardly any cyclic garbage. No move is carried out during a collection, which takes 1 to 3 ms for
    5,000 objects, as many as about 60 connections have. Older objects are collected 200 times less often.
    """
    gc.freeze()
    gc.set_threshold(5_000, 200)


def _wait_for_no_thread() -> None:
    """Make Python switch threads often, since with its default interval a busy thread would delay moves."""
    sys.setswitchinterval(1e-4)


async def _serve(options: ServerOptions, writer: StartedProcess | None) -> None:
    turns = Turns() if options.metrics is None else TimedTurns()
    trio.lowlevel.add_instrument(turns)
    patience = Patience(options.drain)
    async with stop_asked_for(patience) as stop, _kept(options, writer, turns) as archive:
        run = secrets.randbelow(RUNS) if archive is None else archive.opened.run
        together = await trio.to_thread.run_sync(cluster_options, options)
        await trio.to_thread.run_sync(lookalikes.load)
        tournaments = Tournaments()
        if archive is not None:
            from gateway.server.tournaments import log_unreadable  # noqa: PLC0415  needs the store

            log_unreadable(tournaments.take(archive.opened.tournaments, trio.current_time()))
        matchmaker = _matchmaker_of(together, run, partial(_matchmaker, options, tournaments))
        results = archive or NoResults()
        hub = Hub(_terms(options), matchmaker, results, log_fault, game_ids(run, first_game(time.time())))
        log_games(hub.feed, turns.delay_since)
        async with polling(turns) as poller:
            node = _joined(together, options, run, hub, poller)
            await _play(options, _Core(hub, archive, turns, poller, node, patience, tournaments), stop)


def _matchmaker(options: ServerOptions, tournaments: Tournaments) -> LobbyAndTables:
    lot = random.Random(options.seed)
    tournaments.forget_seats()
    return LobbyAndTables(
        lot,
        options.games_per_pair,
        options.house_after,
        lookalikes.looks_of,
        tournaments.tables,
        options.grace,
    )


def _terms(options: ServerOptions) -> Terms:
    return Terms(options.clock, options.penalty, options.idle, options.rejoin, options.grace)


@dataclass(frozen=True, slots=True)
class _Core:
    """The parts of a server that are built before it listens."""

    hub: Hub
    archive: "Archive | None"
    turns: Turns
    poller: Poller
    node: "_Joining"
    """A context manager that joins the cluster, if there is one."""
    patience: Patience
    tournaments: Tournaments


async def _play(options: ServerOptions, core: _Core, stop: Stop) -> None:
    """Listen on all ports, and serve until `stop` returns. Raises OSError if the system refuses a port.

    The server joins its cluster last. So other nodes never see a server that fails to start.
    """
    hub, archive, turns = core.hub, core.archive, core.turns
    accounts = await trio.to_thread.run_sync(open_accounts, options, hub.feed.counts)
    open_socket = partial(_opened, core.poller, turns, Backlogs())
    limits = admission(options, hub.feed.counts)
    fronts = served(all_dialects(), hub, options.dialects, accounts)
    dialects = [each for each, _ in fronts]
    options.ports = {each.name: options.ports[each.name] for each in dialects}
    async with opened_ports(options, hub.feed.counts) as ports, trio.open_nursery() as nursery:
        front_ends = _front_ends(options, fronts, open_socket, limits, ports)
        opened = [(PAGE, addresses_of(ports.page)), (METRICS, addresses_of(ports.metrics))]
        opened += [(each.name, addresses_of(each.listeners)) for each in front_ends]
        opened += ports.opened(dialects)
        services: list[Service] = []
        web, operator, token = None, None, None
        if ports.page_port:
            token = await trio.to_thread.run_sync(admin_token, options)
            web = _web(options, token, archive, ports, hub, dialects)
            name = options.node if options.cluster else None
            web.operator = operator = Operator(hub, accounts, partial(_drain, core.patience), name)
            services.append(web)
        if web is None and not options.no_web:
            say_that_there_is_no_page(options)
        front_ends += ports.front_ends(_one_port(options, fronts, ports, hub).receive, open_socket, limits)
        thinker = Thinker(options.house_workers, _terms(options))
        house = House(hub, nursery, thinker, options.house)
        hub.engage(house)
        if archive is not None:
            from gateway.server.tournaments import TournamentService  # noqa: PLC0415  needs the store

            tournaments = TournamentService(core.tournaments, hub, archive.batcher, house.sit_down)
            services.append(tournaments)
            if operator is not None:
                operator.tournaments = tournaments
        nursery.start_soon(keep_alive)
        await nursery.start(reload_on_hangup, _reloads(accounts, hub, ports))
        if options.metrics is not None:
            services.append(_metrics(options, core, ports, thinker, web, dialects))
        place = "nowhere" if archive is None else archive.opened.label
        started = partial(_announce, opened, place, options, dialects)
        async with core.node as node:
            if node is not None and operator is not None and token is not None:
                node.operators.connect(operator, token)
            await run(hub, front_ends, started, stop, services, turns)
        nursery.cancel_scope.cancel()


def _drain(patience: Patience, seconds: int) -> None:
    """Set the number of seconds that games may take at the stop. 0 begins the stop, also of other workers."""
    if seconds:
        patience.seconds, patience.by_operator = seconds, True
    elif WORKER in os.environ:
        notify(f"{DRAINS}{patience.seconds:g}")
    else:
        signal.raise_signal(signal.SIGTERM)


def _reloads(accounts: Accounts, hub: Hub, ports: Ports) -> Mapping[str, Reload]:
    """Return the functions that are called on SIGHUP, by their names in the log."""
    reloads: dict[str, Reload] = {"the players": partial(reload_players, accounts, hub, trio.current_time)}
    certificate = ports.preamble.certificate
    if certificate is not None:
        reloads["the certificate"] = lambda _: certificate.reload()
    return reloads


@asynccontextmanager
async def _kept(
    options: ServerOptions, writer: StartedProcess | None, turns: Turns
) -> AsyncIterator["Archive | None"]:
    """Yield the archive, or None without a database. Raises OSError if the database cannot be used."""
    if options.db is None:
        yield None
        return
    from gateway.server.archive import keeping  # noqa: PLC0415  slow to import, and not always needed

    shared = options.cluster is not None
    async with keeping(
        options.db, options.keep_wire, writer, options.journal, shared=shared, turns=turns
    ) as kept:
        yield kept


def _metrics(
    options: ServerOptions,
    core: _Core,
    ports: Ports,
    thinker: Thinker,
    web: "WebProcess | None",
    dialects: Sequence[Dialect],
) -> Service:
    from gateway.server.metrics import families  # noqa: PLC0415  as above
    from gateway.server.metrics.service import MetricsService  # noqa: PLC0415

    hub, archive, turns = core.hub, core.archive, core.turns
    assert isinstance(turns, TimedTurns)

    def restarts() -> dict[str, int]:
        counts = {"house": thinker.lost}
        counts |= {} if archive is None else {"store": archive.process.restarts}
        return counts if web is None else counts | {"web": web.restarts}

    sources = families.Sources(
        hub,
        GameCounts(hub.feed),
        turns,
        [each.name for each in dialects],
        thinker.waiting,
        restarts,
        None if archive is None else archive.batcher,
        None if web is None else web.requests,
    )
    texts, allowed = partial(families.texts, sources), options.allow_origin
    return MetricsService(ports.metrics, texts, families.CONTENT_TYPE, families.process_text, allowed)


def _opened(poller: Poller, turns: Turns, backlogs: Backlogs, stream: trio.SocketStream) -> Socket:
    return Socket(taken(stream), poller, turns, backlogs)


def _front_ends(
    options: ServerOptions, fronts: Fronts, open_socket: OpenSocket, limits: Admission, ports: Ports
) -> list[FrontEnd]:
    """Return the front ends of the dialects that have separate ports."""
    front_ends = []
    http = HttpPort("", ports.page_port, options.trusted_proxy, ports.websites, has_hsts=options.tls_only)
    for each, serve in fronts:
        if each.name in ports.own:
            entrance = Entrance(
                each.name,
                receiving(each, serve, http),
                open_socket,
                limits,
                ports.preamble,
                each.refusal,
                limits.limits.request if each.scheme else SILENCE,
            )
            paused = partial(limits.count, "limit_system", each.name)
            front_ends.append(FrontEnd(each.name, ports.own[each.name], entrance.serve, paused))
    return front_ends


def _one_port(options: ServerOptions, fronts: Fronts, ports: Ports, hub: Hub) -> OnePort:
    http = HttpPort(
        trusted=options.trusted_proxy,
        websites=ports.websites,
        pass_on=None if ports.to_page is None else ports.to_page.take,
        is_closed=lambda: hub.is_closed,
        has_hsts=options.tls_only,
    )
    return OnePort.of(fronts, http)


def _web(
    options: ServerOptions,
    token: str | None,
    archive: "Archive | None",
    ports: Ports,
    hub: Hub,
    dialects: Sequence[Dialect],
) -> "WebProcess":
    from adapters.web.link import Orders  # noqa: PLC0415  as above
    from adapters.web.process import WebProcess  # noqa: PLC0415

    orders = Orders(
        where=None if archive is None else archive.opened.where,
        file=None if archive is None else archive.opened.file,
        token=token,
        audit=options.audit,
        log_level=options.log_level,
        log_json=options.log_json,
        origins=options.allow_origin,
        fronts=ports.fronts(dialects),
        house=house_players(),
        limits=(options.max_per_address, options.connects_per_second),
        request=options.request_seconds,
        idle=options.idle,
        trusted=[str(each) for each in options.trusted_proxy],
        hosts=ports.hosts,
        hsts=options.tls_only,
        counting=options.metrics is not None,
        evaluates=not options.no_live_evaluation,
    )
    passing = () if ports.to_page is None else (ports.to_page.passing.socket,)
    sockets = [*(each.socket for each in ports.for_web), *passing]
    if archive is None:
        return WebProcess(orders, sockets, None, None, hub)
    batcher = archive.batcher
    return WebProcess(orders, sockets, batcher.open, batcher.clear, hub, batcher.analyse)


# The lines that the server prints when it is ready.


def _announce(
    opened: Sequence[tuple[str, Sequence[str]]],
    place: str,
    options: ServerOptions,
    dialects: Sequence[Dialect],
) -> None:
    """Print a line for each address, with an example of its use, and a line for the database."""
    addresses = [(name, address) for name, where in opened for address in where]
    own = own_addresses()
    shown = [(name, each) for name, address in addresses for each in reachable(address, own)]
    lines = [_line(name, address, dialects, tls_only=options.tls_only) for name, address in shown]
    lines.append(f"{'results':9} {place}")
    if options.log_json:
        fields = {"level": "info", "logger": __name__, "event": "announced"}
        write("".join(json_line(line, fields) for line in lines))
    else:
        text = "".join(f"{line}\n" for line in lines)
        write(text + qr.below(text) if qr.is_shown(options) else text)
    log_start(addresses, place)
    notify(READY)


def _line(name: str, address: str, dialects: Sequence[Dialect], *, tls_only: bool) -> str:
    """Return the line for an address, with an example of its use."""
    examples = {each.name: (each.scheme, each.example) for each in dialects}
    examples |= {
        PAGE: ("http", "games live, standings, play"),
        METRICS: ("http", "/metrics, for Prometheus"),
    }
    scheme, example = examples[name]
    host, _, port = address.rpartition(":")  # `port` is wrong with a path, but only URLs have one
    shown = example.format(address=address, host=host.strip("[]"), port=port)
    scheme = f"{scheme}s" if scheme and tls_only and name != METRICS else scheme
    return f"{name:9} {f'{scheme}://{address}' if scheme else address:26} {shown}"


# Clusters. The modules for clusters are imported only if the options ask for a cluster.

_Joining: TypeAlias = "AbstractAsyncContextManager[ClusterNode | None]"


def _matchmaker_of(
    together: ClusterOptions | None, run: int, standard: Callable[[], LobbyAndTables]
) -> Matchmaker:
    """Return the matchmaker for a single server, or for a node of a cluster with the run number `run`."""
    if together is None:
        return standard()
    from gateway.cluster.matchmaker import ClusterMatchmaker  # noqa: PLC0415  only nodes need it

    return ClusterMatchmaker(together.node, run, standard)


def _joined(
    together: ClusterOptions | None, options: ServerOptions, run: int, hub: Hub, poller: Poller
) -> _Joining:
    """Return a context manager that joins the cluster during the block, if one is configured.

    Raises OSError at the start of the block if the cluster cannot be joined.
    """
    if together is None:
        return nullcontext()
    from adapters.cluster.service import joined  # noqa: PLC0415  as above

    return joined(together, shared_rules(options, all_dialects()), run, hub, poller)
