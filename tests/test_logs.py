"""What the operator reads; nobody who plays can write there."""

import json
import logging
import os
from collections.abc import Iterator
from dataclasses import replace

import pytest

from gateway.board import FIRST, SECOND, Board
from gateway.events import Reason
from gateway.logs import BACKLOG, LEVELS, ThreadedHandler, log_fault, log_game, set_up_logging
from gateway.manners import Afterwards, Illegal, Manners
from gateway.results import Finished, Player

MANNERS = Manners(illegal=Illegal.RETRY, afterwards=Afterwards.STEP_OUT)


@pytest.fixture
def _own_logging() -> Iterator[None]:
    """Let a test set up logging, and forget about it afterwards."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    root.handlers.clear()
    yield
    for handler in root.handlers:
        handler.close()
    root.handlers[:] = before
    root.setLevel(level)


def finished(reason: Reason = Reason.FOUR, winner: int | None = FIRST, name: str = "ann") -> Finished:
    board = Board()
    for column in (3, 2, 3):
        board = board.drop(column)
    players = (Player(name, MANNERS), Player("bob", MANNERS))
    return Finished(players, board, winner, reason, (1.0, 2.0), 1)  # type: ignore[arg-type]


def logged(capfd: pytest.CaptureFixture[str]) -> str:
    """Return what was logged so far."""
    logging.getLogger().handlers[0].flush()
    return capfd.readouterr().err


@pytest.mark.usefixtures("_own_logging")
def test_game_that_was_won_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    set_up_logging("info", as_json=False)
    log_game(finished())
    (line,) = logged(capfd).splitlines()
    assert line.endswith("INFO    game 'ann' beats 'bob': four in a row, moving first, moves 323")


@pytest.mark.usefixtures("_own_logging")
def test_loss_on_time_is_logged_with_the_servers_own_delay_beside_it(
    capfd: pytest.CaptureFixture[str],
) -> None:
    set_up_logging("info", as_json=False)
    log_game(finished(Reason.TIME, SECOND), 0.25)
    (line,) = logged(capfd).splitlines()
    said = "time (after 1.000 s, the server was deaf for 0.250 s), moving second, moves 323"
    assert line.endswith(f"INFO    game 'bob' beats 'ann': {said}")


@pytest.mark.usefixtures("_own_logging")
@pytest.mark.parametrize("reason", [Reason.FULL, Reason.STOPPED])
def test_game_without_a_winner_is_one_line(reason: Reason, capfd: pytest.CaptureFixture[str]) -> None:
    set_up_logging("info", as_json=False)
    log_game(finished(reason, None))
    (line,) = logged(capfd).splitlines()
    assert line.endswith(f"game 'ann' - 'bob': no winner, {reason.value}, moves 323")


@pytest.mark.usefixtures("_own_logging")
@pytest.mark.parametrize(
    ("names", "whom"), [(["ann", "x\nforged", None], "'ann', 'x\\nforged', None"), ([], "nobody")]
)
def test_mistake_of_ours_is_logged_with_its_traceback_and_players(
    names: list[str | None], whom: str, capfd: pytest.CaptureFixture[str]
) -> None:
    set_up_logging("info", as_json=False)
    try:
        raise ZeroDivisionError
    except ZeroDivisionError:
        log_fault(names)
    first, *rest = logged(capfd).splitlines()
    assert first.endswith(f"ERROR   internal error; hung up on: {whom}")
    assert rest[0].startswith("Traceback")
    assert rest[-1] == "ZeroDivisionError"


@pytest.mark.usefixtures("_own_logging")
def test_aborted_game_is_one_line_with_who_left(capfd: pytest.CaptureFixture[str]) -> None:
    set_up_logging("info", as_json=False)
    log_game(replace(finished(Reason.ABORTED, None), leaver=SECOND))
    (line,) = logged(capfd).splitlines()
    assert line.endswith("game 'ann' - 'bob': aborted, 'bob' left before both had moved, moves 323")


@pytest.mark.usefixtures("_own_logging")
@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize(
    "name",
    [
        "x\n2026-01-01 00:00:00,000 ERROR forged",
        "\r\n\x1b[31mred",
        "\u2028\x85\x0b",
        "'; DROP",
        '"}\n{"level":"error"',
        "\udcff\ud800",
        "%s %d {}",
        "n" * 10_000,
    ],
)
def test_no_name_forges_a_line(name: str, as_json: bool, capfd: pytest.CaptureFixture[str]) -> None:
    set_up_logging("info", as_json=as_json)
    log_game(finished(name=name))
    text = logged(capfd)
    assert len(text.splitlines()) == 1
    assert text.removesuffix("\n").isprintable()
    if as_json:
        assert json.loads(text)["level"] == "info"
        assert repr(name) in json.loads(text)["message"]


@pytest.mark.usefixtures("_own_logging")
def test_json_line_has_time_level_logger_and_message(capfd: pytest.CaptureFixture[str]) -> None:
    set_up_logging("debug", as_json=True)
    logging.getLogger("gateway.app").debug("all %s", "well")
    line = json.loads(logged(capfd))
    assert line.keys() == {"time", "level", "logger", "message"}
    assert (line["level"], line["logger"], line["message"]) == ("debug", "gateway.app", "all well")


@pytest.mark.usefixtures("_own_logging")
def test_json_line_of_an_exception_is_one_line_too(capfd: pytest.CaptureFixture[str]) -> None:
    set_up_logging("info", as_json=True)
    try:
        raise ZeroDivisionError("by\nzero")
    except ZeroDivisionError:
        logging.getLogger("x").exception("went wrong")
    text = logged(capfd)
    assert text.count("\n") == 1
    assert "ZeroDivisionError" in json.loads(text)["exception"]


@pytest.mark.usefixtures("_own_logging")
@pytest.mark.parametrize("level", LEVELS)
def test_what_is_below_the_level_is_not_said(level: str, capfd: pytest.CaptureFixture[str]) -> None:
    set_up_logging(level, as_json=False)
    for name in LEVELS:
        logging.getLogger("x").log(logging.getLevelName(name.upper()), name)
    said = [line.split()[-1] for line in logged(capfd).splitlines()]
    assert said == [*LEVELS[LEVELS.index(level) :]]


@pytest.mark.usefixtures("_own_logging")
def test_libraries_say_nothing_below_a_warning(capfd: pytest.CaptureFixture[str]) -> None:
    set_up_logging("debug", as_json=False)
    logging.getLogger("trio-websocket").info("chatter")
    logging.getLogger("trio-websocket").warning("trouble")
    assert "chatter" not in (said := logged(capfd))
    assert "trouble" in said


@pytest.mark.usefixtures("_own_logging")
def test_setting_up_twice_says_everything_once(capfd: pytest.CaptureFixture[str]) -> None:
    set_up_logging("info", as_json=False)
    set_up_logging("info", as_json=True)
    logging.getLogger("x").info("once")
    assert logged(capfd).count("once") == 1


def test_reader_who_stands_still_stops_nobody_and_is_told_what_it_missed() -> None:
    reader, writer = os.pipe()
    handler = ThreadedHandler(writer)
    line = logging.LogRecord("games", logging.INFO, __file__, 1, "x" * 1000, None, None)
    for _ in range(BACKLOG + 200):  # a pipe holds some 64 of them
        handler.emit(line)
    os.set_blocking(reader, False)
    with open(reader, "rb", closefd=False) as log:
        read = [log.readline()]
        while handler._lines.unfinished_tasks or read[-1]:
            read.append(log.readline())
        handler.emit(line)
        handler.flush()
        read += log.readlines()
    handler.close()
    text = b"".join(read).decode()
    assert text.count("x" * 1000) > BACKLOG
    assert "lines dropped: nobody read the log" in text
    os.close(writer)
    os.close(reader)


@pytest.mark.usefixtures("_own_logging")
def test_refused_connections_are_one_plain_line_a_minute(capfd: pytest.CaptureFixture[str]) -> None:
    set_up_logging("info", as_json=False)
    for _ in range(30):
        try:
            raise OSError("Too many open files")
        except OSError:
            logging.getLogger("gateway.accepting").error("no room for another connection")
    assert len(logged(capfd).splitlines()) == 1
