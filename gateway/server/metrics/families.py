"""The metrics: their names, labels, texts, and the sources of their figures. docs/operation.md explains them.

Knows prometheus-client, whose import takes 0.1 s, so only a server with metrics imports this module. Making
the text of one family takes a fraction of a millisecond.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from gateway import __version__
from gateway.hub.hub import Hub
from gateway.hub.remote import Cluster
from gateway.runtime.histogram import BOUNDS, Histogram
from gateway.runtime.turns import TimedTurns
from gateway.server.metrics.requests import Requests
from gateway.server.metrics.tally import GameCounts

if TYPE_CHECKING:
    from gateway.store.batcher import Batcher

L = TypeVar("L", bound=tuple[str, ...])
"""The type of the values of a family's labels."""

CONTENT_TYPE = CONTENT_TYPE_LATEST
LIMIT = "limit_"
"""The prefix of the names of counts for limits that clients reached."""
HOUSE = "house"
"""The dialect of the server's own players."""
_OWN = ("connections", "connections_over", "refused", "dropped")
"""The names of the counts that have separate families."""
_PROCESS = ProcessCollector(registry=None)
_ENDS = (*map(str, BOUNDS), "+Inf")


@dataclass(frozen=True, slots=True)
class Sources:
    """The objects and functions from which the figures are read."""

    hub: Hub
    tally: GameCounts
    turns: TimedTurns
    dialects: Sequence[str]
    """The names of all dialects."""
    house: Callable[[], Mapping[str, int]]
    """Returns, for each kind of move, the number that wait for a worker of the house players."""
    restarts: Callable[[], Mapping[str, int]]
    """Returns, for each child process, the number of restarts."""
    batcher: "Batcher | None"
    requests: Requests | None
    """The requests that the page answered; None without a page."""


class _Alone(Collector):
    """A registry that has only one family."""

    def __init__(self, family: Metric) -> None:
        self._family = family

    def collect(self) -> Iterator[Metric]:
        yield self._family


def texts(sources: Sources) -> Iterator[bytes]:
    """Yield the text of each family. A text is made only when the caller asks for the next one."""
    for family in _families(sources):
        yield generate_latest(_Alone(family))


def process_text() -> bytes:
    """Return the text of the system's figures for this process.

    Call this in a thread, since it counts all open files.
    """
    return generate_latest(_PROCESS)


def _families(sources: Sources) -> Iterator[Metric]:
    yield InfoMetricFamily("c4gateway", "The version.", {"version": __version__})
    yield _gauge("draining", "1 once no further game begins, until the end.", {(): sources.hub.is_draining})
    yield from _of_connections(sources)
    yield from _of_games(sources)
    yield _histogram("loop_delay", "Times in which the server read nothing.", sources.turns.delays)
    yield _histogram(
        "answer_delay",
        "Times from the arrival of clients' bytes until all of them were handled, at most.",
        sources.turns.answers,
    )
    moves = _single(sources.house())
    yield _gauge("house_moves_waiting", "Moves of house players that wait for a process.", moves, ["kind"])
    restarts = _single(sources.restarts())
    yield _counter("child_restarts", "Child processes that were started again.", restarts, ["process"])
    if sources.batcher is not None:
        yield from _of_results(sources.batcher)
    if sources.requests is not None:
        yield from _of_requests(sources.requests)
    if sources.hub.cluster is not None:
        yield from _of_cluster(sources.hub.cluster)


def _of_connections(sources: Sources) -> Iterator[Metric]:
    counts, dialect = sources.hub.feed.counts, ["dialect"]
    none = dict.fromkeys(sources.dialects, 0)
    came = none | _counted(counts, "connections")
    gone = _counted(counts, "connections_over")
    open_now = Counter({kind: times - gone[kind] for kind, times in came.items()})
    refused = Counter[str]()
    for kinds, times in _counted(counts, "refused").items():
        for kind in kinds.split("|"):
            refused[kind] += times
    dropped = _single(none | _counted(counts, "dropped"))
    others = {key: times for key, times in counts.items() if key[0] not in _OWN}
    limits = {key: times for key, times in others.items() if key[0].startswith(LIMIT)}
    limits_hit = {(what.removeprefix(LIMIT), kind): times for (what, kind), times in limits.items()}
    others = {key: times for key, times in others.items() if key not in limits}
    yield _counter("connections", "Connections of players.", _single(came), dialect)
    yield _gauge("connections_open", "Connections of players that are open.", _single(open_now), dialect)
    yield _gauge("players", "Players who are here, house players included.", {(): len(sources.hub)})
    yield _counter("refused", "Messages refused, by each thing wrong with them.", _single(refused), ["kind"])
    yield _counter("dropped", "Clients hung up on because they stopped reading.", dropped, dialect)
    yield _counter("limits_hit", "How often a limit was hit.", limits_hit, ["limit", "dialect"])
    yield _counter("events", "Other events.", others, ["what", "kind"])


