"""What happens crosses as it was told, and what is no row is refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from live_world import NASTY, game, move

from adapters.web.link import LONGEST, LinkError, Told, decode, encode
from adapters.web.live import sender
from adapters.web.live.rows import COMPLETE, Begun, Complete, Kept, Over, Stands, begun, read, written
from gateway.game.board import Board
from gateway.game.commands import LONGEST_NAME
from gateway.game.events import Reason
from gateway.game.facts import (
    Came,
    Cause,
    Fact,
    GameStarted,
    Hindered,
    Left,
    Obstacle,
    Standing,
    Vanished,
    Waits,
)
from gateway.game.manners import Afterwards, Illegal, Manners
from gateway.game.results import Finished, Player

FACTS: list[Fact] = [
    Came(7, "ann", "one"),
    Waits(7, None),
    Waits(7, "round"),
    Left(7),
    game(3),
    game(3, table="round", clock=42.0),
    move(3, 0),
    move(3, 1, 6, 41.5),
]
MANNERS = Manners(illegal=Illegal.RETRY, afterwards=Afterwards.STEP_OUT)
GAME = ["00000-000003", 6, 7, "ann", "bob", "one", "two", None, 1, None]


def crossed(fact: Any) -> object:
    return read(json.loads(written(fact)))


@pytest.mark.parametrize("fact", FACTS)
def test_what_happens_crosses_as_it_was_told(fact: Fact) -> None:
    assert crossed(fact) == fact


def test_wait_crosses_with_the_time_that_it_lasts_already() -> None:
    found = crossed(Waits(7, None, 1.5))
    assert isinstance(found, Waits)
    assert found.waited == 1.5


@pytest.mark.parametrize("why", [Obstacle(Cause.ABSENT, "Ada", "ada"), Obstacle(Cause.NAMESAKE, "bob"), None])
def test_why_a_player_waits_crosses(why: Obstacle | None) -> None:
    assert crossed(Hindered(7, "bob", why, is_first=True)) == Kept(7, why)


def test_loss_of_a_node_crosses() -> None:
    assert crossed(Vanished(1 << 36, (2 << 36) - 1)) == Vanished(1 << 36, (2 << 36) - 1)


@pytest.mark.parametrize("left", [None, (40.5, 41.0)])
def test_game_that_is_on_crosses_as_it_stands(left: tuple[float, float] | None) -> None:
    standing = Standing((3, 3, 4), (0.0, 0.0), left, 2.25)
    assert crossed((game(3), standing)) == Stands(game(3), standing)


@pytest.mark.parametrize("reason", Reason)
def test_of_an_end_crosses_what_viewers_are_told(reason: Reason) -> None:
    players = Player("ann", MANNERS), Player("bob", MANNERS)
    found = crossed(Finished("00000-000003", players, Board(), 1, reason, (1.5, 2.25), 1))
    assert isinstance(found, Over)
    assert (found.game, found.winner, found.thought) == ("00000-000003", 1, (1.5, 2.25))
    assert found.reason == reason.name.lower()


def test_marks_of_what_is_on_cross() -> None:
    assert read(json.loads(begun(5))) == Begun(5)
    assert read(json.loads(COMPLETE)) == Complete()


@pytest.mark.parametrize("name", NASTY)
def test_name_crosses_whatever_is_in_it(name: str) -> None:
    assert crossed(Came(7, name, "one")) == Came(7, name, "one")


@given(st.text(st.characters(exclude_categories=()), max_size=LONGEST_NAME))
def test_any_name_is_the_same_for_a_browser(name: str) -> None:
    found = crossed(Came(7, name, "one"))
    assert isinstance(found, Came)
    assert found.name.encode("utf-16", "surrogatepass") == name.encode("utf-16", "surrogatepass")


@pytest.mark.parametrize(
    "row",
    [
        *(
            None,
            7,
            "m",
            {},
            [],
            ["x"],
            [["m"]],
            ["r", 1],
            ["b"],
            ["b", -1],
            ["b", True],
            ["l", "7"],
            ["x", 1],
            ["x", -1, 2],
        ),
        *(["c", 7, "ann"], ["c", 7, None, "one"], ["c", 7, "n" * 257, "one"], ["c", 1.0, "ann", "one"]),
        *(["w", 7, 8, 0], ["w", 7, None, -1], ["w", 7, None, None]),
        *(["h", 7, "late", "x", None], ["h", 7, "absent", "x"], ["h", 7, "alone", 7, None], ["h"]),
        *(["m", "00000-000003", 0, 7, 500, None], ["m", "00000-000003", 2, 3, 500, None]),
        *(["m", "3", 0, 3, 500, None], ["m", "00000-000003", 0, 3, 0.5, None]),
        *(["m", "00000-000003", 0, 3, 500, -1], ["m", "00000-000003", False, 3, 500, None]),
        *(["e", "00000-000003", 0, "won", 1, 2], ["e", "00000-000003", 3, "four", 1, 2]),
        *(["s", *GAME, 1], ["s", *GAME[:-1]], ["s", 1, *GAME[1:]], ["s", *GAME[:-1], "42"]),
        *(["g", *GAME, "337", None, 0], ["g", *GAME, "3" * 43, None, 0], ["g", *GAME, "33", [1], 0]),
        *(["g", *GAME, "33", 1, 0], ["g", *GAME, "\u0663", None, 0], ["g", *GAME, "33", None]),
    ],
)
def test_what_is_no_row_is_refused(row: object) -> None:
    with pytest.raises(LinkError):
        read(row)


def test_longest_message_is_not_too_long_for_the_link() -> None:
    worst = "\N{PILE OF POO}" * LONGEST_NAME
    started = GameStarted(
        "00000-000003", (1 << 40, 1 << 40), (worst, worst), ("house", "house"), worst, 1, 1e6
    )
    row = written((started, Standing((3,) * 42, (0.0, 0.0), (1e6, 1e6), 1e6)))
    told = encode(Told([json.loads(row)] * sender.MOST))
    assert LONGEST / 2 < len(told) < LONGEST
    assert isinstance(decode(told[4:]), Told)
