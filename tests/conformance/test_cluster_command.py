"""What a cluster costs, beside its goals; who met whom in its lobby; and one short run."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import trio

from conformance.__main__ import main
from conformance.dialects.script import SHORT, Game, Outcome
from conformance.lab.bots import PLAIN
from conformance.lab.cluster.figures import ALONE, BETWEEN, NODE, rows_of
from conformance.lab.cluster.lobby import NODES, Agreement, Told, Visitor, agreement, played, visitors
from conformance.lab.cluster.sizes import Sample, busy_rows, idle_rows
from conformance.lab.figures import Row
from conformance.lab.kills.games import Result
from conformance.lab.plan import Counted
from conformance.lab.redis_server import redis_program
from conformance.targets import Address

TOLD = {1: (Outcome.WON, Outcome.LOST), 2: (Outcome.LOST, Outcome.WON)}


def counted(*nodes: float, redis: float = 0.0, p50: float = 0.001) -> Counted:
    """Return 1,000 moves in a second, for which nodes used so many seconds."""
    first, *more = nodes
    return Counted(1.0, 1000, 10.0, first, 0.0, 0.5, p50, p50, more_cpu=[*more, redis])


def rows(node: float, between: tuple[float, float], p50: float = 0.001) -> dict[str, Row]:
    found = {ALONE: [counted(0.1)], NODE: [counted(node)], BETWEEN: [counted(*between, redis=0.9, p50=p50)]}
    return {row.what: row for row in rows_of("mix", found, found)}


@pytest.mark.parametrize(
    ("node", "between", "missed"),
    [
        (0.105, (0.15, 0.15), []),
        (0.106, (0.15, 0.15), ["mix, one node, ratio"]),
        (0.105, (0.15, 0.151), ["mix, two nodes, ratio"]),
        (0.105, (0.04, 0.251), ["mix, 1000 moves/s, more by"]),
    ],
)
def test_nodes_are_compared_with_a_server_that_is_alone_and_redis_is_told_apart(
    node: float, between: tuple[float, float], missed: list[str]
) -> None:
    found = rows(node, between)
    assert [what for what, row in found.items() if row.is_missed] == missed
    assert found["mix, two nodes, Redis beside them"].found == pytest.approx(900)


def test_moves_between_nodes_may_take_three_milliseconds_longer() -> None:
    assert not rows(0.1, (0.1, 0.1), 0.0039)["mix, 1000 moves/s, p50 more by"].is_missed
    assert rows(0.1, (0.1, 0.1), 0.0041)["mix, 1000 moves/s, p50 more by"].is_missed


def test_goals_are_missed_where_the_system_tells_nothing() -> None:
    unknown = replace(counted(0.1), server_cpu=None, more_cpu=[])
    found = {setting: [unknown] for setting in (ALONE, NODE, BETWEEN)}
    assert [row.verdict for row in rows_of("mix", found, found) if row.most].count("unknown") == 3


def told(players: list[Visitor], first: int, second: int, winner: int) -> Result:
    """Tell two players of a game, and return it."""
    one, other = players[first], players[second]
    for player, opponent, outcome in zip((one, other), (other, one), TOLD[winner], strict=True):
        hears = opponent.wish.name if player.place[0] == "nac4" else None
        player.told.append(Told(player.wish.name, player is one, outcome, hears))
    return Result(one.wish.name, other.wish.name, SHORT)


def test_players_and_the_database_agree() -> None:
    players = visitors("x", SHORT, 1)
    stored = [
        told(players, first, second, 1) for first in range(18) for second in range(18) if first != second
    ]
    found = agreement(players, stored)
    assert (found.games, found.differences) == (18 * 17, [])
    assert (found.unmet(0), found.unmet(1), len(found.met)) == (0, 0, 81)


async def test_lobby_is_left_only_when_the_servers_have_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.lab.cluster.lobby.QUIET", 0.0)
    players = [Visitor((kind, 0), f"p{number}", SHORT, 1) for number, kind in enumerate(PLAIN)]
    silent, noticed = iter(players), []

    async def serve(stream: trio.SocketStream) -> None:
        async with stream:
            assert await stream.receive_some()
            next(silent).has_enough.set()
            assert await stream.receive_some() == b""
            for _ in range(20):
                await trio.lowlevel.checkpoint()
            noticed.append(stream)

    async with trio.open_nursery() as nursery:
        [listener] = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
        address = Address("127.0.0.1", listener.socket.getsockname()[1])
        async with played(players, [dict.fromkeys(PLAIN, address)]):
            pass
        assert len(noticed) == len(players)
        nursery.cancel_scope.cancel()


def test_who_has_not_met_is_counted_by_dialects_and_by_nodes() -> None:
    players = visitors("x", SHORT, 1)
    found = agreement(players, [told(players, 0, 1, 1)])  # of one dialect, on two nodes
    assert (found.unmet(0), found.unmet(1)) == (8, len(NODES) ** 2 - 1)
    assert (Agreement() + found + found).games == 2


@pytest.mark.parametrize("fault", ["missing", "twice", "other winner", "other moves"])
def test_whatever_is_stored_otherwise_than_told_is_a_difference(fault: str) -> None:
    players = visitors("x", SHORT, 1)
    [nac4] = [number for number, player in enumerate(players[:9]) if player.place == ("nac4", 0)]
    games = [told(players, nac4, 10, 1), told(players, 3, 10, 1)]
    match fault:
        case "missing":
            games.pop()
        case "twice":
            games.append(games[0])
        case "other winner":
            games[0] = replace(games[0], game=replace(SHORT, winner=2))
        case "other moves":
            games[0] = replace(games[0], game=Game("0101020", 1, "four"))
    assert agreement(players, games).differences


def found(rows: Sequence[Row]) -> list[float | None]:
    return [row.found for row in rows]


def test_nodes_are_told_by_the_second_and_pairing_by_the_pair() -> None:
    looks = Sample(10.0, 100, 10**6, 1.0, [1.0, 2.0, 3.0]), Sample(20.0, 150, 2 * 10**6, 1.5, [3.0, 2.5, 3.5])
    assert found(idle_rows("3", *looks)) == pytest.approx([5, 0.05, 0.1, 2])
    assert found(busy_rows("3", looks, 1000)) == pytest.approx([5, 1500])


def test_nothing_is_told_of_nodes_where_the_system_tells_nothing() -> None:
    looks = Sample(0.0, 0, 0, None, [None, None]), Sample(1.0, 5, 0, None, [None, None])
    assert found(idle_rows("2", *looks)) == [5, None, None, 0]
    assert found(busy_rows("2", looks, 1)) == [5, None]


def test_what_the_lobby_needs_and_is_not_there_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("conformance.lab.postgres._POSTGRES", ())
    assert main(["cluster", "--only", "lobby"]) == 1
    assert "there is no initdb" in capsys.readouterr().err


@pytest.mark.thorough
@pytest.mark.skipif(redis_program() is None, reason="no Redis server here")
def test_short_run_measures_all_that_is_asked_for(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report = tmp_path / "cluster.json"
    sizes = "--games 4 --rate 100 --players 12 --times 1 --seconds 0.2"
    parts = "moves,series,pairing,nodes"
    status = main(["cluster", *sizes.split(), "--only", parts, "--json", str(report)])
    out = capsys.readouterr().out
    found = json.loads(report.read_text())["rows"]
    assert [row for row in found if row["found"] is None] == []
    assert {row["part"] for row in found} == {"moves", "paced", "series", "pairing", "nodes"}
    assert max(map(len, out.splitlines())) <= 110
    # How good it is here is no matter of this test, only whether the status tells.
    assert status == int(any(row["missed"] for row in found))
