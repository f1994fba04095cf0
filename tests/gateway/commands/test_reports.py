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
from contextlib import ExitStack, redirect_stderr, redirect_stdout, suppress
from pathlib import Path

import pytest
from game_records import game, rows

from gateway.__main__ import main
from gateway.store.database import open_to_write
from gateway.store.worker import Worker

FULL = Path("/dev/full")


@pytest.fixture
def place(tmp_path: Path) -> str:
    """Where there is a database without games."""
    where = str(tmp_path / "results.db")
    open_to_write(where).close()
    return where


def reading(*arguments: str, out: Path, encoding: str = "utf-8") -> tuple[int, str]:
    """Run a command; return its exit status, and what it said to the operator."""
    stderr, status = io.StringIO(), 2
    with ExitStack() as until_printed:
        stdout = until_printed.enter_context(out.open("w", encoding=encoding))
        until_printed.enter_context(redirect_stdout(stdout))
        until_printed.enter_context(redirect_stderr(stderr))
        until_printed.enter_context(suppress(SystemExit))  # because of a wrong option
        status = main(arguments)
    return status, stderr.getvalue()


def started(*arguments: str, out: Path) -> tuple[int, str]:
    """Run a command in a process of its own; return the same."""
    with out.open("w") as stdout:
        command = [sys.executable, "-m", "gateway", *arguments]
        done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stderr


def test_database_that_is_not_there_is_one_line_and_status_one(tmp_path: Path) -> None:
    status, said = reading("standings", "--db", str(tmp_path / "none.db"), out=tmp_path / "out")
    assert (status, said.count("\n")) == (1, 1)
    assert said.startswith("c4gateway: error: ")
    assert said.endswith("none.db: No such file or directory; --db says which database\n")


def test_recount_makes_no_database(tmp_path: Path) -> None:
    status, said = reading("recount", "--db", str(tmp_path / "none.db"), out=tmp_path / "out")
    assert status == 1
    assert "none.db: No such file or directory" in said
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_import_stores_an_export_and_names_a_line_that_it_cannot_store(place: str, tmp_path: Path) -> None:
    database = open_to_write(place)
    Worker(database).write(rows([game(), game(game="0000a-00000b")]))
    database.close()
    out, other = tmp_path / "games.jsonl", str(tmp_path / "other.db")
    assert reading("export", "--db", place, out=out) == (0, "")
    assert reading("import", str(out), "--db", other, out=tmp_path / "said") == (0, "")
    assert (tmp_path / "said").read_text() == "2 games imported, 0 stored already\n"
    assert reading("show", "OOOOA-OOOOOB", "--db", other, out=tmp_path / "shown") == (0, "")
    assert (tmp_path / "shown").read_text().startswith("game 0000a-00000b: alice beat bob")
    out.write_text(f"{out.read_text()}alice beats bob\n")
    status, said = reading("import", str(out), "--db", other, out=tmp_path / "said")
    assert (status, said.count("\n")) == (1, 1)
    assert said.startswith("c4gateway: error: line 3: ")
    status, said = reading("import", str(tmp_path / "none"), "--db", other, out=tmp_path / "said")
    assert (status, said.count("\n")) == (1, 1)
    assert said == f"c4gateway: error: {tmp_path / 'none'}: No such file or directory\n"


def test_what_cannot_be_the_id_of_a_game_is_refused(place: str, tmp_path: Path) -> None:
    status, said = reading("show", "x", "--db", place, out=tmp_path / "out")
    assert status == 2
    assert "'x' is not the id of a game" in said


def test_author_comes_to_the_latest_game_without_its_id(place: str, tmp_path: Path) -> None:
    database = open_to_write(place)
    Worker(database).write(rows([game(), game("carol", "alice", game="0000a-00000b")]))
    database.close()
    out = tmp_path / "out"
    assert reading("show", "--last", "--player", "bob", "--moves", "--db", place, out=out) == (0, "")
    text = out.read_text()
    assert text.startswith("game 1: alice beat bob")
    assert "  7. 0" in text
    assert reading("games", "--player", "alice", "--lost", "--db", place, out=out) == (0, "")
    assert [line.split()[0] for line in out.read_text().splitlines()] == ["game", "0000a-00000b"]
    some = ("standings", "--since", "2020-01-01", "--table", "lobby", "--least", "3", "--cross")
    assert reading(*some, "--db", place, out=out) == (0, "")
    assert "No such games, or no player" in out.read_text()


def test_grade_sheet_of_a_round_is_one_command(place: str, tmp_path: Path) -> None:
    database = open_to_write(place)
    now = round(1000 * time.time())
    old, new = game("ann", "bob", table="green"), game("bob", "ann", table="green", ended=now, game="2")
    Worker(database).write(rows([old, new]))
    database.close()
    out = tmp_path / "grades.csv"
    assert reading("grades", "--since", "90m", "--table", "Green", "--csv", "--db", place, out=out) == (0, "")
    assert out.read_text().splitlines() == [
        "rank,player,points,games,won,drawn,lost,lost_four,lost_illegal,lost_time,lost_left",
        "1,bob,1,1,1,0,0,0,0,0,0",
        "2,ann,0,1,0,0,1,1,0,0,0",
    ]
    assert reading("standings", "--csv", "--sort", "points", "--db", place, out=out) == (0, "")
    assert {line[:5] for line in out.read_text().splitlines()[1:]} == {"1,ann", "1,bob"}
    status, said = reading("standings", "--csv", "--cross", "--db", place, out=out)
    assert (status, said.count("\n")) == (1, 1)
    assert "leave out one of the two" in said


