"""`python -m conformance bench`: what a move costs a server, over the floor of the transport that brings it.

Knows a gateway and the two floors as subprocesses, and a process of bots that is handed a plan for each.
Every server is started for its measurement alone; floors stand between the measurements, so that a
machine which grows slower or faster during the run does so to both sides of a ratio.
"""

import argparse
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import trio

from conformance.arguments import Parser, UsageError, count, file, guarded, seconds, write
from conformance.lab import meters
from conformance.lab.bench.figures import GOALS, Figures, Speed, figures, floor_of, speed
from conformance.lab.bench.plan import (
    MIX,
    TCP,
    WEBSOCKET,
    Couple,
    Plan,
    Report,
    Stretch,
    connections_by_transport,
)
from conformance.lab.bench.processes import echoing, played
from conformance.lab.bench.table import as_data, tables
from conformance.lab.house_load import LoadError
from conformance.launch import COMMAND, ServerError, running
from conformance.targets import Address, parse_address

KINDS: Mapping[str, Sequence[Couple]] = {
    "droidcon": [("droidcon", "droidcon")],
    "nac4": [("nac4", "nac4")],
    "arena-json": [("arena-json", "arena-json")],
    "arena-edn": [("arena-edn", "arena-edn")],
    "mix": MIX,
}
OPTIONS = ("--rounds", "1000000", "--games-per-pair", "0", "--clock", "1000000")
"""No series ends, and no clock cuts, while it is measured."""
FLOOR_CONNECTIONS = 100
WARM_UP = 1.0

_DIALECTS = {"droidcon": "droidcon", "nac4": "nac4", "arena-json": "arena", "arena-edn": "arena"}
_ECHOES = (TCP, WEBSOCKET)


@dataclass(frozen=True, slots=True)
class Measured:
    """What a run came to."""

    floors: dict[str, list[Speed]]
    kinds: list[Figures]


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    return guarded(_main, argv, LoadError, ServerError)


def _main(argv: Sequence[str]) -> int:
    options = _parse(argv)
    if not meters.has_proc():
        print("There is no /proc here: server CPU, memory and ratios are not known.")
    print(f"{options.pairs} pairs; {_pinning(options)}.\n", flush=True)
    measured = trio.run(measure, options)
    print(tables(measured.floors, measured.kinds), end="")
    data = {"pairs": options.pairs, "seconds": options.seconds, "cores": meters.two_cores()}
    write(options.json, json.dumps({**data, **as_data(measured.floors, measured.kinds)}, indent=2) + "\n")
    return 1 if any(one.is_missed for one in measured.kinds) else 0


