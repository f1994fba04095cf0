"""Killing a gateway: a short run, gateways that break their word, and what reaches a client at the end."""

import json
import os
import re
import socket
import struct
import sys
import tempfile
from argparse import Namespace
from contextlib import suppress
from pathlib import Path

import pytest
import trio

from conformance.__main__ import main
from conformance.dialects.script import Game, OutOfStep
from conformance.lab.jobs import LoadError
from conformance.lab.kills.command import Findings, kill_all, readable
from conformance.lab.kills.database import integrity, stored_in
from conformance.lab.kills.games import Result, judge
from conformance.lab.kills.load import Load
from conformance.lab.kills.notes import Notes
from conformance.launch import COMMAND, ServerError
from conformance.targets import Address

IN_ONE_PROCESS = """
import os, trio
from gateway.store import open_games, process
from gateway.store.records import Batch, TakenUp
from gateway.store.database import open_to_write
from gateway.store.worker import Worker
class Local:
    def __init__(self, where, keep_wire, journal, *, shared):
        self.database = open_to_write(where)
        self.worker = Worker(self.database, keep_wire)
    async def write(self, batch):
        return self.worker.write([each.row() for each in batch.games], batch.evidence)
    async def take_up(self):
        return TakenUp()
    async def tidy(self):
        return False
    async def open(self, begun):
        begun.socket.close()
        place = self.database.place
        return process.Opened(self.database.label, place.where, place.file, self.database.next_run())
    async def close(self):
        pass
process.StoreProcess = Local
write = Local.write
"""
STORES_TWICE_AND_THEN_TELLS_ONLY = """
from dataclasses import replace
other = str.maketrans("0123456789", "1032547698")
async def twice_and_then_never(self, batch):
    await write(self, batch)
    await write(self, Batch([replace(each, game=each.game.translate(other)) for each in batch.games]))
    open_games.OpenGames.is_open = lambda self, game: False
    Local.write = never
async def never(self, batch):
    await trio.sleep_forever()
Local.write = twice_and_then_never
"""
DIES = """
async def die(self, batch):
    os._exit(7)
Local.write = die
"""


def sabotaged(words: str) -> tuple[str, ...]:
    """Return what starts a gateway that breaks its word."""
    run = "import sys; from gateway.__main__ import main; sys.exit(main())"
    return (sys.executable, "-c", IN_ONE_PROCESS + words + run, *COMMAND[3:])


def options(within: float, results: int = 6) -> Namespace:
    return Namespace(kills=1, pairs=6, results=results, within=within, seed="22", away=False)


