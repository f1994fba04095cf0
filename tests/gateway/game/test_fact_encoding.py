"""Facts and games cross to another process as they were, and what is none is refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.game.board import Board
from gateway.game.commands import LONGEST_NAME
from gateway.game.events import Reason
from gateway.game.fact_encoding import SEATS, decode_fact, decode_remote_fact, encode_fact
from gateway.game.facts import (
    Came,
    Cause,
    GameStarted,
    Hindered,
    Left,
    MoveMade,
    Obstacle,
    Shown,
    Standing,
    Vanished,
    Waits,
)
from gateway.game.manners import Afterwards, Illegal, Manners
from gateway.game.results import Finished, Player

MANNERS = Manners(illegal=Illegal.RETRY, afterwards=Afterwards.STEP_OUT)
PLAYERS = Player("ann", MANNERS), Player("bob", MANNERS)
GAME = GameStarted("00000-000003", (6, 7), ("ann", "bob"), ("one", "two"), "round", 1, 42.0)
FACTS: list[Shown] = [
    Came(7, "ann", "one"),
    Waits(7, None),
    Waits(7, "round", 1.5),
    Hindered(7, "bob", Obstacle(Cause.ABSENT, "Ada", "ada"), is_first=True),
    Hindered(7, "bob", None, is_first=False),
    Left(7),
    GAME,
    MoveMade("00000-000003", 0, 3, 0.5, None),
    MoveMade("00000-000003", 1, 6, 0.123456, 41.5),
    (GAME, Standing((3, 3, 4), (0.5, 0.25, 1.5), None, 2.25)),
    (GAME, Standing((), (), (40.5, 41.0), 0.0)),
    *(Finished("00000-000003", PLAYERS, Board(), 1, reason, (1.5, 2.25), 1) for reason in Reason),
]


@pytest.mark.parametrize("fact", FACTS)
def test_fact_crosses_in_one_line_as_it_was(fact: Shown) -> None:
    data = encode_fact(fact)
    assert b"\n" not in data
    assert decode_fact(data) == fact
    assert decode_remote_fact(data, 0) == fact
    assert getattr(decode_fact(data), "waited", None) == getattr(fact, "waited", None)


def test_players_of_another_node_get_numbers_of_their_own() -> None:
    def crossed(fact: Shown) -> Any:
        return decode_remote_fact(encode_fact(fact), 2 * SEATS)

    assert crossed(Left(7)) == Left(2 * SEATS + 7)
    assert crossed(GAME).players == (2 * SEATS + 6, 2 * SEATS + 7)
    assert crossed((GAME, Standing((), (), None, 0.0)))[0].players == crossed(GAME).players


def test_loss_of_a_node_crosses_to_the_page_but_no_node_tells_of_it() -> None:
    data = encode_fact(Vanished(SEATS, 2 * SEATS - 1))
    assert decode_fact(data) == Vanished(SEATS, 2 * SEATS - 1)
    with pytest.raises(ValueError, match="kind"):
        decode_remote_fact(data, 0)


@given(st.text(st.characters(exclude_categories=()), max_size=LONGEST_NAME))
def test_any_name_is_the_same_for_a_browser(name: str) -> None:
    found = decode_fact(encode_fact(Came(7, name, "one")))
    assert isinstance(found, Came)
    assert found.name.encode("utf-16", "surrogatepass") == name.encode("utf-16", "surrogatepass")


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"m", b"v", b"x 1", b"v {}", b"v null", b"v [", b"v \xff", b"m 00000-000003 0 3 0.5"),
        *(b"m 00000-000003 0 7 0.5 -", b"m 00000-000003 2 3 0.5 -", b"m 3 0 3 0.5 -"),
        *(b"m 00000-000003 0 3 x -", b"m 00000-000003 0 3 -1 -", b"m 00000-000003 0 3 0.5 nan"),
        *(b"m 00000-000003 0 3 inf -", b"m 00000-000003 0 3 0.5 1e10", b"m 00000-000003 0 3 0.5 - -"),
        *(
            b'v {"version": 1, "class": "Left", "player": "7"}',
            b'x {"version": 1, "class": "Left", "player": 7}',
        ),
        b"mx 00000-000003 0 3 0.5 -",
    ],
)
def test_what_is_no_fact_is_refused(data: bytes) -> None:
    for decode in (decode_fact, lambda data: decode_remote_fact(data, 0)):
        with pytest.raises(ValueError):
            decode(data)


@pytest.mark.parametrize("moves", [(7,), (3,) * 43])
def test_columns_of_no_game_are_refused(moves: tuple[int, ...]) -> None:
    data = encode_fact((GAME, Standing(moves, (0.0,) * len(moves), None, 0.0)))
    for decode in (decode_fact, lambda data: decode_remote_fact(data, 0)):
        with pytest.raises(ValueError, match="not the columns"):
            decode(data)


def test_game_needs_a_time_for_each_move() -> None:
    data = encode_fact((GAME, Standing((3, 3), (0.5,), None, 0.0)))
    for decode in (decode_fact, lambda data: decode_remote_fact(data, 0)):
        with pytest.raises(ValueError, match="time for each move"):
            decode(data)


@pytest.mark.parametrize("fact", [Left(0), Left(SEATS), Left(-1), Waits(7, None, -1.0), Waits(7, None, 1e10)])
def test_numbers_out_of_their_range_are_refused_of_another_node(fact: Shown) -> None:
    with pytest.raises(ValueError):
        decode_remote_fact(encode_fact(fact), 0)
