"""A mistake of ours costs one game, wherever it is made, and nobody else anything.

Each test makes one in one of three games. What was hit is hung up on, and nothing is kept of it.
"""

import random
import traceback
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from worlds.hub import (
    FIRST_WINS,
    LOBBY,
    MANNERS,
    STANDING_BY,
    STEPPING_OUT,
    Client,
    House,
    World,
    wishing,
)

from gateway.game.commands import Ask, AtTable, Introduce
from gateway.game.events import Dismissed, Ended, Entered, Event, Moved, Reason, Started, ToMove, Why
from gateway.game.manners import Afterwards, Manners
from gateway.game.results import Finished
from gateway.hub.seats import Gone, Seat, Seated
from gateway.matchmaking.matchmaker import Answer, Match, Opponent
from gateway.matchmaking.standard import LobbyAndTables

GAMES = 3
HIT = 1
"""The number of the game that the mistake is made in."""
NAMES = [f"a{HIT}", f"b{HIT}"]
CUT_OFF = Dismissed(Why.FAULT)


class Mistake(Exception):
    """What nobody expects."""


class Broken:
    """Something of the core's, some attributes of which cannot be had any more."""

    def __init__(self, whole: Any, *attributes: str) -> None:
        self.__dict__["_whole"], self.__dict__["_attributes"] = whole, attributes

    def __getattr__(self, name: str) -> Any:
        if name in self._attributes:
            raise Mistake(name)
        return getattr(self._whole, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._whole, name, value)


class Fragile(Client):
    """A player whose mailbox may fail."""

    fails_at: tuple[type[Event], ...] = ()
    fails_to_flush = False

    def deliver(self, event: Event) -> None:
        if isinstance(event, self.fails_at):
            raise Mistake(event)
        super().deliver(event)
        self.world.hub.expect(self)

    def flush(self) -> None:
        if self.fails_to_flush:
            raise Mistake("flush")


class Faulty(LobbyAndTables):
    """A matchmaker that makes a mistake where a test says so."""

    fails_at = ""
    fails_for: int | None = None
    """The seat that it cannot forget."""

    def answers(self, now: float) -> Iterator[Answer]:
        if self.fails_at == "answers":
            self.fails_at = ""
            raise Mistake("answers")
        yield from super().answers(now)

    def finished(self, match: Match) -> None:
        if self.fails_at == "finished":
            raise Mistake("finished")
        super().finished(match)

    def leave(self, seat: int) -> None:
        super().leave(seat)
        if seat == self.fails_for:
            raise Mistake("leave")


class Field(World):
    """A hub, games at tables of their own, and the faults that were reported."""

    def __init__(self, lot: random.Random | None = None) -> None:
        self.matchmaker = Faulty(lot or random.Random(0))
        super().__init__(self.matchmaker, on_fault=self.on_fault, clock=10.0, idle=10.0)
        self.faults: list[list[str | None]] = []
        self.games: list[tuple[Fragile, Fragile]] = []
        self.unkeepable = ""

    def on_fault(self, names: Sequence[str | None]) -> None:
        assert "Mistake" in traceback.format_exc()
        self.faults.append([*names])

    def keep(self, finished: Finished) -> None:
        if finished.players[0].name == self.unkeepable:
            raise Mistake("keep")
        super().keep(finished)

    def client(self, manners: Manners, origin: str = "") -> Fragile:
        return Fragile(self, manners)

    def sit(self, manners: Manners = STEPPING_OUT, *, start: bool = True) -> None:
        """Let two players each sit down at the tables; without `start` the second is still to come."""
        for number in range(GAMES):
            pair = self.client(manners), self.client(manners)
            self.games.append(pair)
            for client, letter in zip(pair, "ab", strict=True):
                if manners.afterwards is Afterwards.HANG_UP:
                    client.say(Introduce(f"{letter}{number}"))
                if start or letter == "a":
                    client.enter(AtTable(str(number)), f"{letter}{number}")

    @property
    def hit(self) -> tuple[Fragile, Fragile]:
        return self.games[HIT]

    @property
    def others(self) -> list[tuple[Fragile, Fragile]]:
        return [game for game in self.games if game is not self.hit]

    def break_session(self, *attributes: str) -> None:
        """Let these attributes of the session of the game that is hit fail."""
        situation = self.hit[0].seat.situation
        assert isinstance(situation, Seated)
        situation.series.session = Broken(situation.series.session, *attributes)  # type: ignore[assignment]

    def play_all(self, columns: str) -> None:
        """Let every game go on by the columns."""
        for pair in self.games:
            for column in columns:
                for client in pair:
                    if client.request is not None and not client.gone:
                        client.play(int(column))
                        break

    def assert_only_one_game_was_hit(self, *, told: bool = True) -> None:
        """Make sure that both of it are gone, that it was said, and that all others are as before."""
        assert NAMES in [sorted(map(str, names)) for names in self.faults]
        for client in self.hit:
            assert isinstance(client.seat.situation, Gone)
            assert not told or client.heard[-1] == CUT_OFF
        assert not any(client.gone for pair in self.others for client in pair)
        self.assert_nothing_is_left_of(*self.hit)

    def assert_nothing_is_left_of(self, *clients: Client) -> None:
        assert not {client.seat for client in clients} & {*self.hub.seats()}

    def assert_all_can_go(self) -> None:
        """Let everybody leave; then nothing is left at all."""
        for pair in self.games:
            for client in pair:
                client.leave()
        assert self.is_empty()


