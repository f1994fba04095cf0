"""Faults of a cluster: what clients hear of opponents who left, what is told wrongly, and a short run."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import trio

from conformance.__main__ import main
from conformance.boards import arena_cells, nac4_board
from conformance.dialects.script import Game, OutOfStep, Wish
from conformance.lab.cluster_faults.ground import Node
from conformance.lab.cluster_faults.load import Course, Member
from conformance.lab.cluster_faults.verdict import Verdict, judge
from conformance.lab.kills.games import Result
from conformance.lab.redis_server import redis_program

WON, LOST = Game("0101010", 1, "four"), Game("10203040", 2, "four")
GAMES = (WON, LOST)
STATE = f'{{"type":"state","you":1,"turn":1,"moves":[],"state":{arena_cells("")}}}'
BEGUN = {
    "droidcon": ["SUCCESS", "SUCCESS", "NEW_GAME", "YOUR_MOVE"],
    "nac4": ["connected hello me", "newgame me you", f"genmove {nac4_board('')} R PlayR 42.0"],
    "arena": [STATE],
}
"""What one hears up to its first move."""
LEFT = {
    "droidcon": ["YOU_WON", "YOU_LOST"],
    "nac4": [
        f"endgame {nac4_board(board)} R {won} Disconnected" for board in ("", "0") for won in ("WinR", "WinY")
    ],
    "arena": ['{"type":"disconnected"}'],
}
Make = Callable[..., Member]


@pytest.fixture
async def make() -> Make:
    async with trio.open_nursery() as nursery:
        node = Node("a", (), nursery)
    return lambda kind, name="me", partner="you": Member(kind, Wish(name, "t"), partner, GAMES, node)


def hear_all(member: Member, messages: Sequence[str]) -> None:
    for message in messages:
        member.hear(message.encode())


@pytest.mark.parametrize(("kind", "left"), [(kind, each) for kind, some in LEFT.items() for each in some])
async def test_client_bears_to_be_told_that_somebody_has_left_its_game(
    make: Make, kind: str, left: str
) -> None:
    member = make(kind)
    hear_all(member, BEGUN[kind])
    assert member.plays
    assert member.is_host
    hear_all(member, [left])
    assert member.is_cut_off
    assert not member.plays
    assert member.results == []
    assert member.hear(b"anything") == b""


@pytest.mark.parametrize(("kind", "left"), [(kind, each) for kind, some in LEFT.items() for each in some])
async def test_nobody_can_leave_a_game_that_is_not_on(make: Make, kind: str, left: str) -> None:
    member = make(kind)
    with pytest.raises(OutOfStep):
        hear_all(member, [*BEGUN[kind][:-2], left])


async def test_board_that_was_not_played_is_out_of_step(make: Make) -> None:
    member = make("nac4")
    hear_all(member, BEGUN["nac4"])
    with pytest.raises(OutOfStep):
        hear_all(member, [f"endgame {nac4_board('3')} R WinR Disconnected"])


async def test_next_game_says_that_the_last_one_is_over_where_there_is_no_word_for_it(make: Make) -> None:
    member = make("droidcon")
    hear_all(member, [*BEGUN["droidcon"], "NEW_GAME"])
    assert (member.is_cut_off, member.winner) == (True, 0)


def judged(
    make: Make,
    first: object,
    second: object,
    *stored: Game,
    kind: str = "arena",
    winner: int | None = None,
) -> Verdict:
    """Judge a course; of each side what it was told: "won", "left" or nothing of the first game.

    `winner` is whom a side that was told "left" was told to have won.
    """
    members = make(kind, "ta", "tb"), make(kind, "tb", "ta")
    for member, told in zip(members, (first, second), strict=True):
        member.is_cut_off, member.winner = told == "left", winner
        if told == "won":
            member.results.append(Result("ta", "tb", WON))
    return judge([Course("t", GAMES, members)], [Result("ta", "tb", game) for game in stored])


STOPPED = Game(WON.moves[:-1], 0, "stopped")


async def test_what_was_told_and_is_stored_once_is_right(make: Make) -> None:
    for verdict in (judged(make, "won", "won", WON), judged(make, "left", None, STOPPED)):
        assert [*verdict.missing, *verdict.twice, *verdict.different, *verdict.late] == []


async def test_results_that_are_missing_or_there_twice_are_found(make: Make) -> None:
    assert len(judged(make, "won", "won").missing) == 2
    assert len(judged(make, "won", None, STOPPED).missing) == 1
    assert len(judged(make, "won", None, WON, WON).twice) == 1


async def test_side_that_was_told_something_else_is_found(make: Make) -> None:
    assert len(judged(make, "won", "left", WON).different) == 1
    assert len(judged(make, None, "left", WON).different) == 1


async def test_loss_on_time_is_found(make: Make) -> None:
    assert len(judged(make, None, None, Game("01", 2, "time")).late) == 1


async def test_dialect_without_a_word_for_leaving_may_have_meant_it(make: Make) -> None:
    left = Game(WON.moves[:-1], WON.winner, "left")
    assert not judged(make, "won", None, left, kind="droidcon").missing
    assert judged(make, "won", None, STOPPED, kind="droidcon").missing


async def test_winner_that_is_stored_as_none_is_found(make: Make) -> None:
    for winner, wrong in ((0, 0), (1, 1)):
        verdict = judged(make, "left", None, STOPPED, winner=winner)
        assert len(verdict.different) == wrong


@pytest.mark.thorough
@pytest.mark.skipif(redis_program() is None, reason="there is no Redis")
@pytest.mark.skipif(
    not any(Path("/usr/lib/postgresql").glob("*/bin/initdb")), reason="there is no PostgreSQL"
)
def test_short_run_shows_every_goal_met(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report = tmp_path / "faults.json"
    words = ["--times", "1", "--only", "kill-holding", "--pairs", "9", "--results", "5", "--seed", "3"]
    status = main(["cluster-faults", *words, "--json", str(report)])
    out, err = capsys.readouterr()
    assert status == 0, out + err
    rows = {(row["part"], row["what"]): row["found"] for row in json.loads(report.read_text())["rows"]}
    assert rows["all", "results told"] > 0
    assert rows["kill-holding", "all paired within, from its end"] > 0
