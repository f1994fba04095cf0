"""Who may suit whom by name and wish, and at what cost."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.game.commands import Wish
from gateway.matchmaking.pool import Pool, Seeker

NAMES = st.sampled_from(["ann", "Ann", "bob", "random", "Random", "TEST"])
WISHES = st.none() | st.builds(Wish, NAMES, st.booleans())
GUESTS = st.builds(Seeker, NAMES, WISHES, st.booleans(), st.booleans())


def pool_of(*seekers: Seeker) -> Pool:
    pool = Pool()
    for seeker in seekers:
        pool.add(seeker)
    return pool


def suits(one: Seeker, two: Seeker) -> bool:
    """Whether two clients suit each other, asked of the wishes themselves."""
    if one is two or (one.name == two.name and (one.counted or two.counted)):
        return False
    pairs = (one, two), (two, one)
    return all(
        seeker.wish is None or (seeker.wish.grants(other.name) and not seeker.wish.is_for_house)
        for seeker, other in pairs
    )


@given(st.lists(GUESTS, max_size=12), GUESTS)
def test_partners_are_all_kinds_that_suit_each_by_the_first_come(
    seekers: list[Seeker], seeker: Seeker
) -> None:
    pool = pool_of(*seekers, seeker)
    first: dict[object, Seeker] = {}
    for other in seekers:
        if suits(seeker, other):
            first.setdefault(other.kind, other)
    partners = list(pool.partners(seeker))
    assert {*partners} == {*first.values()}
    assert len(partners) == len({*partners})


@given(st.lists(GUESTS, max_size=12), NAMES, NAMES)
def test_bearers_are_who_has_a_name_and_may_wish_for_another(
    seekers: list[Seeker], name: str, partner: str
) -> None:
    first: dict[object, Seeker] = {}
    for number, seeker in enumerate(seekers):
        seeker.since = float(number)
        wish = seeker.wish
        if seeker.name == name and (wish is None or (wish.grants(partner) and not wish.is_for_house)):
            first.setdefault(seeker.kind, seeker)
    assert pool_of(*seekers).bearers(name, partner) == [*first.values()]


@given(st.lists(GUESTS, max_size=12), st.randoms())
def test_a_pool_that_all_have_left_keeps_nothing(seekers: list[Seeker], lot: object) -> None:
    pool = pool_of(*seekers)
    lot.shuffle(seekers)  # type: ignore[attr-defined]
    for number, seeker in enumerate(seekers):
        pool.discard(seeker)
        pool.discard(seeker)
        left = [other for queue in pool._queues.values() for other in queue.seekers]
        assert sorted(map(id, left)) == sorted(map(id, seekers[number + 1 :]))
    assert not pool._queues
    assert not pool._shelves


def test_wish_for_a_house_player_is_nobodys_here() -> None:
    ann = Seeker("ann", Wish("random"))
    pool = pool_of(ann, Seeker("random"), Seeker("RANDOM", Wish("ann")))
    assert list(pool.partners(ann)) == []
