"""Ids of games: short, in the order of their games, and read strictly but from people."""

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.game.ids import GAMES, GAMES_A_SECOND, RUNS, first_game, game_ids, parse, typed

RUN = st.integers(0, RUNS - 1)


def test_ids_of_a_run_are_its_number_and_the_game_s() -> None:
    assert [*islice(game_ids(0), 2)] == ["00000-000000", "00000-000001"]
    assert [*islice(game_ids(33), 31, 34)] == ["00011-00000z", "00011-000010", "00011-000011"]
    assert next(game_ids(RUNS - 1)) == "zzzzz-000000"
    assert [*game_ids(1, GAMES - 2)] == ["00001-zzzzzy", "00001-zzzzzz"]


@given(RUN, RUN)
def test_ids_sort_by_run_and_then_by_start(one: int, two: int) -> None:
    first, second = ([*islice(game_ids(run), 100)] for run in (one, two))
    assert [*map(parse, first)] == first
    assert first == sorted(first)
    assert len({*first, *second}) == (100 if one == two else 200)
    assert (first[-1] < second[0]) == (one < two)


@given(st.floats(0, 2**33), st.floats(1, 8 * 3600), st.floats(0, 1))
def test_later_run_of_the_same_number_begins_beyond_all_games_of_the_earlier_one(
    at: float, later: float, load: float
) -> None:
    begun = int(later * GAMES_A_SECOND * 0.99 * load)
    earlier = range(first_game(at), first_game(at) + begun)
    first = first_game(at + later)
    # The numbers may have begun anew in between: then there is room for many games.
    assert earlier.stop <= first < GAMES // 2 or 0 <= first < earlier.start - GAMES // 4


@pytest.mark.parametrize("run", [-1, RUNS])
def test_number_that_no_run_has_makes_no_ids(run: int) -> None:
    with pytest.raises(ValueError, match="not the number of a run"):
        game_ids(run)


@pytest.mark.parametrize(
    "text",
    [
        *("", "00000", "00000000000", "00000-00000", "00000-0000000", "0000-000000", "00000_000000"),
        *("0000I-000000", "0000O-000000", "0000i-000000", "0000l-000000", "0000o-000000", "0000u-000000"),
        *("0000A-000000", " 00000-000000", "00000-000000\n", "00000-00000\u0660"),
    ],
)
def test_what_is_no_id_is_not_read(text: str) -> None:
    with pytest.raises(ValueError, match="not the id of a game"):
        parse(text)


@given(RUN)
def test_people_may_type_capitals_and_look_alikes(run: int) -> None:
    assert typed("1205") == "1205"  # of a game from before there were ids
    game = next(game_ids(run))
    for zero in "0oO":
        for one in "1iIlL":
            assert typed(f" {game.replace('0', zero).replace('1', one).upper()} ") == game
