"""What moves on a cluster came to, beside their goals. Arithmetic only."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

from conformance.lab.figures import Row
from conformance.lab.plan import Counted

GOALS = {
    "local": 1.05,
    "between": 3.0,
    "share": 0.2,
    "p50_ms": 3.0,
    "pairing": 5.0,
}
"""What is not to be exceeded: the CPU of a move on one node of a cluster over that on a server that is alone,
and that of a move between two nodes, both together; at a pace what each of two nodes uses of a core beyond
half of what one server does, and milliseconds by which half of the moves take longer; seconds until all who
come to three nodes at once play."""
ALONE, NODE, BETWEEN = "alone", "one node", "two nodes"
"""A server that is no node, the only node of a cluster, and two nodes that have one bot of each pair."""

Found = Mapping[str, Sequence[Counted]]
"""What was counted in each setting, time after time. Redis is the last of the further processes."""


def rows_of(kind: str, saturated: Found, paced: Found) -> list[Row]:
    """Return what moves of a kind came to: at saturation, and at a pace."""
    return [*_saturated(kind, saturated), *_paced(kind, paced)]


def _saturated(kind: str, found: Found) -> list[Row]:
    costs = {setting: _middle(_cost, counted) for setting, counted in found.items()}
    redis = _middle(_cost_of_redis, found[BETWEEN])
    return [
        *(Row("moves", f"{kind}, {setting}", cost, "us/move") for setting, cost in costs.items()),
        Row("moves", f"{kind}, {BETWEEN}, Redis beside them", redis, "us/move"),
        *(
            Row("moves", f"{kind}, {setting}, ratio", _ratio(costs[setting], costs[ALONE]), "", GOALS[goal])
            for setting, goal in ((NODE, "local"), (BETWEEN, "between"))
        ),
    ]


def _paced(kind: str, found: Found) -> list[Row]:
    rate = median(each.moves / each.seconds for each in found[BETWEEN])
    what = f"{kind}, {rate:.0f} moves/s"
    alone, between = (_middle(_share, found[setting]) for setting in (ALONE, BETWEEN))
    half = None if alone is None else alone / 2
    before, after = (1000 * median(each.p50 for each in found[setting]) for setting in (ALONE, BETWEEN))
    return [
        Row("paced", f"{what}, half of {ALONE}", half, "cores", form=".3f"),
        Row("paced", f"{what}, the busier node", between, "cores", form=".3f"),
        Row("paced", f"{what}, more by", _difference(between, half), "cores", GOALS["share"], ".3f"),
        Row("paced", f"{what}, p50 {ALONE}", before, "ms"),
        Row("paced", f"{what}, p50 {BETWEEN}", after, "ms"),
        Row("paced", f"{what}, p50 more by", after - before, "ms", GOALS["p50_ms"]),
        Row("paced", f"{what}, {ALONE}, off its core", _middle(_waited, found[ALONE]), "", form=".1%"),
    ]


def _cost(counted: Counted) -> float | None:
    """Return the microseconds of a move, of all nodes."""
    used = _nodes(counted)
    return 1e6 * sum(used) / counted.moves if used else None


def _cost_of_redis(counted: Counted) -> float | None:
    return 1e6 * counted.more_cpu[-1] / counted.moves if counted.more_cpu else None


def _share(counted: Counted) -> float | None:
    """Return what the busier of all nodes uses of a core."""
    used = _nodes(counted)
    return max(used) / counted.seconds if used else None


def _waited(counted: Counted) -> float | None:
    """Return how much of the time others kept the server off its core."""
    return None if counted.server_waited is None else counted.server_waited / counted.seconds


def _nodes(counted: Counted) -> list[float]:
    """Return the seconds that each node used."""
    return [] if counted.server_cpu is None else [counted.server_cpu, *counted.more_cpu[:-1]]


def _middle(figure: Callable[[Counted], float | None], all_: Iterable[Counted]) -> float | None:
    known = [found for each in all_ if (found := figure(each)) is not None]
    return median(known) if known else None


def _ratio(value: float | None, other: float | None) -> float | None:
    return None if value is None or not other else value / other


def _difference(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value - other
