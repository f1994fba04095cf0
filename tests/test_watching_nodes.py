"""The page and the API of one node show what is on on another, move by move, and what that has stored."""

import http.client
import json
import os
from contextlib import ExitStack, closing
from typing import Any

import pytest
from scripted_clients import KINDS, Client, connected, play_out
from several_nodes import HAS_REGISTRY, node, registry, two_nodes
from shared_ports import MOVES, got
from worlds.server import PATIENCE, Served

POSTGRES = os.environ.get("C4TEST_POSTGRES")
pytestmark = [
    pytest.mark.operation,
    pytest.mark.skipif(not HAS_REGISTRY, reason="there is no Redis here"),
]


class Stream:
    """A viewer of one node."""

    def __init__(self, gateway: Served, what: str = "") -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", gateway.port("page"), timeout=PATIENCE)
        self.connection.request("GET", f"/api/live/events{what}")
        self._answer = self.connection.getresponse()
        self.first = self.hear("snapshot")

    def close(self) -> None:
        self.connection.close()

    def hear(self, kind: str) -> Any:
        """Return the next event of a kind; before it only what is told once a second may come."""
        while True:
            fields = self._event()
            if fields.get("event") == kind:
                return json.loads(fields["data"])
            assert fields.get("event") in {None, "counts", "gone", "watching"}, fields

    def await_lobby(self, *names: str) -> None:
        """Wait until just these players are listed as waiting."""
        while [each["name"] for each in self.hear("counts")["lobby"]] != [*names]:
            pass

    def _event(self) -> dict[str, str]:
        """Return the fields of the next event; without any for a comment."""
        fields = {}
        while (line := self._answer.readline()) != b"\n":
            assert line, "the stream has ended"
            name, _, fields[name] = line.decode().rstrip("\n").partition(": ")
        return fields


def live(gateway: Served, what: str = "") -> Any:
    return json.loads(got(gateway, f"/api/live{what}")[2])


def player(gateway: Served, name: str, table: str, kind: str = "nac4") -> Client:
    return KINDS[kind](gateway, name, table)


def names(game: Any) -> list[str]:
    return [each["name"] for each in game["players"]]


def test_viewer_of_one_node_sees_games_of_another_and_between_them_move_by_move() -> None:
    with two_nodes() as (one, other), closing(Stream(one)) as seen:
        assert (seen.first["games"], seen.first["waiting"]) == ([], 0)
        for home, table in ((other, "x"), (one, "y")):
            ann, bob = player(home, f"ann-{table}", table), player(other, f"bob-{table}", table, "arena")
            with connected(ann):
                seen.await_lobby(ann.name)
                with connected(bob):
                    started = seen.hear("started")
                    assert names(started) == [f"ann-{table}", f"bob-{table}"]
                    with closing(Stream(one, f"?game={started['game']}")) as following:
                        for number, column in enumerate(MOVES):
                            (ann, bob)[number % 2].play(column)
                            for stream in (seen, following):
                                moved = stream.hear("moved")
                                assert (moved["game"], moved["column"]) == (started["game"], column)
                        assert following.hear("ended")["reason"] == "four"
                    assert seen.hear("ended")["winner"] == 0


@pytest.mark.thorough
def test_player_is_shown_once_wherever_it_plays() -> None:
    with two_nodes() as gateways:
        ann, bob = (player(each, name, "x") for each, name in zip(gateways, ("ann", "bob"), strict=True))
        with connected(ann, bob):
            for gateway in gateways:
                [game] = live(gateway, "?player=bob")["games"]
                assert names(game) == ["ann", "bob"]
                counts = live(gateway)
                assert (counts["playing"], counts["waiting"], len(counts["games"])) == (1, 0, 1)


def test_games_and_players_of_a_lost_node_vanish() -> None:
    with (
        two_nodes() as (one, other),
        closing(Stream(one)) as seen,
        connected(player(one, "here", "w"), player(other, "ann", "x"), player(other, "bob", "x")),
    ):
        assert names(seen.hear("started")) == ["ann", "bob"]
        other.process.kill()
        after = seen.hear("snapshot")
        assert (after["playing"], after["games"]) == (0, [])
        assert [each["name"] for each in after["lobby"]] == ["here"]


def cluster(gateway: Served) -> Any:
    return json.loads(got(gateway, "/healthz")[2])["cluster"]


def test_health_tells_of_the_cluster_and_of_a_node_that_pairs_alone() -> None:
    with two_nodes() as (one, other):
        well = {"pairs": "a", "alone": False, "registry": True}
        assert cluster(one) == {"node": "a", "linked": ["b"], **well}
        assert cluster(other) == {"node": "b", "linked": ["a"], **well}
    with ExitStack() as stack, ExitStack() as away:
        url = away.enter_context(registry())
        alone = stack.enter_context(node("c", url))
        alone.await_log("node c pairs")
        away.close()
        alone.await_log("no node pairs the players of all nodes")
        assert cluster(alone) == {"node": "c", "linked": [], "pairs": None, "alone": True, "registry": False}
        assert json.loads(got(alone, "/healthz")[2])["ok"]


@pytest.mark.thorough
@pytest.mark.skipif(POSTGRES is None, reason="there is no PostgreSQL here")
def test_games_and_standings_that_one_node_has_stored_are_shown_by_the_other() -> None:
    assert POSTGRES is not None
    with two_nodes("--db", POSTGRES) as (one, other):
        clients = player(other, "ann-of-b", "x"), player(other, "bob-of-b", "x")
        with connected(*clients):
            play_out(*clients, MOVES)
        found = json.loads(got(one, "/api/games?player=ann-of-b")[2])["games"]
        [game] = [each for each in found if each["moves"] == "".join(map(str, MOVES))]
        assert "ann-of-b" in got(one, "/api/players")[2]
        assert "ann-of-b" in got(one, f"/game/{game['id']}")[2]
