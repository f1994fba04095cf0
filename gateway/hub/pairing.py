"""What passes between the hub and the matchmaker.

Tells the matchmaker who waits, and carries out its answers as far as they are not out of date. Does not know
commands, and does not tell a player anything: whom the matchmaker lets in stands in `decisions`, for the hub.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import count
from typing import assert_never

from gateway.game.facts import Left
from gateway.hub.boundary import Boundary
from gateway.hub.feed import came, hindered, waits
from gateway.hub.interfaces import House, Nodes
from gateway.hub.seat import Seat, Series, Waiting
from gateway.hub.series import SeriesRunner
from gateway.hub.timers import Timers
from gateway.matchmaking.matchmaker import (
    Again,
    AnyMatch,
    Decision,
    Deserted,
    Hindered,
    Hosted,
    Hosting,
    Match,
    Matchmaker,
    Opponent,
    Pair,
    Probe,
    Turn,
    Visit,
)

ABSENCE = 1.0
"""Seconds until a player is asked for again that could not be reached when its game was to begin."""
SPREAD = 1000
"""In so many short steps, within a second, those are looked at whom a pause holds back."""


class Pairing:
    """Lets seats wait, and starts their series."""

    def __init__(
        self,
        matchmaker: Matchmaker,
        seats: Mapping[int, Seat],
        timers: Timers,
        runner: SeriesRunner,
        boundary: Boundary,
    ) -> None:
        """`seats` are those of the hub."""
        self.boundary = boundary
        self.decisions: deque[Decision] = deque()
        """Whether those who have asked to enter may, as the matchmaker decided."""
        self.deserted: deque[Hosting] = deque()
        """Series whose guest is not there."""
        self.is_paused = False
        """Whether nobody is paired, except for a series that another node has begun."""
        self.house: House | None = None
        self.nodes: Nodes | None = None
        self._matchmaker = matchmaker
        self._seats = seats
        self._timers = timers
        self._runner = runner
        self._turns = count(1)

    def wait(self, seat: Seat, now: float) -> None:
        """Let a seat wait from now on; one that owes a move is not paired yet."""
        turn = seat.wait(next(self._turns), now)
        self._timers.absences.cancel(seat)
        if seat.waits:
            self._runner.feed.publish(waits(seat, now))
            self._matchmaker.wait(turn, now)

    def wait_on(self, seat: Seat, now: float) -> None:
        """Let a seat whose match was not started wait in another turn, once that can lead to a match."""
        situation = seat.situation
        if not isinstance(situation, Waiting):
            return
        with self.boundary.contain(seat, now):
            if self.is_paused:
                self._timers.absences.set(seat, now + ABSENCE + seat.number % SPREAD / SPREAD)
            elif seat.mailbox.is_reachable:
                self._matchmaker.wait(seat.wait(next(self._turns), situation.since), situation.since)
            else:
                self._timers.absences.set(seat, now + ABSENCE)

    def give_up_place(self, seat: Seat) -> None:
        """Let a seat have no place any more."""
        self._matchmaker.leave(seat.number)
        seat.give_up_place()

    def settle(self, now: float) -> None:
        """Carry out what the matchmaker answers. A seat that it makes a mistake about is hung up on."""
        is_settled = False
        while not is_settled:
            with self.boundary.contain(self._matchmaker, now) as step:
                self._follow(now)
            is_settled = not step.has_hit

    def _follow(self, now: float) -> None:
        for answer in self._matchmaker.answers(now):
            match answer:
                case Decision():
                    self.decisions.append(answer)  # may lead to other questions: not before all is answered
                case Probe(number):
                    if number in self._seats:
                        self._seats[number].mailbox.probe()
                case Deserted(hosting):
                    self.deserted.append(hosting)  # leads to other questions, too
                case Again(turn):
                    seat = self._waiting(turn)
                    if seat is not None and not self._runner.is_closed:
                        self.wait_on(seat, now)
                case Hindered(turn, obstacle):
                    seat = self._waiting(turn)
                    if seat is not None and seat.hinder(obstacle):
                        self._runner.feed.publish(hindered(seat))
                case _:
                    self._meet(answer, now)

    def _meet(self, match: AnyMatch, now: float) -> None:
        """Start the series of a match, if its players can play."""
        if self._runner.is_closed and not isinstance(match, Hosted):  # that one is on already
            return
        turns = (match.first, match.second) if isinstance(match, Pair) else (_turn(match),)
        if self.is_paused and not isinstance(match, Hosted):
            for seat in filter(None, map(self._waiting, turns)):
                if seat.hinder(None):  # now nothing but the pause is in the way
                    self._runner.feed.publish(hindered(seat))
                self.wait_on(seat, now)
            return
        seats = self._ready(turns, now)
        if seats is None:
            return
        match match:
            case Pair():
                self._start(match, (seats[0], seats[1]), now)
            case Visit():
                with self.boundary.contain(seats[0], now):
                    self._welcome(seats[0], match, now)
            case Hosting():
                with self.boundary.contain(seats[0], now):
                    self._receive(seats[0], match, now)
            case Hosted():
                with self.boundary.contain(seats[0], now):
                    self._send_away(seats[0], match)
            case _:
                assert_never(match)

    def _ready(self, turns: Sequence[Turn], now: float) -> list[Seat] | None:
        """Return the seats of a match; None if one of them cannot play. Then the others wait on."""
        seats, present = list[Seat](), list[Seat]()
        for turn in turns:
            seat = self._waiting(turn)
            if seat is not None:
                seats.append(seat)
                with self.boundary.contain(seat, now):
                    if seat.mailbox.is_reachable:
                        present.append(seat)
        if len(present) == len(turns):
            return present
        for seat in seats:
            self.wait_on(seat, now)
        return None

    def _waiting(self, turn: Turn) -> Seat | None:
        """Return the seat that waits in a turn, if it does still."""
        seat = self._seats.get(turn.seat)
        if seat is None or not isinstance(seat.situation, Waiting) or seat.situation.turn != turn:
            return None
        return seat

    def _welcome(self, host: Seat, visit: Visit, now: float) -> None:
        """Let a house player come to a seat that waits."""
        assert self.house is not None
        assert host.name is not None
        opponent = Opponent(host.origin, host.name, host.manners.clocked)
        visitor = self.house.open_seat(visit.visitor, opponent, now)
        if visitor.introduce(visit.visitor, counted=True):
            self._runner.feed.publish(came(visitor))
        self._start(visit, (host, visitor) if visit.opens else (visitor, host), now)

    def _receive(self, host: Seat, match: Hosting, now: float) -> None:
        """Let a player of another node come to a seat that waits."""
        assert self.nodes is not None
        visitor = self.nodes.open_seat(match, now)
        visitor.come(match.player)
        self._runner.feed.publish(came(visitor))
        self._start(match, (host, visitor), now)

    def _send_away(self, seat: Seat, match: Hosted) -> None:
        """Let a seat play on another node, where others see it from now on."""
        assert self.nodes is not None
        seat.go_away(self.nodes.send_away(seat, match), match)
        self._matchmaker.began(match, 1)
        self._runner.feed.publish(Left(seat.number))

    def _start(self, match: Match | Hosting, seats: tuple[Seat, Seat], now: float) -> None:
        """Start a series, which the first of its seats opens. From here on a mistake hits both."""
        series = Series(match, seats)
        for number, seat in series.numbered:
            seat.join(series, number)
        with self.boundary.contain(seats[0], now):
            self._runner.start(series, now)


def _turn(match: Visit | Hosting | Hosted) -> Turn:
    return match.host if isinstance(match, Visit) else match.turn
