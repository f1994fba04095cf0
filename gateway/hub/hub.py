"""The one place where players and their series come together.

Takes commands and tells players what came of them, through their seats. Synchronous: a command has had all
its effects when `submit` returns, so under one event loop nothing ever happens in between. Knows no dialect
and no network, and reads no clock: the time comes in as `now`.

The matchmaker decides who enters and who plays whom. `Actions` carries out commands, `Pairing` starts series
as the matchmaker answers, `SeriesRunner` plays them, and `Timers` say what is due.

While the hub works, events wait in the mailboxes. When it is done, and only then, it lets each mailbox that
got any pass them on. So an answer leaves in the same turn of the loop in which its cause came in, and still
the hub never calls anybody. A mistake of ours ends at the boundary: the hub raises nothing.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import count

from gateway.game.clock import Terms
from gateway.game.commands import Command
from gateway.game.events import Dismissed, Event, ToMove, Why
from gateway.game.facts import Snapshot
from gateway.game.ids import GameId, game_ids
from gateway.game.manners import Manners
from gateway.game.results import NoResults, Results
from gateway.hub.actions import Actions
from gateway.hub.boundary import Boundary, OnFault, reraise
from gateway.hub.feed import Feed, snapshot
from gateway.hub.interfaces import Cluster, House, Nodes, Outgoing
from gateway.hub.pairing import ABSENCE
from gateway.hub.remote import Away
from gateway.hub.seat import Gone, Mailbox, Owed, Seat, Seated
from gateway.hub.series import SeriesRunner
from gateway.hub.timers import Timers
from gateway.matchmaking.matchmaker import Matchmaker


class Hub:
    """All players, and the series that are on."""

    def __init__(
        self,
        terms: Terms,
        matchmaker: Matchmaker,
        results: Results | None = None,
        on_fault: OnFault = reraise,
        games: Iterator[GameId] | None = None,
    ) -> None:
        """`results` is given each game that is over before its players hear of that. By default none is kept.

        Games get the ids `games`, those of run 0 unless given.
        `on_fault` hears of our own mistakes, each of which has cost no more than one game by then.
        """
        self.results = results or NoResults()
        self.matchmaker = matchmaker
        self._timers = Timers()
        self.feed = Feed(self.results, partial(on_fault, ()))
        self._runner = SeriesRunner(terms, matchmaker, self._timers, self.feed, games or game_ids(0))
        self._seats: dict[int, Seat] = {}
        self.boundary = Boundary(self._seats, matchmaker, self._runner, self._timers, on_fault)
        self._actions = Actions(matchmaker, self._seats, self._timers, self._runner, self.boundary)
        self._numbers = count(1)
        self._unsent: list[Outgoing] = []
        """The mailboxes that got something and are to be flushed."""
        self.expect: Callable[[Outgoing], None] = self._unsent.append
        """Flush a mailbox when the hub is done: it has just got something."""
        self.is_closed = False
        """Whether nobody is let in any more."""
        self.cluster: Cluster | None = None
        """The cluster that this server is a node of, if it is of one."""

    def __len__(self) -> int:
        """Return how many players are here, whatever they do."""
        return len(self._seats)

    def engage(self, house: House) -> None:
        """Let the players of `house` be asked for. Without, a wish for one of them waits for ever."""
        self._actions.pairing.house = house
        self.matchmaker.engage(house)

    def connect(self, nodes: Nodes) -> None:
        """Let players meet those of other nodes."""
        self._actions.pairing.nodes = nodes

    def open(self, mailbox: Mailbox, manners: Manners, now: float, origin: str = "") -> Seat:
        """Return a seat for a player who has just come, from `origin`, and has not entered yet."""
        seat = Seat(next(self._numbers), mailbox, manners, origin, now)
        if self.is_closed:
            seat.dismiss(Dismissed(Why.STOPPED))
            return seat
        self._seats[seat.number] = seat
        if manners.entry_limit is not None:
            self._timers.entries.set(seat, now + manners.entry_limit)
        return seat

    def submit(self, seat: Seat, command: Command, now: float) -> bool:
        """Carry out or refuse a command; `now` is when it arrived. Of a seat that is gone it is void.

        Return whether the mailbox has to wait for `resume` before it submits more.
        """
        try:
            self._actions.carry_out(seat, command, now)
        except Exception:
            self.boundary.cut_off(seat, now)
        self._pass_on(now)
        if seat.question is None:
            return False
        seat.hold()
        return True

    def handed(self, seat: Seat, request: ToMove, now: float) -> None:
        """Note that a request to move left for the seat's client at `now`: its time runs."""
        situation = seat.situation
        if not isinstance(situation, Seated):
            if isinstance(situation, Away):
                self._actions.away.handed(seat, situation, request, now)
            return
        series = situation.series
        try:
            deadline = series.session.handed(request.game, request.number, now)
            if deadline is not None and deadline < series.watched:
                self._timers.flags.watch(series, deadline)
        except Exception:
            self.boundary.cut_off(seat, now)

    def alive(self, seat: Seat, now: float) -> None:
        """Note that the seat's client has answered a probe: nobody takes its place."""
        with self.boundary.contain(seat, now):
            self.matchmaker.alive(seat.number)
            self._actions.settle(now)
        self._pass_on(now)

    def tick(self, now: float) -> list[Seat]:
        """Do what is due, and return the seats whose time is up. These lose nothing before `flag`."""
        timers, late, contain = self._timers, list[Seat](), self.boundary.contain
        self.feed.tell_ends()
        for seat in timers.rests.due(now):
            with contain(seat, now):
                if not self._runner.rests_on(seat, now):
                    self._actions.rested(seat, Owed.LATE, now)
        for seat in timers.rejoins.due(now):
            with contain(seat, now):
                self._rejoin_is_due(seat, now)
        for seat in timers.entries.due(now):
            with contain(seat, now):
                self._entry_is_due(seat, now)
        for seat in timers.denials.due(now):
            with contain(seat, now):
                self._actions.deny(seat, now)
        for seat in timers.absences.due(now):
            self._actions.pairing.wait_on(seat, now)
        self._actions.settle(now)
        for series in timers.flags.due(now):
            with contain(series.seats[0], now):
                late += timers.flags.late(series)
        late += timers.flags_away.due(now)
        self._pass_on(now)
        return late

    def flag(self, seat: Seat, now: float) -> None:
        """Let the seat lose on time, unless its move has been read meanwhile."""
        with self.boundary.contain(seat, now):
            if isinstance(seat.situation, Away):
                self._actions.away.flag(seat.situation, now)
            else:
                self._actions.part(self._runner.flag(seat, now), now)
        self._pass_on(now)

    def fail(self, seat: Seat, now: float) -> None:
        """Hang up on a seat and its opponent, for a mistake of ours: the one that is being handled."""
        self.boundary.cut_off(seat, now)
        self._pass_on(now)

    def arrived(self, seat: Seat, command: Command, answered: ToMove | None, used: float, now: float) -> None:
        """Carry out a command from another node; a move answers a request, and took `used` seconds there."""
        if answered is not None:
            self.handed(seat, answered, now - used)
        self.submit(seat, command, now)

    def flagged(self, seat: Seat, request: ToMove, used: float, now: float) -> None:
        """Let a seat lose on time whose request to move was open for `used` seconds on another node."""
        self.handed(seat, request, now - used)
        self.flag(seat, now)

    def told(self, seat: Seat, event: Event, now: float) -> None:
        """Tell a seat what happened in its series on another node. What follows waits for `settle`."""
        with self.boundary.contain(seat, now):
            self._actions.away.told(seat, event, now)

    def lose(self, seat: Seat, now: float) -> None:
        """Let a series be over, and a game in it have no result: the way to the other node is gone."""
        with self.boundary.contain(seat, now):
            if isinstance(seat.situation, Away):
                self._actions.away.lose(seat, seat.situation, now)
            else:
                self._actions.part(self._runner.leave(seat, now, is_lost=True), now)
            self._actions.settle(now)
        self._pass_on(now)

    def end_series(self, seat: Seat, now: float) -> None:
        """Let a series be over with the game that is on: the node of one player drains."""
        with self.boundary.contain(seat, now):
            self._actions.part(self._runner.end_series(seat, now), now)
        self._pass_on(now)

    def settle(self, now: float) -> None:
        """Carry out what follows from all that came from other nodes, and pass on what players were told."""
        self._actions.settle(now)
        self._pass_on(now)

    def can_reach(self, seat: int) -> bool:
        """Whether the player on a seat can play: nothing says that it has vanished, and nothing is paused."""
        if self._actions.pairing.is_paused:
            return False
        return seat in self._seats and self._seats[seat].mailbox.is_reachable

    def seats(self) -> tuple[Seat, ...]:
        """Return the seats of all players who are here."""
        return tuple(self._seats.values())

    def snapshot(self, now: float, seats: Iterable[Seat] | None = None) -> Snapshot:
        """Return all that is on, for those who subscribe to the feed. MUST NOT be called by `wake`.

        With `seats`, return the part of it that is theirs: many players are told of in many short steps. A
        subscriber takes its facts in each step, before the part; what they say of others than the players
        and games it knows by then is in a part that follows.
        """
        return snapshot(self._seats.values() if seats is None else seats, now)

    def next_alarm(self) -> float | None:
        """Return a time before which `tick` has nothing to do; None if nothing is due at all."""
        times = self._timers.next_due(), self.matchmaker.next_due()
        return min((when for when in times if when is not None), default=None)

    def drain(self) -> None:
        """Begin no further game, and let nobody in any more. Games that are on go on."""
        self.is_closed = self._runner.is_closed = True
        if self.cluster is not None:
            self.cluster.drain()

    def pause(self, *, is_paused: bool) -> None:
        """Pair nobody from now on, or pair again: within two seconds. Series that are on go on."""
        self._actions.pairing.is_paused = is_paused

    @property
    def is_draining(self) -> bool:
        """Whether the games that are on are finished, and no other begins: the server stops."""
        return self._runner.is_closed

    def let_go(self, seat: Seat, now: float) -> bool:
        """Say good-bye to a seat, unless it plays, or may on another node; return whether that was done.

        A series on another node is over once that one says so: it may have begun the next game.
        """
        if isinstance(seat.situation, Gone | Away) or seat.plays:
            return False
        if self.cluster is not None and self.cluster.is_reserved(seat.number):
            return False
        with self.boundary.contain(seat, now):
            self._actions.leave(seat, Dismissed(Why.STOPPED), now)
        self._pass_on(now)
        return True

    def close(self, now: float) -> None:
        """Say good-bye to everybody, those who come later too. A game that is on ends without a winner."""
        self.is_closed = True
        situations = [seat.situation for seat in self._seats.values()]
        for series in dict.fromkeys(each.series for each in situations if isinstance(each, Seated)):
            with self.boundary.contain(series.seats[0], now):
                self._runner.stop(series, now)
        for seat in tuple(self._seats.values()):
            self.boundary.let_go(seat, Dismissed(Why.STOPPED))
        self._pass_on(now)

    def _rejoin_is_due(self, seat: Seat, now: float) -> None:
        """Keep no seat any longer for a player who has not asked again."""
        if seat.question is not None:
            self._timers.rejoins.set(seat, now + ABSENCE)
            return
        self._actions.part(self._runner.leave(seat, now), now)
        self._actions.pairing.give_up_place(seat)

    def _entry_is_due(self, seat: Seat, now: float) -> None:
        """Hang up on a player who has not entered in time."""
        if seat.question is not None:
            self._timers.entries.set(seat, now + ABSENCE)
        elif seat.place is None:
            self._actions.leave(seat, Dismissed(Why.SILENT), now)

    def _pass_on(self, now: float) -> None:
        unsent = self._unsent
        while unsent:
            mailbox = unsent.pop()
            try:
                mailbox.flush()
            except Exception:
                self.boundary.cut_off(mailbox, now)
        while self._actions.answered:
            self._actions.answered.pop().resume()
