"""What one process of bots is asked to do, and what it tells: data that crosses a pipe as JSON.

Knows kinds of bots and their numbers; does not know servers' processes but by number.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

Couple = tuple[str, ...]
"""The kinds of two bots that meet; or one alone, which is its own opponent."""

WEBSOCKET, TCP = "websocket", "tcp"
TRANSPORTS = {
    "droidcon": TCP,
    "nac4": WEBSOCKET,
    "arena-json": WEBSOCKET,
    "arena-edn": WEBSOCKET,
    TCP: TCP,
    WEBSOCKET: WEBSOCKET,
}
"""All kinds of bots, with what they come by. The last two speak to an echo."""
MIX: Sequence[Couple] = (
    ("droidcon", "nac4"),
    ("arena-json", "droidcon"),
    ("nac4", "arena-edn"),
    ("arena-edn", "arena-json"),
)


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
    addresses: dict[str, tuple[str, int, str]]
    """Host, port and path for each kind of bot."""
    stretches: Sequence[Stretch]
    pid: int | None = None
    """The server's process, where it is known."""
    cores: tuple[int, int] | None = None
    """Where to pin the server and this process; None: nowhere."""
    is_gateway: bool = True
    """Whether the server has tables, and lets every pair play at once; the originals do neither."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What a stretch came to. Seconds everywhere."""

    seconds: float
    moves: int
    """That the server passed on; round trips of an echo."""
    games: float
    """That ended: half a game for each player who was told."""
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
    transports = [TRANSPORTS[kind] for kind in kinds]
    return {name: transports.count(name) / len(kinds) for name in sorted(set(transports))}


def plan_as_json(plan: Plan) -> str:
    """Return a text for `plan_from_json`."""
    return json.dumps(asdict(plan))


def plan_from_json(text: str) -> Plan:
    """Return the plan that `plan_as_json` wrote."""
    words = json.loads(text)
    return Plan(
        **{
            **words,
            "couples": [tuple(couple) for couple in words["couples"]],
            "addresses": {kind: tuple(address) for kind, address in words["addresses"].items()},
            "stretches": [Stretch(**stretch) for stretch in words["stretches"]],
            "cores": words["cores"] and tuple(words["cores"]),
        }
    )


def report_as_json(report: Report) -> str:
    """Return a text for `report_from_json`."""
    return json.dumps(asdict(report))


def report_from_json(text: str) -> Report:
    """Return the report that `report_as_json` wrote."""
    words = json.loads(text)
    return Report(**{**words, "stretches": [Counted(**stretch) for stretch in words["stretches"]]})
