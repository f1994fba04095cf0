"""Who may suit whom by name and wish, and at what cost."""

import pickle
import random

from hypothesis import given
from hypothesis import strategies as st

from gateway.game.commands import Wish
from gateway.matchmaking.pool import Pool, Seeker

NAMES = st.sampled_from(["ann", "Ann", "bob", "random", "Random", "TEST"])
WISHES = st.none() | st.builds(Wish, NAMES, st.booleans())
SEEKER = st.builds(Seeker, NAMES, WISHES, st.booleans(), st.booleans(), opens=st.booleans())
SEEKERS = st.lists(SEEKER, max_size=12)


def pool_of(*seekers: Seeker) -> Pool:
    pool = Pool()
    for seeker in seekers:
        pool.add(seeker)
    return pool


def grants(wish: Wish | None, name: str) -> bool:
    """Whether a wish is for a player called `name` who is none of the house."""
    return wish is None or (wish.grants(name) and not wish.is_for_house)


@given(SEEKERS, SEEKER)
def test_partners_are_all_kinds_that_suit_each_by_the_first_come(
    seekers: list[Seeker], seeker: Seeker
) -> None:
    pool = pool_of(*seekers, seeker)
    first: dict[object, Seeker] = {}
    for other in seekers:
        may_meet = other.name != seeker.name or not (other.counted or seeker.counted)
        may_meet = may_meet and not (other.opens and seeker.opens)
        if may_meet and grants(seeker.wish, other.name) and grants(other.wish, seeker.name):
            first.setdefault(other.kind, other)
    partners = list(pool.partners(seeker))
    assert {*partners} == {*first.values()}
    assert len(partners) == len({*partners})


@given(SEEKERS, SEEKER)
def test_namesake_is_who_could_meet_one_but_for_the_name(seekers: list[Seeker], seeker: Seeker) -> None:
    pool = pool_of(*seekers, seeker)
    assert pool.has_namesake(seeker) == any(
        other.name == seeker.name
        and (other.counted or seeker.counted)
        and not (other.opens and seeker.opens)
        and grants(other.wish, seeker.name)
        for other in seekers
    )


@given(SEEKERS, NAMES, NAMES)
def test_bearers_are_who_has_a_name_and_may_wish_for_another(
    seekers: list[Seeker], name: str, partner: str
) -> None:
    first: dict[object, Seeker] = {}
    for number, seeker in enumerate(seekers):
        seeker.since = float(number)
        if seeker.name == name and grants(seeker.wish, partner):
            first.setdefault(seeker.kind, seeker)
    assert pool_of(*seekers).bearers(name, partner) == [*first.values()]


@given(SEEKERS, SEEKER, st.randoms())
def test_pool_keeps_nothing_of_who_has_left(
    seekers: list[Seeker], seeker: Seeker, lot: random.Random
) -> None:
    pool, leavers = pool_of(*seekers), lot.sample(seekers, len(seekers))
    for number, leaver in enumerate(leavers):
        pool.discard(leaver)
        pool.discard(leaver)
        here = [each for each in seekers if each not in leavers[: number + 1]]
        assert {*pool.partners(seeker)} == {*pool_of(*here).partners(seeker)}
    assert pickle.dumps(pool) == pickle.dumps(Pool())
