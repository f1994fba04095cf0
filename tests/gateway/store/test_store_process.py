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
from game_records import game
from sqlalchemy import select
from store_in_thread import begun_in_thread
from store_world import child_environment, enclosure

from gateway.game.ids import RUNS
from gateway.runtime import child
from gateway.runtime.processes import StartedProcess, message_frame, start
from gateway.store import StoreError, worker
from gateway.store.batcher import Batch, Batcher, Pace
from gateway.store.database import Database, open_again, open_to_write
from gateway.store.process import PROGRAM, JournalProcess, StoreProcess
from gateway.store.records import Cleared
from gateway.store.schema import exchanges, games
from gateway.store.worker import DAY, NICENESS, serve

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


@pytest.fixture
def in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the program always run in a thread."""
    monkeypatch.setattr(child, "start", begun_in_thread)


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


@pytest.mark.usefixtures("in_threads")
async def test_what_the_process_has_written_is_there_until_it_is_cleared(database: Database) -> None:
    async with process_for(database) as process:
        await process.write(Batch(batch(1, 2).games, [enclosure(1)]))
        assert stored(database) == [1, 2]
        with database.reading() as connection:
            assert len(connection.execute(select(exchanges)).all()) == 1
        assert await process.clear() == Cleared(2, 2)
        assert stored(database) == []


async def test_the_process_gives_way_to_play_unless_other_servers_wait_for_it(database: Database) -> None:
    async with process_for(database) as process:
        await process.write(batch(1))
        own = os.getpriority(os.PRIO_PROCESS, 0)
        by = 0 if database.engine.dialect.name == "postgresql" else NICENESS
        assert os.getpriority(os.PRIO_PROCESS, pid_of(process)) == min(19, own + by)


@pytest.mark.usefixtures("in_threads")
async def test_the_process_tidies_up_what_is_older_than_it_was_told(database: Database) -> None:
    async with process_for(database) as process:
        await process.write(Batch([game(ended=DAY)], [enclosure(1)]))
        assert await process.tidy() is True
        assert await process.tidy() is False
        with database.reading() as connection:
            assert connection.execute(select(exchanges)).all() == []


@pytest.mark.usefixtures("impatient", "in_threads")
async def test_a_game_at_fault_is_told_from_a_database_that_fails(database: Database) -> None:
    async with process_for(database) as process:
        assert [each.number for each in (await process.write(Batch([game(series=2**70)]))).games] == [0]
        with pytest.raises(RuntimeError, match="the process that writes is mistaken"):
            await process.write(Batch([], [("no evidence",)]))
        other = open_again(database.place)
        with other.writing(), pytest.raises(StoreError, match="lock"):
            await process.write(batch(2))
        other.close()
        await process.write(batch(2))
    assert stored(database) == [2]


async def test_a_process_that_died_has_a_successor_and_nothing_is_stored_twice(database: Database) -> None:
    async with process_for(database) as process:
        await process.write(batch(1))
        first = pid_of(process)
        os.kill(first, signal.SIGKILL)
        with pytest.raises(StoreError, match="has ended, with status -9"):
            await process.write(batch(1, 2))
        assert process.restarts == 0
        await process.write(batch(1, 2))
        assert pid_of(process) != first
        assert process.restarts == 1
    assert stored(database) == [1, 2]


async def test_a_process_that_dies_at_its_work_leaves_nobody_waiting(database: Database) -> None:
    async with process_for(database, begun_mute()) as process, trio.open_nursery() as nursery:

        async def ask() -> None:
            with pytest.raises(StoreError):
                await process.write(batch(2))

        nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        os.kill(pid_of(process), signal.SIGKILL)


async def test_a_process_that_hangs_is_killed_and_has_a_successor(database: Database) -> None:
    async with process_for(database, begun_mute(), patience=0.2) as process:
        first = pid_of(process)
        os.kill(first, signal.SIGSTOP)
        with pytest.raises(StoreError, match="has not answered"):
            await process.write(batch(1))
        with pytest.raises(ProcessLookupError):
            os.kill(first, 0)
    async with process_for(database, begun_in_thread()) as process:
        await process.write(batch(1))
    assert stored(database) == [1]


async def test_a_process_that_cannot_be_replaced_is_missed_until_it_can(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with process_for(database, begun := begun_in_thread()) as process:
        begun.process.kill()
        with pytest.raises(StoreError):
            await process.write(batch(1))
        with monkeypatch.context() as patch:
            patch.setattr(sys, "executable", "/no/such/python")
            for _ in range(2):
                with pytest.raises(StoreError, match=r"cannot be started: .*/no/such/python"):
                    await process.write(batch(1))
        monkeypatch.setattr(child, "start", begun_in_thread)
        await process.write(batch(1))
    assert stored(database) == [1]


async def test_a_server_that_gets_no_process_does_not_start(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(OSError, match="/no/such/python"):
        await StoreProcess(database.place.where).open()


@pytest.mark.usefixtures("in_threads")
async def test_each_opening_is_a_run_with_the_next_number(database: Database) -> None:
    runs = []
    for begun in (None, begun_in_thread()):
        process = StoreProcess(database.place.where)
        opened = await process.open(begun)
        await process.close(LIMIT)
        assert (opened.label, opened.where, opened.file) == (
            database.label,
            database.place.where,
            database.place.file,
        )
        runs.append(opened.run)
    assert (runs[1] - runs[0]) % RUNS == 1


@pytest.mark.usefixtures("in_threads")
async def test_a_successor_is_no_run_of_its_own(database: Database) -> None:
    process, begun = StoreProcess(database.place.where), begun_in_thread()
    opened = await process.open(begun)
    begun.process.kill()
    with pytest.raises(StoreError):
        await process.write(batch(1))
    await process.write(batch(1))
    await process.close(LIMIT)
    assert (database.next_run() - opened.run) % RUNS == 1


async def test_what_cannot_be_opened_is_refused_in_one_line_and_the_process_ends(tmp_path: Path) -> None:
    process, begun = StoreProcess(str(tmp_path / "none" / "games.db")), begun_in_thread()
    with pytest.raises(OSError, match=r"games\.db: No such file or directory$"):
        await process.open(begun)
    assert begun.process.wait(LIMIT) == 0
    await process.close(LIMIT)


async def test_a_process_that_dies_while_it_opens_the_database_is_an_error(database: Database) -> None:
    process, begun = StoreProcess(database.place.where), start(PROGRAM)
    os.kill(begun.process.pid, signal.SIGKILL)
    with pytest.raises(OSError, match="has ended, with status -9"):
        await process.open(begun)


@pytest.mark.usefixtures("in_threads")
async def test_games_that_a_process_was_given_that_died_are_stored_by_the_next(database: Database) -> None:
    begun = begun_in_thread()
    async with process_for(database, begun) as process, trio.open_nursery() as nursery:
        batcher = Batcher(process, JournalProcess("/nowhere", "", None), pace=Pace(retry=0.01))
        nursery.start_soon(batcher.run)
        begun.process.kill()
        batcher.put(batch(1).games[0])
        await batcher.close(LIMIT)
    assert stored(database) == [1]


async def test_a_process_ends_when_it_is_closed_and_not_on_the_signals_that_stop_a_server(
    database: Database,
) -> None:
    async with process_for(database) as process:
        pid = pid_of(process)
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(pid, number)
        await process.write(batch(*range(200)))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert len(stored(database)) == 200


async def test_a_process_that_hangs_is_not_waited_for_at_the_end(database: Database) -> None:
    async with process_for(database, begun_mute()) as process:
        pid = pid_of(process)
        os.kill(pid, signal.SIGSTOP)
        with trio.move_on_after(0.01):
            await process.write(batch(1))
        await process.close(0.01)
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert stored(database) == []


SERVER = """
import sys, trio
from game_records import game
from gateway.store.batcher import Batch
from gateway.store.process import StoreProcess

