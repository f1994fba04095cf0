"""What a process of timed bots is asked to do, and what it tells: data that crosses a pipe as JSON.

Beside it what a stretch came to, by the second and by the move.
"""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from conformance.lab.bots import KINDS
from conformance.lab.echo import TCP, WEBSOCKET
from conformance.lab.jobs import Words, as_words, done
from conformance.lab.meters import two_cores
from conformance.launch import Server, running

Couple = tuple[str, ...]
"""The kinds of two bots that meet; or one alone, which is its own opponent."""

MIX: Sequence[Couple] = (
    ("droidcon", "nac4"),
    ("arena-json", "droidcon"),
    ("nac4", "arena-edn"),
    ("arena-edn", "arena-json"),
)
COUPLES: Mapping[str, Sequence[Couple]] = {
    "droidcon": [("droidcon", "droidcon")],
    "nac4": [("nac4", "nac4")],
    "arena-json": [("arena-json", "arena-json")],
    "arena-edn": [("arena-edn", "arena-edn")],
    "mix": MIX,
}
"""What a benchmark measures: each kind of bot against itself, and all in equal parts and across dialects."""
ENDLESS = ("--rounds", "1000000", "--games-per-pair", "0", "--clock", "1000000")
"""No series ends, and no clock cuts, while it is measured."""
WARM_UP = 1.0


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time in which the bots play in one way, and what they do is counted."""

    seconds: float
    warm_up: float
    """Seconds before that, uncounted."""
    rate: float | None = None
    """Moves a second of all bots together; None: each answers at once."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One server, the bots that play there, and how."""

    couples: Sequence[Couple]
    """Dealt round to the pairs."""
    pairs: int
    addresses: Words
    """Host, port and path for each kind of bot."""
    stretches: Sequence[Stretch]
    pid: int | None = None
    """The server's process, where it is known."""
    cores: tuple[int, int] | None = None
    """Where to pin the server and this process; None: nowhere."""
    is_gateway: bool = True
    """Whether the server has tables, and lets every pair play at once; the originals do neither."""
    others: Words | None = None
    """Where one bot of each pair plays, if that is another server."""
    more: Sequence[int] = ()
    """Further processes that are pinned and measured beside the server's."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What a stretch came to. Seconds everywhere."""

    seconds: float
    moves: int
    """That the server passed on; round trips of an echo."""
    games: float
    """Games that ended: half a game for each player that heard of it."""
    server_cpu: float | None
    server_waited: float | None
    """How long the server had work and no core."""
    load_cpu: float
    p50: float
    p99: float
    loop_cpu: float | None = None
    """What the server's first thread used of `server_cpu`."""
    play_p50: float | None = None
    """Of the moves that were not a game's last; None where there were none."""
    play_p99: float | None = None
    result_p50: float | None = None
    """From a game's last move to a player's hearing of the result; None where no game ended."""
    result_p99: float | None = None
    more_cpu: Sequence[float] = ()
    """What the further processes used, each."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a plan came to."""

    connections: int
    rss_before: int | None
    """Bytes of the server before anybody had connected."""
    rss_playing: int | None
    stretches: Sequence[Counted]


def connections_by_transport(couples: Sequence[Couple]) -> dict[str, float]:
    """Return each transport's share of the connections; together 1."""
    kinds = [kind for couple in couples for kind in couple]
    transports = [TCP if kind == TCP or KINDS[kind][0] == "droidcon" else WEBSOCKET for kind in kinds]
    return {name: transports.count(name) / len(kinds) for name in sorted(set(transports))}


def plan_of(words: Any) -> Plan:
    """Return the plan of which `asdict` made these words."""
    return Plan(
        **{
            **words,
            "couples": [tuple(couple) for couple in words["couples"]],
            "addresses": {kind: tuple(address) for kind, address in words["addresses"].items()},
            "stretches": [Stretch(**stretch) for stretch in words["stretches"]],
            "cores": words["cores"] and tuple(words["cores"]),
            "more": tuple(words["more"]),
        }
    )


async def played(plan: Plan) -> Report:
    """Have a process of bots carry out the plan. Raises LoadError."""
    words = await done("conformance.lab.load", asdict(plan))
    return Report(**{**words, "stretches": [Counted(**stretch) for stretch in words["stretches"]]})


async def saturated_and_paced(
    kind: str, options: Namespace, words: Sequence[str], command: Sequence[str]
) -> Report:
    """Return what a saturated and a paced stretch came to on a gateway with these options.

    `options` are `pairs`, `seconds` and `rate`. Raises LoadError, ServerError, wrapped.
    """
    async with running([*ENDLESS, *words], command) as server:
        return await played(at_gateway(server, COUPLES[kind], options.pairs, both_stretches(options)))


def at_gateway(server: Server, couples: Sequence[Couple], pairs: int, stretches: Sequence[Stretch]) -> Plan:
    """Return a plan for a gateway that runs here, and two cores where there are two."""
    addresses = {kind: server.addresses[dialect] for kind, (dialect, _) in KINDS.items()}
    return Plan(couples, pairs, as_words(addresses), stretches, server.process.pid, two_cores())


def both_stretches(options: Namespace) -> list[Stretch]:
    """Return a saturated stretch and a paced one."""
    warm_up = min(WARM_UP, options.seconds)
    return [Stretch(options.seconds, warm_up), Stretch(options.seconds, warm_up, options.rate)]


SATURATED = 0.9
"""The share of the time in which a server that is the limit has work at least."""
DISTURBED = 0.05
"""The share of the time off its core from which on a measurement is in doubt."""


@dataclass(frozen=True, slots=True)
class Speed:
    """What a stretch came to. Of an echo, a move is a round trip."""

    moves_per_second: float
    games_per_second: float
    cpu_us: float | None
    """Microseconds of server CPU for a move."""
    p50_ms: float
    p99_ms: float
    server_share: float | None
    """Of one core, 0 to 1 and more."""
    waited_share: float | None
    """How much of the time the server had work and no core."""
    load_share: float

    @property
    def is_saturated(self) -> bool:
        """Whether the server always had work, as far as that is known."""
        return (
            self.server_share is None
            or self.waited_share is None
            or self.server_share + self.waited_share >= SATURATED
        )


def speed(counted: Counted) -> Speed:
    """Return what was counted, by the second and by the move."""
    cpu = counted.server_cpu
    return Speed(
        moves_per_second=counted.moves / counted.seconds,
        games_per_second=counted.games / counted.seconds,
        cpu_us=None if cpu is None else 1e6 * cpu / counted.moves,
        p50_ms=1000 * counted.p50,
        p99_ms=1000 * counted.p99,
        server_share=None if cpu is None else cpu / counted.seconds,
        waited_share=counted.server_waited and counted.server_waited / counted.seconds,
        load_share=counted.load_cpu / counted.seconds,
    )


def kb_per_connection(report: Report) -> float | None:
    """Return what the server's memory grew by for each connection, in units of 1,024 bytes."""
    if report.rss_before is None or report.rss_playing is None:
        return None
    return (report.rss_playing - report.rss_before) / report.connections / 1024
