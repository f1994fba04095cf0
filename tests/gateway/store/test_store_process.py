"""The store process: it stores games, dies, hangs, and ends with its server.

What it answers is tried with its program in a thread. Processes are real where they end, die or hang: those
that hang run a program that starts sooner.
"""

import marshal
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from game_records import game, rows
from sqlalchemy import select
from store_in_thread import begun_in_thread
from store_mute import OPENED
from store_world import child_environment, enclosure

from gateway.game.ids import RUNS
from gateway.runtime.processes import StartedProcess, message_frame, start
from gateway.store import StoreError, storing, tournaments
from gateway.store.batcher import Batch
from gateway.store.database import Database, open_again, open_to_write
from gateway.store.formats import jsonl
from gateway.store.journal import next_left
from gateway.store.process import StoreProcess
from gateway.store.records import Cleared, TournamentGame
from gateway.store.schema import exchanges, games
from gateway.store.worker import DAY, NICENESS, serve
from gateway.tournament.log import Known, TournamentResult

LIMIT = 30.0
READY = ("done", None)


@asynccontextmanager
async def process_for(
    database: Database, begun: StartedProcess | None = None, patience: float = LIMIT
) -> AsyncIterator[StoreProcess]:
    process = StoreProcess(database.place.where, 1, patience=patience)
    try:
        await process.open(begun)
        yield process
    finally:
        await process.close(LIMIT)


def begun_mute() -> StartedProcess:
    """Start a process that opens any database, and then answers nothing."""
    return start("store_mute")


def batch(*numbers: int) -> Batch:
    return Batch([game(series=number, game=str(number)) for number in numbers])


def stored(database: Database) -> list[int]:
    with database.reading() as connection:
        return list(connection.scalars(select(games.c.series).order_by(games.c.id)))


def pid_of(process: StoreProcess) -> int:
    assert process.pid is not None
    return process.pid


async def test_what_the_process_has_written_is_there_until_it_is_too_old_or_cleared(
    database: Database,
) -> None:
    async with process_for(database, begun_in_thread()) as process:
        await process.write(Batch([game(ended=DAY, series=1), *batch(2).games], [enclosure(1)]))
        assert stored(database) == [1, 2]
        with database.reading() as connection:
            assert len(connection.execute(select(exchanges)).all()) == 1
        assert [await process.tidy(), await process.tidy()] == [True, False]
        with database.reading() as connection:
            assert connection.execute(select(exchanges)).all() == []
        assert await process.clear() == Cleared(2, 2)
        assert stored(database) == []


def leave(folder: str, name: str) -> None:
    """Leave a journal with a game, and a line that is none."""
    lines = "".join(jsonl.write([game(series=1)])) + "alice beats bob\n"
    Path(folder, f"{name}-00000-1.jsonl").write_text(lines)


async def test_the_process_stores_what_is_left_in_the_journals_of_its_database(
    database: Database, tmp_path: Path
) -> None:
    process = StoreProcess(database.place.where, journal=str(tmp_path / "journal"))
    opened = await process.open(begun_in_thread())
    leave(*opened.journal)
    came = await process.take_up()
    assert (came.more, came.new, [each.number for each in came.refused]) == (True, 1, [2])
    while (await process.take_up()).more:
        pass
    await process.close(LIMIT)
    assert stored(database) == [1]


@pytest.mark.usefixtures("impatient")
async def test_a_game_at_fault_is_told_from_a_database_that_fails(database: Database) -> None:
    async with process_for(database, begun_in_thread()) as process:
        assert [each.number for each in (await process.write(Batch([game(series=2**70)]))).games] == [0]
        with pytest.raises(RuntimeError, match="the process that writes is mistaken"):
            await process.write(Batch([], [("no evidence",)]))
        other = open_again(database.place)
        with other.writing():
            for ask in (lambda: process.write(batch(2)), process.tidy):
                with pytest.raises(StoreError, match="lock") as raised:
                    await ask()
                assert "\n" not in str(raised.value)
        other.close()
        await process.write(batch(2))
    assert stored(database) == [2]


