"""The commands that read a store: what they print, and how they end when something refuses them.

Most run in the process of the tests. A process of its own has what is about its end.
"""

import io
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, redirect_stderr, redirect_stdout, suppress
from pathlib import Path

import pytest
from game_records import game, rows

from gateway.__main__ import main
from gateway.store.database import open_to_write
from gateway.store.records import GameRecord
from gateway.store.worker import Worker

FULL = Path("/dev/full")
TWO = (game(), game("carol", "alice", game="0000a-00000b"))


@pytest.fixture
def place(tmp_path: Path) -> str:
    """Where there is a database."""
    return str(tmp_path / "results.db")


def keep(place: str, games: Sequence[GameRecord] = ()) -> None:
    database = open_to_write(place)
    Worker(database).write(rows(games))
    database.close()


def ran(*arguments: str, encoding: str = "utf-8") -> tuple[int, str, str]:
    """Run a command; return its exit status, what it printed, and what it said to the operator."""
    out, err, status = io.BytesIO(), io.StringIO(), 2
    with ExitStack() as until_printed:
        stdout = io.TextIOWrapper(out, encoding, newline="")
        until_printed.enter_context(redirect_stdout(stdout))
        until_printed.enter_context(redirect_stderr(err))
        until_printed.enter_context(suppress(SystemExit))  # because of a wrong option
        status = main(arguments)
    stdout.flush()
    return status, out.getvalue().decode(encoding), err.getvalue()


def printed(*arguments: str, encoding: str = "utf-8") -> str:
    """Return what a command prints that has nothing else to say."""
    status, out, err = ran(*arguments, encoding=encoding)
    assert (status, err) == (0, "")
    return out


def refused(*arguments: str, status: int = 1) -> str:
    """Return why a command prints nothing, in one line."""
    ended, out, err = ran(*arguments)
    assert (ended, out, err.count("\n")) == (status, "", 1)
    return err.removeprefix("c4gateway: error: ").removesuffix("\n")


@pytest.mark.parametrize(
    "command", [["standings"], ["recount"], ["void", "1"], ["rename", "alice", "ann"], ["backup", "b.db"]]
)
def test_database_that_is_not_there_is_one_line_and_is_not_made(command: list[str], tmp_path: Path) -> None:
    why = refused(*command, "--db", str(tmp_path / "none.db"))
    assert "none.db: No such file or directory; --db says which database" in why
    assert [*tmp_path.iterdir()] == []


def test_import_stores_an_export_and_names_a_line_that_it_cannot_store(place: str, tmp_path: Path) -> None:
    keep(place, TWO)
    file, other = tmp_path / "games.jsonl", str(tmp_path / "other.db")
    file.write_text(printed("export", "--db", place))
    assert printed("import", str(file), "--db", other) == "2 games imported, 0 stored already\n"
    shown = printed("show", "OOOOA-OOOOOB", "--db", other)
    assert shown.startswith("game 0000a-00000b: carol beat alice")
    file.write_text(f"{file.read_text()}alice beats bob\n")
    status, _, said = ran("import", str(file), "--db", other)
    assert (status, said.count("\n")) == (1, 1)
    assert said.startswith("c4gateway: error: line 3: ")
    none = tmp_path / "none"
    assert refused("import", str(none), "--db", other) == f"{none}: No such file or directory"


@pytest.mark.parametrize(
    ("command", "status", "why"),
    [
        ("show x", 2, "'x' is not the id of a game"),
        ("show", 1, "give the id of a game; or --last, perhaps with --player NAME"),
        ("show 1 --last", 1, "give the id of a game; or --last, perhaps with --player NAME"),
        ("show 1 --lost", 1, "give the id of a game; or --last, perhaps with --player NAME"),
        ("games --lost", 1, "--lost needs --player NAME"),
        ("standings --csv --cross", 1, "leave out one of the two"),
        ("rename x\udc80 eve", 2, "is not UTF-8, as names are"),
    ],
)
def test_what_cannot_be_asked_for_is_one_line(command: str, status: int, why: str, place: str) -> None:
    keep(place)
    assert why in refused(*command.split(), "--db", place, status=status)


def test_author_comes_to_the_latest_game_without_its_id(place: str) -> None:
    keep(place, TWO)
    text = printed("show", "--last", "--player", "bob", "--moves", "--db", place)
    assert "  7. 0" in text
    assert text.startswith("game 1: alice beat bob")
    text = printed("games", "--player", "alice", "--lost", "--db", place)
    assert [line.split()[0] for line in text.splitlines()] == ["game", "0000a-00000b"]
    some = ("standings", "--since", "2020-01-01", "--table", "lobby", "--least", "3", "--cross")
    assert "No such games, or no player" in printed(*some, "--db", place)


