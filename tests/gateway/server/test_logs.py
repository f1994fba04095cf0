"""What the operator reads; nobody who plays can write there."""

import ast
import json
import logging
import os
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from worlds.hub import FIRST_WINS, HANGING_UP, STANDING_BY, TABLE, World

from gateway.game.board import FIRST, SECOND, Board
from gateway.game.commands import AtTable, Enter, InLobby, Introduce, Place, Wish
from gateway.game.events import Reason
from gateway.game.manners import Afterwards, Illegal, Manners
from gateway.game.results import Finished, Player
from gateway.game.text import quoted
from gateway.options.server import LEVELS
from gateway.server.logs import (
    BACKLOG,
    JsonFormatter,
    ThreadedHandler,
    log_fault,
    log_game,
    log_games,
    log_start,
    set_up_logging,
)

MANNERS = Manners(illegal=Illegal.RETRY, afterwards=Afterwards.STEP_OUT)


@pytest.fixture(autouse=True)
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
    return Finished("00007-00000a", players, board, winner, reason, (1.0, 2.0), 1)  # type: ignore[arg-type]


def logged(capfd: pytest.CaptureFixture[str]) -> str:
    """Return what was logged so far."""
    logging.getLogger().handlers[0].flush()
    return capfd.readouterr().err


@pytest.mark.parametrize(
    ("game", "words"),
    [
        (finished(), "'ann' beats 'bob': four in a row, moving first"),
        (
            finished(Reason.TIME, SECOND),
            "'bob' beats 'ann': time (after 1.000 s, the server was deaf for 0.250 s), moving second",
        ),
        (finished(Reason.FULL, None), "'ann' - 'bob': no winner, full board"),
        (finished(Reason.STOPPED, None), "'ann' - 'bob': no winner, cut off by the server"),
        (
            replace(finished(Reason.ABORTED, None), leaver=SECOND),
            "'ann' - 'bob': aborted, 'bob' left before both had moved",
        ),
    ],
    ids=lambda value: value.reason.name if isinstance(value, Finished) else "",
)
def test_game_that_is_over_is_one_line(game: Finished, words: str, capfd: pytest.CaptureFixture[str]) -> None:
    set_up_logging("info", as_json=False)
    log_game(game, 0.25)
    (line,) = logged(capfd).splitlines()
    assert line.endswith(f"INFO    game {words}, moves 323, id 00007-00000a")


@pytest.mark.parametrize(
    ("names", "whom"), [(["ann", "x\nforged", None], "'ann', 'x\\nforged', nobody yet named"), ([], "nobody")]
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
    assert rest[0].lstrip().startswith("Traceback")
    assert rest[-1].lstrip() == "ZeroDivisionError"


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
        "\u202e\u200b\u3164\x7f",
    ],
)
def test_no_name_forges_a_line(name: str, as_json: bool, capfd: pytest.CaptureFixture[str]) -> None:
    set_up_logging("info", as_json=as_json)
    log_game(finished(name=name))
    text = logged(capfd)
    assert len(text.splitlines()) == 1
    assert text.removesuffix("\n").isprintable()
    if as_json:
        line = json.loads(text)
        assert (line["level"], line["event"], line["first"]) == ("info", "game_over", name)
        assert quoted(name) in line["message"]


def test_json_line_has_time_level_logger_and_message(capfd: pytest.CaptureFixture[str]) -> None:
    set_up_logging("debug", as_json=True)
    logging.getLogger("gateway.server.app").debug("all %s", "well")
    line = json.loads(logged(capfd))
    assert line.keys() == {"time", "level", "logger", "message"}
    assert (line["level"], line["logger"], line["message"]) == ("debug", "gateway.server.app", "all well")


@pytest.fixture
def _elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let local time be another than UTC."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "XXX-5")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("_elsewhere")
@pytest.mark.parametrize("as_json", [False, True])
def test_times_are_utc_and_say_so(as_json: bool, capfd: pytest.CaptureFixture[str]) -> None:
    set_up_logging("info", as_json=as_json)
    record = {"created": 1_700_000_000.25, "msecs": 250, "msg": "x", "levelno": logging.INFO}
    logging.getLogger("x").handle(logging.makeLogRecord(record))
    text = logged(capfd)
    assert (json.loads(text)["time"] if as_json else text.split()[0]) == "2023-11-14T22:13:20.250Z"


