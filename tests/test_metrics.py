"""The metrics of a real server, after real games of all dialects."""

import http.client
import json
import socket
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory

import certificates
import pytest
from prometheus_client.parser import text_string_to_metric_families
from scripted_clients import ArenaClient, Client, DroidconClient, Nac4Client, connected, play_out
from several_nodes import HAS_REGISTRY, node, registry_in
from worlds.server import EVERY_PORT, PATIENCE, Served, served

from conformance.lab.meters import has_proc
from gateway.server import local_redis

FIRST_WINS = (0, 1, 0, 1, 0, 1, 0)
KINDS = ("nac4", "arena", "droidcon")


def scraped(gateway: Served) -> dict[tuple[str, ...], float]:
    """Return each figure, by its name and the values of its labels."""
    url = f"http://127.0.0.1:{gateway.port('metrics')}/metrics"
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        assert answer.headers["content-type"].startswith("text/plain; version=")
        text = answer.read().decode()
    return {
        (sample.name.removeprefix("c4gateway_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def pairs(gateway: Served) -> list[tuple[Client, Client]]:
    """Return players of each dialect, each at a table against one of the next dialect."""
    kinds: list[type[Client]] = [Nac4Client, ArenaClient, DroidconClient]
    return [
        (
            kinds[at](gateway, f"{KINDS[at]}-first", f"t{at}"),
            kinds[at - 2](gateway, f"{KINDS[at - 2]}-second", f"t{at}"),
        )
        for at in range(3)
    ]


def test_counts_are_those_of_the_games_that_were_played(tmp_path: Path) -> None:
    options = (*EVERY_PORT, "--rounds", "1", "--metrics", "0", "--db", str(tmp_path / "games.db"))
    with served(*options, addresses=4) as gateway:
        assert [name for name, _, _ in gateway.addresses] == ["metrics", *KINDS]
        for first, second in pairs(gateway):
            with connected(first, second):
                play_out(first, second, FIRST_WINS)
        with connected(ArenaClient(gateway, "ann", "x"), ArenaClient(gateway, "bob", "x")) as (ann, bob):
            ann.play(3)
            ann.say(json.dumps({"type": "move", "move": 9}))
            while json.loads(ann.hear())["type"] != "ignored":
                pass
            found = scraped(gateway)
            bob.hear()
    assert [found["connections_total", kind] for kind in KINDS] == [2, 4, 2]
    assert found["connections_open", "arena"] >= 2
    assert {key[1:]: times for key, times in found.items() if key[0] == "games_total"} == {
        ("nac4", "arena"): 1,
        ("arena", "droidcon"): 1,
        ("droidcon", "nac4"): 1,
    }
    assert found["games_ended_total", "four"] == 3
    assert found["games_started_total", "arena", "arena"] == 1
    assert found["games_playing",] == 1
    assert [found["moves_total", kind] for kind in KINDS] == [7, 7, 7]
    assert (found["refused_total", "outside"], found["refused_total", "not_your_turn"]) == (1, 1)
    assert (found["results_waiting",], found["results_late",]) == (0, 0)
    assert 1 <= found["commit_seconds_count",] <= 6  # of three games and what was said in them
    assert found["loop_delay_seconds_count",] > 0
    assert not [key for key in found if any("ann" in word or "first" in word for word in key)]


def test_requests_of_the_page_are_counted_in_the_process_that_plays_and_its_own_figures_are_there() -> None:
    begun = time.time()
    with served("--tcp", "0", "--web", "0", "--metrics", "0", addresses=3) as gateway:
        for path, status in (("/", 200), ("/api/live", 200), ("/nowhere", 404)):
            connection = http.client.HTTPConnection("127.0.0.1", gateway.port("page"), timeout=PATIENCE)
            with closing(connection):
                connection.request("GET", path)
                assert connection.getresponse().status == status
        give_up = time.monotonic() + PATIENCE
        while (found := scraped(gateway)).get(("http_answers_total", "404", "page")) != 1:
            assert time.monotonic() < give_up
    assert (found["http_answers_total", "200", "page"], found["http_answers_total", "200", "live"]) == (1, 1)
    assert found["http_answer_seconds_count", "page"] == 2
    assert found["child_restarts_total", "web"] == found["draining",] == 0
    if has_proc():
        assert begun - 60 < found["process_start_time_seconds",] < begun + PATIENCE
        assert found["process_open_fds",] < found["process_max_fds",]


def cluster_of(node: Served) -> tuple[str | float, ...]:
    """Return who pairs, and how many nodes, links and registries there are, as a node sees it."""
    found = scraped(node)
    (who,) = [key[1] for key, figure in found.items() if key[0] == "cluster_pairing" and figure]
    return (who, *(found[f"cluster_{name}",] for name in ("nodes", "links", "registry_up")))


def await_cluster(one: Served, other: Served, *either: str, registry_up: int) -> None:
    """Wait until two nodes see each other, the registry as it is, and that these pair, in any order."""
    give_up = time.monotonic() + PATIENCE
    expected = sorted((who, 2, 1, registry_up) for who in either)
    while sorted((cluster_of(one), cluster_of(other))) != expected:
        assert time.monotonic() < give_up, (cluster_of(one), cluster_of(other))


@pytest.mark.operation
@pytest.mark.skipif(not HAS_REGISTRY, reason="there is no Redis here")
def test_node_tells_who_pairs_whom_it_is_linked_with_and_whether_the_registry_answers() -> None:
    options = ("--db", "none", "--metrics", "0")
    with TemporaryDirectory(prefix="c4", dir="/tmp") as path, ExitStack() as stack:
        folder = Path(path)
        with registry_in(folder):
            url = local_redis.url(folder)
            one, other = (stack.enter_context(node(name, url, *options, addresses=5)) for name in "ab")
            await_cluster(one, other, "this", "other", registry_up=1)
        await_cluster(one, other, "alone", "alone", registry_up=0)
        with registry_in(folder):
            await_cluster(one, other, "this", "other", registry_up=1)


def test_limits_of_the_page_are_counted_as_the_bots_are() -> None:
    limit = ("limits_hit_total", "page", "max-per-address")
    options = ("--tcp", "0", "--web", "0", "--max-per-address", "1", "--metrics", "0")
    with served(*options, addresses=3) as gateway, ExitStack() as stack:
        address = ("127.0.0.1", gateway.port("page"))
        viewer = stack.enter_context(socket.create_connection(address, timeout=PATIENCE))
        viewer.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert viewer.recv(12) == b"HTTP/1.1 200"
        for _ in range(3):
            with socket.create_connection(address, timeout=PATIENCE) as other:
                assert other.recv(12) == b"HTTP/1.1 503"
        give_up = time.monotonic() + PATIENCE
        while scraped(gateway).get(limit) != 3:
            assert time.monotonic() < give_up


@certificates.needs_openssl
def test_port_of_the_metrics_is_shown_without_tls_where_others_take_nothing_else(tmp_path: Path) -> None:
    tls = certificates.make(tmp_path).options
    with served("--nac4", "0", "--metrics", "0", "--tls-only", *tls, addresses=2) as gateway:
        assert [line.split()[1].partition(":")[0] for line in gateway.announced] == ["http", "wss"]
        assert scraped(gateway)
