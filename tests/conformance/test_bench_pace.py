"""When paced moves are sent."""

from dataclasses import dataclass, field

import pytest

from conformance.lab.bench.pace import Pace


@dataclass
class Player:
    """Notes what it is to send."""

    due: float = 0.0
    sent_at: float = 0.0
    sent_before: float = 0.0
    said: list[bytes] = field(default_factory=list)
    opponent: "Player | None" = None

    @property
    def peer(self) -> "Player":
        return self.opponent or self

    def say(self, data: bytes) -> None:
        self.said.append(data)


def paced(interval: float) -> Pace:
    pace = Pace()
    pace.interval = interval
    return pace


def test_move_waits_for_the_interval_since_the_opponents() -> None:
    pace, player = paced(1.0), Player(opponent=Player(due=10.0))
    pace.add(player, b"move", 10.2)
    assert pace.until_due(10.2) == pytest.approx(0.8)
    pace.send_due(10.9)
    assert player.said == []
    pace.send_due(11.0)
    assert (player.said, player.due, player.sent_at) == ([b"move"], 11.0, 11.0)


def test_two_moves_of_one_player_are_an_interval_apart_too() -> None:
    pace, player = paced(1.0), Player(due=11.0, opponent=Player(due=10.0))
    pace.add(player, b"move", 11.2)
    assert player.due == 12.0


def test_what_is_due_first_is_sent_first_and_nothing_else() -> None:
    pace, player = Pace(), Player()
    for due in (3.0, 1.0, 2.0):
        pace.delay(player, b"%d" % due, due)
    pace.send_due(2.0)
    assert player.said == [b"1", b"2"]
    pace.send_all(2.0)
    assert player.said == [b"1", b"2", b"3"]


def test_times_of_the_two_latest_moves_are_kept() -> None:
    pace, player = Pace(), Player()
    for now in (1.0, 2.0, 3.0):
        pace.delay(player, b"move", now)
        pace.send_due(now)
    assert (player.sent_before, player.sent_at) == (2.0, 3.0)


def test_move_that_is_late_is_sent_at_once_and_its_pair_keeps_its_beat() -> None:
    pace, player = paced(1.0), Player(opponent=Player(due=10.25))
    pace.add(player, b"move", 11.75)
    pace.send_due(11.75)
    assert (player.said, player.due) == ([b"move"], 11.25)


def test_turns_that_were_missed_are_not_made_up_for() -> None:
    pace, player = paced(1.0), Player(opponent=Player(due=10.25))
    pace.add(player, b"move", 15.75)
    assert player.due == 15.25


def test_nothing_is_due_where_nothing_waits() -> None:
    assert Pace().until_due(1.0) == float("inf")
