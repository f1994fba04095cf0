"""The scribe: a process that stores games, dies, hangs, and ends with its server. With real processes."""

import io
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from game_records import game
from sqlalchemy import select
from store_world import child_environment, enclosure

from gateway.store import scribe as scribes
from gateway.store.clerk import Clerk, Pace
from gateway.store.database import Database, open_again, open_to_write
from gateway.store.errors import StoreError
from gateway.store.records import Submission
from gateway.store.schema import exchanges, games
from gateway.store.scribe import Orders, Question, Scribe, UnstorableError
from gateway.store.scribing import NICENESS, answer_to
from gateway.store.sink import DAY, DatabaseSink

LIMIT = 30.0


@pytest.fixture
def scribe(database: Database) -> Iterator[Scribe]:
    opened = Scribe(database, keep_wire=1)
    yield opened
    opened.close(LIMIT)


def submission(number: int) -> Submission:
    return Submission(number, game(series=number))


def stored(database: Database) -> list[int]:
    with database.reading() as connection:
        return list(connection.scalars(select(games.c.series).order_by(games.c.id)))


class Asked:
    """Something that is asked of a scribe in a thread, where it may take long."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._work()
        except Exception as error:
            self._error = error

    def error(self) -> Exception | None:
        self._thread.join(LIMIT)
        assert not self._thread.is_alive()
        return self._error


def test_what_a_scribe_has_written_is_there(scribe: Scribe, database: Database) -> None:
    scribe.write([submission(1), enclosure(1), submission(2)])
    assert stored(database) == [1, 2]
    with database.reading() as connection:
        assert len(connection.execute(select(exchanges)).all()) == 1


def test_a_scribe_writes_in_a_process_of_its_own_that_gives_way(scribe: Scribe) -> None:
    assert scribe.pid != os.getpid()
    scribe.write([submission(1)])
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, scribe.pid) == min(19, own + NICENESS)


def test_a_scribe_tidies_up_what_is_older_than_it_was_told(scribe: Scribe, database: Database) -> None:
    scribe.write([Submission(1, game(ended=DAY)), enclosure(1)])
    assert scribe.tidy() is True
    assert scribe.tidy() is False
    with database.reading() as connection:
        assert connection.execute(select(exchanges)).all() == []


def test_a_game_at_fault_is_told_from_a_database_that_fails(scribe: Scribe, database: Database) -> None:
    with pytest.raises(UnstorableError):
        scribe.write([Submission(1, game(series=2**70))])
    other = open_again(database.place)
    with other.writing(), pytest.raises(StoreError, match="lock"):
        scribe.write([submission(2)])
    other.close()
    scribe.reconnect()
    scribe.write([submission(2)])
    assert stored(database) == [2]


def test_a_scribe_that_died_has_a_successor_and_nothing_is_stored_twice(
    scribe: Scribe, database: Database
) -> None:
    scribe.write([submission(1)])
    first = scribe.pid
    os.kill(first, signal.SIGKILL)
    with pytest.raises(StoreError, match="has ended, with status -9"):
        scribe.write([submission(1), submission(2)])
    scribe.reconnect()
    scribe.write([submission(1), submission(2)])
    assert scribe.pid != first
    assert stored(database) == [1, 2]


def test_a_scribe_that_dies_at_its_work_leaves_nobody_waiting(scribe: Scribe, database: Database) -> None:
    os.kill(scribe.pid, signal.SIGSTOP)
    asked = Asked(lambda: scribe.write([submission(1)]))
    os.kill(scribe.pid, signal.SIGKILL)
    assert isinstance(asked.error(), StoreError)
    scribe.write([submission(1)])
    assert stored(database) == [1]


def test_a_scribe_that_cannot_be_replaced_is_missed_until_it_can(
    scribe: Scribe, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.kill(scribe.pid, signal.SIGKILL)
    with pytest.raises(StoreError):
        scribe.write([submission(1)])
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/no/such/python")
        for _ in range(2):
            scribe.reconnect()
            with pytest.raises(StoreError, match=r"cannot be started: .*/no/such/python"):
                scribe.write([submission(1)])
    scribe.write([submission(1)])
    assert stored(database) == [1]


def test_games_that_a_clerk_had_given_to_a_scribe_who_died_are_stored_by_the_next(database: Database) -> None:
    settled = threading.Event()
    scribe = Scribe(database)
    clerk = Clerk(scribe, lambda items, stored: settled.set(), Pace(retry=0.01, linger=0.01))
    os.kill(scribe.pid, signal.SIGKILL)
    clerk.store(submission(1))
    assert settled.wait(LIMIT)
    clerk.close(LIMIT)
    scribe.close(LIMIT)
    assert stored(database) == [1]


def test_signals_that_stop_a_server_leave_its_scribe_to_finish(scribe: Scribe, database: Database) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(scribe.pid, number)
    scribe.write([submission(1)])
    assert stored(database) == [1]


def test_a_closed_scribe_has_finished_and_does_nothing_more(database: Database) -> None:
    scribe = Scribe(database)
    asked = Asked(lambda: scribe.write([submission(n) for n in range(200)]))
    assert asked.error() is None
    scribe.close(LIMIT)
    with pytest.raises(ProcessLookupError):
        os.kill(scribe.pid, 0)
    with pytest.raises(StoreError, match="the store is closed"):
        scribe.write([submission(1)])
    scribe.reconnect()
    assert len(stored(database)) == 200


def test_a_scribe_that_hangs_is_not_waited_for_at_the_end(database: Database) -> None:
    scribe = Scribe(database)
    scribe.write([submission(1)])
    os.kill(scribe.pid, signal.SIGSTOP)
    scribe.close(0.01)
    with pytest.raises(ProcessLookupError):
        os.kill(scribe.pid, 0)


def test_who_waits_for_a_scribe_that_hangs_hears_of_its_end(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    scribe, told = Scribe(database), threading.Event()
    scribe.write([submission(1)])
    os.kill(scribe.pid, signal.SIGSTOP)
    monkeypatch.setattr(scribes._Process, "_tell", lambda *_: told.set())
    asked = Asked(lambda: scribe.write([submission(2)]))
    assert told.wait(LIMIT)
    scribe.close(0.01)
    with pytest.raises(ProcessLookupError):
        os.kill(scribe.pid, 0)
    assert isinstance(asked.error(), StoreError)
    assert stored(database) == [1]


SERVER = """
import os, sys
from game_records import game
from gateway.store.database import open_to_write
from gateway.store.records import Submission
from gateway.store.scribe import Scribe

