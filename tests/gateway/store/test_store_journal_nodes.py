"""A node that stops while the database is away: what a player of another node hears, and what is stored."""

import signal
from contextlib import closing
from pathlib import Path

import pytest
from scripted_clients import DroidconClient, Nac4Client, connected, play
from several_nodes import HAS_REGISTRY, two_nodes
from shared_ports import MOVES
from store_world import POSTGRES
from worlds.server import ran

from gateway.store.database import open_to_read, open_to_write
from gateway.store.games import Filter, every

pytestmark = [
    pytest.mark.operation,
    pytest.mark.skipif(not HAS_REGISTRY, reason="there is no Redis here"),
    pytest.mark.skipif(POSTGRES is None, reason="there is no PostgreSQL here"),
]


@pytest.mark.parametrize("where", ["postgresql"], indirect=True)
def test_result_that_is_untold_when_its_node_stops_is_told_to_the_player_of_another_node(
    where: str, tmp_path: Path
) -> None:
    folder = tmp_path / "journal"
    with (
        closing(open_to_write(where)) as database,
        two_nodes("--db", where, "--journal", str(folder)) as (one, other),
    ):
        ann, bob = DroidconClient(one, "ann", "x"), Nac4Client(other, "bob", "x")
        with connected(ann, bob), database.writing():  # so that no node can
            play(ann, bob, MOVES)
            one.await_log("1 results wait")
            ann.reset()
            one.process.send_signal(signal.SIGTERM)
            assert bob.hear().endswith(" WinR Ok\r\n")
            assert one.end()[0] == 0
        assert other.stop()[0] == 0
    for path in folder.glob("*.jsonl"):  # what the other node has not stored meanwhile
        assert ran("import", str(path), "--db", where)[0] == 0
    with closing(open_to_read(where)) as database:
        (game,) = every(database.reading, Filter())
    assert (game.moves, game.result) == ("".join(map(str, MOVES)), 1)
