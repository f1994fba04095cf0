"""Servers that break: games to play, a verdict, short runs, and gateways that break their word."""

import json
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.__main__ import main
from conformance.boards import CELLS, COLUMNS, ROWS, drops
from conformance.dialects.script import Game, Outcome, Wish
from conformance.lab.report import Row
from conformance.lab.servers import Gateway, redis_program
from conformance.lab.survive.command import PAIRED, PLAYS, Measured, Scene, survive
from conformance.lab.survive.lobby import Told, Visitor, agreement
from conformance.lab.survive.players import LENGTH, Course, Load, Player, Result, course
from conformance.lab.survive.verdict import Verdict, integrity, judge, stored_in
from conformance.lab.workers import LoadError
from conformance.launch import COMMAND

needs_cluster = pytest.mark.skipif(
    redis_program() is None
    or find_spec("psycopg") is None
    or not any(Path("/usr/lib/postgresql").glob("*/bin/initdb")),
    reason="there is no Redis, no PostgreSQL, or not the extra `postgres`",
)
LOBBY_GAME = Result("ann", "bob", Game("0101010", 1, "four"))
LOST_GAME = Result("ann", "bob", Game("0101010", 2, "four"))
KILLS = "--pairs 6 --results 12 --within 0.001 --seed 9"

# The games.


def winners(moves: str) -> Iterator[int]:
    """Yield whoever has four in a row, line by line."""
    board = drops(moves)
    for column in range(COLUMNS):
        for row in range(ROWS):
            for right, up in ((0, 1), (1, 0), (1, 1), (1, -1)):
                line = {board.get((column + step * right, row + step * up)) for step in range(4)}
                if len(line) == 1:
                    yield from line - {None}


@given(st.text(), st.booleans())
def test_games_end_as_they_say_and_not_before(seed: str, is_left: bool) -> None:
    games = course(seed, is_left=is_left)
    assert games == course(seed, is_left=is_left)
    assert len({game.moves for game in games}) == LENGTH
    assert "left" not in {game.reason for game in games[:-1]}
    assert games[-1].reason == "left" or not is_left
    for game in games:
        assert not list(winners(game.moves[:-1]))
        ends = set(winners(game.moves))
        match game.reason:
            case "four":
                assert ends == {game.winner} == {2 - len(game.moves) % 2}
            case "full":
                assert (ends, len(game.moves), game.winner) == (set(), CELLS, 0)
            case "left":
                assert (ends, game.winner) == (set(), 2 - len(game.moves) % 2)  # whoever moved last


def test_courses_differ_and_have_every_end() -> None:
    courses = {course(str(seed), is_left=False) for seed in range(200)}
    assert len(courses) == 200
    assert {(game.reason, game.winner) for games in courses for game in games} == {
        *(("four", winner) for winner in (1, 2)),
        *(("left", winner) for winner in (1, 2)),
        ("full", 0),
    }


# The verdict.

WON, LOST, LEFT = Game("0101010", 1, "four"), Game("10203040", 2, "four"), Game("0123", 2, "left")
STOPPED = Game(WON.moves[:-1], 0, "stopped")


def judged(
    told: Sequence[object],
    *stored: Game | Result,
    kind: str = "arena",
    winner: int | None = None,
    may_be_cut: bool = True,
) -> Verdict:
    """Judge a course; of each side what it was told: "won", "left" or nothing of the first game."""
    players = [
        Player(kind, Wish("t" + own, "t"), "t" + other, (WON, LOST, LEFT), cast("Gateway", "a"))
        for own, other in ("ab", "ba")
    ]
    for player, what in zip(players, told, strict=True):
        player.is_cut_off, player.winner = what == "left", winner
        if what == "won":
            player.results.append(Result("ta", "tb", WON))
    kept = [each if isinstance(each, Result) else Result("ta", "tb", each) for each in stored]
    return judge([Course("t", (WON, LOST, LEFT), (players[0], players[1]))], kept, may_be_cut=may_be_cut)


def troubles(verdict: Verdict) -> dict[str, int]:
    return {what: len(lines) for what, lines in verdict.troubles.items() if lines}


@pytest.mark.parametrize(
    ("told", "stored", "found"),
    [
        (("won", "won"), [WON], {}),
        (("won", None), [WON, LOST], {}),  # nobody has to be told of what is stored
        (("left", None), [STOPPED], {}),
        (("won", "won"), [], {"told and not stored": 2}),
        (("won", None), [STOPPED], {"told and not stored": 1}),
        (("won", None), [Result("tb", "ta", WON)], {"told and not stored": 1}),
        (("won", None), [WON, WON], {"stored twice": 1}),
        ((None, None), [LOST, LOST], {"stored twice": 1}),
        (("won", "left"), [WON], {"told differently": 1}),
        ((None, "left"), [WON], {"told differently": 1}),
        ((None, None), [Game("01", 2, "time")], {"lost on time": 1}),
        ((None, None), [Game("0101012", 1, "four")], {"stored and not played": 1}),
        ((None, None), [Game("0101010", 2, "four")], {"stored and not played": 1}),
        ((None, None), [Game("33", 0, "stopped")], {"stored and not played": 1}),
        ((None, None), [Result("ua", "tb", WON), Result("ta", "ta", WON)], {"stored and not played": 2}),
    ],
)
def test_verdict_compares_what_was_told_with_what_is_stored(
    told: Sequence[object], stored: Sequence[Game | Result], found: dict[str, int]
) -> None:
    assert troubles(judged(told, *stored)) == found