def _pinning(options: argparse.Namespace) -> str:
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


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = Parser(prog="conformance bench", description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--pairs", type=count, default=100, metavar="N", help="pairs of bots (100)")
    parser.add_argument("--seconds", type=seconds, default=5.0, help="how long to measure each (5)")
    parser.add_argument("--rate", type=count, default=1000, metavar="N", help="paced moves a second (1000)")
    parser.add_argument("--only", type=kinds_in, metavar="KINDS", help=f"some of {','.join(KINDS)}")
    parser.add_argument("--against", nargs=2, metavar=("DIALECT", "HOST:PORT"), help="any other server")
    parser.add_argument("--pid", type=count, help="the process of that server, if it runs here")
    parser.add_argument(
        "--server-options", type=shlex.split, default=[], metavar="WORDS", help="more options of the gateway"
    )
    parser.add_argument("--json", type=file, metavar="FILE", help="write a JSON report as well")
    options = parser.parse_args(argv)
    if options.against:
        _check_against(options)
    elif options.pid:
        raise UsageError("--pid goes with --against")
    return options


def kinds_in(text: str) -> list[str]:
    """Return the kinds that a word of the command line names."""
    kinds = [word.strip() for word in text.split(",")]
    for kind in kinds:
        if kind not in KINDS:
            raise argparse.ArgumentTypeError(f"{kind!r} is none of {', '.join(KINDS)}")
    return kinds


def _check_against(options: argparse.Namespace) -> None:
    """Put kind and address into `options.against`. Raises UsageError."""
    word, text = options.against
    kind = "arena-json" if word == "arena" else word
    if kind not in _DIALECTS:
        raise UsageError(f"{word!r} is no dialect; there are droidcon, nac4, arena (arena-json, arena-edn)")
    if options.only or options.server_options:
        raise UsageError("--only and --server-options are for the gateway, not for another server")
    try:
        options.against = kind, parse_address(_DIALECTS[kind], text)
    except ValueError as error:
        raise UsageError(str(error)) from None


async def measure(options: argparse.Namespace, command: Sequence[str] = COMMAND) -> Measured:
    """Measure what the options ask for. Raises LoadError, ServerError, wrapped."""
    kinds = [options.against[0]] if options.against else list(options.only or KINDS)
    floors: dict[str, list[Speed]] = {}
    reports: dict[str, Report] = {}
    for what in schedule(kinds, with_floors=not options.against or options.pid is not None):
        print(f"measuring {what} ...", file=sys.stderr, flush=True)
        if what in _ECHOES:
            floors.setdefault(what, []).append(await _floor(what, options))
        elif options.against:
            reports[what] = await _outside(options)
        else:
            reports[what] = await at_gateway(what, options, options.server_options, command)
    found = []
    for kind, report in reports.items():
        goal = None if options.against else GOALS.get(kind)
        found.append(figures(kind, report, floor_of(KINDS[kind], floors), goal))
    return Measured(floors, found)


def schedule(kinds: Sequence[str], *, with_floors: bool) -> list[str]:
    """Return what is to be measured, in order: every kind between measurements of the floors it stands on."""
    if not with_floors:
        return list(kinds)
    order: list[str] = []
    before: set[str] = set()
    for kind in kinds:
        own = set(connections_by_transport(KINDS[kind]))
        order += [*sorted(before | own), kind]
        before = own
    return [*order, *sorted(before)]


async def at_gateway(
    kind: str, options: argparse.Namespace, words: Sequence[str], command: Sequence[str] = COMMAND
) -> Report:
    """Return what a saturated and a paced stretch came to on a gateway with these options.

    `options` are `pairs`, `seconds` and `rate`. Raises LoadError, ServerError, wrapped.
    """
    async with running([*OPTIONS, *words], command) as server:
        addresses = {bot: server.addresses[dialect] for bot, dialect in _DIALECTS.items()}
        return await played(
            Plan(
                couples=KINDS[kind],
                pairs=options.pairs,
                addresses=_plain(addresses),
                stretches=_stretches(options),
                pid=server.process.pid,
                cores=meters.two_cores(),
            )
        )


async def _outside(options: argparse.Namespace) -> Report:
    kind, address = options.against
    return await played(
        Plan(
            couples=KINDS[kind],
            pairs=options.pairs,
            addresses=_plain({kind: address}),
            stretches=_stretches(options),
            pid=options.pid,
            is_gateway=False,
        )
    )


async def _floor(transport: str, options: argparse.Namespace) -> Speed:
    async with echoing(transport) as (pid, address):
        report = await played(
            Plan(
                couples=[(transport,)],
                pairs=FLOOR_CONNECTIONS,
                addresses=_plain({transport: address}),
                stretches=_stretches(options)[:1],
                pid=pid,
                cores=meters.two_cores(),
            )
        )
    return speed(report.stretches[0])


def _stretches(options: argparse.Namespace) -> list[Stretch]:
    warm_up = min(WARM_UP, options.seconds)
    return [Stretch(options.seconds, warm_up), Stretch(options.seconds, warm_up, options.rate)]


def _plain(addresses: Mapping[str, Address]) -> dict[str, tuple[str, int, str]]:
    return {kind: (address.host, address.port, address.path) for kind, address in addresses.items()}