async def main():
    process = StoreProcess(sys.argv[1])
    await process.open()
    print(process.pid, flush=True)
    while True:
        await process.write(Batch([game(series=n, game=str(n)) for n in range(1, 500)]))

trio.run(main)
"""


def test_a_process_ends_when_its_server_was_killed(tmp_path: Path) -> None:
    """Its stderr is the server's, and so over only when both have ended."""
    where = str(tmp_path / "games.db")
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, where],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=child_environment(),
    )
    with server:
        assert server.stdout is not None
        assert server.stderr is not None
        assert server.stdout.readline()
        server.kill()
        assert server.stderr.read() == b""
    database = open_to_write(where)
    assert len(stored(database)) in (0, 499)
    database.close()


def messages(database: Database, *questions: object) -> bytes:
    place = database.place
    orders = ("open again", None, place.where, place.file, ("/nowhere", "00000"), False)
    return b"".join(map(message_frame, (orders, *questions)))


def question(*numbers: int) -> tuple[object, ...]:
    return ("write", [tuple(each.row()) for each in batch(*numbers).games], [])


def answers_to(said: bytes) -> list[object]:
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


@pytest.mark.parametrize(("is_shared", "niceness"), [(False, 7), (True, 0)])
def test_process_gives_way_unless_servers_of_other_machines_may_wait_for_it(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_shared: bool, niceness: int
) -> None:
    given = list[int]()
    monkeypatch.setattr(worker, "give_way", given.append)
    monkeypatch.setattr(Database, "is_shared", is_shared)
    ours, theirs = socket.socketpair()
    with ours:
        ours.sendall(message_frame(("open", None, where, str(tmp_path), False)))
        ours.shutdown(socket.SHUT_WR)
        worker.serve(theirs, 7)
    assert given == [niceness]


