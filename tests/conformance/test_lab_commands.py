"""The laboratory's commands: one short run of each, and the exit status where one goes wrong.

How fast a server is here is no matter of these tests, only whether all figures are found.
"""

import json
import sys
import tempfile
from argparse import Namespace
from importlib.util import find_spec
from pathlib import Path

import pytest
from certificates import needs_openssl

from conformance.__main__ import main
from conformance.lab.report import Row
from conformance.lab.servers import redis_program
from conformance.lab.survive import connections, tournaments
from conformance.lab.survive.command import PLAYS, survive
from conformance.launch import COMMAND

Found = dict[tuple[str, str], float]

needs_redis = pytest.mark.skipif(redis_program() is None, reason="no Redis server here")
needs_database = pytest.mark.skipif(
    find_spec("psycopg") is None or not any(Path("/usr/lib/postgresql").glob("*/bin/initdb")),
    reason="there is no PostgreSQL, or not the extra `postgres`",
)
needs_atheris = pytest.mark.skipif(find_spec("atheris") is None, reason="there is no extra 'fuzz'")
needs_solver = pytest.mark.skipif(
    find_spec("bitbully") is None, reason="the extra 'perfect' is not installed"
)

BENCH = "--pairs 4 --seconds 0.5 --rate 200"
FAIRNESS = "fairness --games 60 --at-once 6 --stalls 1 --stall 0.6 --clock 0.4 --burners 1"
PLAYED = ("all: results told",)
BROKEN = ("all: breaks", "all: of these to be played again", "reset: back", "twice: back", "late: droidcon")
FAIR = tuple(
    f"{part}: {what}" for part in ("stalled", "overloaded") for what in ("moves", "slept on purpose")
)


def case(words: str, *positive: str, marks: tuple[pytest.MarkDecorator, ...] = ()) -> object:
    """Return a command line, and its figures that are to be above 0."""
    return pytest.param(words, positive, marks=marks, id="-".join(words.split(" --", maxsplit=1)[0].split()))


