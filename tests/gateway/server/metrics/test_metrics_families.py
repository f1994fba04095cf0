"""The text of the metrics, read by the parser of prometheus-client."""

import time
from typing import Any

import pytest
import trio
from metrics_world import NAME, Joined, Kept, Told
from prometheus_client.parser import text_string_to_metric_families

from conformance.lab.meters import has_proc
from gateway import __version__
from gateway.game.board import FIRST
from gateway.game.events import Reason
from gateway.server.metrics.families import process_text
from gateway.server.metrics.requests import KINDS, Requests


def read(told: Told, **other: Any) -> dict[tuple[str, ...], float]:
    """Return each figure, by its name and the values of its labels."""
    return figures(told.text(**other))


def figures(text: str) -> dict[tuple[str, ...], float]:
    return {
        (sample.name.removeprefix("c4gateway_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def test_server_without_players_has_its_version_and_zeros() -> None:
    found = read(Told())
    assert found["info", __version__] == 1
    assert (found["players",], found["draining",]) == (0, 0)
    assert {key: found[key] for key in found if key[0] == "time_losses_total"} == dict.fromkeys(
        [("time_losses_total", dialect) for dialect in ("nac4", "arena", "droidcon", "house")], 0
    )
    assert found["games_playing",] == 0
    assert {name for name, *_ in found} == {
        *("info", "players", "games_playing", "draining"),
        *("connections_total", "connections_open", "dropped_total", "moves_total", "time_losses_total"),
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
    found = read(told, house=lambda: {"quick": 4})
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


async def test_durations_are_told_as_a_histogram_and_waiting_results_as_they_are() -> None:
    kept = Kept(7, behind=True, held=True, journaled=6)
    for seconds in (0.0004, 0.003, 0.003, 70.0):
        kept.commits.add(seconds)
    found = read(Told(), batcher=kept)
    assert (found["results_waiting",], found["results_late",]) == (7, 1)
    assert (found["results_journaled",], found["results_held",]) == (6, 1)
    buckets = [found["commit_seconds_bucket", end] for end in ("0.0005", "0.002", "0.005", "5.0", "+Inf")]
    assert buckets == [1, 1, 3, 3, 4]
    assert found["commit_seconds_count",] == 4
    assert found["commit_seconds_sum",] == pytest.approx(70.0064)


async def test_errors_of_the_database_are_told_by_kind_from_zero_on() -> None:
    kept = Kept()
    kept.errors["passing"] += 3
    found = read(Told(), batcher=kept)
    assert [found["database_errors_total", kind] for kind in ("passing", "refused", "tidying")] == [3, 0, 0]


async def test_server_that_lets_games_be_finished_is_draining() -> None:
    told = Told()
    told.hub.drain()
    assert read(told)["draining",] == 1


async def test_processes_that_were_started_again_are_told_by_name() -> None:
    found = read(Told(), restarts=lambda: {"web": 2, "store": 0})
    assert (found["child_restarts_total", "web"], found["child_restarts_total", "store"]) == (2, 0)


async def test_requests_are_told_by_path_and_code_and_their_time_by_path() -> None:
    requests = Requests()
    for status, seconds in ((200, 0.003), (200, 0.3), (404, 0.003)):
        requests.add("page", status, seconds)
    found = read(Told(), requests=requests)
    assert (found["http_answers_total", "200", "page"], found["http_answers_total", "404", "page"]) == (2, 1)
    assert found["http_answer_seconds_bucket", "0.005", "page"] == 2
    assert found["http_answer_seconds_sum", "page"] == pytest.approx(0.306)
    assert {key[1] for key in found if key[0] == "http_answer_seconds_count"} == {*KINDS}


@pytest.mark.parametrize(
    ("joined", "who"),
    [
        (Joined("a"), "this"),
        (Joined("b"), "other"),
        (Joined(None, alone=True), "alone"),
        (Joined(None), "nobody"),
    ],
)
async def test_who_pairs_is_one_of_four_and_no_node_s_name(joined: Joined, who: str) -> None:
    told = Told()
    told.hub.cluster = joined  # type: ignore[assignment]  as in `metrics_world`
    found = read(told)
    pairing = {key[1]: figure for key, figure in found.items() if key[0] == "cluster_pairing"}
    assert pairing == {"this": 0, "other": 0, "alone": 0, "nobody": 0} | {who: 1}
    assert (found["cluster_nodes",], found["cluster_links",], found["cluster_registry_up",]) == (3, 2, 1)


async def test_registry_that_does_not_answer_is_told() -> None:
    told = Told()
    told.hub.cluster = Joined(registry=False)  # type: ignore[assignment]  as above
    assert read(told)["cluster_registry_up",] == 0


async def test_server_that_is_alone_has_no_figures_of_a_cluster() -> None:
    assert not [key for key in read(Told()) if key[0].startswith("cluster")]


@pytest.mark.skipif(not has_proc(), reason="no /proc here")
async def test_process_is_told_from_a_thread_with_its_start_and_its_files() -> None:
    found = figures((await trio.to_thread.run_sync(process_text)).decode())
    assert 0 < found["process_open_fds",] <= found["process_max_fds",]
    assert 0 < found["process_start_time_seconds",] <= time.time()