@pytest.fixture
def field() -> Field:
    return Field()


# Steps of a game.

STEPS = {
    "play": "play",
    "ask": "show",
    "hand": "handed",
    "look at the clock": "deadline",
    "flag": "flag",
    "leave": "leave",
}


def do(field: Field, step: str) -> None:
    """Let this step be taken in every game."""
    for first, second in field.games:
        match step:
            case "play":
                first.play(3)
            case "ask":
                second.say(Ask())
            case "leave":
                second.leave()
            case _:
                first.hand()
    if step in ("look at the clock", "flag"):
        field.wait(11)


@pytest.mark.parametrize("stop", [(), ("stop", "players")], ids=["", "its end too"])
@pytest.mark.parametrize("manners", MANNERS.values(), ids=MANNERS)
@pytest.mark.parametrize("step", STEPS)
def test_mistake_in_a_session_costs_its_game(
    field: Field, manners: Manners, step: str, stop: tuple[str, ...]
) -> None:
    field.sit(manners)
    field.break_session(STEPS[step], *stop)
    do(field, step)
    assert sum(names != [] for names in field.faults) == 1
    assert [client.heard[-1] for client in field.hit] == [CUT_OFF] * 2
    field.assert_nothing_is_left_of(*field.hit)
    reasons = [result.reason for result in field.results]
    assert reasons.count(Reason.STOPPED) == (0 if stop else 1)
    ended = {"leave": Reason.ABORTED, "flag": Reason.TIME, "look at the clock": Reason.TIME}.get(step)
    assert sum(reason is ended for reason in reasons) == (0 if ended is None else GAMES - 1)
    for first, second in field.others:
        assert (first.games, len(first.all(Moved) + second.all(Moved)) > 0) == (
            2 if ended is Reason.TIME and manners is STANDING_BY else 1,
            step == "play",
        )


def test_mistake_at_the_beginning_of_a_round_costs_its_series(field: Field) -> None:
    field.sit(MANNERS["hangs up"])
    field.break_session("begin")
    field.play_all(FIRST_WINS)
    field.assert_only_one_game_was_hit()
    assert [result.reason for result in field.results] == [Reason.FOUR] * GAMES
    assert all(client.games == 2 for pair in field.others for client in pair)
    field.assert_all_can_go()


def test_result_that_cannot_be_reported_is_told_to_nobody(field: Field) -> None:
    field.sit()
    field.unkeepable = NAMES[0]
    field.play_all(FIRST_WINS)
    field.assert_only_one_game_was_hit()
    assert not any(client.all(Ended) for client in field.hit)
    assert len(field.results) == GAMES - 1
    field.assert_all_can_go()


# Mailboxes.


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("kind", [Started, ToMove, Moved, Ended])
def test_mailbox_that_fails_costs_its_game(field: Field, kind: type[Event], which: int) -> None:
    field.sit(start=False)
    field.hit[which].fails_at = (kind,)
    for number, (_, second) in enumerate(field.games):
        second.enter(AtTable(str(number)), f"b{number}")
    field.play_all(FIRST_WINS)
    field.assert_only_one_game_was_hit()
    assert all(first.last(Ended).winner == 0 for first, _ in field.others)
    field.assert_all_can_go()


@pytest.mark.parametrize("which", [0, 1])
def test_mailbox_that_cannot_pass_anything_on_costs_its_game(field: Field, which: int) -> None:
    field.sit()
    field.hit[which].fails_to_flush = True
    field.play_all(FIRST_WINS)
    field.assert_only_one_game_was_hit()
    assert [names for names in field.faults if names] == [NAMES[:: -1 if which else 1]]
    field.assert_all_can_go()


# What is due.


def test_mistake_in_one_good_bye_keeps_nobody_from_theirs(field: Field) -> None:
    silent = [field.client(STANDING_BY) for _ in range(GAMES)]
    silent[HIT].fails_at = (Dismissed,)
    field.wait(61)
    assert len(field.hub) == 0
    assert [client.gone for client in silent].count(False) == len(field.faults) == 1