def test_json_line_of_a_game_has_a_field_for_each_thing(capfd: pytest.CaptureFixture[str]) -> None:
    set_up_logging("info", as_json=True)
    log_game(finished(Reason.TIME, SECOND), 0.25)
    line = json.loads(logged(capfd))
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line.pop("time"))
    assert line == {
        "level": "info",
        "logger": "gateway.games",
        "event": "game_over",
        "game": "00007-00000a",
        "first": "ann",
        "first_kind": "",
        "second": "bob",
        "second_kind": "",
        "moves": "323",
        "winner": 2,
        "reason": "time",
        "thought": [1000, 2000],
        "delay": 250,
        "table": None,
        "series": 0,
        "round": 1,
        "message": "game 'bob' beats 'ann': time (after 1.000 s, the server was deaf for 0.250 s), moving"
        " second, moves 323, id 00007-00000a",
    }


def test_each_game_that_is_over_is_logged_under_its_id(capfd: pytest.CaptureFixture[str]) -> None:
    set_up_logging("info", as_json=True)
    world = World()
    world.now = 2.0
    log_games(world.hub.feed, lambda then: then / 4)
    for table in (AtTable("a"), AtTable("b")):
        world.play(FIRST_WINS, (world.arena("ann", table), world.arena("bob", table)))
    lines = [json.loads(line) for line in logged(capfd).splitlines()]
    told = [(line["game"], line["moves"], line["delay"], line["table"]) for line in lines]
    assert told == [(each.game, FIRST_WINS, 500, each.table) for each in world.results]


@pytest.mark.parametrize(
    ("place", "others", "words", "fields"),
    [
        (
            InLobby(Wish("Ada")),
            [("ada", AtTable("y"))],
            "'bob' has no opponent: it wishes for 'Ada', who is not here; 'ada' is",
            ("absent", "Ada", "ada"),
        ),
        (
            InLobby(Wish("x\n")),
            [],
            "'bob' has no opponent: it wishes for 'x\\n', who is not here",
            ("absent", "x\n", None),
        ),
        (
            InLobby(),
            [("bob", InLobby(Wish("bob")))],
            "'bob' has no opponent: two players called 'bob' never meet",
            ("namesake", "bob", None),
        ),
        (AtTable("x"), [], "'bob' has no opponent: it is alone at table 'x'", ("alone", "x", None)),
    ],
)
def test_why_a_player_waits_is_logged_once(
    capfd: pytest.CaptureFixture[str],
    place: Place,
    others: list[tuple[str, Place]],
    words: str,
    fields: tuple[str, str, str | None],
) -> None:
    set_up_logging("info", as_json=True)
    world = World()
    log_games(world.hub.feed, lambda _: 0.0)
    world.arena("bob", place)
    for name, where in others:
        world.arena(name, where)
    world.wait(60)
    line = json.loads(logged(capfd).splitlines()[0])
    assert (line["event"], line["player"], line["message"]) == ("no_opponent", "bob", words)
    assert (line["cause"], line["wanted"], line["alike"]) == fields
    world.arena("Ada", AtTable("z")).leave()
    world.wait(60)
    assert logged(capfd) == ""


def test_absence_of_a_player_is_logged_once_also_if_another_game_begins_meanwhile(
    capfd: pytest.CaptureFixture[str],
) -> None:
    set_up_logging("info", as_json=True)
    world = World(grace=10.0)
    log_games(world.hub.feed, lambda _: 0.0)
    ann, bob = world.player(HANGING_UP, "ann", TABLE, "one"), world.player(STANDING_BY, "bob", TABLE)
    bob.break_off()
    world.wait(3.0)
    ann.break_off()
    again = world.client(HANGING_UP, "one")
    again.say(Introduce("ann"))
    again.say(Enter(TABLE))
    assert again.plays
    lines = [json.loads(line) for line in logged(capfd).splitlines()]
    told = [(line["event"], line["player"]) for line in lines if line["event"].startswith("player_")]
    assert told == [("player_away", "bob"), ("player_away", "ann"), ("player_back", "ann")]


def test_start_is_logged_with_addresses_and_where_results_are_kept(capfd: pytest.CaptureFixture[str]) -> None:
    set_up_logging("info", as_json=True)
    log_start([("nac4", "127.0.0.1:8080"), ("page", "[::1]:8000")], "/tmp/games.db")
    line = json.loads(logged(capfd))
    assert line["listening"] == [
        {"front_end": "nac4", "address": "127.0.0.1:8080"},
        {"front_end": "page", "address": "[::1]:8000"},
    ]
    assert (line["event"], line["results"]) == ("started", "/tmp/games.db")


