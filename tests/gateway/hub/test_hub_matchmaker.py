"""Pairing is exchangeable: a second matchmaker with a rule of its own, whose answers come late."""

import ast
import inspect

import pytest
from worlds.hub import (
    FIRST_WINS,
    HANGING_UP,
    LOBBY,
    STANDING_BY,
    STEPPING_OUT,
    TABLE,
    ByName,
    Client,
    World,
)

from gateway.game.commands import Ask, Introduce, Play
from gateway.game.events import Dismissed, Entered, Objection, Refused, Why
from gateway.game.manners import Manners
from gateway.matchmaking.matchmaker import Decision, Pair


class Late(World):
    """A hub with that matchmaker, which answers when the test says so."""

    def __init__(self) -> None:
        self.matchmaker = ByName()
        super().__init__(self.matchmaker, idle=10.0)

    def think(self) -> None:
        """Let whoever asks to enter wait for the answer."""
        self.matchmaker.late = Decision

    def answer(self) -> None:
        self.matchmaker.late = ()
        self.hub.tick(self.now)

    def waiting(self, *names: str) -> list[Client]:
        """Return clients that wait, while the matchmaker thinks about their pairs."""
        self.matchmaker.late = Pair
        return [entered(self, STEPPING_OUT, name) for name in names]


@pytest.fixture
def world() -> Late:
    return Late()


def entered(world: Late, manners: Manners, name: str) -> Client:
    client = world.client(manners)
    client.enter(LOBBY, name)
    return client


def test_second_matchmaker_is_short() -> None:
    (tree,) = ast.parse(inspect.getsource(ByName)).body
    assert tree.end_lineno is not None
    assert tree.end_lineno < 40


@pytest.mark.parametrize("manners", [STANDING_BY, HANGING_UP])
def test_matchmaker_pairs_by_its_own_rule_and_for_its_own_number_of_games(
    world: Late, manners: Manners
) -> None:
    cid, ann = entered(world, manners, "cid"), entered(world, manners, "ann")
    dan, bob = entered(world, manners, "dan"), entered(world, manners, "bob")
    assert (ann.opponent, cid.opponent, bob.opponent, dan.opponent) == ("cid", "ann", "dan", "bob")
    assert ann.moves_first
    for game in range(1, 4):
        assert (ann.games, bob.games) == (game, game)
        for players in ((ann, cid), (bob, dan)):
            world.play(FIRST_WINS, players)
    if manners is HANGING_UP:
        assert all(client.gone for client in (ann, bob, cid, dan))
    else:
        assert {client.opponent for client in (ann, bob, cid, dan)} == {"ann", "bob", "cid", "dan"}
    assert [result.round for result in world.results] == [1, 1, 2, 2, 3, 3]
    assert len({result.series for result in world.results}) == 2
    assert len({result.game for result in world.results}) == 6


def test_matchmaker_refuses_for_its_own_reasons(world: Late) -> None:
    entered(world, STEPPING_OUT, "ann")
    other = entered(world, STEPPING_OUT, "ann")
    assert other.last(Refused) == Refused(Objection.NAME_TAKEN)


# Late answers.


@pytest.mark.parametrize("manners", [STEPPING_OUT, STANDING_BY])
def test_player_is_held_until_it_is_decided_whether_it_may_enter(world: Late, manners: Manners) -> None:
    ann = world.client(manners)
    world.think()
    assert ann.enter(LOBBY, "ann") == []
    assert ann.held
    world.answer()
    assert ann.news() == [Entered("ann")]
    assert not ann.held
    entered(world, manners, "bob")
    assert ann.plays


def test_player_whose_request_is_answered_at_once_is_never_held(world: Late) -> None:
    ann = entered(world, STEPPING_OUT, "ann")
    assert not ann.held
    assert not ann.seat.is_held