def test_folder_of_the_journal_is_the_same_by_whatever_path_the_database_is_reached(tmp_path: Path) -> None:
    (tmp_path / "other.db").symlink_to(tmp_path / "games.db")
    folders = set()
    for name in ("games.db", "other.db"):
        ours, theirs = socket.socketpair()
        with ours:
            ours.sendall(message_frame(("open", None, str(tmp_path / name), None, False)))
            ours.shutdown(socket.SHUT_WR)
            worker.serve(theirs)
            folders.add(marshal.loads(ours.recv(65536)[4:])[1][4])
    assert len(folders) == 1


@pytest.mark.parametrize("missing", [1, 10])
def test_half_a_message_is_the_end_and_what_came_before_is_stored(database: Database, missing: int) -> None:
    said = messages(database, question(1), question(2))[:-missing]
    assert answers_to(said) == [READY, ("done", ([], [], []))]
    assert stored(database) == [1]


def test_a_process_whose_server_is_gone_at_once_ends(database: Database) -> None:
    assert answers_to(b"") == []
    assert answers_to(messages(database)) == [READY]


def test_what_is_not_a_question_is_a_mistake(database: Database) -> None:
    ready, *others = answers_to(messages(database, ("sing",), ("write", ["a game"], [])))
    assert ready == READY
    assert [kind for kind, _ in others] == ["mistaken", "mistaken"]


@pytest.mark.usefixtures("in_threads")
@pytest.mark.parametrize("answer", [message_frame("what"), message_frame(("done",)), b"\0\0\0\1?", b""])
async def test_a_process_that_cannot_be_understood_has_a_successor(database: Database, answer: bytes) -> None:
    process, begun = StoreProcess(database.place.where), begun_in_thread()
    ours, theirs = socket.socketpair()
    place = database.place
    theirs.sendall(message_frame(("done", (database.label, place.where, place.file, 1))))
    try:
        await process.open(StartedProcess(begun.process, ours))
        begun.socket.close()
        theirs.sendall(answer)
        theirs.shutdown(socket.SHUT_WR)
        with pytest.raises(StoreError, match="the process that writes has ended"):
            await process.write(batch(1))
        theirs.close()
        await process.write(batch(1))
    finally:
        await process.close(LIMIT)
    assert stored(database) == [1]


@pytest.mark.usefixtures("in_threads")
async def test_a_file_that_took_the_place_of_the_database_is_left_alone(tmp_path: Path) -> None:
    path, other = tmp_path / "games.db", tmp_path / "other.db"
    database = open_to_write(str(path))
    open_to_write(str(other)).close()
    before = other.read_bytes()
    async with process_for(database, begun := begun_in_thread()) as process:
        path.rename(tmp_path / "elsewhere.db")
        other.rename(path)
        begun.process.kill()
        with pytest.raises(StoreError, match="has ended"):
            await process.write(batch(1))
        with pytest.raises(StoreError, match="was moved, removed or replaced"):
            await process.write(batch(1))
    database.close()
    assert path.read_bytes() == before