async def test_a_process_that_died_has_a_successor_as_soon_as_one_can_be_started(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    process, begun = StoreProcess(database.place.where), begun_in_thread()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/no/such/python")
        with pytest.raises(OSError, match="/no/such/python"):
            await process.open()
        opened = await process.open(begun)
        await process.write(batch(1))
        begun.process.kill()
        with pytest.raises(StoreError, match="has ended, with status -9"):
            await process.write(batch(1, 2))
        assert process.restarts == 0
        for _ in range(2):
            with pytest.raises(StoreError, match=r"cannot be started: .*/no/such/python"):
                await process.write(batch(1, 2))
    await process.write(batch(1, 2))
    assert process.restarts == 3
    await process.close(LIMIT)
    assert stored(database) == [1, 2]
    assert (database.next_run() - opened.run) % RUNS == 1  # a successor is no run of its own


async def test_a_process_that_dies_at_its_work_leaves_nobody_waiting(database: Database) -> None:
    async with process_for(database, begun_mute()) as process, trio.open_nursery() as nursery:

        async def ask() -> None:
            with pytest.raises(StoreError):
                await process.write(batch(2))

        nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        os.kill(pid_of(process), signal.SIGKILL)


async def test_a_process_that_hangs_is_killed(database: Database) -> None:
    async with process_for(database, begun_mute(), patience=0.2) as process:
        pid = pid_of(process)
        os.kill(pid, signal.SIGSTOP)
        with pytest.raises(StoreError, match="has not answered"):
            await process.write(batch(1))
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


async def test_a_process_that_hangs_is_not_waited_for_at_the_end(database: Database) -> None:
    async with process_for(database, begun_mute()) as process:
        pid = pid_of(process)
        os.kill(pid, signal.SIGSTOP)
        with trio.move_on_after(0.01):
            await process.write(batch(1))
        await process.close(0.01)
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


async def test_each_opening_is_a_run_with_the_next_number(database: Database) -> None:
    runs = []
    for _ in range(2):
        process = StoreProcess(database.place.where)
        opened = await process.open(begun_in_thread())
        await process.close(LIMIT)
        assert (opened.label, opened.where) == (database.label, database.place.where)
        assert opened.file == database.place.file
        runs.append(opened.run)
    assert (runs[1] - runs[0]) % RUNS == 1


async def test_tournaments_are_known_as_soon_as_the_database_is_open(database: Database) -> None:
    with database.writing() as connection:
        tournaments.create(connection, "cup", "its file")
        tournaments.create(connection, "other", "")
        tournaments.append(connection, "cup", Known(), ["1", "2"])
        place = TournamentGame(0, 1, 0, "time")
        storing.store(connection, rows([game(table="Cup", scheduled=place)]))
        found = tournaments.news(connection, {})
    process = StoreProcess(database.place.where)
    opened = await process.open(begun_in_thread())
    await process.close(LIMIT)
    assert opened.tournaments == found
    [cup, _] = opened.tournaments
    assert ([each.entry for each in cup.entries], cup.games[0].fault) == (["1", "2"], "time")


async def test_the_process_adds_to_logs_and_answers_what_was_added_and_how_strong_players_are(
    database: Database,
) -> None:
    with database.writing() as connection:
        tournaments.create(connection, "cup", "its file")
    async with process_for(database, begun_in_thread()) as process:
        [cup] = await process.tournaments({})
        assert cup[:-1] == ("cup", "its file", [], [])
        assert await process.add_to_log("cup", Known(), ("1", "2"))
        assert not await process.add_to_log("cup", Known(), ["3"])
        await process.write(Batch([game(table="Cup", scheduled=TournamentGame(0, 0))]))
        [cup] = await process.tournaments({"cup": Known(1, 0), "gone": Known(4, 4)})
        assert [each.entry for each in cup.entries] == ["2"]
        assert [(type(each), each.first) for each in cup.games] == [(TournamentResult, "alice")]
        [cup] = await process.tournaments({"cup": Known(2, cup.games[0].row)})
        assert (cup.entries, cup.games) == ([], [])
        strengths = await process.ratings(["alice", "bob", "eve"])
        assert strengths.keys() == {"alice", "bob"}
        assert strengths["alice"] > strengths["bob"]
        with pytest.raises(StoreError, match="there is no tournament 'cap'; did you mean 'cup'"):
            await process.add_to_log("cap", Known(), ["1"])
        assert not await process.add_to_log("cup", Known(2), ["3"], (0,))  # there is a newer game of it
        assert await process.add_to_log("cup", Known(2), ["3"], (1,))


async def test_what_cannot_be_opened_is_refused_in_one_line_and_the_process_ends(tmp_path: Path) -> None:
    process, begun = StoreProcess(str(tmp_path / "none" / "games.db")), begun_in_thread()
    with pytest.raises(OSError, match=r"games\.db: No such file or directory$"):
        await process.open(begun)
    assert begun.process.wait(LIMIT) == 0
    await process.close(LIMIT)


async def test_a_process_that_dies_while_it_opens_the_database_is_an_error(database: Database) -> None:
    process, begun = StoreProcess(database.place.where), begun_in_thread()
    begun.process.kill()
    with pytest.raises(OSError, match="has ended, with status -9"):
        await process.open(begun)


async def test_a_process_gives_way_to_play_and_ends_when_it_is_closed_and_not_when_the_server_is_to_stop(
    database: Database,
) -> None:
    async with process_for(database) as process:
        pid = pid_of(process)
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(pid, number)
        await process.write(batch(*range(200)))
        by = 0 if database.is_shared else NICENESS  # other servers may wait for it
        assert os.getpriority(os.PRIO_PROCESS, pid) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + by)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert len(stored(database)) == 200