@pytest.mark.lab
def test_short_run_finds_all_that_was_told_and_kills_no_server_before_enough_was(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    report, database = tmp_path / "kills.json", tmp_path / "kept.db"
    words = ["--kills", "2", "--pairs", "6", "--results", "30", "--within", "0.001", "--seed", "9"]
    status = main(["kills", *words, "--db", str(database), "--json", str(report)])
    out, err = capsys.readouterr()
    assert status == 0, err
    assert out.startswith(f"seed 9, database {database}\nkill 1, of the server after 0.")
    assert "\nkill 2, of all processes after 0." in out
    assert "\nafter too few results: 0\n" in out
    assert out.endswith("good\n")
    found = json.loads(report.read_text())
    assert found["verdict"]["told"] == int(re.findall(r"games told of: +(\d+)", out)[0]) > 0
    assert sum(found["tellings"].values()) >= 60
    assert len(found["moments"]) == out.count("\nkill ") == 2
    assert database.exists()


@pytest.mark.lab
def test_what_is_told_while_the_database_is_away_is_found_after_the_kill(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ["--kills", "2", "--pairs", "6", "--results", "12", "--within", "0.001", "--seed", "9", "--away"]
    status = main(["kills", *words, "--db", str(tmp_path / "kept.db")])
    out, err = capsys.readouterr()
    assert status == 0, err
    assert out.endswith("good\n")


def test_only_a_file_can_be_taken_away(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kills", "--away", "--db", "postgresql://localhost/c4"]) == 2
    assert "only a file can be taken away" in capsys.readouterr().err


@pytest.mark.parametrize(("books", "status", "left"), [("as kept", 0, []), ("not as kept", 1, ["kills.db"])])
def test_database_of_its_own_is_left_only_where_something_is_wrong(
    books: str, status: int, left: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def found(_options: Namespace, where: str) -> Findings:
        await trio.Path(where).touch()
        played = {"t": (Game("0101010", 1, "four"),)}
        result = Result("ta", "tb", played["t"][0])
        return Findings(Notes("t"), judge([result], [result], played), "ok", f"books: {books}")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("conformance.lab.kills.command.kill_all", found)
    assert main(["kills"]) == status
    assert [path.name for path in tmp_path.glob("kills-*/*")] == left
    assert len(list(tmp_path.iterdir())) == len(left)


@pytest.mark.thorough
@pytest.mark.lab
async def test_run_that_told_too_few_results_is_not_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.lab.kills.command.PATIENCE", 0.2)
    findings = await kill_all(options(within=0.001, results=10**6), str(tmp_path / "c4.db"))
    assert findings.verdict.is_good
    assert not findings.is_good
    assert "\nafter too few results: 1\n" in readable(findings)
    assert readable(findings).endswith("\nNOT GOOD\n")


@pytest.mark.lab
async def test_results_that_were_told_before_they_were_stored_or_stored_twice_are_found(
    tmp_path: Path,
) -> None:
    """The first batch has a game of each pair at most, and a game has two results: so more are told later."""
    broken = sabotaged(STORES_TWICE_AND_THEN_TELLS_ONLY)
    findings = await kill_all(options(within=0.001, results=30), str(tmp_path / "c4.db"), broken)
    assert findings.verdict.missing
    assert findings.verdict.twice
    assert not findings.is_good
    assert "\nnot stored: x" in readable(findings)
    assert "\ntwice: x" in readable(findings)


@pytest.mark.lab
async def test_server_that_dies_by_itself_is_named_as_the_cause(tmp_path: Path) -> None:
    died = pytest.RaisesExc(ServerError, match="died with status 7 before it was killed")
    with pytest.RaisesGroup(died, flatten_subgroups=True):
        await kill_all(options(within=60), str(tmp_path / "c4.db"), sabotaged(DIES))


def test_database_that_does_not_open_is_status_1(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    database = tmp_path / "letter.txt"
    database.write_text("Dear reader")
    assert main(["kills", "--kills", "1", "--db", str(database)]) == 1
    assert "letter.txt" in capsys.readouterr().err


async def test_database_that_is_not_there_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="export"):
        await stored_in(str(tmp_path / "none.db"), "x")


def test_integrity_is_that_of_a_file_of_sqlite(tmp_path: Path) -> None:
    other = tmp_path / "letter.txt"
    other.write_text("Dear reader, " * 100)
    assert integrity(str(other)) == "file is not a database"
    assert integrity("postgresql://here/there") == "not SQLite"


@pytest.mark.parametrize(
    ("integrity", "books"),
    [("row 1 missing", "books: as kept"), ("ok", "books: not as kept; now they are")],
)
def test_damage_is_not_good_though_all_is_stored(integrity: str, books: str) -> None:
    played = {"t": (Game("0101010", 1, "four"),)}
    assert not Findings(Notes("x"), judge([], [], played), integrity, books).is_good


@pytest.mark.parametrize(
    "words", [["--kills", "0"], ["--pairs", "-1"], ["--results", "0"], ["--within", "0"], ["more"]]
)
def test_bad_usage_is_status_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kills", *words]) == 2
    assert capsys.readouterr().err.endswith("(--help tells more)\n")


# The load, against one Droidcon server of a test's own.


class Server:
    """A listening socket for one pair of Droidcon players, and what is told them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("conformance.lab.kills.load.COUPLES", [("droidcon", "droidcon")])
        self.listener = trio.socket.from_stdlib_socket(socket.create_server(("127.0.0.1", 0)))
        address = Address("127.0.0.1", self.listener.getsockname()[1])
        self.load = Load("x", "1", {"droidcon": address})

    async def first_in(self) -> trio.SocketStream:
        stream = trio.SocketStream((await self.listener.accept())[0])
        await stream.receive_some()
        return stream


async def test_result_that_was_not_read_when_the_server_died_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(monkeypatch)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.load.run, 1)
        streams = [await server.first_in() for _ in "ab"]
        game = server.load.games["xp0g0"][0]
        own = [f"YOUR_MOVE\nPUT {column}\n" for column in game.moves[1::2]]
        result = {0: "DRAW", 1: "YOU_WON", 2: "YOU_LOST"}[game.winner]
        tail = "" if game.winner == 2 or game.reason == "full" else "YOUR_MOVE\n"
        server.load.is_over = True
        # All moves in one go, and a reset behind it before the player can read.
        data = f"SUCCESS\nSUCCESS\nNEW_GAME\n{''.join(own)}{tail}{result}\n".encode()
        os.write(streams[0].socket.fileno(), data)
        for stream in streams:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            stream.socket.close()
        server.listener.close()
    assert sorted(len(player.results) for player in server.load.players) == [0, 1]


async def test_hang_up_by_a_server_that_is_meant_to_live_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    server, hung_up = Server(monkeypatch), pytest.RaisesExc(OutOfStep, match="the server hung up")
    with pytest.RaisesGroup(hung_up, flatten_subgroups=True):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(server.load.run, 1)
            stream = await server.first_in()
            with suppress(trio.BrokenResourceError):
                await stream.aclose()
    server.listener.close()


async def test_server_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(monkeypatch)
    server.listener.close()
    refused = pytest.RaisesExc(OutOfStep, match="cannot connect")
    with pytest.RaisesGroup(refused, refused, flatten_subgroups=True):
        await server.load.run(1)