def test_refusal_may_come_late_and_a_strict_server_hangs_up_then(world: Late) -> None:
    entered(world, STANDING_BY, "ann")
    world.think()
    other = entered(world, STANDING_BY, "ann")
    world.wait(30)
    assert other.news() == []
    world.answer()
    assert other.news() == [
        Refused(Objection.NAME_TAKEN),
        Dismissed(Why.REFUSED, Objection.NAME_TAKEN),
    ]
    assert not other.held


def test_who_is_held_and_says_more_all_the_same_is_refused(world: Late) -> None:
    ann = world.client(STEPPING_OUT)
    world.think()
    ann.enter(LOBBY, "ann")
    assert ann.enter(TABLE, "bob") == [Refused(Objection.WAITING)]
    assert ann.say(Introduce("bob")) == [Refused(Objection.WAITING)]
    for command in (Play(3), Ask()):
        (refused,) = ann.say(command)
        assert isinstance(refused, Refused)
    world.answer()
    assert ann.last(Entered) == Entered("ann")


def test_who_is_not_decided_on_is_not_hung_up_on_for_its_silence(world: Late) -> None:
    world.think()
    ann = entered(world, STANDING_BY, "ann")
    world.wait(70)
    assert ann.news() == []
    world.answer()
    assert ann.news() == [Entered("ann")]


def test_any_number_of_decisions_may_come_at_once(world: Late) -> None:
    world.think()
    clients = [entered(world, STEPPING_OUT, f"p{number}") for number in range(500)]
    world.answer()
    assert all(client.all(Entered) and not client.gone for client in clients)


def test_seat_that_left_before_it_was_decided_on_is_forgotten(world: Late) -> None:
    world.think()
    ann = entered(world, STEPPING_OUT, "ann")
    ann.leave()
    world.answer()
    assert [type(event) for event in ann.heard] == [Dismissed]
    assert len(world.hub) == 0


def test_pair_with_one_who_left_is_not_played_and_the_other_waits_on(world: Late) -> None:
    ann, bob = world.waiting("ann", "bob")
    bob.leave()
    world.answer()
    assert not ann.plays
    cid = entered(world, STEPPING_OUT, "cid")
    assert (ann.opponent, cid.opponent) == ("cid", "ann")


def test_pair_of_an_earlier_wait_is_not_played(world: Late) -> None:
    ann, bob = world.waiting("ann", "bob")
    (stale,) = world.matchmaker.answer
    world.answer()
    assert ann.plays
    bob.leave()
    ann.enter(LOBBY, "ann")
    world.matchmaker.answer.append(stale)
    world.answer()
    assert ann.games == 1
    entered(world, STEPPING_OUT, "cid")
    assert ann.opponent == "cid"


def test_pair_with_one_who_cannot_be_reached_is_played_by_neither_until_it_can(world: Late) -> None:
    ann, bob = world.waiting("ann", "bob")
    bob.is_reachable = False
    world.answer()
    world.wait(5)
    assert (ann.games, bob.games) == (0, 0)
    bob.is_reachable = True
    world.wait(1.1)
    assert (ann.opponent, bob.opponent) == ("bob", "ann")


def test_seat_is_kept_as_long_as_it_is_not_decided_whether_its_player_may_enter_anew(world: Late) -> None:
    ann, bob = entered(world, STEPPING_OUT, "ann"), entered(world, HANGING_UP, "bob")
    world.play(FIRST_WINS, (ann, bob))
    world.think()
    ann.enter(TABLE, "ann")
    world.wait(30)
    assert not ann.gone
    assert not bob.gone
    world.answer()
    assert ann.last(Refused) == Refused(Objection.NAME_TAKEN)
    ann.enter(LOBBY, "ann")
    assert (ann.games, bob.games) == (2, 2)


def test_close_says_good_bye_to_who_is_not_decided_on(world: Late) -> None:
    world.think()
    ann = entered(world, STEPPING_OUT, "ann")
    world.hub.close(world.now)
    world.answer()
    assert ann.news() == [Dismissed(Why.STOPPED)]
