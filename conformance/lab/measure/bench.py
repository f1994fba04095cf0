"""`measure bench`: what a move costs a server, over the floor of the transport that brings it.

Every server is started for its measurement alone. The floors stand in front of it and behind it, so that a
machine which grows slower or faster during the run does so to both sides of a ratio.
"""

from argparse import Namespace
from collections.abc import Sequence
from functools import partial

from conformance.arguments import Parser, UsageError, count
from conformance.lab import meters
from conformance.lab.bots import KINDS, PLAIN
from conformance.lab.echo import TCP, WEBSOCKET, echoing
from conformance.lab.load import (
    COUPLES,
    ENDLESS,
    Counted,
    Plan,
    Report,
    at_gateway,
    both_stretches,
    ms,
    played,
)
from conformance.lab.measure.scenario import Part, Scenario
from conformance.lab.report import Row, middle, ratio
from conformance.lab.workers import say
from conformance.launch import running
from conformance.targets import parse_address

GOALS = {"droidcon": 1.0, "nac4": 0.8, "arena-json": 1.0, "arena-edn": 1.0}
"""CPU of a move over that of a round trip of the bare transport, at most."""
STRETCH_GOALS = {"droidcon": 0.9, "nac4": 0.4, "arena-json": 0.5, "arena-edn": 0.5}
FLOOR_CONNECTIONS = 100
DISTURBED = 0.05
"""The share of the time off its core from which on a measurement is in doubt."""


async def _measure(kind: str, options: Namespace, command: Sequence[str]) -> list[Row]:
    floors: dict[str, list[float | None]] = {}
    await _measure_floors(kind, options, floors)
    report = await _report(kind, options, command)
    await _measure_floors(kind, options, floors)
    saturated, paced = report.stretches
    warn(kind, saturated)
    known = [(middle(floors[transport]), share) for transport, share in transports(kind).items() if floors]
    floor = sum(cost * share for cost, share in known if cost is not None)
    cost = None if any(cost is None for cost, _ in known) else ratio(saturated.cpu_us, floor)
    goal = None if options.against else GOALS.get(kind)
    stretch = None if goal is None else STRETCH_GOALS[kind]
    goals = [Row(kind, "goal", goal, form=".1f"), Row(kind, "stretch", stretch, form=".1f")]
    return [
        Row(kind, "moves/s", saturated.rate, form=".0f"),
        Row(kind, "us a move", saturated.cpu_us),
        Row(kind, "floor us", floor or None),
        Row(kind, "ratio", cost, most=goal),
        *(goals if options.beside is None else ()),  # which are no figures of either server
        Row(kind, "server", saturated.server_share, form=".0%"),
        Row(kind, "load", saturated.load_cpu / saturated.seconds, form=".0%"),
        Row(kind, "paced", paced.rate, form=".0f"),
        Row(kind, "p50 ms", ms(paced.times, 50)),
        Row(kind, "p99 ms", ms(paced.times, 99)),
        Row(kind, "KB each", report.kb_per_connection, form=".1f"),
    ]


def warn(kind: str, counted: Counted) -> None:
    """Say what puts a saturated measurement in doubt."""
    if not counted.is_saturated:
        say(f"  {kind}: NOT SATURATED, the load used {counted.load_cpu / counted.seconds:.0%} of its core")
    if (counted.waited_share or 0.0) > DISTURBED:
        say(f"  {kind}: others kept the server off its core for {counted.waited_share:.0%} of the time")


async def _report(kind: str, options: Namespace, command: Sequence[str]) -> Report:
    if options.against:
        _, address = options.against
        both = both_stretches(options)
        pid = options.pid
        return await played(Plan(COUPLES[kind], options.pairs, {kind: address}, both, pid, is_gateway=False))
    async with running([*ENDLESS, *options.server_options], command) as server:
        return await played(at_gateway(server, COUPLES[kind], options.pairs, *both_stretches(options)))


async def _measure_floors(kind: str, options: Namespace, floors: dict[str, list[float | None]]) -> None:
    """Measure the echoes on the transports of a kind; add microseconds of a round trip."""
    if options.against and options.pid is None:
        return
    for transport in transports(kind):
        stretch, _ = both_stretches(options)
        async with echoing(transport) as (pid, address):
            connections, addresses = min(FLOOR_CONNECTIONS, 2 * options.pairs), {transport: address}
            plan = Plan([(transport,)], connections, addresses, [stretch], pid, meters.two_cores())
            floors.setdefault(transport, []).append((await played(plan)).stretches[0].cpu_us)


def transports(kind: str) -> dict[str, float]:
    """Return each transport's share of the connections; together 1."""
    kinds = [kind for couple in COUPLES[kind] for kind in couple]
    found = [TCP if KINDS[kind][0] == "droidcon" else WEBSOCKET for kind in kinds]
    return {name: found.count(name) / len(found) for name in sorted({*found})}


def _options(parser: Parser) -> None:
    parser.count("--pairs", 100, "pairs of bots")
    parser.seconds("--seconds", 5.0, "how long to measure each")
    parser.count("--rate", 1000, "paced moves a second")
    parser.add_argument("--against", nargs=2, metavar=("DIALECT", "HOST:PORT"), help="any other server")
    parser.add_argument("--pid", type=count, help="the process of that server, if it runs here")
    parser.server_options()


def _check(options: Namespace) -> None:
    """Put kind and address into `options.against`. Raises UsageError."""
    if not options.against:
        if options.pid:
            raise UsageError("--pid goes with --against")
        return
    word, text = options.against
    kind = PLAIN.get(word, word)
    if kind not in KINDS:
        raise UsageError(f"{word!r} is no dialect; there are {', '.join((*PLAIN, *KINDS))}")
    if options.only != [*COUPLES] or options.server_options or options.beside:
        raise UsageError("--only, --beside and --server-options are for the gateway, not for another server")
    try:
        options.against = kind, parse_address(KINDS[kind][0], text)
    except ValueError as error:
        raise UsageError(str(error)) from None
    options.only = [kind]


BENCH = Scenario(
    "what a move costs a server, over the floor of the transport that brings it",
    {kind: Part(partial(_measure, kind)) for kind in COUPLES},
    _options,
    wide=True,
    check=_check,
)
