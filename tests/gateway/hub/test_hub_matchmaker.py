"""Pairing is exchangeable: a second matchmaker with a rule of its own, whose answers come late."""

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

TAKEN = Objection.NAME_TAKEN


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
        return [self.arena(name) for name in names]


@pytest.fixture
def world() -> Late:
    return Late()


@pytest.mark.parametrize("manners", [STANDING_BY, HANGING_UP])
def test_matchmaker_pairs_by_its_own_rule_and_for_its_own_number_of_games(
    world: Late, manners: Manners
) -> None:
    cid, ann, dan, bob = (world.player(manners, name) for name in ("cid", "ann", "dan", "bob"))
    assert [each.opponent for each in (ann, cid, bob, dan)] == ["cid", "ann", "dan", "bob"]
    assert ann.moves_first
    for _ in range(3):
        for players in ((ann, cid), (bob, dan)):
            world.play(FIRST_WINS, players)
    assert [(result.series, result.round) for result in world.results] == [
        *((1, 1), (2, 1), (1, 2), (2, 2), (1, 3), (2, 3))
    ]
    assert all(client.gone == (manners is HANGING_UP) for client in (ann, bob, cid, dan))


# Late answers.


@pytest.mark.parametrize("manners", [STEPPING_OUT, STANDING_BY])
@pytest.mark.parametrize("is_taken", [True, False])
def test_player_is_held_until_it_is_decided_whether_it_may_enter(
    world: Late, manners: Manners, is_taken: bool
) -> None:
    before = world.player(manners, "ann")
    assert (before.held, before.seat.is_held) == (False, False)
    world.think()
    name = "ann" if is_taken else "bob"
    player = world.player(manners, name)
    world.wait(70)  # and is not hung up on for its silence
    assert (player.heard, player.held) == ([], True)
    world.answer()
    assert not player.held
    if is_taken:
        farewell = [Dismissed(Why.REFUSED, TAKEN)] if manners.strict_entry else []
        assert player.heard == [Refused(TAKEN), *farewell]
    else:
        assert (player.heard[0], player.opponent) == (Entered("bob"), "ann")


def test_who_is_held_and_says_more_all_the_same_is_refused(world: Late) -> None:
    world.think()
    ann = world.arena("ann")
    assert ann.enter(TABLE, "bob") == [Refused(Objection.WAITING)]
    assert ann.say(Introduce("bob")) == [Refused(Objection.WAITING)]
    for command in (Play(3), Ask()):
        assert [type(event) for event in ann.say(command)] == [Refused]
    world.answer()
    assert ann.last(Entered) == Entered("ann")


def test_any_number_of_decisions_may_come_at_once(world: Late) -> None:
    world.think()
    clients = [world.arena(f"p{number}") for number in range(500)]
    world.answer()
    assert all(client.all(Entered) and not client.gone for client in clients)


@pytest.mark.parametrize("closes", [True, False])
@pytest.mark.parametrize("is_taken", [True, False])
def test_who_has_gone_before_it_was_decided_on_is_forgotten(
    world: Late, closes: bool, is_taken: bool
) -> None:
    before = world.arena("ann")
    world.think()
    ann = world.arena("ann" if is_taken else "bob")
    before.leave()
    if closes:
        world.hub.close(world.now)
    else:
        ann.leave()
    world.answer()
    assert ann.heard == [Dismissed(Why.STOPPED if closes else Why.LEFT)]
    assert len(world.hub) == 0


def test_pair_with_one_who_left_is_not_played_and_the_other_waits_on(world: Late) -> None:
    ann, bob = world.waiting("ann", "bob")
    bob.leave()
    world.answer()
    assert not ann.plays
    assert world.arena("cid").opponent == "ann"


def test_pair_of_an_earlier_wait_is_not_played(world: Late) -> None:
    ann, bob = world.waiting("ann", "bob")
    (stale,) = world.matchmaker.answer
    world.answer()
    bob.leave()
    ann.enter(LOBBY, "ann")
    world.matchmaker.answer.append(stale)
    world.answer()
    assert ann.games == 1
    assert world.arena("cid").opponent == "ann"


def test_seat_is_kept_as_long_as_it_is_not_decided_whether_its_player_may_enter_anew(world: Late) -> None:
    ann, bob = world.arena("ann"), world.droidcon("bob")
    world.play(FIRST_WINS, (ann, bob))
    world.think()
    ann.enter(TABLE, "ann")
    world.wait(30)
    assert not bob.gone
    world.answer()
    assert ann.last(Refused) == Refused(TAKEN)
    ann.enter(LOBBY, "ann")
    assert (ann.games, bob.games) == (2, 2)
