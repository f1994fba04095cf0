"""Which games there are, and who gets them: each of them once, pairs together, also after a stop."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.tournament.formats import Format, Pairing, Round, gauntlet, round_robin
from gateway.tournament.schedule import AT_MOST, Schedule, Withdrawal


@dataclass(frozen=True)
class Game:
    pairing: int
    number: int
    points: float = 1.0


@dataclass
class Memory:
    """A storage."""

    entries: list[Game | Withdrawal] = field(default_factory=list)

    def load(self) -> Iterator[Game | Withdrawal]:
        yield from self.entries

    def append(self, entry: Game | Withdrawal) -> None:
        self.entries.append(entry)

    @property
    def games(self) -> list[Game]:
        return [each for each in self.entries if isinstance(each, Game)]


def schedule_of(
    players: int, games: int, format: Format = round_robin, stored: Sequence[Game | Withdrawal] = ()
) -> Schedule[Game]:
    return Schedule(players, games, format, Memory(list(stored)))


def test_everybody_meets_everybody_or_the_first_all_others() -> None:
    schedule = schedule_of(3, 2)
    assert (schedule.pairings, schedule.left) == ([(0, 1), (0, 2), (1, 2)], 6)
    assert schedule_of(4, 2, gauntlet).pairings == [(0, 1), (0, 2), (0, 3)]


@given(st.integers(1, 60), st.integers(1, 5))
def test_each_game_is_taken_once_and_no_pair_is_torn(pairs: int, tables: int) -> None:
    schedule = schedule_of(2, 2 * pairs)
    for _ in range(tables):
        schedule.assign()
    found = []
    while taken := schedule.take(0):
        assert len(taken) <= AT_MOST
        assert [each % 2 for each in taken] == [0, 1] * (len(taken) // 2)
        found += taken
    assert found == list(range(2 * pairs))


def test_tables_come_to_the_pairings_with_fewest_tables() -> None:
    schedule = schedule_of(3, 4)
    assert [schedule.assign() for _ in range(4)] == [0, 1, 2, 0]


def test_what_a_table_took_and_did_not_play_is_played_by_another() -> None:
    """As where a game was aborted."""
    schedule = schedule_of(2, 4)
    schedule.assign()
    taken = schedule.take(0)
    schedule.record(Game(0, taken[0]))
    schedule.release(0, taken[1:])
    assert schedule.assign() == 0
    assert schedule.take(0) == [1, 2, 3]
    assert schedule.left == 3


def test_half_a_pair_is_taken_with_what_follows_it() -> None:
    assert schedule_of(2, 6, stored=[Game(0, 0)]).take(0) == [1, 2, 3]


@pytest.mark.parametrize(("pairing", "number"), [(0, 2), (0, -1), (1, 0), (-1, 0), (0, 1)])
def test_game_that_is_none_or_is_there_already_is_not_counted(pairing: int, number: int) -> None:
    schedule = schedule_of(2, 2, stored=[Game(0, 1)])
    with pytest.raises(ValueError, match="is there twice, or is none"):
        schedule.record(Game(pairing, number))
    with pytest.raises(ValueError, match="is there twice, or is none"):
        schedule_of(2, 2, stored=[Game(0, 1), Game(pairing, number)])


@pytest.mark.parametrize("player", [0, -1, 3])
def test_player_that_is_none_or_has_withdrawn_already_does_not_withdraw(player: int) -> None:
    schedule = schedule_of(3, 2, stored=[Withdrawal(0)])
    with pytest.raises(ValueError, match="has withdrawn twice, or is none"):
        schedule.withdraw(player)
    with pytest.raises(ValueError, match="has withdrawn twice, or is none"):
        schedule_of(3, 2, stored=[Withdrawal(0), Withdrawal(player)])


def test_what_could_not_be_stored_does_not_count() -> None:
    class Full(Memory):
        def append(self, entry: Game | Withdrawal) -> None:
            raise OSError("no space left")

    schedule = Schedule(2, 2, round_robin, Full())
    with pytest.raises(OSError, match="no space left"):
        schedule.record(Game(0, 0))
    with pytest.raises(OSError, match="no space left"):
        schedule.withdraw(0)
    assert (schedule.left, schedule.is_wanted(0, 0)) == (2, True)


def test_all_results_that_count_are_passed_on_those_that_were_stored_before_too() -> None:
    counted: list[Game] = []
    storage = Memory([Game(1, 0), Withdrawal(0), Game(2, 1)])
    schedule = Schedule(3, 2, round_robin, storage, counted.append)
    assert counted == [Game(1, 0), Game(2, 1)]
    schedule.record(Game(2, 0))
    assert counted == [Game(1, 0), Game(2, 1), Game(2, 0)]


def test_games_of_a_player_who_has_withdrawn_are_played_no_more() -> None:
    schedule = schedule_of(3, 4)
    schedule.assign()
    taken = schedule.take(0)
    assert schedule.withdraw(0) == 8
    assert not schedule.is_wanted(0, taken[0])
    schedule.release(0, taken)
    assert schedule.left == 4
    assert schedule.assign() == 2
    assert schedule.take(0) == []
    assert (schedule.withdraw(1), schedule.left) == (4, 0)


# Formats whose pairings depend on results.


def knockout(players: Sequence[int], rounds: Sequence[Round]) -> list[Pairing]:
    """Return pairings of who is left: all winners, and who had a bye; after a draw the two meet again."""
    out = set[int]()
    for score in (score for each in rounds for score in each):
        one, two = score.points
        if one != two:
            out.add(score.pairing[one > two])
    left = [each for each in players if each not in out]
    drawn = [score.pairing for score in rounds[-1] if score.points[0] == score.points[1]] if rounds else []
    again = [pairing for pairing in drawn if {*pairing} <= {*left}]
    return again or list(zip(left[::2], left[1::2], strict=False))


def swiss(players: Sequence[int], rounds: Sequence[Round]) -> list[Pairing]:
    """Return three rounds in which those meet who stand next to each other and have not met."""
    met = {pairing for each in rounds for pairing, _ in each}
    points = dict.fromkeys(players, 0.0)
    for each in rounds:
        playing = {player for pairing, _ in each for player in pairing}
        for player in {*players} - playing:
            points[player] += 2  # the bye
        for pairing, gained in each:
            for player, share in zip(pairing, gained, strict=True):
                points[player] = points.get(player, 0.0) + share
    order = sorted(players, key=lambda player: (-points[player], player))
    found: list[Pairing] = []
    for one, two in combinations(order, 2):
        pairing = min(one, two), max(one, two)
        free = {one, two}.isdisjoint({player for pair in found for player in pair})
        if len(rounds) < 3 and free and pairing not in met:
            found.append(pairing)
    return found


@pytest.mark.parametrize("format", [round_robin, gauntlet, knockout, swiss])
@given(st.data())
def test_tournament_goes_on_after_a_stop_as_without_one(format: Format, data: st.DataObject) -> None:
    """Whatever its format, and who wins or withdraws, and when: what was stored says what is next."""
    storage, players = Memory(), data.draw(st.integers(2, 7))
    remaining = set(range(players))
    schedule = Schedule(players, 2, format, storage)
    while schedule.left and len(storage.games) < 100:
        pairing = schedule.assign()
        assert pairing is not None
        for number in schedule.take(pairing):
            if data.draw(st.integers(0, 9)) == 0:
                player = data.draw(st.sampled_from(sorted(remaining)))
                remaining.remove(player)
                schedule.withdraw(player)
            if not schedule.is_wanted(pairing, number) or data.draw(st.integers(0, 9)) == 0:
                break  # nobody plays it any more, or it was aborted
            schedule.record(Game(pairing, number, data.draw(st.sampled_from([0.0, 0.5, 1.0]))))
        resumed = Schedule(players, 2, format, storage)
        assert (resumed.pairings, resumed.left) == (schedule.pairings, schedule.left)
        if data.draw(st.booleans()):
            schedule = resumed
        else:
            schedule.release(pairing, range(2))
    keys = [(game.pairing, game.number) for game in storage.games]
    assert len({*keys}) == len(keys)


def test_who_has_withdrawn_is_in_no_later_round_after_a_stop_either() -> None:
    def twice(players: Sequence[int], rounds: Sequence[Round]) -> list[Pairing]:
        return list(combinations(players, 2)) if len(rounds) < 2 else []

    storage = Memory()
    schedule = Schedule(3, 2, twice, storage)
    schedule.record(Game(0, 0))
    schedule.withdraw(0)
    for pairing, number in ((2, 0), (2, 1), (3, 0)):
        schedule.record(Game(pairing, number))
    resumed = Schedule(3, 2, twice, storage)
    assert resumed.pairings == schedule.pairings == [(0, 1), (0, 2), (1, 2), (1, 2)]
    assert resumed.left == schedule.left == 1


@pytest.mark.parametrize(
    ("format", "pairings"),
    [
        (knockout, [(0, 1), (2, 3), (0, 2), (0, 4)]),
        (swiss, [(0, 1), (2, 3), (0, 2), (1, 4), (0, 3), (1, 2)]),
    ],
)
def test_later_rounds_follow_from_what_earlier_ones_came_to(format: Format, pairings: list[Pairing]) -> None:
    schedule = schedule_of(5, 2, format)
    while (pairing := schedule.assign()) is not None:
        for number in schedule.take(pairing):
            schedule.record(Game(pairing, number))
    assert schedule.pairings == pairings
