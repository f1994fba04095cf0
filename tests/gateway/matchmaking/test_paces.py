"""How evenly players of about equal pace meet, how long they are held back, and what that costs."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.matchmaking.lobby import LONGEST_HOLD, Lobby
from gateway.matchmaking.pool import Seeker


@dataclass(frozen=True)
class Player:
    """A player; all are here for as long as the simulation lasts."""

    name: str
    thinks: float
    """How long its games take, times what those of two who think for one second would."""
    away: float | None
    """For what part of a game it is gone after each; None for one who stays and is ready at once."""


@dataclass
class Simulation:
    """A lobby in which all play on and on."""

    players: list[Player]
    length: float
    """Seconds of a game of two who think for one, give or take a tenth."""
    seed: int
    longest_hold: float = LONGEST_HOLD
    met: Counter[frozenset[str]] = field(default_factory=Counter)
    held: Counter[Seeker] = field(default_factory=Counter)
    """How long each has not been paired, in its latest wait, though somebody else waited, too."""

    def run(self, games: int) -> Iterator[Counter[frozenset[str]]]:
        """Play so many games, and yield how often each two have met, after each of them."""
        lot = random.Random(self.seed)
        lobby = Lobby(lot, 0, self.longest_hold)
        self.met.update(dict.fromkeys(map(frozenset, combinations([one.name for one in self.players], 2)), 0))
        coming = sorted((lot.random() * self.length / 10, number) for number in range(len(self.players)))
        over: list[tuple[float, int, int]] = []
        seekers = [Seeker(player.name) for player in self.players]
        numbers = {player.name: number for number, player in enumerate(self.players)}
        self.now = 0.0
        while self.met.total() < games:
            before, waiting = self.now, [seeker for seeker in seekers if seeker.waiting]
            retry = lobby.next_retry()
            self.now = min([when for when, *_ in (*coming, *over)] + ([] if retry is None else [retry]))
            if len(waiting) > 1:
                for seeker in waiting:
                    self.held[seeker] += self.now - before
            while over and over[0][0] <= self.now:
                _, *both = heappop(over)
                lobby.played(*(self.players[number].name for number in both))
                for number in both:
                    player = self.players[number]
                    if player.away is None:
                        heappush(coming, (self.now, number))
                    else:
                        lobby.remove(seekers[number])
                        seekers[number] = Seeker(player.name)
                        heappush(
                            coming, (self.now + player.away * self.length * lot.uniform(0.5, 1.5), number)
                        )
            while coming and coming[0][0] <= self.now:
                number = heappop(coming)[1]
                self.held[seekers[number]] = 0.0
                lobby.admit(seekers[number], self.now)
            for pair in lobby.pair(self.now):
                one, two = (numbers[seeker.name] for seeker in pair)
                lobby.meetings.add(*(seeker.name for seeker in pair))
                lobby.playing(*(seeker.name for seeker in pair))
                pace = (self.players[one].thinks + self.players[two].thinks) / 2
                heappush(over, (self.now + self.length * pace * lot.uniform(0.9, 1.1), one, two))
                self.met[frozenset(seeker.name for seeker in pair)] += 1
                yield self.met


THINKING = st.floats(1.0, 1.6)
"""So the games of the fastest and of the slowest take 0.9 and 1.76 times `length`."""
AWAY = st.sampled_from([None, 0.05])
"""Ready at once, or after a moment, as those are who ask for each game."""
PLAYERS = st.lists(st.tuples(THINKING, AWAY), min_size=4, max_size=14).map(
    lambda drawn: [Player(f"p{number}", *each) for number, each in enumerate(drawn)]
)
LENGTHS = st.sampled_from([0.01, 0.1, 0.5])
SEEDS = st.integers(0, 1000)


@settings(max_examples=6)
@given(PLAYERS, LENGTHS, SEEDS)
def test_of_players_who_are_about_equally_fast_no_two_meet_much_more_often_than_others(
    players: list[Player], length: float, seed: int
) -> None:
    simulation = Simulation(players, length, seed)
    for met in simulation.run(25 * len(players)):
        assert max(met.values()) <= 2 * min(met.values()) + 2
        assert max(simulation.held.values()) <= LONGEST_HOLD


@settings(max_examples=3)
@given(PLAYERS, LENGTHS, SEEDS)
def test_holding_back_costs_few_games(players: list[Player], length: float, seed: int) -> None:
    seconds = []
    for longest in (LONGEST_HOLD, 0.0):
        simulation = Simulation(players, length, seed, longest)
        for _ in simulation.run(60 * len(players)):
            pass
        seconds.append(simulation.now)
    assert seconds[1] >= 0.85 * seconds[0]  # usually 0.94; fewest where four play, who have least choice