SERVER = """
import sys, trio
from game_records import game
from gateway.store.batcher import Batch
from gateway.store.process import JournalProcess, StoreProcess

async def main():
    process, journal = StoreProcess(sys.argv[1]), JournalProcess(sys.argv[2], "run", None)
    await process.open()
    await journal.append([game()])
    print("ready", flush=True)
    while True:
        await process.write(Batch([game(series=n, game=str(n)) for n in range(1, 500)]))

trio.run(main)
"""


def test_both_processes_end_when_their_server_was_killed(tmp_path: Path) -> None:
    """Their stderr is the server's, and so over only when all of them have ended."""
    where, journal = str(tmp_path / "games.db"), tmp_path / "journal"
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, where, str(journal)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=child_environment(),
    )
    with server:
        assert server.stdout is not None
        assert server.stderr is not None
        assert server.stdout.readline() == b"ready\n"
        assert next_left(journal, "run") is None
        server.kill()
        assert server.stderr.read() == b""
    database = open_to_write(where)
    assert len(stored(database)) in (0, 499)
    database.close()
    left = next_left(journal, "run")
    assert left is not None
    left.close()


# The program, in this thread.


def messages(database: Database, *questions: object) -> bytes:
    place = database.place
    orders = ("open again", None, place.where, place.file, ("/nowhere", "00000"), False)
    return b"".join(map(message_frame, (orders, *questions)))


def question(*numbers: int) -> tuple[object, ...]:
    return ("write", [tuple(each.row()) for each in batch(*numbers).games], [], [])


def answers_to(said: bytes) -> list[tuple[str, object]]:
    """Let the program of the process hear this and then nobody any more; return its answers."""
    ours, theirs = socket.socketpair()
    with ours:
        ours.sendall(said)
        ours.shutdown(socket.SHUT_WR)
        serve(theirs)
        heard = b"".join(iter(lambda: ours.recv(65536), b""))
    answers = []
    while heard:
        end = 4 + int.from_bytes(heard[:4])
        answers.append(marshal.loads(heard[4:end]))
        heard = heard[end:]
    return answers


def test_folder_of_the_journal_is_the_same_by_whatever_path_the_database_is_reached(tmp_path: Path) -> None:
    (tmp_path / "other.db").symlink_to(tmp_path / "games.db")
    orders = [("open", None, str(tmp_path / name), None, False) for name in ("games.db", "other.db")]
    [(_, one)], [(_, other)] = (answers_to(message_frame(each)) for each in orders)
    assert one[4] == other[4]  # type: ignore[index]


@pytest.mark.parametrize("missing", [1, 10])
def test_half_a_message_is_the_end_and_what_came_before_is_stored(database: Database, missing: int) -> None:
    said = messages(database, question(1), question(2))[:-missing]
    assert answers_to(said) == [READY, ("done", ([], [], []))]
    assert stored(database) == [1]
    assert answers_to(b"") == []


def test_what_is_not_a_question_is_a_mistake(database: Database) -> None:
    ready, *others = answers_to(messages(database, ("sing",), ("write", ["a game"], [], [])))
    assert ready == READY
    assert [kind for kind, _ in others] == ["mistaken", "mistaken"]


@pytest.mark.parametrize("answer", [message_frame("what"), message_frame(("done",)), b"\0\0\0\1?", b""])
async def test_a_process_that_cannot_be_understood_is_ended(database: Database, answer: bytes) -> None:
    process, begun = StoreProcess(database.place.where), begun_in_thread()
    ours, theirs = socket.socketpair()
    theirs.sendall(message_frame(("done", OPENED)))
    await process.open(StartedProcess(begun.process, ours))
    begun.socket.close()
    with theirs:
        theirs.sendall(answer)
        theirs.shutdown(socket.SHUT_WR)
        with pytest.raises(StoreError, match="the process that writes has ended"):
            await process.write(batch(1))
    assert process.pid is None


def test_successor_leaves_a_file_alone_that_took_the_place_of_the_database(tmp_path: Path) -> None:
    path, other = tmp_path / "games.db", tmp_path / "other.db"
    database = open_to_write(str(path))
    open_to_write(str(other)).close()
    before = other.read_bytes()
    path.rename(tmp_path / "elsewhere.db")
    other.rename(path)
    [_, (kind, why)] = answers_to(messages(database, question(1)))
    assert (kind, "was moved, removed or replaced" in str(why)) == ("failed", True)
    database.close()
    assert path.read_bytes() == before
