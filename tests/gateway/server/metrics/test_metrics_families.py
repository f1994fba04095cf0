"""The text of the metrics, read by the parser of prometheus-client."""

from collections import Counter

import pytest
from metrics_world import NAME, Told
from prometheus_client.parser import text_string_to_metric_families

from gateway import __version__
from gateway.game.board import FIRST
from gateway.game.events import Reason
from gateway.histogram import Histogram
from gateway.server.metrics.families import Sources, texts
from gateway.server.metrics.turns import TimedTurns


def read(told: Told, **house: int) -> dict[tuple[str, ...], float]:
    """Return each figure, by its name and the values of its labels."""
    sources = Sources(told.feed.counts, told.tally, TimedTurns(), [1, 2, 3], lambda: house, None)
    return figures(b"".join(texts(sources)).decode())


def figures(text: str) -> dict[tuple[str, ...], float]:
    return {
        (sample.name.removeprefix("c4gateway_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def test_server_without_players_has_its_version_and_zeros() -> None:
    found = read(Told())
    assert found["info", __version__] == 1
    assert found["players",] == 3
    assert found["games_playing",] == 0
    assert {name for name, *_ in found} == {
        *("info", "players", "games_playing"),
        *(
            f"{delay}_delay_seconds_{part}"
            for delay in ("loop", "answer")
            for part in ("bucket", "count", "sum")
        ),
    }


async def test_connections_are_told_by_dialect_all_of_them_and_those_that_are_open() -> None:
    told = Told()
    told.feed.counts.update({("connections", "nac4"): 5, ("connections_over", "nac4"): 5})
    told.feed.counts.update({("connections", "arena"): 3, ("connections_over", "arena"): 1})
    found = read(told)
    assert [found["connections_total", dialect] for dialect in ("nac4", "arena")] == [5, 3]
    assert [found["connections_open", dialect] for dialect in ("nac4", "arena")] == [0, 2]


async def test_refusal_counts_for_each_thing_that_was_wrong() -> None:
    told = Told()
    told.feed.counts.update({("refused", "waiting|unfit"): 2, ("refused", "unfit"): 3})
    found = read(told)
    assert (found["refused_total", "unfit"], found["refused_total", "waiting"]) == (5, 2)


async def test_limits_are_told_by_name_and_dialect_and_whatever_else_is_counted() -> None:
    told = Told()
    told.feed.counts.update({("limit_messages", "nac4"): 2, ("dropped", "arena"): 1, ("x", "y"): 3})
    found = read(told)
    assert found["limits_hit_total", "nac4", "messages"] == 2
    assert found["dropped_total", "arena"] == 1
    assert found["events_total", "y", "x"] == 3


async def test_games_moves_and_losses_are_told_by_dialect() -> None:
    told = Told()
    told.start("nac4", "arena", 2)
    told.end(("nac4", "arena"), "0101010", Reason.TIME, FIRST)
    found = read(told, quick=4)
    assert found["games_started_total", "nac4", "arena"] == 2
    assert found["games_total", "nac4", "arena"] == 1
    assert found["games_ended_total", "time"] == 1
    assert found["games_playing",] == 1
    assert (found["moves_total", "nac4"], found["moves_total", "arena"]) == (4, 3)
    assert found["time_losses_total", "arena"] == 1
    assert found["house_moves_waiting", "quick"] == 4


async def test_no_label_is_a_name_of_a_player_or_a_table() -> None:
    told = Told()
    told.start("nac4", "arena")
    told.end(("nac4", "arena"), "01", Reason.LEFT, FIRST)
    assert not [key for key in read(told) if NAME in key]


class Kept:
    """A store, as far as metrics look at it."""

    def __init__(self, waiting: int, *, behind: bool) -> None:
        self.open_games = self
        self.waiting = waiting
        self.behind = behind
        self.commits = Histogram()


async def test_durations_are_told_as_a_histogram_and_waiting_results_as_they_are() -> None:
    told, kept = Told(), Kept(7, behind=True)
    for seconds in (0.0004, 0.003, 0.003, 70.0):
        kept.commits.add(seconds)
    sources = Sources(Counter(), told.tally, TimedTurns(), [], dict, kept)
    found = figures(b"".join(texts(sources)).decode())
    assert (found["results_waiting",], found["results_late",]) == (7, 1)
    buckets = [found["commit_seconds_bucket", end] for end in ("0.0005", "0.002", "0.005", "5.0", "+Inf")]
    assert buckets == [1, 1, 3, 3, 4]
    assert found["commit_seconds_count",] == 4
    assert found["commit_seconds_sum",] == pytest.approx(70.0064)