def _of_games(sources: Sources) -> Iterator[Metric]:
    tally, pair, dialect = sources.tally, ["first", "second"], ["dialect"]
    none = dict.fromkeys((*sources.dialects, HOUSE), 0)
    moves, losses = _single(none | tally.moves), _single(none | tally.time_losses)
    yield _counter("games_started", "Games, by the dialects of first and second mover.", tally.started, pair)
    yield _counter("games", "Games that are over, by the dialects of both.", tally.ended, pair)
    yield _counter("games_ended", "Games that are over, by the reason.", _single(tally.reasons), ["reason"])
    yield _gauge("games_playing", "Games that are on.", {(): tally.playing})
    yield _counter("moves", "Moves in games that are over, by the mover.", moves, dialect)
    yield _counter("time_losses", "Games lost on time, by the loser.", losses, dialect)


def _of_results(batcher: "Batcher") -> Iterator[Metric]:
    games = batcher.open
    yield _histogram("commit", "Times to store a batch of results or messages.", batcher.commits)
    yield _gauge("results_waiting", "Games that wait to be stored.", {(): games.waiting})
    yield _gauge(
        "results_late",
        "1 while a result has waited for the database for longer than its players.",
        {(): games.behind},
    )
    yield _gauge(
        "results_journaled", "Games that wait to be stored and are in the journal.", {(): games.journaled}
    )
    yield _gauge(
        "results_held", "1 while the journal takes no results either, so that players wait.", {(): games.held}
    )
    errors = _single(batcher.errors)
    yield _counter("database_errors", "Failures to read or write results, by kind.", errors, ["kind"])


def _of_requests(requests: Requests) -> Iterator[Metric]:
    answered = {(kind, str(status)): sum(each.counts()) for (kind, status), each in requests.delays.items()}
    yield _counter("http_answers", "Answers of the page, by status.", answered, ["path", "code"])
    family = HistogramMetricFamily(
        "c4gateway_http_answer_seconds", "Times until an answer of the page began.", labels=["path"]
    )
    for kind, delays in requests.by_kind().items():
        family.add_metric([kind], _buckets(delays), delays.total)
    yield family


def _of_cluster(cluster: Cluster) -> Iterator[Metric]:
    condition = cluster.condition()
    links, pairs = condition["linked"], condition["pairs"]
    assert isinstance(links, Sequence)
    if condition["alone"]:
        who = "alone"
    elif pairs is None:
        who = "nobody"
    else:
        who = "this" if pairs == condition["node"] else "other"
    pairing = {(each,): each == who for each in ("this", "other", "alone", "nobody")}
    yield _gauge("cluster_nodes", "Nodes that the registry named last, this one too.", {(): cluster.nodes})
    yield _gauge("cluster_links", "Nodes that this one is linked with.", {(): len(links)})
    yield _gauge("cluster_pairing", "1 for who pairs the players of this node.", pairing, ["who"])
    yield _gauge("cluster_registry_up", "1 while the registry answers.", {(): bool(condition["registry"])})


def _counted(counts: Counter[tuple[str, str]], what: str) -> Counter[str]:
    return Counter({kind: times for (found, kind), times in counts.items() if found == what})


def _single(figures: Mapping[str, float]) -> dict[tuple[str], float]:
    """Return the figures with each key as a tuple, for a family with one label."""
    return {(value,): figure for value, figure in figures.items()}


def _counter(name: str, text: str, figures: Mapping[L, float], labels: Sequence[str]) -> CounterMetricFamily:
    family = CounterMetricFamily(f"c4gateway_{name}", text, labels=labels)
    for values, figure in sorted(figures.items()):
        family.add_metric(values, figure)
    return family


def _gauge(name: str, text: str, figures: Mapping[L, float], labels: Sequence[str] = ()) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"c4gateway_{name}", text, labels=labels)
    for values, figure in sorted(figures.items()):
        family.add_metric(values, float(figure))
    return family


def _histogram(name: str, text: str, durations: Histogram) -> HistogramMetricFamily:
    family = HistogramMetricFamily(f"c4gateway_{name}_seconds", text)
    family.add_metric([], _buckets(durations), durations.total)
    return family


def _buckets(durations: Histogram) -> list[tuple[str, float]]:
    return list(zip(_ENDS, accumulate(durations.counts()), strict=True))