def test_grade_sheet_of_a_round_is_one_command(place: str) -> None:
    now = round(1000 * time.time())
    old, new = game("ann", "bob", table="green"), game("bob", "ann", table="green", ended=now, game="2")
    keep(place, [old, new])
    text = printed("grades", "--since", "90m", "--table", "Green", "--csv", "--db", place)
    assert text.splitlines() == [
        "rank,player,points,games,won,drawn,lost,lost_four,lost_illegal,lost_time,lost_left",
        "1,bob,1,1,1,0,0,0,0,0,0",
        "2,ann,0,1,0,0,1,1,0,0,0",
    ]
    text = printed("standings", "--csv", "--sort", "points", "--db", place)
    assert {line[:5] for line in text.splitlines()[1:]} == {"1,ann", "1,bob"}


@pytest.mark.parametrize(
    "command",
    [
        *("games --player Robot", "export --player Robot", "show --last --player Robot"),
        *("rename Robot x", "games --player alice --opponent Robot"),
    ],
)
def test_name_in_another_case_is_answered_with_the_one_that_is_stored(command: str, place: str) -> None:
    keep(place, [game("alice", "robot")])
    words = [*command.split(), *(["--audit", f"{place}.audit"] if "rename" in command else [])]
    why = refused(*words, "--db", place)
    assert why == "no stored game has a player called 'Robot'; did you mean 'robot'?"


@pytest.mark.parametrize("command", ["standings --cross", "games", "show 1", "export --format csv"])
def test_name_that_the_terminal_has_no_characters_for_is_escaped(command: str, place: str) -> None:
    keep(place, [game("J\xfcrgen", "\u6f22")])
    text = printed(*command.split(), "--db", place, encoding="ascii")
    assert r"J\xfcrgen" in text
    assert r"\u6f22" in text


def test_correction_is_made_and_logged_and_one_that_fails_is_neither(place: str, tmp_path: Path) -> None:
    keep(place, TWO)
    common = ("--db", place, "--audit", str(tmp_path / "audit"))
    counts_no_more = "game 1 is kept and counts no more; totals and ratings are computed again\n"
    assert printed("void", "1", *common) == counts_no_more
    assert refused("void", "1", *common) == "game 1 counts no more already"
    text = printed("rename", "alice", "ann", *common)
    assert text.startswith("alice is called ann in all stored games\na bot that is connected as")
    assert refused("rename", "alice", "cid", *common) == "no stored game has a player called 'alice'"
    changes = [line.split("\t")[2:] for line in (tmp_path / "audit").read_text().splitlines()]
    assert changes == [["void", "1"], ["rename", "alice", "ann"]]


# Processes.


@pytest.mark.parametrize(
    ("command", "out", "status", "why"),
    [
        ("standings", ">&-", 1, "c4gateway: error: standard output is closed\n"),
        ("standings", ">/dev/full", 1, "c4gateway: error: [Errno 28] No space left on device\n"),
    ],
)
def test_output_that_cannot_be_written_is_one_line_and_status_one(
    place: str, command: str, out: str, status: int, why: str
) -> None:
    if out == ">/dev/full" and not FULL.exists():
        pytest.skip("needs /dev/full")
    keep(place)
    line = f"{shlex.join([sys.executable, '-m', 'gateway', command, '--db', place])} {out}"
    done = subprocess.run(line, shell=True, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (status, why)


def test_output_that_nobody_reads_any_more_is_no_error(place: str) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    with os.fdopen(writes, "wb") as pipe:
        whole = [sys.executable, "-m", "gateway", "config", "--db", place]
        done = subprocess.run(whole, stdout=pipe, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def heed_ctrl_c() -> None:
    """Undo what a shell does for the commands that it runs in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_ends_an_export_without_a_word(place: str) -> None:
    """Nobody reads what it writes, so it is still at it."""
    keep(place, [game(series=n, game=str(n)) for n in range(2000)])
    command = [sys.executable, "-m", "gateway", "export", "--db", place]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed_ctrl_c,  # noqa: PLW1509  it takes no lock
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stdout.read(1) == b"{"
        child.send_signal(signal.SIGINT)
        assert child.stderr.read() == b""
    assert child.returncode == 130
