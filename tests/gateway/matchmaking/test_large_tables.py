"""The table of a tournament among all others: who sits there, under which name, and who plays."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
from worlds.hub import (
    FIRST_WINS,
    HANGING_UP,
    LOBBY,
    MANNERS,
    ONE_GAME,
    STANDING_BY,
    STEPPING_OUT,
    TABLE,
    Client,
    House,
    wishing,
)
from worlds.tournaments import Cup, Stored

from gateway.game.commands import AtTable, Introduce
from gateway.game.events import Dismissed, Entered, Introduced, Objection, Refused, Why
from gateway.game.manners import Manners
from gateway.game.results import Scheduled
from gateway.matchmaking.matchmaker import Entry, Pair, Turn
from gateway.matchmaking.standard import LobbyAndTables
from gateway.tournament import log

CUP = AtTable("cup")
FULL = Refused(Objection.TABLE_FULL, 0)
HOME = "192.0.2.7"


def cup_of(*entries: log.Entry, house_after: float = 5.0, **settings: Any) -> Cup:
    """Return a tournament called cup, with these entries in its log."""
    cup = Cup(Stored(**settings), house_after=house_after)
    cup.read(*entries)
    return cup


def begun(*names: str, pairings: Sequence[tuple[int, int | None, int]] = (), **settings: Any) -> Cup:
    entered = map(log.Entered, names)
    return cup_of(*entered, log.Begun([*range(len(names))]), log.Paired(pairings), **settings)


@pytest.fixture(params=MANNERS)
def manners(request: pytest.FixtureRequest) -> Manners:
    return MANNERS[request.param]


# Entering.


def test_any_number_of_players_sit_down_and_nobody_plays_before_the_beginning(manners: Manners) -> None:
    cup = cup_of()
    players = [cup.player(manners, name, AtTable("CUP")) for name in ("ann", "bob", "cid")]
    assert [each.last(Entered) for each in players] == [
        Entered(name, table="CUP") for name in ("ann", "bob", "cid")
    ]
    cup.wait(20)
    assert cup.here == ["ann", "bob", "cid"]
    assert not any(each.plays for each in players)


@pytest.mark.parametrize("is_alive", [True, False])
def test_second_of_a_name_enters_only_if_the_first_is_lost(manners: Manners, is_alive: bool) -> None:
    cup = cup_of()
    first = cup.player(manners, "ann", CUP, HOME)
    second = cup.player(manners, "ann", CUP, HOME)
    assert (first.probes, second.all(Entered), second.gone) == (1, [], False)
    if is_alive:
        cup.hub.alive(first.seat, cup.now)
        assert not second.all(Entered)
        assert cup.here == ["ann"]
        first.leave()
        assert cup.here == []
    else:
        first.leave()
        assert second.all(Entered) == [Entered("ann", table=CUP.name)]
        assert cup.here == ["ann"]


def test_second_of_a_name_from_elsewhere_is_refused(manners: Manners) -> None:
    cup = cup_of()
    first = cup.player(manners, "ann", CUP, HOME)
    second = cup.player(manners, "ann", CUP, "192.0.2.8")
    assert (first.probes, second.all(Entered)) == (0, [])
    assert cup.player(manners, "Ann", CUP).all(Entered)
    assert cup.here == ["ann", "Ann"]


def test_player_that_always_opens_does_not_enter() -> None:
    cup = cup_of()
    assert cup.player(ONE_GAME, "ann", CUP).last(Refused) == Refused(Objection.TABLE_FULL, 0)
    assert cup.here == []


@pytest.mark.parametrize(
    ("settings", "further", "names"),
    [
        ({}, [], "ann bob eve"),
        ({"late": False}, [], "ann bob"),
        ({"format": "knockout"}, [], "ann bob"),
        ({}, [log.Withdrawn(1, "3 faults in a row", may_return=True)], "ann bob eve"),
        ({}, [log.Withdrawn(1, "by the director")], "ann eve"),
        ({}, [log.Ended()], ""),
    ],
)
def test_table_is_full_for_whoever_may_not_take_part(
    settings: dict[str, Any], further: Sequence[log.Entry], names: str
) -> None:
    cup = begun("ann", "bob", **settings)
    cup.read(*further)
    for name in ("ann", "bob", "eve"):
        player = cup.arena(name, CUP)
        assert player.news() == ([Entered(name, table=CUP.name)] if name in names else [FULL])
        strict = cup.nac4(f"{name} 2", CUP)
        if "eve" not in names:
            assert strict.last(Dismissed) == Dismissed(Why.REFUSED, Objection.TABLE_FULL)
    assert [name for name in cup.here if "2" not in name] == names.split()


def test_tables_of_other_names_and_the_lobby_are_as_ever(manners: Manners) -> None:
    cup = begun("ann", "bob")
    cup.read(log.Ended())
    pairs = [
        (cup.player(manners, f"one {name}", place), cup.player(manners, f"two {name}", place))
        for name, place in (("table", TABLE), ("lobby", LOBBY))
    ]
    assert all(each.plays for pair in pairs for each in pair)


def test_who_sat_at_a_table_of_the_name_asks_again_once_there_is_a_tournament() -> None:
    cup = cup_of()
    cup.tournaments.take([], cup.now)
    ann, bob, cid = (cup.arena(name, CUP) for name in ("ann", "bob", "cid"))
    assert ann.opponent == "bob"
    assert cid.news() == [FULL]
    cup.read()
    assert cid.enter(CUP, "cid") == [Entered("cid", table=CUP.name)]
    cup.play(FIRST_WINS, (ann, bob))
    assert bob.enter(CUP, "bob")[-1] == Entered("bob", table=CUP.name)
    assert cup.here == ["cid", "bob"]


def test_player_that_waits_at_a_table_of_the_name_moves_to_the_tournament(manners: Manners) -> None:
    cup = cup_of()
    cup.tournaments.take([], cup.now)
    ann = cup.player(manners, "ann", CUP)
    before = len(ann.heard)
    cup.read()
    assert cup.here == ["ann"]
    assert ann.heard[before:] == []
    cup.stored.begin("ann", "bob", pairings=[(0, 1, 1)])
    cup.read()
    bob = cup.player(manners, "bob", CUP)
    assert (ann.opponent, bob.plays) == ("bob", True)


def test_players_that_play_at_a_table_of_the_name_move_to_the_tournament_when_they_wait() -> None:
    cup = cup_of()
    cup.tournaments.take([], cup.now)
    ann, bob = cup.nac4("ann", CUP), cup.nac4("bob", CUP)
    cup.read()
    assert cup.here == []
    cup.play(FIRST_WINS, (ann, bob))
    cup.wait(1)
    assert cup.here == ["ann", "bob"]
    assert (ann.games, ann.plays) == (1, False)
    cup.read(*map(log.Entered, ("ann", "bob")), log.Begun([1, 0]), log.Paired([(0, 1, 1)]))
    assert (ann.opponent, ann.moves_first) == ("bob", False)


def test_player_that_always_opens_stays_at_the_table_of_its_name() -> None:
    cup = cup_of()
    cup.tournaments.take([], cup.now)
    cup.player(ONE_GAME, "ann", CUP)
    cup.read()
    assert cup.here == []


def test_player_that_the_tournament_does_not_admit_stays_at_the_table_of_its_name() -> None:
    cup = cup_of(late=False)
    cup.tournaments.take([], cup.now)
    eve = cup.nac4("eve", CUP)
    cup.stored.begin("ann", "bob")
    cup.read()
    assert cup.here == []
    assert not eve.gone


def test_players_that_wait_at_a_tournament_that_was_removed_play_at_an_ordinary_table(
    manners: Manners,
) -> None:
    cup = begun("ann", "bob", "cid")
    players = [cup.player(manners, name, CUP) for name in ("ann", "bob", "cid")]
    cup.tournaments.take([], cup.now)
    cup.hub.settle(cup.now)
    assert [each.plays for each in players] == [True, True, False]
    assert cup.player(STEPPING_OUT, "eve", CUP).plays  # with cid


def test_players_that_play_keep_their_seats_if_the_new_tournament_is_there_at_once(manners: Manners) -> None:
    cup = begun("ann", "bob", pairings=[(0, 1, 1)])
    ann, _ = cup.player(manners, "ann", CUP), cup.player(manners, "bob", CUP)
    again = cup.stored.news()._replace(created=7, entries=[], games=[])
    for _ in range(2):
        cup.tournaments.take([again], cup.now)
    cup.hub.settle(cup.now)
    assert (cup.here, ann.plays) == (["ann", "bob"], True)


def test_players_at_a_tournament_that_was_replaced_move_to_the_new_one(manners: Manners) -> None:
    cup = begun("ann", "bob", "cid", pairings=[(0, 1, 1)])
    ann, bob, cid = (cup.player(manners, name, CUP) for name in ("ann", "bob", "cid"))
    assert ann.plays
    again = cup.stored.news()._replace(created=7, entries=[], games=[])
    for _ in range(2):
        cup.take(again)
    assert (cup.here, cup.table.tournament.created) == (["cid"], 7)
    while ann.plays:
        cup.play(FIRST_WINS, (ann, bob))
        for each in (ann, bob):
            if manners is STEPPING_OUT:
                each.enter(CUP, each.last(Entered).name)
    assert [each.scheduled for each in cup.results] == [Scheduled(0, 0)] * 2
    assert cup.here == (["cid"] if manners is HANGING_UP else ["cid", "ann", "bob"])
    assert not cid.plays


def test_who_sat_at_a_tournament_that_was_deleted_asks_again() -> None:
    cup = begun("ann", "bob", pairings=[(0, 1, 1)])
    ann, bob = cup.arena("ann", CUP), cup.arena("bob", CUP)
    cup.tournaments.take([], cup.now)
    for _ in range(3):
        cup.play(FIRST_WINS, (ann, bob))
        ann.enter(CUP, "ann")
        bob.enter(CUP, "bob")
    # The series was played to its end; from then on it is an ordinary table.
    assert [each.scheduled for each in cup.results] == [Scheduled(0, 0), Scheduled(0, 0), None]
    assert cup.arena("eve", CUP).news() == [FULL]


# Leaving and coming back.


def test_leaver_frees_its_name_and_comes_back_under_it(manners: Manners) -> None:
    cup = cup_of()
    for _ in range(3):
        player = cup.player(manners, "ann", CUP)
        assert cup.here == ["ann"]
        player.leave()
        assert cup.here == []
    assert cup.is_empty()


def test_one_who_steps_out_keeps_its_seat_for_a_while() -> None:
    cup = begun("ann", "bob", "cid", pairings=[(0, 1, 1)])
    ann, bob = cup.arena("ann", CUP), cup.arena("bob", CUP)
    for _ in range(2):
        cup.play(FIRST_WINS, (ann, bob))
        assert cup.here == ["ann", "bob"]
        ann.enter(CUP, "ann")
        bob.enter(CUP, "bob")
    cup.read(log.Paired([(0, 1, 2)]))
    cup.play(FIRST_WINS, (ann, bob))
    ann.enter(CUP, "ann")
    assert cup.arena("bob", CUP).news() == [FULL]
    cup.wait(10.1)
    assert cup.here == ["ann"]
    cup.read()
    assert cup.arena("bob", CUP).plays  # the game that is left
    assert bob.enter(CUP, "bob") == [FULL]


def test_player_whose_pairing_is_over_waits_for_the_next(manners: Manners) -> None:
    cup = begun("ann", "bob", pairings=[(0, 1, 1)])
    ann, bob = cup.nac4("ann", CUP), cup.player(manners, "bob", CUP)
    assert (ann.opponent, ann.moves_first) == ("bob", True)
    cup.play(FIRST_WINS, (ann, bob))
    if manners is STEPPING_OUT:
        bob.enter(CUP, "bob")
    assert (ann.opponent, ann.moves_first, ann.games) == ("bob", False, 2)
    cup.play(FIRST_WINS, (ann, bob))
    assert bob.gone is (manners is HANGING_UP)
    assert not ann.plays
    if manners is HANGING_UP:
        bob = cup.droidcon("bob", CUP)
    elif manners is STEPPING_OUT:
        bob.enter(CUP, "bob")
    cup.read(log.Paired([(1, 0, 2)]))
    cup.wait(1)
    assert (bob.opponent, bob.moves_first) == ("ann", True)
    bob.leave()
    found = [(each.table, each.scheduled, each.round) for each in cup.results]
    first, second = Scheduled(0, 0), Scheduled(1, 0)
    assert found == [("cup", first, 1), ("cup", first, 2), ("cup", second, 1)]


def test_two_that_cannot_be_reached_are_paired_later() -> None:
    cup = begun("ann", "bob", pairings=[])
    ann, bob = cup.nac4("ann", CUP), cup.nac4("bob", CUP)
    bob.is_reachable = False
    cup.read(log.Paired([(0, 1, 1)]))
    cup.wait(3)
    assert not ann.plays
    bob.is_reachable = True
    cup.wait(2.1)
    assert (ann.opponent, bob.opponent) == ("bob", "ann")


# Names.


def test_player_with_another_name_stays_the_player_that_it_was_at_the_table() -> None:
    cup = begun("ann", "bob", late=False, pairings=[(0, 1, 1)])
    bob = cup.droidcon("bob", CUP)
    assert bob.say(Introduce("eve")) == [Introduced("eve")]
    assert cup.here == ["bob"]
    ann = cup.arena("ann", CUP)
    assert ann.plays
    assert bob.say(Introduce("cid")) == [Introduced("cid")]
    assert cup.here == ["bob", "ann"]
    cup.play(FIRST_WINS, (ann, bob))
    cup.read()
    assert cup.table.tournament.meeting(0).points == (1, 0)
    bob.leave()
    assert cup.here == ["ann"]


def test_name_of_a_renamed_player_is_free_only_when_it_leaves() -> None:
    cup = begun("ann", "bob", pairings=[(0, 1, 1)])
    bob = cup.droidcon("bob", CUP)
    bob.say(Introduce("eve"))
    assert cup.arena("bob", CUP).news() == [FULL]
    assert cup.arena("eve", CUP).news() == [Entered("eve", table=CUP.name)]
    assert cup.here == ["bob", "eve"]
    bob.leave()
    assert cup.arena("bob", CUP).news() == [Entered("bob", table=CUP.name)]


@pytest.mark.parametrize("name", ["bob", "eve"])
def test_one_at_the_table_asks_in_vain_for_a_name_that_is_not_admitted(name: str) -> None:
    """Bob sits there already, and eve is too late."""
    cup = begun("ann", "bob", "cid", late=False, pairings=[(0, 2, 1)])
    ann, cid = cup.arena("ann", CUP), cup.arena("cid", CUP)
    cup.arena("bob", CUP)
    cup.play(FIRST_WINS, (ann, cid))
    assert ann.enter(CUP, name) == [Refused(Objection.TABLE_FULL, 0)]
    assert cup.here == ["ann", "cid", "bob"]
    ann.enter(CUP, "ann")
    cid.enter(CUP, "cid")
    assert ann.plays


def test_one_at_the_table_sits_down_under_a_name_that_is_admitted() -> None:
    cup = begun("ann", "bob", pairings=[(0, 1, 1)])
    ann, bob = cup.arena("ann", CUP), cup.arena("bob", CUP)
    cup.play(FIRST_WINS, (ann, bob))
    assert ann.enter(CUP, "eve")[-1] == Entered("eve", table=CUP.name)
    assert cup.here == ["bob", "eve"]
    assert not bob.plays


def test_bearer_of_a_name_in_the_lobby_does_not_keep_it_from_the_table() -> None:
    """Except where the manners of both demand one bearer."""
    cup = cup_of()
    cup.nac4("ann", LOBBY)
    assert cup.arena("ann", CUP).news() == [Entered("ann", table=CUP.name)]
    assert cup.nac4("ann", CUP).last(Dismissed).why is Why.REFUSED
    assert cup.here == ["ann"]


# House players and obstacles.


def test_wish_for_a_house_player_is_granted_as_ever() -> None:
    cup = begun("ann", "bob", house=["random"])
    house = House(cup)
    ann = cup.arena("ann", wishing("random"))
    assert ann.opponent == "random"
    resident = cup.player(STANDING_BY, "bob", CUP)
    cup.wait(20)
    assert not resident.plays
    assert len(house.players) == 1


def test_player_of_the_lobby_alone_gets_a_house_player_and_one_at_the_table_gets_none() -> None:
    cup = cup_of(house_after=2.0)
    House(cup, "random")
    at_table, in_lobby = cup.arena("ann", CUP), cup.arena("bob", LOBBY)
    cup.wait(3)
    assert (in_lobby.opponent, at_table.plays) == ("random", False)


def test_waiting_at_the_table_is_no_obstacle() -> None:
    cup = cup_of()
    player: Client = cup.arena("ann", CUP)
    cup.wait(30)
    assert not player.seat.is_hindered


# Another matchmaker.


def test_new_matchmaker_does_not_begin_a_series_again_that_is_on() -> None:
    cup = begun("ann", "bob", "cid", pairings=[(0, 1, 1), (0, 2, 2)])
    cup.tournaments.forget_seats()
    cup.read()
    heir = LobbyAndTables(random.Random(0), large_tables=cup.tournaments.tables)
    for seat, name in enumerate(("ann", "bob", "cid")):
        heir.readmit(Entry(seat, name, CUP, True, STANDING_BY, "", Objection(0)), (0, 0))
    match = Pair(Turn(0, 1), Turn(1, 2), 2, "cup", Scheduled(0, 0))
    for _ in range(2):
        heir.resume(match, ("ann", "bob"), 0)
    heir.wait(Turn(2, 3), 0.0)
    assert [*heir.answers(0.0)] == []
    heir.finished(match)
    for seat in (0, 1):
        heir.wait(Turn(seat, 4 + seat), 0.0)
    assert [*heir.answers(0.0)] == [Pair(Turn(0, 4), Turn(2, 3), 2, "cup", Scheduled(1, 0))]


# Connections that break.


@pytest.mark.parametrize("grace", [0, 30])
def test_seat_is_kept_for_as_long_as_the_file_says(manners: Manners, grace: int) -> None:
    """A game that is played again counts once, and the break is no fault."""
    cup = begun("ann", "bob", pairings=[(0, 1, 1)], grace=grace)
    ann, bob = (cup.player(manners, name, CUP, HOME) for name in ("ann", "bob"))
    cup.play("33", (ann, bob))
    ann.break_off()
    cup.wait(5.0)
    again = cup.player(manners, "ann", CUP, HOME)
    cup.wait(1.0)
    if not grace:
        assert cup.results[0].fault == (0, "crash")
        return
    cup.play(FIRST_WINS, (again, bob))
    cup.read()
    [pairing] = cup.stored.read().pairings
    assert [game.result for game in pairing.games.values()] == [1]
    assert len(pairing.broken) == (not manners.resumes)
    assert all(not entrant.faults for entrant in cup.stored.read().entrants)
