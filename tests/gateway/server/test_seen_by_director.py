"""What the director of a tournament sees of its players and games."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from worlds.hub import FIRST_WINS, HANGING_UP, STANDING_BY, Client
from worlds.tournaments import Cup, Stored

from gateway.game.commands import HOUSE_PLAYERS, AtTable, Introduce
from gateway.game.events import Started
from gateway.hub.seats import Seated
from gateway.server.director import AWAY, SILENT, GameOn, seen_by_director
from gateway.tournament.log import (
    Entered,
    Entry,
    Forfeited,
    Paired,
    Paused,
    RequestedTest,
    StageBegun,
    Voided,
    Withdrawn,
)

TABLE = AtTable("cup")
BOT = replace(STANDING_BY, kind="nac4")
RESIDENT = replace(STANDING_BY, house=True, stays=True, unique_name=False)
PAIRINGS = [(0, 1, 1), (2, 3, 1)]


class Room(Cup):
    """A hub at whose table ann, bob, cid and dan are due to play."""

    def __init__(
        self, *entries: Entry, pairings: Sequence[tuple[int, int, int]] = PAIRINGS, **settings: object
    ):
        stored = Stored(**{"format": "swiss", "grace": 20, "walkover": 30, **settings})
        stored.begin("ann", "bob", "cid", "dan", pairings=pairings)
        stored.log(*entries)
        super().__init__(stored, clock=60.0, idle=100.0)
        self.read()

    def sit(self, *names: str) -> list[Client]:
        """Let players sit down and begin what can begin."""
        found = [self.player(BOT, name, TABLE, f"address of {name}") for name in names]
        self.read()
        return found

    def think(self, columns: str, players: Sequence[Client]) -> None:
        """Let players play the columns, and the next request to move leave."""
        self.play(columns, players)
        next(each for each in players if each.request is not None).hand()

    def pass_time(self, seconds: float) -> None:
        """Let time pass, in which the server looks once a second who is here."""
        until = self.now + seconds
        while self.now < until:
            self.tournaments.entries(self.table, self.now, self.now)
            self.wait(min(1.0, until - self.now))
        self.tournaments.entries(self.table, self.now, self.now)

    def games(self) -> list[GameOn]:
        found = dict[int, GameOn]()
        for seat in self.hub.seats():
            if isinstance(seat.situation, Seated) and seat.situation.series.is_playing:
                series = seat.situation.series
                scheduled = series.match.scheduled  # type: ignore[union-attr]
                if scheduled is not None:
                    found[id(series)] = GameOn.of(self.table.tournament, scheduled, series)
        return [*found.values()]

    def seen(self) -> dict[str, Any]:
        return seen_by_director(self.table, self.games(), {}, sorted(HOUSE_PLAYERS), self.now)

    def player_row(self, name: str) -> Mapping[str, Any]:
        [row] = [each for each in self.seen()["players"] if each["name"] == name]
        return row  # type: ignore[no-any-return]

    def needs(self) -> list[tuple[str, str, int, int]]:
        """Return for each thing that needs the director who, why, and the numbers of pairing and game."""
        return [(each["who"], each["why"], each["pairing"], each["number"]) for each in self.seen()["needs"]]


def test_players_that_play_wait_and_are_absent() -> None:
    room = Room()
    ann, *_ = room.sit("ann", "bob", "cid")
    room.pass_time(2.0)
    rows = {each["name"]: each for each in room.seen()["players"]}
    assert [*rows] == ["ann", "bob", "cid", "dan"]
    assert {name: each["state"] for name, each in rows.items()} == {
        "ann": "plays",
        "bob": "plays",
        "cid": "waits",
        "dan": "absent",
    }
    game = ann.last(Started).game
    about = ("against", "game", "pairing", "number", "kind", "house")
    assert [rows["ann"][key] for key in about] == ["bob", game, 1, 1, "nac4", False]
    assert [rows["bob"][key] for key in about] == ["ann", game, 1, 1, "nac4", False]
    assert [rows["cid"][key] for key in about] == [None, None, None, None, None, False]
    assert (rows["ann"]["for"], rows["ann"]["of"]) == (None, None)
    assert (rows["dan"]["for"], rows["dan"]["of"]) == (2.0, 30)
    assert (rows["dan"]["faults"], rows["dan"]["in_a_row"], rows["dan"]["most"]) == (0, 0, 3)


def test_game_of_a_series_has_its_number_in_the_pairing() -> None:
    room = Room(games=4)
    players = room.sit("ann", "bob")
    for number in (1, 2, 3, 4):
        assert (room.player_row("bob")["pairing"], room.player_row("bob")["number"]) == (1, number)
        room.play(FIRST_WINS, players)
        room.read()


def test_player_whose_connection_broke_is_away_and_needs_the_director_after_a_moment() -> None:
    room = Room()
    ann, _ = room.sit("ann", "bob")
    ann.break_off()
    room.pass_time(1.0)
    row = room.player_row("ann")
    assert (row["state"], row["for"], row["of"], row["against"]) == ("away", 1.0, 20, "bob")
    assert room.player_row("bob")["state"] == "plays"
    assert room.needs() == []
    room.pass_time(AWAY)
    assert room.needs() == [("ann", "away", 1, 1)]
    [need] = room.seen()["needs"]
    assert (need["players"], need["other"], need["seconds"]) == (["ann", "bob"], "bob", 1.0 + AWAY)
    assert need["words"].startswith("ann lost its connection, for 4 s of 20")
    room.player(BOT, "ann", TABLE, "address of ann")
    assert room.player_row("ann")["state"] == "plays"
    assert room.needs() == []


def test_absent_player_needs_the_director_only_if_its_opponent_is_here() -> None:
    room = Room()
    room.sit("ann", "bob", "cid")
    room.pass_time(AWAY + 1.0)
    assert room.needs() == [("dan", "absent", 2, 1)]
    [need] = room.seen()["needs"]
    assert (need["game"], need["players"], need["other"]) == (None, ["cid", "dan"], "cid")
    assert need["words"] == "dan is not at the table, for 4 s of 30"
    room = Room()
    room.sit("ann", "bob")
    room.pass_time(AWAY + 1.0)
    assert room.needs() == []


def test_game_of_an_absent_player_is_the_first_one_that_is_not_over() -> None:
    room = Room()
    room.stored.play(1, 0, 0)
    room.sit("cid", "ann")
    room.pass_time(AWAY + 1.0)
    assert ("dan", "absent", 2, 2) in room.needs()


def test_nobody_is_missing_during_a_pause_or_after_a_withdrawal() -> None:
    room = Room(Paused())
    room.sit("ann", "bob", "cid")
    room.pass_time(60.0)
    assert (room.player_row("dan")["state"], room.player_row("dan")["for"]) == ("absent", None)
    assert room.needs() == []
    room = Room(Withdrawn(3, "by the director"))
    room.sit("ann", "bob", "cid")
    room.pass_time(60.0)
    assert (room.player_row("dan")["state"], room.player_row("dan")["for"]) == ("withdrawn", None)
    assert [each for each in room.needs() if each[0] == "dan"] == []


@pytest.mark.parametrize("first", [0, 1])
def test_player_that_changed_its_name_is_called_by_the_name_that_it_entered_with(first: int) -> None:
    room = Room(*[Voided(0, [0])][:first], pairings=[(0, 1, 1)])
    players = room.sit("ann")
    [seat] = room.hub.seats()
    room.hub.submit(seat, Introduce("zoe"), room.now)
    room.think("", [*players, *room.sit("bob")])
    assert [room.player_row(name)["against"] for name in ("ann", "bob")] == ["bob", "ann"]
    room.pass_time(SILENT + 1)
    mover = "bob" if first else "ann"
    assert room.needs() == [(mover, "stall", 1, first + 1)]


def test_player_that_does_not_move_needs_the_director() -> None:
    room = Room()
    players = room.sit("ann", "bob")
    room.think("33", players)
    room.pass_time(SILENT - 1.0)
    assert room.needs() == []
    room.pass_time(2.0)
    assert room.needs() == [("ann", "stall", 1, 1)]
    [need] = room.seen()["needs"]
    assert need["words"] == "ann is connected but has not moved for 16 s; its clock has 44 s"
    assert (need["other"], need["players"], need["seconds"]) == ("bob", ["ann", "bob"], 16.0)
    assert need["game"] == players[0].last(Started).game
    room.play("3", players)
    assert room.needs() == []


def test_second_mover_that_does_not_move_is_named_in_any_game_of_a_series() -> None:
    room = Room()
    players = room.sit("ann", "bob")
    room.play(FIRST_WINS, players)
    room.think("0", players)  # bob has the first move now
    room.pass_time(SILENT + 1.0)
    [need] = room.seen()["needs"]
    assert (need["who"], need["other"], need["number"]) == ("ann", "bob", 2)


def test_player_without_a_clock_has_no_time_left_to_name() -> None:
    room = Room()
    players = [room.player(HANGING_UP, name, TABLE) for name in ("ann", "bob")]
    room.read()
    room.think("", players)
    room.pass_time(SILENT + 1.0)
    [need] = room.seen()["needs"]
    assert need["words"] == "ann is connected but has not moved for 16 s"


def test_silent_player_that_is_away_is_named_once() -> None:
    room = Room()
    ann, bob = room.sit("ann", "bob")
    room.think("", (ann, bob))
    room.pass_time(SILENT - 1.0)
    ann.break_off()
    room.pass_time(AWAY + 1.0)
    assert room.needs() == [("ann", "away", 1, 1)]


def states(room: Room) -> dict[str, str]:
    return {each["name"]: each["state"] for each in room.seen()["players"]}


def test_player_that_lost_in_a_knockout_is_out() -> None:
    room = Room(format="knockout", pairings=[(0, 3, 1), (1, 2, 1)])
    room.sit("ann", "dan", "bob")
    for number in (0, 1):
        room.stored.play(1, number, 0)
    room.read()
    room.pass_time(AWAY + 1.0)
    assert states(room) == {"ann": "plays", "bob": "waits", "cid": "out", "dan": "plays"}
    assert room.needs() == []
    for number in (1, 2):
        room.stored.act("award", game=f"2.{number}", to="cid")
    room.read()
    assert states(room) == {"ann": "plays", "bob": "out", "cid": "absent", "dan": "plays"}


def test_player_that_did_not_come_through_is_out_wherever_it_is() -> None:
    room = Room(
        *(Forfeited(number, [0, 1], [loser]) for number, loser in enumerate((1, 3))),
        StageBegun([0, 2]),
        Withdrawn(3, "by the director"),
        then="swiss",
        advance=2,
    )
    room.sit("ann", "bob")
    assert states(room) == {"ann": "waits", "bob": "out", "cid": "absent", "dan": "withdrawn"}


def test_house_players_that_may_be_added() -> None:
    room = Room(Entered("aima", house=True))
    assert room.seen()["house"] == sorted(HOUSE_PLAYERS - {"aima"})
    [row] = [each for each in room.seen()["players"] if each["name"] == "aima"]
    assert (row["kind"], row["house"]) == ("house", True)


def test_faults_of_a_player_are_counted() -> None:
    room = Room()
    room.stored.play(0, 0, 0, "left", fault_of=1)
    room.stored.play(0, 1, 0, "left", fault_of=1)
    room.read()
    row = room.player_row("bob")
    assert (row["faults"], row["in_a_row"], row["most"]) == (2, 2, 3)


# Test games are no games of a pairing.


def under_test(*entries: Entry) -> tuple[Room, Client]:
    """Return a room in which cid is being tested."""
    room = Room(RequestedTest(2, "random"), *entries, pairings=PAIRINGS[:1])
    room.sit("cid")
    for _ in range(room.table.testers_wanted("random")):
        room.player(RESIDENT, "random", TABLE)
    room.read()
    [cid] = [each.series.seats[0] for each in room.games()]
    client = cid.mailbox
    assert isinstance(client, Client)
    return room, client


def test_player_in_a_test_plays_no_pairing() -> None:
    room, _ = under_test()
    row = room.player_row("cid")
    assert (row["state"], row["against"], row["pairing"]) == ("plays", "random", None)
    assert row["game"] is not None


@pytest.mark.parametrize("is_away", [True, False])
def test_player_that_is_away_or_silent_in_a_test_is_no_trouble(*, is_away: bool) -> None:
    room, cid = under_test()
    cid.hand()
    if is_away:
        cid.break_off()
    room.pass_time(SILENT + 1.0)
    assert room.player_row("cid")["state"] == ("away" if is_away else "plays")
    assert room.needs() == []


def test_house_player_that_waits_while_another_one_of_its_name_tests_is_not_in_that_game() -> None:
    room = Room(Entered("random", house=True), RequestedTest(2, "random"), pairings=PAIRINGS[:1])
    room.player(RESIDENT, "random", TABLE)
    room.sit("cid")
    room.player(RESIDENT, "random", TABLE)
    room.read()
    assert room.player_row("cid")["against"] == "random"
    row = room.player_row("random")
    assert (row["state"], row["against"], row["game"]) == ("waits", None, None)


def test_house_player_that_plays_a_pairing_is_in_that_game_although_another_one_tests() -> None:
    room = Room(Entered("random", house=True), Paired([(0, 4, 1)]), RequestedTest(2, "random"), pairings=())
    room.player(RESIDENT, "random", TABLE)
    room.sit("ann", "cid")
    room.player(RESIDENT, "random", TABLE)
    room.read()
    assert room.player_row("cid")["against"] == "random"
    row = room.player_row("random")
    assert (row["state"], row["against"], row["pairing"]) == ("plays", "ann", 1)