scribe = Scribe(open_to_write(sys.argv[1]))
print(scribe.pid, flush=True)
while True:
    scribe.write([Submission(n, game(series=n)) for n in range(1, 500)])
"""


def test_a_scribe_ends_when_its_server_was_killed(tmp_path: Path) -> None:
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


@pytest.mark.parametrize("missing", [1, 10])
def test_a_scribe_whose_server_was_killed_says_nothing_of_it(database: Database, missing: int) -> None:
    """It finishes what it is at, finds nobody to tell, and half a word of what would be next."""
    hears, says = os.pipe()
    os.close(hears)
    words = [Orders(database.place, None, 1), Question("write", 1), submission(1), Question("tidy")]
    child = subprocess.Popen(
        [sys.executable, "-m", "gateway.store.scribing", str(says)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=[says],
    )
    os.close(says)
    _, said = child.communicate(b"".join(map(pickle.dumps, words))[:-missing])
    assert (said, child.returncode) == (b"", 0)
    assert stored(database) == [1]


@pytest.mark.parametrize("whole", [Question("tidy"), Question("write", 2), submission(1)])
def test_half_a_word_is_the_end_and_half_a_batch_is_not_stored(database: Database, whole: object) -> None:
    hears, says = os.pipe()
    before = [Orders(database.place, None, 1), Question("write", 2), submission(1)]
    words = b"".join(map(pickle.dumps, before)) + pickle.dumps(whole)[:-5]
    child = [sys.executable, "-m", "gateway.store.scribing", str(says)]
    done = subprocess.run(child, input=words, stderr=subprocess.PIPE, pass_fds=[says], check=False)
    os.close(hears)
    os.close(says)
    assert (done.stderr, done.returncode) == (b"", 0)
    assert stored(database) == []


def test_signals_stop_a_server_as_before(scribe: Scribe) -> None:
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()


@pytest.mark.parametrize("program", ["print('Initialising')", "import logging; logging.error('on stderr')"])
def test_whatever_is_printed_in_the_process_of_a_scribe_is_no_answer(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(program)
    monkeypatch.syspath_prepend(tmp_path)
    scribe = Scribe(database)
    scribe.write([submission(1)])
    scribe.close(LIMIT)
    assert stored(database) == [1]


@pytest.mark.parametrize("word", [b"I know not what\n", pickle.dumps("what"), b""])
def test_a_scribe_that_cannot_be_understood_has_a_successor(
    scribe: Scribe, database: Database, word: bytes
) -> None:
    first = scribe.pid
    scribe._process._answers.close()
    scribe._process._answers = io.BytesIO(word)
    with pytest.raises(StoreError, match="the process that writes has ended"):
        scribe.write([submission(1)])
    scribe.write([submission(1)])
    assert scribe.pid != first
    assert stored(database) == [1]


def test_a_scribe_imports_what_its_server_would(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not a module behind the standard library's of the same name."""
    (tmp_path / "secrets.py").write_text("raise SystemExit('not this one')")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    scribe = Scribe(database)
    scribe.write([submission(1)])
    scribe.close(LIMIT)
    assert stored(database) == [1]


def test_a_scribe_needs_nothing_of_where_its_server_was_started(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gateway.py").write_text("raise SystemExit('not this one')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    scribe = Scribe(database)
    scribe.write([submission(1)])
    scribe.close(LIMIT)
    assert stored(database) == [1]


def test_a_file_that_took_the_place_of_the_database_is_left_alone(tmp_path: Path) -> None:
    path, other = tmp_path / "games.db", tmp_path / "other.db"
    database = open_to_write(str(path))
    open_to_write(str(other)).close()
    before = other.read_bytes()
    path.rename(tmp_path / "elsewhere.db")
    other.rename(path)
    scribe = Scribe(database)
    with pytest.raises(StoreError, match="was moved, removed or replaced"):
        scribe.write([submission(1)])
    scribe.close(LIMIT)
    database.close()
    assert path.read_bytes() == before


def test_what_went_wrong_is_said_in_words_whatever_it_was(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = DatabaseSink(database)
    monkeypatch.setattr(sink, "write", lambda items: {}["games"])
    assert answer_to(Question("write"), [], sink).error == "'games'"
    monkeypatch.setattr(sink, "tidy", lambda: next(iter(())))
    assert answer_to(Question("tidy"), [], sink).error == "StopIteration()"