def test_dialect_without_a_word_for_leaving_may_have_meant_it() -> None:
    left = Game(WON.moves[:-1], WON.winner, "left")
    assert troubles(judged(("won", None), left, kind="droidcon")) == {}
    assert troubles(judged(("won", None), STOPPED, kind="droidcon")) == {"told and not stored": 1}


@pytest.mark.parametrize(("winner", "found"), [(0, {}), (1, {"told differently": 1})])
def test_winner_that_is_stored_as_none_is_found(winner: int, found: dict[str, int]) -> None:
    assert troubles(judged(("left", None), STOPPED, winner=winner)) == found


def test_game_that_was_cut_off_is_strange_where_none_may_be() -> None:
    assert troubles(judged((None, None), STOPPED, LEFT, may_be_cut=False)) == {"stored and not played": 1}


def test_integrity_is_that_of_a_file_of_sqlite(tmp_path: Path) -> None:
    other = tmp_path / "letter.txt"
    other.write_text("Dear reader, " * 100)
    assert integrity(str(other)) == "file is not a database"


async def test_database_that_is_not_there_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="export"):
        await stored_in(str(tmp_path / "none.db"), "x")


# Runs.


def figures(file: Path) -> dict[str, float]:
    return {row["what"]: row["found"] for row in json.loads(file.read_text())["rows"]}


@pytest.mark.lab
@pytest.mark.parametrize("words", [f"kills {KILLS}", "drains --pairs 12 --results 20 --within 0.01 --seed 9"])
def test_short_run_finds_all_that_was_told_and_leaves_nothing(
    words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    status = main(["survive", *words.split(), "--times", "1", "--json", str(tmp_path / "x.json")])
    out, err = capsys.readouterr()
    assert status == 0, out + err
    assert figures(tmp_path / "x.json")["results told"] > 0
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


@pytest.mark.thorough
@needs_cluster
def test_short_run_of_a_cluster_shows_every_goal_met(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = "--times 1 --only kill-holding --pairs 9 --results 5 --seed 3"
    status = main(["survive", "cluster", *words.split(), "--json", str(tmp_path / "x.json")])
    out, err = capsys.readouterr()
    assert status == 0, out + err
    assert figures(tmp_path / "x.json")["all paired within, from its end"] > 0


BREAKS_ITS_WORD = """
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


async def broken(name: str, program: str, place: Path, pairs: int) -> dict[str, Row]:
    """Return what is found of a gateway that breaks its word, by what it is."""
    play = PLAYS[name]
    only = ["drain"] if name == "drains" else ["kill-all"]
    options = Namespace(times=1, pairs=pairs, results=20, within=0.001, seed="22", only=only)
    command = (sys.executable, "-c", program, *COMMAND[3:])
    rows, _ = await survive(play, options, str(place), command)
    return {row.what: row for row in rows}


@pytest.mark.lab
async def test_gateway_that_cuts_games_off_is_found_out(tmp_path: Path) -> None:
    rows = await broken("drains", BREAKS_ITS_WORD, tmp_path / "x.db", 24)
    assert rows["troubles"].is_missed


@pytest.mark.lab
async def test_results_that_were_told_and_never_stored_are_found(tmp_path: Path) -> None:
    rows = await broken("kills", STORES_NOTHING_MORE, tmp_path / "x.db", 6)
    assert rows["told and not stored"].is_missed


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["chess"],
        ["kills", "--times", "0"],
        ["kills", "--only", "drain"],
        ["kills", "--db", "postgresql://localhost/c4"],
        ["cluster", "--db", "x.db"],
        ["drains", "more"],
        ["lobby", "--each", "0"],
    ],
)
def test_bad_usage_is_status_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["survive", *words]) == 2
    assert "conformance: " in capsys.readouterr().err


def test_database_that_does_not_open_is_status_1(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    database = tmp_path / "letter.txt"
    database.write_text("Dear reader")
    assert main(["survive", "kills", "--db", str(database)]) == 1
    assert "letter.txt" in capsys.readouterr().err


# What is measured, and the lobby.


async def test_pair_that_does_not_meet_misses_a_goal(autojump_clock: object) -> None:
    pair = SimpleNamespace(begun=None, players=("ann", "bob"))
    load = cast(Load, SimpleNamespace(meet=lambda _: pair))
    scene = Scene([], None, "", load, Random(1), Measured(), Namespace())
    await scene.meet(PAIRED, [[]])
    assert [row.what for row in scene.measured.rows("stop-node") if row.is_missed] == ["did not come about"]


@pytest.mark.parametrize(
    ("stored", "differences"),
    [
        ([LOBBY_GAME], []),
        ([], ["told, not stored"] * 2),
        ([LOBBY_GAME] * 2, ["stored, not told"] * 2),
        ([LOST_GAME], ["told, not stored"] * 2 + ["stored, not told"] * 2 + ["never played"]),
        ([Result("ann", "bob", Game("1010101", 1, "four"))], ["never played"]),
    ],
)
def test_what_is_told_in_a_lobby_is_held_against_what_is_stored(
    stored: list[Result], differences: list[str]
) -> None:
    ann, bob = Visitor(("droidcon", 0), "ann", LOBBY_GAME.game), Visitor(("nac4", 1), "bob", LOBBY_GAME.game)
    ann.told = [Told("ann", True, Outcome.WON, None)]
    bob.told = [Told("bob", False, Outcome.LOST, "ann")]
    found = agreement([ann, bob], stored)
    assert [line.partition(":")[0] for line in found.differences] == differences
    assert found.met == ({(ann.origin, bob.origin)} if stored else set())