def test_mistake_in_keeping_a_seat_costs_that_seat(field: Field) -> None:
    field.sit()
    field.play_all(FIRST_WINS)
    field.matchmaker.fails_for = field.hit[0].seat.number
    field.wait(11)
    assert field.hit[0].heard[-1] == CUT_OFF
    assert not any(client.gone for pair in field.others for client in pair)
    field.assert_all_can_go()


def test_player_that_a_mistake_hits_on_its_way_elsewhere_is_let_in_nowhere(field: Field) -> None:
    ann, bob = field.arena("ann"), field.droidcon("bob")
    field.play(FIRST_WINS, (ann, bob))
    field.matchmaker.fails_at = "finished"
    ann.enter(AtTable("elsewhere"), "ann")
    assert ann.heard[-1] == CUT_OFF
    assert isinstance(ann.seat.situation, Gone)
    field.matchmaker.fails_at = ""
    cid, _ = (field.arena(name, AtTable("elsewhere")) for name in ("cid", "dan"))
    assert cid.opponent == "dan"


def test_mistake_behind_a_pending_move_costs_its_game(field: Field) -> None:
    field.sit(STANDING_BY)
    for first, _ in field.games:
        first.hand()
    field.wait(10.1)
    field.hit[1].fails_at = (Started,)
    field.wait(0.6)
    field.assert_only_one_game_was_hit()
    assert all(client.games == 2 for pair in field.others for client in pair)
    field.assert_all_can_go()


# Pairing.


class Lot(random.Random):
    """A lot that fails now and then."""

    def __init__(self, *fails: int) -> None:
        super().__init__(0)
        self._drawn = 0
        self._fails = fails

    def random(self) -> float:
        self._drawn += 1
        if self._drawn in self._fails:
            raise Mistake("lot")
        return super().random()


def test_pairing_that_always_fails_ends_all_the_same() -> None:
    field = Field(Lot(*range(1, 9)))
    clients = [field.arena(f"c{number}") for number in range(9)]
    assert [client.gone for client in clients] == [False, *[True] * 8]
    field.hub.tick(field.now)
    assert (len(field.faults), len(field.hub)) == (8, 1)


def test_pairing_that_fails_for_nobody_in_particular_is_said_and_no_more(field: Field) -> None:
    field.sit()
    field.matchmaker.fails_at = "answers"
    field.hub.tick(field.now)
    assert field.faults == [[]]
    assert not any(client.gone for pair in field.games for client in pair)


class FaultyHouse(House):
    """A house whose players cannot come, or fail when they have."""

    def __init__(self, field: Field, fails_at: tuple[type[Event], ...] | None) -> None:
        super().__init__(field, lobby="random")
        self._fails_at = fails_at

    def open_seat(self, name: str, opponent: Opponent, now: float) -> Seat:
        if self._fails_at is None:
            raise Mistake("open_seat")
        seat = super().open_seat(name, opponent, now)
        self.players[-1].fails_at = self._fails_at  # type: ignore[attr-defined]
        return seat


@pytest.mark.parametrize("fails_at", [None, (Started,), (ToMove, Started)])
@pytest.mark.parametrize("wishes", [True, False])
def test_house_player_that_cannot_come_keeps_nobody_waiting(
    field: Field, fails_at: tuple[type[Event], ...] | None, wishes: bool
) -> None:
    field.sit()
    house = FaultyHouse(field, fails_at)
    ann = field.arena("ann", wishing("random") if wishes else LOBBY)
    field.wait(6)
    assert ann.heard[-1] == CUT_OFF
    assert len(field.hub) == 2 * GAMES
    field.assert_nothing_is_left_of(ann, *house.players)


# The end of the server.


def test_mistake_in_the_stop_keeps_nobody_from_its_good_bye(field: Field) -> None:
    field.sit()
    field.break_session("stop")
    field.games[2][1].fails_at = (Dismissed,)
    field.hub.close(field.now)
    assert len(field.hub) == 0
    assert [client.heard[-1] for client in field.hit] == [CUT_OFF] * 2
    stopped = [client for pair in field.others for client in pair if client.gone]
    assert [client.heard[-1] for client in stopped] == [Dismissed(Why.STOPPED)] * (2 * GAMES - 3)
    assert len(field.results) == GAMES - 1


def test_without_anybody_to_tell_a_mistake_is_raised() -> None:
    ann = Fragile(World(), STEPPING_OUT)
    ann.fails_at = (Entered, Dismissed)
    with pytest.raises(Mistake):
        ann.enter(LOBBY, "ann")
