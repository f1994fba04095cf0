"""What is kept of a game is what its players said and heard, and shows why one of them lost.

Real sockets, a gateway in a process of its own, and clients that share no code with it and keep a record of
their own. What was said is sure to be stored when the gateway has stopped; so all games are played first,
each at a table of its own, and looked at afterwards.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import pytest
from scripted_clients import ArenaClient, DroidconClient, Nac4Client, Record, connected
from worlds.server import EVERY_PORT, Served, served

from gateway.__main__ import main
from gateway.commands import stored_games as commands
from gateway.store.database import open_to_read
from gateway.store.evidence import Exchange
from gateway.store.games import Filter, every, evidence_of


class Kept:
    """What was kept of the game that was played at a table."""

    def __init__(self, where: Path, table: str | None) -> None:
        self.where = str(where)
        database = open_to_read(self.where)
        record = next(each for each in every(database.reading, Filter()) if each.table == table)
        self.game = record.game
        with database.reading() as connection:
            self.exchanges = evidence_of(connection, record.game)
        self.shown = "".join(commands.show(database, record.game))
        database.close()

    def side(self, number: int) -> Exchange:
        exchange = self.exchanges[number]
        assert exchange is not None
        return exchange

    def said(self, number: int) -> Record:
        """Return the texts of one side."""
        return [(line.direction, line.text) for line in self.side(number) if line.direction != "note"]

    def verdicts(self, number: int) -> dict[str, str]:
        """Return verdicts by text; a note's by nothing."""
        return {line.text: line.verdict for line in self.side(number) if line.verdict}


@contextmanager
def serving(where: Path, *options: str) -> Iterator[Served]:
    """Run a gateway that keeps results there; at the end it is stopped, and has nothing to complain of."""
    with served(*EVERY_PORT, "--db", str(where), "--rounds", "1", *options) as running:
        yield running
        status, err = running.stop()
        assert status == 0
        assert "ERROR" not in err


def from_the_start(record: Record, beginning: str) -> Record:
    """Return a client's record of its game, the only one, which begins with being told `beginning`."""
    index = next(n for n, (way, text) in enumerate(record) if way == "out" and text.startswith(beginning))
    return record[index:]


# Games that are played one after the other, with one gateway.


def illegal_move(gateway: Served) -> tuple[Record, ...]:
    clients = [DroidconClient(gateway, name, "illegal_move") for name in ("ann", "bob")]
    with connected(*clients) as (ann, bob):
        ann.play(3)
        bob.play(9)
        for client in clients:
            client.rest()
    return ann.record, bob.record


def refused_move(gateway: Served) -> tuple[Record, ...]:
    with connected(*(Nac4Client(gateway, name, "refused_move") for name in ("ann", "bob"))) as (ann, bob):
        ann.play(0)
        bob.play(1)
        ann.play(9)
        for _ in range(2):
            ann.play(0)
            bob.play(1)
        ann.play(0)
        for client in (ann, bob):
            client.finish()
    return ann.record, bob.record


def hanging_up(gateway: Served) -> tuple[Record, ...]:
    with connected(*(DroidconClient(gateway, name, "hanging_up") for name in ("ann", "bob"))) as (ann, bob):
        ann.hear()
        ann.leave()
        bob.finish()
    return ann.record, bob.record


def house_player(gateway: Served) -> tuple[Record, ...]:
    ann = DroidconClient(gateway, "ann", "@random")
    with connected(ann):
        assert ann.hear() == "NEW_GAME"
        ann.say("PUT 9")
        ann.rest()
    return (ann.record,)


Played: TypeAlias = Callable[[Served], tuple[Record, ...]]
GAMES: tuple[Played, ...] = (illegal_move, refused_move, hanging_up, house_player)


class Evening:
    """Games that were played, what their players said and heard, and what was kept."""

    def __init__(self, where: Path) -> None:
        self._where = where
        with serving(where) as running:
            self.records = {play: play(running) for play in GAMES}

    def kept(self, play: Played) -> Kept:
        return Kept(self._where, None if play is house_player else play.__name__)


@pytest.fixture(scope="module")
def evening(tmp_path_factory: pytest.TempPathFactory) -> Evening:
    return Evening(tmp_path_factory.mktemp("evening") / "results.db")


def test_game_lost_by_an_illegal_move(evening: Evening, capsys: pytest.CaptureFixture[str]) -> None:
    kept = evening.kept(illegal_move)
    for number, record in enumerate(evening.records[illegal_move]):
        assert kept.said(number) == from_the_start(record, "NEW_GAME")
    assert kept.verdicts(0) == {"": "won: the opponent's move was illegal"}
    assert kept.verdicts(1) == {"PUT 9": "refused: outside the board", "": "lost by an illegal move"}
    assert re.search(r"\n +(\d+)  ->  PUT 9\n +\1  --  refused: outside the board\n", kept.shown)
    assert main(["show", kept.game, "--db", kept.where]) == 0
    assert capsys.readouterr() == (kept.shown, "")


def test_game_lost_on_time(tmp_path: Path) -> None:
    place = tmp_path / "results.db"
    with (
        serving(place, "--idle", "1") as gateway,
        connected(*(ArenaClient(gateway, name, "t") for name in ("ann", "bob"))) as clients,
    ):
        for client in clients:
            client.finish()
    kept = Kept(place, "t")
    for number, client in enumerate(clients):
        assert kept.said(number) == from_the_start(client.record, '{"type":"state"')
    assert kept.verdicts(0) == {"": "lost on time"}
    assert kept.verdicts(1) == {"": "won: the opponent's time was up"}
    assert kept.side(0)[-1].at in range(1000, 10_000)
    assert re.search(r"\n +\d+  --  lost on time\n", kept.shown)


def test_game_with_a_refused_move(evening: Evening) -> None:
    kept = evening.kept(refused_move)
    for number, record in enumerate(evening.records[refused_move]):
        assert kept.said(number) == from_the_start(record, "newgame")
    assert kept.verdicts(0)["playmove 9\r\n"] == "refused: outside the board"
    clocks = [float(line.verdict.split()[0]) for line in kept.side(0) if line.text.startswith("genmove")]
    assert clocks[0] == 42.0
    assert clocks == sorted(clocks, reverse=True)
    assert clocks[1] - clocks[2] >= 1.0
    assert re.search(r"\n +(\d+)  ->  playmove 9\n +\1  --  refused: outside the board\n", kept.shown)


def test_client_that_hangs_up(evening: Evening) -> None:
    kept = evening.kept(hanging_up)
    _, bob = evening.records[hanging_up]
    notes = [line.verdict for line in kept.side(0) if line.direction == "note"]
    assert notes == ["hung up", "aborted: this player left before both had moved"]
    assert kept.verdicts(1)[""] == "aborted: the opponent left before both had moved"
    assert kept.said(1) == from_the_start(bob, "NEW_GAME")
    assert kept.shown.index("--  hung up\n") < kept.shown.index("--  aborted: this player")


def test_player_of_the_server_s_own_has_no_wire(evening: Evening) -> None:
    kept = evening.kept(house_player)
    assert sorted(exchange is None for exchange in kept.exchanges) == [False, True]
    assert "random: one of the server's own players, without a connection\n" in kept.shown