@pytest.mark.parametrize("as_json", [False, True])
def test_exception_with_a_clients_words_forges_no_line(
    as_json: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    forged = "2026-01-01T00:00:00.000Z ERROR   forged\x1b[2J\u202e"
    set_up_logging("info", as_json=as_json)
    try:
        raise ValueError(f"no column\n{forged}\r{forged}\x85{forged}")
    except ValueError:
        logging.getLogger("x").exception("went\nwrong")
    text = logged(capfd)
    assert not [line for line in text.splitlines() if line.startswith("2026-01-01")]
    assert all(line.isprintable() for line in text.splitlines())
    if as_json:
        assert text.count("\n") == 1
        assert "ValueError: no column" in json.loads(text)["exception"]
    else:
        assert text.splitlines()[0].endswith(r" ERROR   went\nwrong")
        assert all(line.startswith("    ") for line in text.splitlines()[1:])


ROOT = Path(__file__).parents[3]
LOGGING = {f"logger.{name}" for name in ("debug", "info", "warning", "error", "exception", "critical", "log")}
RESERVED = {*vars(logging.makeLogRecord({})), "message", "asctime", "time", "level", "logger", "exception"}


def test_whatever_is_logged_has_fields_with_an_event_and_names_of_their_own() -> None:
    calls = {
        f"{path.relative_to(ROOT)}:{node.lineno}": {each.arg: each.value for each in node.keywords}
        for package in ("gateway", "adapters")
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in LOGGING
    }
    assert calls
    assert [place for place, keywords in calls.items() if "extra" not in keywords] == []
    for place, keywords in calls.items():
        if isinstance(fields := keywords["extra"], ast.Dict):
            names = {key.value for key in fields.keys if isinstance(key, ast.Constant)}
            assert "event" in names, place
            assert not names & RESERVED, place


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_below_the_level_is_not_said(level: str, capfd: pytest.CaptureFixture[str]) -> None:
    set_up_logging(level, as_json=False)
    for name in LEVELS:
        logging.getLogger("x").log(logging.getLevelName(name.upper()), name)
    said = [line.split()[-1] for line in logged(capfd).splitlines()]
    assert said == [*LEVELS[LEVELS.index(level) :]]


def test_libraries_say_nothing_below_a_warning(capfd: pytest.CaptureFixture[str]) -> None:
    set_up_logging("debug", as_json=False)
    logging.getLogger("trio-websocket").info("chatter")
    logging.getLogger("trio-websocket").warning("trouble")
    assert "chatter" not in (said := logged(capfd))
    assert "trouble" in said


def test_setting_up_twice_says_everything_once(capfd: pytest.CaptureFixture[str]) -> None:
    set_up_logging("info", as_json=False)
    set_up_logging("info", as_json=True)
    logging.getLogger("x").info("once")
    assert logged(capfd).count("once") == 1


@pytest.mark.parametrize("as_json", [False, True])
def test_each_line_of_a_node_names_it(capfd: pytest.CaptureFixture[str], *, as_json: bool) -> None:
    set_up_logging("info", as_json=as_json, node="ant")
    logging.getLogger("x").info("said")
    line = logged(capfd)
    assert json.loads(line)["node"] == "ant" if as_json else " [ant] said" in line


def test_reader_who_stands_still_stops_nobody_and_is_told_what_it_missed() -> None:
    reader, writer = os.pipe()
    handler = ThreadedHandler(writer)
    handler.setFormatter(JsonFormatter())
    record = logging.LogRecord("games", logging.INFO, __file__, 1, "x" * 1000, None, None)
    for _ in range(BACKLOG + 200):  # a pipe holds some 64 of them
        handler.emit(record)
    with ThreadPoolExecutor() as pool, open(reader, "rb") as log:
        read = pool.submit(log.readlines)
        handler.flush()
        handler.emit(record)
        handler.close()
        handler.flush()
        os.close(writer)
        lines = [json.loads(each) for each in read.result()]
    assert sum(each["message"] == "x" * 1000 for each in lines) > BACKLOG
    [dropped] = [each for each in lines if each.get("event") == "lines_dropped"]
    assert dropped["message"] == f"{dropped['lines']} lines dropped: nobody read the log"
