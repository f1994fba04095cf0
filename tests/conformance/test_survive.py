"""Servers that break: the games to play, and verdicts on what players received and what is stored."""

from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.boards import CELLS, COLUMNS, ROWS, drops
from conformance.dialects import DIALECTS
from conformance.dialects.script import Game, Outcome, Wish
from conformance.lab.servers import Gateway
from conformance.lab.survive.command import EXPECTED, PAIRED, Measured, Scene
from conformance.lab.survive.lobby import Agreement, Told, Visit, agreement
from conformance.lab.survive.players import LENGTH, Course, Load, Player, Result, course
from conformance.lab.survive.verdict import Verdict, judge, stored_in
from conformance.lab.workers import LoadError

LOBBY_GAME = Result("ann", "bob", Game("0101010", 1, "four"))
LOST_GAME = Result("ann", "bob", Game("0101010", 2, "four"))

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
        if what in ("has left", "has left or is stopped"):  # the end of the last game
            player.results.append(Result("ta", "tb", LEFT))
            player.may_be_stopped = what != "has left"
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


@pytest.mark.parametrize(
    ("kind", "reason", "found"),
    [
        ("droidcon", "aborted", {}),  # it has no word for a game without a winner
        ("droidcon", "stopped", {"told differently": 1}),
        ("nac4", "aborted", {"told differently": 1}),
    ],
)
def test_winner_of_an_aborted_game_is_announced_where_a_dialect_has_no_other_word(
    kind: str, reason: str, found: dict[str, int]
) -> None:
    cut_off = Game(WON.moves[:1], 0, reason)
    assert troubles(judged(("left", None), cut_off, kind=kind, winner=1)) == found


@pytest.mark.parametrize(
    ("what", "may_be_cut", "found"),
    [
        ("has left or is stopped", True, {}),  # the node was lost as the opponent left
        ("has left", True, {"told and not stored": 1}),
        ("has left or is stopped", False, {"told and not stored": 1, "stored and not played": 1}),
    ],
)
def test_message_without_a_winner_fits_a_game_that_was_stopped_after_its_last_move(
    what: str, may_be_cut: bool, found: dict[str, int]
) -> None:
    stopped = Game(LEFT.moves, 0, "stopped")
    assert troubles(judged((what, None), stopped, may_be_cut=may_be_cut)) == found


def test_game_that_was_cut_off_is_strange_where_none_may_be() -> None:
    assert troubles(judged((None, None), STOPPED, LEFT, may_be_cut=False)) == {"stored and not played": 1}


async def test_database_that_is_not_there_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="export"):
        await stored_in(str(tmp_path / "none.db"), "x")


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
    ann = Visit(("droidcon", 0), [Told("ann", True, Outcome.WON, None)])
    bob = Visit(("nac4", 1), [Told("bob", False, Outcome.LOST, "ann")])
    found = agreement({"ann": ann, "bob": bob}, stored, LOBBY_GAME.game)
    assert [line.partition(":")[0] for line in found.differences] == differences
    assert found.met == Counter([(ann.origin, bob.origin)] * len(stored))
    played = {pair: games for pair, games in found.by_dialect().items() if games}
    assert played == ({("droidcon", "nac4"): len(stored)} if stored else {})


def test_each_ordered_pair_of_dialects_is_possible_unless_the_second_always_opens() -> None:
    pairs = Agreement().by_dialect()
    assert {first for first, _ in pairs} == {*DIALECTS}
    assert {second for _, second in pairs} == {*DIALECTS} - {"i32cfsp"}
    assert len(pairs) == len(DIALECTS) * (len(DIALECTS) - 1)


def test_expected_lines_are_in_the_log_of_a_server_whose_database_fails() -> None:
    gateway = Path(__file__).parents[2] / "gateway"
    source = "".join(
        (gateway / file).read_text() for file in ("store/open_games.py", "server/tournaments.py")
    )
    assert [text for text in EXPECTED if text not in source] == []
