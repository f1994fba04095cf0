"""The options of a server that uses several cores, and what each of its workers is told."""

import os
import socket
import sys

import pytest
from worlds.server import ran

from adapters import arena, droidcon, nac4
from gateway.options.clustering import LONGEST_NODE
from gateway.options.server import ServerOptions, cluster_options, parse, ports_of
from gateway.server.supervisor import arguments

DIALECTS = [nac4.DIALECT, arena.DIALECT, droidcon.DIALECT]
"""The dialects of these examples."""
URL = "redis://127.0.0.1:6379/0"
OWN = "unix:///tmp/x/redis.sock"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers share ports on Linux alone")


def options(*given: str) -> ServerOptions:
    return parse(given, DIALECTS)


def worker(index: int, *given: str, registry: str | None = OWN) -> ServerOptions:
    """Return the options of a worker of a server with these."""
    own = options("--workers", "3", *given)
    ports = {name: port or 5000 for name, port in ports_of(own, DIALECTS).items()}
    return options(*arguments(own, ["--workers", "3", *given], index, ports, registry))


def refused(capsys: pytest.CaptureFixture[str], *given: str) -> str:
    with pytest.raises(SystemExit):
        options(*given)
    [line] = capsys.readouterr().err.splitlines()
    return line.removeprefix("c4gateway: error: ")


def test_workers_are_nodes_of_one_cluster_that_share_ports_with_a_name_each() -> None:
    one, two = worker(1), worker(2)
    assert [each.workers for each in (one, two)] == [1, 1]
    assert [each.cluster for each in (one, two)] == [OWN, OWN]
    assert [each.share_ports for each in (one, two)] == [True, True]
    assert (str(one.node)[-2:], str(two.node)[-2:]) == ("-1", "-2")
    assert str(os.getpid()) in str(one.node)  # two servers on one machine have other names
    assert len(str(worker(3).node)) <= LONGEST_NODE
    assert worker(3, "--node", "a").node == "a-3"
    assert len(str(worker(3, "--node", "a" * 28).node)) == 30
    assert cluster_options(two) is not None


def test_command_line_of_a_worker_has_each_thing_once() -> None:
    given = ["--workers=3", "--nac4", "0", "--node", "a", "--host", "::1", "--share-ports", "--metrics=9000"]
    words = arguments(options(*given), given, 2, {"nac4": 5000}, OWN)
    assert words[:3] == ["--host", "::1", "--share-ports"]
    named = [word for word in words if word.startswith("--") and word != "--share-ports"]
    assert sorted(named) == [
        *("--cluster", "--host", "--house-workers", "--metrics", "--nac4", "--node", "--workers")
    ]
    assert "9001" in words[words.index("--metrics") + 1]


def test_worker_has_the_ports_that_were_reserved_and_no_others() -> None:
    found = worker(1, "--nac4", "0", "--tcp", "4242")
    assert found.ports == {"nac4": 5000, "droidcon": 4242, "arena": None}


def test_ports_of_all_dialects_are_wanted_where_none_is_named_and_the_page_s() -> None:
    assert ports_of(options("--workers", "2"), DIALECTS) == {
        "nac4": 8080,
        "arena": 8001,
        "tcp": 4242,
        "web": 8000,
    }
    assert ports_of(options("--port", "80"), DIALECTS) == {"port": 80}


def test_port_for_which_a_socket_was_handed_over_is_not_opened() -> None:
    own = options("--nac4", "0", "--tcp", "0", "--no-web")
    own.sockets = {"nac4": [3]}
    assert ports_of(own, DIALECTS) == {"tcp": 0}


def test_worker_takes_one_port_more_than_the_one_before_for_what_is_not_shared() -> None:
    given = ("--metrics", "9000", "--node-address", "10.0.0.1:7000", "--cluster", URL)
    found = worker(3, *given, registry=None)
    assert (str(found.metrics), str(found.node_address)) == ("127.0.0.1:9002", "10.0.0.1:7002")
    found = worker(3, "--metrics", "0", "--node-address", "10.0.0.1")
    assert (str(found.metrics), str(found.node_address)) == ("127.0.0.1:0", "10.0.0.1:0")


def test_workers_use_the_registry_that_is_named() -> None:
    assert worker(1, "--cluster", URL, registry=None).cluster == URL


def test_options_of_the_file_and_the_environment_do_not_make_workers_of_workers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("C4GATEWAY_WORKERS", "3")
    monkeypatch.setenv("C4GATEWAY_NODE", "a")
    own = options()
    found = options(*arguments(own, [], 2, {}, OWN))
    assert (own.workers, found.workers, found.node) == (3, 1, "a-2")


def test_workers_share_what_the_server_may_think_with() -> None:
    assert worker(1, "--house-workers", "9").house_workers == 9
    assert worker(1).house_workers == max(1, options().house_workers // 3)


@pytest.mark.parametrize("share", [("--workers", "2"), ("--share-ports",)])
def test_port_that_is_shared_is_for_one_thing_alone(
    share: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert "the same port" in refused(capsys, *share, "--nac4", "9000", "--tcp", "9000")
    assert "the same port" in refused(capsys, *share, "--nac4", "8000")
    assert options(*share, "--nac4", "8000", "--no-web").ports["nac4"] == 8000
    assert options("--nac4", "9000", "--tcp", "9000").ports["droidcon"] == 9000  # the system refuses it


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("--workers 0", "is not a whole number from 1 to 256"),
        ("--workers 257", "is not a whole number from 1 to 256"),
        ("--workers many", "is not a whole number from 1 to 256"),
        (f"--workers 200 --node {'a' * 29}", "28 characters at most"),
        ("--workers 3 --metrics 65534", "--metrics: each worker takes one port more"),
        ("--workers 3 --node-address h:65535", "--node-address: each worker takes one port more"),
        ("--workers 2 --db x.db", "--workers needs a database"),
        ("--workers 2 --cluster-password-file x", "is of no use without --cluster"),
    ],
)
def test_options_that_fit_no_workers_are_refused(
    given: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in refused(capsys, *given.split())


def test_workers_are_refused_where_the_system_does_not_spread_connections(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "does not spread connections" in refused(capsys, "--workers", "2")


def test_refused_port_is_followed_by_a_hint_at_the_page_s_usual_one_only_if_it_is_that() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.77", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        given = ("--cluster", URL, "--db", "none", "--host", "127.0.0.77", "--arena", port)
        status, _, err = ran("--workers", "2", *given)
    assert (status, err) == (
        1,
        f"c4gateway: error: cannot listen on 127.0.0.77, port {port}: Address already in use\n",
    )