@pytest.mark.lab
@pytest.mark.parametrize(
    ("words", "positive"),
    [
        case(f"measure bench {BENCH} --only mix", "mix: moves/s", "mix: floor us", "mix: p99 ms"),
        case(f"measure store {BENCH} --only droidcon", "droidcon, kept: moves/s", "droidcon, kept: move p50"),
        case("measure web --pairs 4 --games 60 --seconds 1 --rate 400 --only pages --times 1"),
        case("measure page --pairs 3 --rate 60 --viewers 2 --visitors 20 --seconds 0.5 --deaf 0.1"),
        case("measure growth --games 21 --rate 200 --waiting 30 --many 60 --seconds 0.2 --times 1"),
        case(
            "measure house --games 2 --seconds 1 --player aimafast", "games: house moves", "moves: measured"
        ),
        case(
            "measure cluster --games 4 --rate 200 --players 24 --seconds 0.5 --times 1 --only droidcon",
            "droidcon: two nodes, ratio",
            marks=(needs_redis,),
        ),
        case("survive kills --times 1 --pairs 6 --results 12 --within 0.001 --seed 9", *PLAYED),
        case("survive drains --times 1 --pairs 12 --results 20 --within 0.01 --seed 9", *PLAYED),
        case("survive tournaments --kills 2 --acts 20 --bots 4 --games 10 --only groups --seed 9"),
        case("survive connections --breaks 24 --pairs 12 --grace 3 --seed 9", *PLAYED, *BROKEN),
        case(
            "survive connections --nodes 2 --breaks 24 --pairs 12 --grace 3 --seed 9",
            *PLAYED,
            *BROKEN,
            marks=(needs_redis, needs_database, pytest.mark.thorough),
        ),
        case(
            "survive cluster --times 1 --only kill-holding --pairs 9 --results 5 --seed 3",
            *PLAYED,
            "kill-holding: all paired within, from its end",
            marks=(needs_redis, needs_database, pytest.mark.thorough),
        ),
        case(
            "survive together --seconds 11 --rest 0.5 --pairs 6 --only frames,resets,million,pages,guesses",
            *PLAYED,
            "attackers: messages",
            "page: metrics read",
            "players: with a token",
            marks=(needs_openssl,),
        ),
        case(
            "abuse --only frames,junk,resets,commands,pages --games 8 --seconds 0.5 --rest 0.5 --stored 20",
            "together: p50 ms",
            "log: size",
        ),
        case("fuzz --inputs 2000 --only arena", "arena: inputs", marks=(needs_atheris,)),
        case(FAIRNESS, *FAIR, "stalled: stalls"),
        case(f"{FAIRNESS} --cluster", *FAIR, marks=(needs_redis, pytest.mark.thorough)),
        case("engines strength --positions 2 --engines perfect,random --think 0.01", marks=(needs_solver,)),
        case("engines sprt --times 30 --elo1 150 --seed 1", "logistic: pairs each"),
    ],
)
def test_short_run_finds_all_figures_and_leaves_nothing(
    words: str, positive: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scratch, file = tmp_path / "scratch", tmp_path / "report.json"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    status = main([*words.split(), "--json", str(file)])
    rows = {f"{row['part']}: {row['what']}": row for row in json.loads(file.read_text())["rows"]}
    assert [what for what in rows if what.endswith("could not be measured")] == []
    assert {what: rows[what]["found"] for what in positive if not rows[what]["found"] > 0} == {}
    missed = [what for what, row in rows.items() if row["missed"]]
    assert status == int(bool(missed))
    if words.startswith("survive"):
        assert missed == []
    assert [*scratch.iterdir()] == []


@pytest.mark.lab
def test_server_beside_another_is_measured_too(tmp_path: Path) -> None:
    words = f"measure growth --only start --times 1 --beside {sys.executable} --json {tmp_path / 'x.json'}"
    main(words.split())
    rows = json.loads((tmp_path / "x.json").read_text())["rows"]
    assert all(row["found"] > 0 and row["beside"] > 0 for row in rows)


@pytest.mark.parametrize(
    "words",
    [
        "measure",
        "measure chess",
        "measure growth --only chess",
        "measure growth --times 0",
        "measure bench --pairs 0",
        "measure page --visitors none",
        "measure house --beside no-such-python",
        "survive",
        "survive chess",
        "survive kills --only drain",
        "survive kills --db postgresql://localhost/c4",
        "survive cluster --db x.db",
        "survive lobby --each 0",
        "survive connections --nodes 3",
        "abuse --only chess",
        "abuse --seconds -1",
        "fuzz --only nac5",
        "fairness --clock x",
        "fairness more",
        "engines strength --engines deep",
        "engines sprt --elo1 much",
    ],
)
def test_bad_usage_is_status_2(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    assert "conformance: " in capsys.readouterr().err


def test_server_that_does_not_start_is_status_1(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    database = tmp_path / "letter.txt"
    database.write_text("Dear reader")
    assert main(["survive", "kills", "--db", str(database)]) == 1
    assert "letter.txt" in capsys.readouterr().err


def test_fuzzing_without_atheris_names_the_extra(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "atheris", None)
    assert main(["fuzz"]) == 1
    assert capsys.readouterr().err == "conformance: fuzzing needs atheris: pip install '.[fuzz]'\n"


# Gateways that break what they promise.

CUTS_GAMES_OFF = """
import sys
from gateway.__main__ import main
from gateway.server import app
async def drain(*_):
    pass
app.drain = drain
sys.exit(main())
"""
STORES_NOTHING_MORE = """
import sys, trio
from gateway.__main__ import main
from gateway.store import open_games, process
open_games.OpenGames.is_open = lambda self, game: False
first = process.StoreProcess.write
async def write(self, batch):
    process.StoreProcess.write = never
    return await first(self, batch)
async def never(self, batch):
    await trio.sleep_forever()
process.StoreProcess.write = write
sys.exit(main())
"""
KEEPS_NO_SEAT = """
import sys
from gateway.__main__ import main
sys.argv[sys.argv.index("--grace") + 1] = "0"
sys.exit(main())
"""
GIVES_SEATS_TO_ANYBODY = """
import sys
from gateway.__main__ import main
from gateway.matchmaking.matchmaker import Entry
Entry.may_replace = lambda self, other: True
sys.exit(main())
"""
FORGETS_ACTS = """
import sys
from gateway.__main__ import main
from gateway.store.process import StoreProcess
add = StoreProcess.add_to_log
async def forget(self, key, known, entries, pairings=()):
    return '"by"' in entries[0] or await add(self, key, known, entries, pairings)
StoreProcess.add_to_log = forget
sys.exit(main())
"""
SHOWS_AN_EMPTY_BOARD = """
import sys
from gateway.__main__ import main
from gateway.game import session
from gateway.game.board import Board
resumed = session.Resumed
session.Resumed = lambda game, you, names, board, since: resumed(game, you, names, Board(), since)
sys.exit(main())
"""


@pytest.mark.lab
@pytest.mark.parametrize(
    ("play", "fault", "program", "pairs", "missed"),
    [
        ("drains", "drain", CUTS_GAMES_OFF, 24, "troubles"),
        ("kills", "kill-all", STORES_NOTHING_MORE, 6, "told and not stored"),
    ],
)
async def test_gateway_that_loses_games_misses_a_goal(
    play: str, fault: str, program: str, pairs: int, missed: str, tmp_path: Path
) -> None:
    options = Namespace(times=1, pairs=pairs, results=20, within=0.001, seed="22", only=[fault])
    command = (sys.executable, "-c", program, *COMMAND[3:])
    rows, _ = await survive(PLAYS[play], options, str(tmp_path / "x.db"), command)
    found: dict[str, Row] = {row.what: row for row in rows}
    assert found[missed].is_missed


@pytest.mark.lab
async def test_gateway_that_forgets_acts_misses_a_goal(tmp_path: Path) -> None:
    count = {"kills": 0, "acts": 20, "bots": 4, "games": 2, "rounds": None}
    options = Namespace(**count, hang_ups=0.0, nodes="1", seed="3", only=["round-robin"])
    command = (sys.executable, "-c", FORGETS_ACTS, *COMMAND[3:])
    rows, _ = await tournaments.survive(options, tmp_path, command)
    assert [row.what for row in rows if row.is_missed] == ["acts done, and not in the log"]


@pytest.mark.lab
@pytest.mark.parametrize(
    ("kind", "program", "missed"),
    [
        ("reset", KEEPS_NO_SEAT, connections.LOST),
        ("stranger", GIVES_SEATS_TO_ANYBODY, connections.TAKEN),
        ("end", SHOWS_AN_EMPTY_BOARD, "troubles"),
    ],
)
async def test_gateway_that_gives_back_seats_wrongly_misses_a_goal(
    kind: str, program: str, missed: str, tmp_path: Path
) -> None:
    options = Namespace(breaks=8, pairs=6, grace=3.0, nodes="1", seed="5", only=[kind])
    command = (sys.executable, "-c", program, *COMMAND[3:])
    rows, _ = await connections.survive(options, tmp_path, [], command)
    found: dict[str, Row] = {row.what: row for row in rows}
    assert found[missed].is_missed
