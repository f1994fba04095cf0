"""Who may suit whom by name and wish, and at what cost."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.game.commands import Wish
from gateway.matchmaking.pool import Guest, Pool

NAMES = st.sampled_from(["ann", "Ann", "bob", "random", "Random", "TEST"])
WISHES = st.none() | st.builds(Wish, NAMES, st.booleans())
GUESTS = st.builds(Guest, NAMES, WISHES, st.booleans(), st.booleans())


def pool_of(*guests: Guest) -> Pool:
    pool = Pool()
    for guest in guests:
        pool.add(guest)
    return pool


def suits(one: Guest, two: Guest) -> bool:
    """Whether two clients suit each other, asked of the wishes themselves."""
    if one is two or (one.name == two.name and (one.counted or two.counted)):
        return False
    pairs = (one, two), (two, one)
    return all(
        guest.wish is None or (guest.wish.grants(other.name) and not guest.wish.is_for_house)
        for guest, other in pairs
    )


@given(st.lists(GUESTS, max_size=12), GUESTS)
def test_partners_are_all_kinds_that_suit_each_by_the_first_come(guests: list[Guest], guest: Guest) -> None:
    pool = pool_of(*guests, guest)
    first: dict[object, Guest] = {}
    for other in guests:
        if suits(guest, other):
            first.setdefault(other.kind, other)
    partners = list(pool.partners(guest))
    assert {*partners} == {*first.values()}
    assert len(partners) == len({*partners})


@given(st.lists(GUESTS, max_size=12), NAMES, NAMES)
def test_bearers_are_who_has_a_name_and_may_wish_for_another(
    guests: list[Guest], name: str, partner: str
) -> None:
    first: dict[object, Guest] = {}
    for number, guest in enumerate(guests):
        guest.since = float(number)
        wish = guest.wish
        if guest.name == name and (wish is None or (wish.grants(partner) and not wish.is_for_house)):
            first.setdefault(guest.kind, guest)
    assert pool_of(*guests).bearers(name, partner) == [*first.values()]


@given(st.lists(GUESTS, max_size=12), st.randoms())
def test_a_pool_that_all_have_left_keeps_nothing(guests: list[Guest], lot: object) -> None:
    pool = pool_of(*guests)
    lot.shuffle(guests)  # type: ignore[attr-defined]
    for number, guest in enumerate(guests):
        pool.discard(guest)
        pool.discard(guest)
        left = [other for queue in pool._queues.values() for other in queue.guests]
        assert sorted(map(id, left)) == sorted(map(id, guests[number + 1 :]))
    assert not pool._queues
    assert not pool._shelves


def test_wish_for_a_house_player_is_nobodys_here() -> None:
    ann = Guest("ann", Wish("random"))
    pool = pool_of(ann, Guest("random"), Guest("RANDOM", Wish("ann")))
    assert list(pool.partners(ann)) == []
