"""Ratings, and the arithmetic of the totals."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openskill.models import PlackettLuce

from gateway.store.totals import DEVIATION, MEAN, Entry, Key, Rating, Tally, Totals, chance, rated

players = st.integers(1, 4)
entries = st.builds(
    Entry, players, players, st.integers(0, 2), st.sampled_from(["four", "time"]),
    st.integers(0, 9999), st.integers(0, 9999), st.integers(0, 42),
)  # fmt: skip


ratings = st.builds(Rating, st.floats(-500, 500), st.floats(1e-6, 100))


@given(ratings, ratings, st.integers(0, 2))
def test_ratings_are_those_of_openskill_to_the_last_bit(first: Rating, second: Rating, result: int) -> None:
    model = PlackettLuce(mu=MEAN, sigma=DEVIATION)
    teams = [[model.rating(mu=each.mean, sigma=each.deviation)] for each in (first, second)]
    (one,), (two,) = model.rate(teams, ranks=[[1.0, 1.0], [1.0, 2.0], [2.0, 1.0]][result])
    assert rated(first, second, result) == ((one.mu, one.sigma), (two.mu, two.sigma))


def test_stronger_player_has_the_better_chance() -> None:
    weak, strong = Rating(20.0, 2.0), Rating(30.0, 3.0)
    assert chance(weak, weak) == 0.5
    assert chance(weak, strong) == pytest.approx(1 - chance(strong, weak))
    assert chance(weak, strong) < chance(weak, Rating(25.0, 3.0)) < 0.5


def test_game_is_entered_on_both_accounts_and_in_one_tally() -> None:
    totals = Totals()
    totals.enter(Entry(1, 2, 1, "four", 100, 200, 7))
    one, two = totals.accounts[1], totals.accounts[2]
    assert (one.opened, one.opened_won, one.opened_drawn, one.thought, one.moves) == (1, 1, 0, 100, 4)
    assert (two.replied, two.replied_won, two.replied_drawn, two.thought, two.moves) == (1, 0, 0, 200, 3)
    assert (one.replied, two.opened) == (0, 0)
    assert totals.tallies == {Key(1, 2, 1, "four"): Tally(1, 100, 200, 4, 3)}


@given(st.lists(entries, max_size=30))
def test_accounts_and_tallies_agree(games: list[Entry]) -> None:
    totals = Totals()
    for game in games:
        totals.enter(game)
    for number, account in totals.accounts.items():
        opened = [(key, tally) for key, tally in totals.tallies.items() if key.first == number]
        replied = [(key, tally) for key, tally in totals.tallies.items() if key.second == number]
        assert account.opened == sum(tally.games for _, tally in opened)
        assert account.opened_won == sum(tally.games for key, tally in opened if key.result == 1)
        assert account.replied_won == sum(tally.games for key, tally in replied if key.result == 2)
        drawn = sum(tally.games for key, tally in [*opened, *replied] if key.result == 0)
        assert account.opened_drawn + account.replied_drawn == drawn
        thought = sum(tally.first_thought for _, tally in opened)
        assert account.thought == thought + sum(tally.second_thought for _, tally in replied)


@given(st.lists(entries, max_size=30), st.integers(0, 30))
def test_totals_that_are_closed_and_reopened_go_on_as_before(games: list[Entry], at: int) -> None:
    whole, first = Totals(), Totals()
    for game in games:
        whole.enter(game)
    for game in games[:at]:
        first.enter(game)
    second = Totals({number: replace(account) for number, account in first.accounts.items()})
    for game in games[at:]:
        second.enter(game)
    assert second.accounts == whole.accounts