@pytest.mark.parametrize(
    "command",
    [["games"], ["export"], ["show", "--last"], ["rename"], ["games", "--player", "alice", "--opponent"]],
)
def test_name_in_another_case_is_answered_with_the_one_that_is_stored(
    command: list[str], place: str, tmp_path: Path
) -> None:
    database = open_to_write(place)
    Worker(database).write(rows([game("alice", "robot")]))
    database.close()
    name = (
        ["Robot", "x", "--audit", str(tmp_path / "audit")] if command == ["rename"] else ["--player", "Robot"]
    )
    arguments = [*command, *(name if command[-1] != "--opponent" else name[1:])]
    assert reading(*arguments, "--db", place, out=tmp_path / "out") == (
        1,
        "c4gateway: error: no stored game has a player called 'Robot'; did you mean 'robot'?\n",
    )


@pytest.mark.parametrize(
    "wrong", [["show"], ["show", "1", "--last"], ["games", "--lost"], ["show", "1", "--lost"]]
)
def test_author_who_does_not_say_which_game_is_told_what_to_do(
    wrong: list[str], place: str, tmp_path: Path
) -> None:
    status, said = reading(*wrong, "--db", place, out=tmp_path / "out")
    assert (status, said.count("\n")) == (1, 1)
    assert "--player NAME" in said


@pytest.mark.parametrize(
    "command", [["standings", "--cross"], ["games"], ["show", "1"], ["export", "--format", "csv"]]
)
def test_name_that_the_terminal_has_no_characters_for_is_escaped(
    command: list[str], place: str, tmp_path: Path
) -> None:
    database = open_to_write(place)
    Worker(database).write(rows([game("J\xfcrgen", "\u6f22")]))
    database.close()
    assert reading(*command, "--db", place, out=tmp_path / "out", encoding="ascii") == (0, "")
    text = (tmp_path / "out").read_text("ascii")
    assert r"J\xfcrgen" in text
    assert r"\u6f22" in text


def test_output_that_is_closed_is_one_line_and_status_one(place: str) -> None:
    command = f"{shlex.join([sys.executable, '-m', 'gateway', 'standings', '--db', place])} >&-"
    done = subprocess.run(command, shell=True, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "c4gateway: error: standard output is closed\n")


@pytest.mark.parametrize("command", [["standings"], ["config"]])
def test_output_that_nobody_reads_any_more_is_no_error(command: list[str], place: str) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    with os.fdopen(writes, "wb") as pipe:
        whole = [sys.executable, "-m", "gateway", *command, "--db", place]
        done = subprocess.run(whole, stdout=pipe, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def heed_ctrl_c() -> None:
    """Undo what a shell does for the commands that it runs in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_ends_an_export_without_a_word(place: str) -> None:
    """Nobody reads what it writes, so it is still at it."""
    database = open_to_write(place)
    Worker(database).write(rows([game(series=n, game=str(n)) for n in range(2000)]))
    database.close()
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


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["standings", "recount"])
def test_output_that_cannot_be_written_is_one_line_and_status_one(place: str, command: str) -> None:
    status, said = started(command, "--db", place, out=FULL)
    assert (status, said.count("\n")) == (1, 1)
    assert said.startswith("c4gateway: error: ")


def test_correction_is_made_and_logged_and_one_that_fails_is_neither(place: str, tmp_path: Path) -> None:
    database = open_to_write(place)
    Worker(database).write(rows([game()]))
    database.close()
    audit, out = tmp_path / "audit", tmp_path / "out"
    common = ("--db", place, "--audit", str(audit))
    assert reading("void", "1", *common, out=out) == (0, "")
    assert out.read_text() == "game 1 is kept and counts no more; totals and ratings are computed again\n"
    assert reading("rename", "alice", "ann", *common, out=out) == (0, "")
    assert out.read_text().startswith("alice is called ann in all stored games\na bot that is connected as")
    assert reading("rename", "alice", "cid", *common, out=out) == (
        1,
        "c4gateway: error: no stored game has a player called 'alice'\n",
    )
    changes = [line.split("\t")[2:] for line in audit.read_text().splitlines()]
    assert changes == [["void", "1"], ["rename", "alice", "ann"]]


@pytest.mark.parametrize("command", [["void", "1"], ["rename", "alice", "ann"]])
def test_correction_makes_no_database(command: list[str], tmp_path: Path) -> None:
    status, said = reading(*command, "--db", str(tmp_path / "none.db"), out=tmp_path / "out")
    assert status == 1
    assert "none.db: No such file or directory" in said
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
