"""`python -m conformance bench`: what a move costs a server, over the floor of the transport that brings it.

Knows a gateway and the two floors as subprocesses, and a process of bots that is handed a plan for each.
Every server is started for its measurement alone; floors stand between the measurements, so that a
machine which grows slower or faster during the run does so to both sides of a ratio.
"""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass

import trio

from conformance.arguments import Parser, UsageError, count, write_json
from conformance.lab import meters
from conformance.lab.bench.figures import GOALS, Figures, figures, floor_of
from conformance.lab.bench.table import as_data, tables
from conformance.lab.bots import KINDS, PLAIN
from conformance.lab.echo import ECHOES, echoing
from conformance.lab.jobs import as_words, say
from conformance.lab.plan import (
    COUPLES,
    Plan,
    Report,
    Speed,
    both_stretches,
    connections_by_transport,
    played,
    saturated_and_paced,
    speed,
)
from conformance.launch import COMMAND
from conformance.targets import parse_address

FLOOR_CONNECTIONS = 100


@dataclass(frozen=True, slots=True)
class Measured:
    """What a run came to."""

    floors: dict[str, list[Speed]]
    kinds: list[Figures]


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    options = _parse(argv)
    if not meters.has_proc():
        print("There is no /proc here: server CPU, memory and ratios are not known.")
    print(f"{options.pairs} pairs; {_pinning(options)}.\n", flush=True)
    measured = trio.run(measure, options)
    print(tables(measured.floors, measured.kinds), end="")
    data = {"pairs": options.pairs, "seconds": options.seconds, "cores": meters.two_cores()}
    write_json(options.json, {**data, **as_data(measured.floors, measured.kinds)})
    return 1 if any(one.is_missed for one in measured.kinds) else 0


def _pinning(options: Namespace) -> str:
    cores = meters.two_cores()
    if cores is None:
        return "server and load share what cores there are, unpinned"
    pinned = f"pinned to core {cores[0]}, the load to core {cores[1]}"
    if options.against:
        return (
            f"the floors are {pinned}; the server and its load are not"
            if options.pid
            else "nothing is pinned"
        )
    return f"servers are {pinned}"


def _parse(argv: Sequence[str]) -> Namespace:
    parser = Parser.of("bench", __doc__)
    parser.count("--pairs", 100, "pairs of bots")
    parser.seconds("--seconds", 5.0, "how long to measure each")
    parser.count("--rate", 1000, "paced moves a second")
    parser.only(COUPLES)
    parser.set_defaults(only=None)
    parser.add_argument("--against", nargs=2, metavar=("DIALECT", "HOST:PORT"), help="any other server")
    parser.add_argument("--pid", type=count, help="the process of that server, if it runs here")
    parser.server_options()
    parser.report()
    options = parser.parse_args(argv)
    if options.against:
        _check_against(options)
    elif options.pid:
        raise UsageError("--pid goes with --against")
    return options


def _check_against(options: Namespace) -> None:
    """Put kind and address into `options.against`. Raises UsageError."""
    word, text = options.against
    kind = PLAIN.get(word, word)
    if kind not in KINDS:
        raise UsageError(f"{word!r} is no dialect; there are {', '.join((*PLAIN, *KINDS))}")
    if options.only or options.server_options:
        raise UsageError("--only and --server-options are for the gateway, not for another server")
    try:
        options.against = kind, parse_address(KINDS[kind][0], text)
    except ValueError as error:
        raise UsageError(str(error)) from None


async def measure(options: Namespace, command: Sequence[str] = COMMAND) -> Measured:
    """Measure what the options ask for. Raises LoadError, ServerError, wrapped."""
    kinds = [options.against[0]] if options.against else list(options.only or COUPLES)
    floors: dict[str, list[Speed]] = {}
    reports: dict[str, Report] = {}
    for what in schedule(kinds, with_floors=not options.against or options.pid is not None):
        say(f"measuring {what} ...")
        if what in ECHOES:
            floors.setdefault(what, []).append(await _floor(what, options))
        elif options.against:
            reports[what] = await _outside(options)
        else:
            reports[what] = await saturated_and_paced(what, options, options.server_options, command)
    found = []
    for kind, report in reports.items():
        goal = None if options.against else GOALS.get(kind)
        found.append(figures(kind, report, floor_of(COUPLES[kind], floors), goal))
    return Measured(floors, found)


def schedule(kinds: Sequence[str], *, with_floors: bool) -> list[str]:
    """Return what is to be measured, in order: every kind between measurements of the floors it stands on."""
    if not with_floors:
        return list(kinds)
    order: list[str] = []
    before: set[str] = set()
    for kind in kinds:
        own = set(connections_by_transport(COUPLES[kind]))
        order += [*sorted(before | own), kind]
        before = own
    return [*order, *sorted(before)]


async def _outside(options: Namespace) -> Report:
    kind, address = options.against
    return await played(
        Plan(
            couples=COUPLES[kind],
            pairs=options.pairs,
            addresses=as_words({kind: address}),
            stretches=both_stretches(options),
            pid=options.pid,
            is_gateway=False,
        )
    )


async def _floor(transport: str, options: Namespace) -> Speed:
    async with echoing(transport) as (pid, address):
        addresses, stretches = as_words({transport: address}), both_stretches(options)[:1]
        cores = meters.two_cores()
        plan = Plan([(transport,)], FLOOR_CONNECTIONS, addresses, stretches, pid, cores)
        return speed((await played(plan)).stretches[0])
