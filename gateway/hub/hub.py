"""The hub: all players of a server, and everything that happens between them.

Takes commands, and queues events in the mailboxes of the seats. Synchronous: when `submit` returns, a command
has had all its effects, and the mailboxes are flushed. Knows no dialect and no network, and reads no clock:
the time comes in as `now`. The matchmaker decides who enters and who plays whom.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Protocol, TypeAlias, assert_never

from gateway.game.clock import Terms
from gateway.game.commands import (
    LOBBY,
    Ask,
    AtTable,
    Command,
    Denied,
    Enter,
    Introduce,
    Leave,
    Nothing,
    Play,
    Unfit,
    Unreadable,
    is_house_name,
    is_too_long,
)
from gateway.game.deadlines import Deadlines
from gateway.game.events import (
    NOTHING,
    Dismissed,
    Ended,
    Entered,
    Event,
    Introduced,
    Objection,
    Overlooked,
    Refused,
    ToMove,
    Why,
)
from gateway.game.facts import Left, Snapshot
from gateway.game.ids import GameId, game_ids
from gateway.game.manners import Illegal, Manners
from gateway.game.results import NoResults, Results
from gateway.hub.feed import Feed, came, hindered, snapshot
from gateway.hub.kept_seats import KeptSeats
from gateway.hub.remote import Cluster, RemotePlayers
from gateway.hub.seats import (
    Gone,
    Hosted,
    Hosting,
    Kept,
    Mailbox,
    Outgoing,
    Pending,
    PlayingElsewhere,
    Question,
    Relayed,
    RemoteGame,
    RemoteGames,
    RemotePairing,
    Seat,
    Seated,
    Waiting,
)
from gateway.hub.series import House, Parting, SeriesRunner
from gateway.matchmaking.matchmaker import (
    Answer,
    Decision,
    Entry,
    Hindered,
    HousePair,
    Matchmaker,
    Pair,
    Probe,
    Returning,
    Turn,
)

UNDECIDED = 1.0
"""Seconds by which a deadline of a seat is postponed while the matchmaker has not answered the seat's
question."""

OnFault: TypeAlias = Callable[[Sequence[str | None]], object]
"""Called with the names of the disconnected players, while the exception of a bug is being handled."""


class HubForPlayers(Protocol):
    """The part of a hub that connections and house players use."""

    @property
    def results(self) -> Results:
        """The service that stores results and evidence."""

    @property
    def feed(self) -> Feed:
        """The feed. A connection calls its `tell_ends` after it has sent the end of a game."""

    @property
    def expect(self) -> Callable[[Outgoing], None]:
        """A function that takes a mailbox with a new event. The hub flushes the mailbox when it is done."""

    def open(self, mailbox: Mailbox, manners: Manners, now: float, origin: str = "") -> Seat:
        """Return a seat for a player that has just connected from `origin`."""

    def submit(self, seat: Seat, command: Command, now: float) -> bool:
        """Carry out or refuse a command that arrived at `now`. Ignore it if the seat is disconnected.

        Return whether the caller has to wait for `Mailbox.resume`. Until then it may submit only `Leave` for
        this seat.
        """

    def handed(self, seat: Seat, request: ToMove, now: float) -> None:
        """Start the clock for `request`, which was sent to the seat's client at `now`."""

    def alive(self, seat: Seat, now: float) -> None:
        """Record that the seat's client has answered a probe."""

    def seats(self) -> tuple[Seat, ...]:
        """Return the seats of all connected players."""

    def snapshot(self, now: float, seats: Iterable[Seat] | None = None) -> Snapshot:
        """Return the state of all players, or of those on `seats`, for a subscriber of the feed."""


def reraise(_: Sequence[str | None]) -> None:
    """Raise the exception that is being handled: the default `on_fault`."""
    raise  # noqa: PLE0704  called only while an exception is handled


class Hub:
    """All players of a server, and their current series."""

    def __init__(
        self,
        terms: Terms,
        matchmaker: Matchmaker,
        results: Results | None = None,
        on_fault: OnFault = reraise,
        games: Iterator[GameId] | None = None,
    ) -> None:
        """Create a hub. `results` stores each game that is over, before its players get the end.

        Without `results` no game is stored. `games` yields the ids of games, by default those of run 0.
        `on_fault` is called for each bug; a bug ends one game at most.
        """
        self.results = results or NoResults()
        self.matchmaker = matchmaker
        self.feed = Feed(self.results, partial(on_fault, ()))
        self.cluster: Cluster | None = None
        """The cluster of this node; None for a single server."""
        self.is_closed = False
        """Whether new players are refused."""
        self._seats: dict[int, Seat] = {}
        self._on_fault = on_fault
        self._runner = SeriesRunner(
            terms, matchmaker, self.feed, games or game_ids(0), self._seats, self._contain
        )
        self._remote = RemotePlayers(self._runner, terms.idle)
        self._numbers = count(1)
        self._entries: Deadlines[Seat] = Deadlines()
        """The times until which players must have entered."""
        self._denials: Deadlines[Seat] = Deadlines()
        """The times when the pauses of denied requests for a name are over."""
        self._kept = KeptSeats(self._runner, self._remote, self._seats, self._kept_mailbox)
        self._timers = [self._runner.pending, self._runner.rejoins, self._runner.absences]
        self._timers += self._entries, self._denials, self._kept.until, self._remote.flags
        self._open: deque[Decision | Returning | Hosting] = deque()
        """Decisions to carry out, players that come back, and series to end because the other player never
        came. The hub carries these out after all other answers of the matchmaker."""
        self._is_deciding = False
        self._unsent: list[Outgoing] = []
        """The mailboxes to flush."""
        self._flushed_at = 0.0
        """The time of the latest flush."""
        self._answered: list[Mailbox] = []
        """The mailboxes to resume."""
        self.expect: Callable[[Outgoing], None] = self._unsent.append
        """A function that takes a mailbox with a new event. The hub flushes the mailbox when it is done."""

    def __len__(self) -> int:
        """Return the number of connected players."""
        return len(self._seats)

    def engage(self, house: House) -> None:
        """Use `house` for house players. Before this call, players that wish for a house player wait."""
        self._runner.house = house
        self.matchmaker.engage(house)

    def seats(self) -> tuple[Seat, ...]:
        """Return the seats of all connected players."""
        return tuple(self._seats.values())

    def snapshot(self, now: float, seats: Iterable[Seat] | None = None) -> Snapshot:
        """Return the state of all players, or of those on `seats`, for a subscriber of the feed.

        A subscriber can take the state in parts: in each step it takes its facts, then the next part. It can
        ignore facts about players that were in no part yet, since a later part has their state. The `wake` of
        a subscription must not call this method.
        """
        return snapshot(self._seats.values() if seats is None else seats, now)

    # Connections: see `HubForPlayers`.

    def open(self, mailbox: Mailbox, manners: Manners, now: float, origin: str = "") -> Seat:
        """Return a seat for a player that has just connected from `origin`."""
        seat = Seat(next(self._numbers), mailbox, manners, origin, now)
        if self.is_closed:
            seat.dismiss(Dismissed(Why.STOPPED))
            return seat
        self._seats[seat.number] = seat
        if manners.entry_limit is not None:
            self._entries.set(seat, now + manners.entry_limit)
        return seat

    def submit(self, seat: Seat, command: Command, now: float) -> bool:
        """Carry out or refuse a command; return whether the mailbox has to wait for `resume`."""
        situation = seat.situation
        try:
            if not isinstance(command, Play):  # nearly all commands are `Play`
                if not isinstance(situation, Gone):
                    self._carry_out(seat, command, now)
            elif (
                seat.pending is None
                and isinstance(situation, Seated)
                and situation.series.session.to_move is not None
            ):
                partings = self._runner.play(seat, situation, command, now)
                if partings:
                    self._part(partings, now)
            elif isinstance(situation, PlayingElsewhere):
                self._remote.play(seat, situation, command, now)
            elif isinstance(situation, Relayed):
                self._remote.pass_on(seat, situation, command, now)
            else:
                self._play_without_game(seat, command, now)
        except Exception:
            self._cut_off(seat, now)
        self._flush(now)
        if seat.question is None:
            return False
        seat.hold()
        return True

    def handed(self, seat: Seat, request: ToMove, now: float) -> None:
        """Start the clock for `request`, which was sent to the seat's client at `now`."""
        situation = seat.situation
        if not isinstance(situation, Seated):
            if isinstance(situation, PlayingElsewhere | Relayed):
                self._remote.handed(seat, situation, request, now)
            return
        series = situation.series
        try:
            deadline = series.session.handed(request.game, request.number, now)
            if deadline is not None and deadline < series.watched:
                self._runner.watch(series, deadline)
        except Exception:
            self._cut_off(seat, now)

    def alive(self, seat: Seat, now: float) -> None:
        """Record that the seat's client has answered a probe, so that the seat keeps its name."""
        with self._step(seat, now):
            if isinstance(seat.situation, Relayed):
                seat.situation.game.alive()
            elif not seat.is_gone:
                self.matchmaker.alive(seat.number)
                self._settle(now)

    # Time.

    def next_alarm(self) -> float | None:
        """Return a time before which `tick` has nothing to do; None if there is no deadline."""
        times = [each.next_due() for each in self._timers]
        times += self._runner.next_flag(), self.matchmaker.next_due()
        return min((when for when in times if when is not None), default=None)

    def tick(self, now: float) -> list[Seat]:
        """Carry out all that is due; return the seats whose time is up, for which `flag` must be called."""
        runner, late = self._runner, list[Seat]()
        self.feed.tell_ends()
        for seat in runner.pending.due(now):
            with self._contain(seat, now):
                if not runner.still_awaits(seat, now):
                    self._stop_waiting_for_move(seat, Pending.LATE, now)
        for seat in runner.rejoins.due(now):
            with self._contain(seat, now):
                if seat.question is not None:
                    runner.rejoins.set(seat, now + UNDECIDED)
                else:
                    self._part(runner.leave(seat, now), now)
                    self._runner.give_up_place(seat)
        for seat in self._entries.due(now):
            with self._contain(seat, now):
                if seat.question is not None:
                    self._entries.set(seat, now + UNDECIDED)
                elif seat.place is None:
                    self._leave(seat, Dismissed(Why.SILENT), now)
        for seat in self._denials.due(now):
            with self._contain(seat, now):
                self._deny(seat, now)
        for seat in self._kept.until.due(now):
            with self._contain(seat, now):
                self._leave(seat, Dismissed(Why.LEFT), now)
        for seat in runner.absences.due(now):
            self._runner.wait_on(seat, now)
        self._settle(now)
        for series in runner.due_flags(now):
            with self._contain(series.seats[0], now):
                late += runner.late(series)
        late += self._remote.flags.due(now)
        self._flush(now)
        return late

    def flag(self, seat: Seat, now: float) -> None:
        """End the seat's game because its time is up, unless its move has arrived meanwhile."""
        with self._step(seat, now):
            if isinstance(seat.situation, PlayingElsewhere | Relayed):
                self._remote.flag(seat.situation, now)
            else:
                self._part(self._runner.flag(seat, now), now)

    def adjudicate(self, seat: Seat, now: float) -> None:
        """End the current game of a seat on this node as lost, by a decision of a tournament's director."""
        with self._step(seat, now):
            self._part(self._runner.adjudicate(seat, now), now)

    def fail(self, seat: Seat, now: float) -> None:
        """Disconnect a seat and its opponent because of a bug, whose exception is being handled."""
        self._cut_off(seat, now)
        self._flush(now)

    # The end.

    def pause(self, *, is_paused: bool) -> None:
        """Pause or resume pairing; resuming takes up to two seconds. Current series go on."""
        self._runner.is_paused = is_paused

    def drain(self) -> None:
        """Begin no further games, and refuse new players. Current games go on."""
        self.is_closed = self._runner.is_closed = True
        if self.cluster is not None:
            self.cluster.drain()

    @property
    def is_paused(self) -> bool:
        """Whether pairing is paused."""
        return self._runner.is_paused

    @property
    def is_draining(self) -> bool:
        """Whether the server drains, so that no further game begins."""
        return self._runner.is_closed

    def let_go(self, seat: Seat, now: float) -> bool:
        """Disconnect a seat during a drain, unless it plays; return whether it was disconnected.

        A seat in a series on another node counts as playing until that node ends the series, since the node
        may have begun the next game.
        """
        if isinstance(seat.situation, Gone | PlayingElsewhere) or seat.plays:
            return False
        if self.cluster is not None and self.cluster.is_reserved(seat.number):
            return False
        with self._step(seat, now):
            self._leave(seat, Dismissed(Why.STOPPED), now)
        return True

    def close(self, now: float) -> None:
        """Disconnect all players, and those who connect later. Current games end without a winner."""
        self.is_closed = True
        situations = [seat.situation for seat in self._seats.values()]
        for series in dict.fromkeys(each.series for each in situations if isinstance(each, Seated)):
            with self._contain(series.seats[0], now):
                self._runner.stop(series, now)
        for seat in tuple(self._seats.values()):
            self._hang_up(seat, Dismissed(Why.STOPPED))
        self._flush(now)

    # Other nodes. In its `answers` a matchmaker may call `can_reach`, `meet`, `wait_anew`, `desert`,
    # `is_kept`, `give_back`, `asking` and `relay_to`.

    def connect(self, games: RemoteGames, pairing: RemotePairing) -> None:
        """Enable series with players of other nodes."""
        self._runner.games, self._runner.pairing = games, pairing

    def can_reach(self, seat: int) -> bool:
        """Whether a series of a seat can begin: its client is reachable, and pairing is not paused."""
        runner = self._runner
        return not runner.is_paused and seat in self._seats and self._seats[seat].mailbox.is_reachable

    def meet(self, match: Hosting | Hosted, now: float) -> None:
        """Start a series with a player of another node. If that fails, the local seat waits in a new turn."""
        self._runner.meet(match, now)

    def wait_anew(self, turn: Turn, now: float) -> None:
        """Queue a seat in a new turn, since the match that took this turn was not started."""
        seat = self._runner.waiting(turn)
        if seat is not None and not self._runner.is_closed:
            self._runner.wait_on(seat, now)

    def desert(self, match: Hosting) -> None:
        """End a series whose other player never came. Its game has no result.

        The series ends after all answers of the matchmaker are carried out.
        """
        self._open.append(match)

    def relay(self, seat: Seat, event: Event, now: float) -> None:
        """Deliver an event of a seat's series on another node. `settle` carries out the consequences."""
        with self._contain(seat, now):
            if isinstance(seat.situation, PlayingElsewhere):
                parting = self._remote.relay(seat, seat.situation, event, now)
                if parting is not None:
                    self._depart(parting, now)
            elif isinstance(seat.situation, Relayed):
                if isinstance(event, Dismissed):
                    self._hang_up(seat, event)
                else:
                    self._remote.hear(seat, seat.situation, event)
                    if isinstance(event, Ended) and self._runner.is_closed:
                        self._hang_up(seat, Dismissed(Why.STOPPED))  # the other node would begin another game

    def lose(self, seat: Seat, now: float) -> None:
        """End a seat's series with a player of a lost node. Its game has no result.

        If the client has come back to a seat on that node, hang up.
        """
        with self._step(seat, now):
            if isinstance(seat.situation, PlayingElsewhere):
                self._part((self._remote.lose(seat, seat.situation, now),), now)
            elif isinstance(seat.situation, Relayed):
                self._hang_up(seat, Dismissed(Why.STOPPED))
            else:
                self._part(self._runner.leave(seat, now, is_lost=True), now)

    def end_series(self, seat: Seat, now: float) -> None:
        """End a series after the current game, since the node of one player drains."""
        with self._step(seat, now):
            self._part(self._runner.end_series(seat, now), now)

    def away(self, seat: Seat, grace: float, now: float) -> None:
        """Record that the connection of another node's player broke; its node keeps the seat for `grace`."""
        with self._step(seat, now):
            if not self._kept.note_away(seat, grace, now):
                self._leave(seat, Dismissed(Why.LEFT), now)

    def back(self, seat: Seat, game: GameId, now: float, *, is_told: bool, resumes: bool) -> None:
        """Go on with the game of another node's player, which has come back; see `RemoteGame.back`."""
        with self._step(seat, now):
            if not self._kept.note_back(seat, game, now, is_told=is_told, resumes=resumes):
                self._leave(seat, Dismissed(Why.LEFT), now)

    def is_kept(self, number: int) -> bool:
        """Whether a seat is kept for a player whose connection broke."""
        return self._kept.has(number)

    def give_back(self, returning: Returning, mailbox: Mailbox, now: float) -> None:
        """Give a kept seat back to its player, whose new connection has this mailbox."""
        with self._contain(self._seats[returning.kept], now):
            self.matchmaker.returned(returning.kept, returning.origin, proven=returning.proven)
            self._kept.give_back(returning, mailbox, now)

    def asking(self, number: int) -> Seat | None:
        """Return a seat with an open request to enter; None if there is no such seat."""
        seat = self._seats.get(number)
        return seat if seat is not None and isinstance(seat.question, Question) else None

    def relay_to(self, seat: Seat, game: RemoteGame) -> None:
        """Connect the client of a seat that asks to enter with its earlier seat, kept by another node."""
        question = self._question(seat)
        assert isinstance(question, Question)
        self._entries.cancel(seat)
        if seat.name is not None:
            self.feed.publish(Left(seat.number))  # the other node publishes facts about the player
        seat.relay(game, question.entry.name, question.entry.place)

    def ask_again(self, number: int) -> None:
        """Ask the matchmaker again whether a seat may enter, since its player did not get its kept seat."""
        seat = self.asking(number)
        if seat is not None:
            assert isinstance(seat.question, Question)
            self.matchmaker.enter(seat.question.entry)

    def settle(self, now: float) -> None:
        """Carry out the consequences of messages from other nodes, and flush mailboxes."""
        self._settle(now)
        self._flush(now)

    # Commands.

    def _carry_out(
        self,
        seat: Seat,
        command: Introduce | Enter | Ask | Nothing | Unfit | Unreadable | Denied | Leave,
        now: float,
    ) -> None:
        if isinstance(seat.situation, Relayed):
            if isinstance(command, Leave):
                self._remote.pass_on(seat, seat.situation, command, now)
                self._hang_up(seat, Dismissed(Why.LEFT))
            elif isinstance(command, Enter | Introduce) and Objection.TOO_LONG in _unfitness(command):
                self._refuse(seat, Refused(seat.standing() | Objection.TOO_LONG, command.to), now)
            else:
                self._remote.pass_on(seat, seat.situation, command, now)
            return
        match command:
            case Ask():
                self._ask(seat, command, now)
            case Nothing():
                pass
            case Enter() | Introduce() | Denied() if seat.question is not None:
                self._refuse(seat, Refused(Objection.WAITING, command.to), now)
            case Enter():
                self._enter(seat, command, now)
            case Introduce():
                self._introduce(seat, command, now)
            case Unfit():
                self._refuse(seat, Refused(seat.standing() | Objection.UNFIT, command.to), now)
            case Unreadable():
                self._refuse(seat, Refused(seat.standing() | Objection.UNREADABLE, command.to), now)
            case Denied():
                seat.ask(command)
                if command.pause:
                    self._denials.set(seat, now + command.pause)
                else:
                    self._deny(seat, now)
            case Leave(is_broken=True) if self._kept.may_keep(seat):
                self._denials.cancel(seat)
                self._kept.keep(seat, now)
                self.matchmaker.away(seat.number)
                self._settle(now)
            case Leave():
                self._leave(seat, Dismissed(Why.LEFT), now)
            case _:
                assert_never(command)

    def _play_without_game(self, seat: Seat, command: Play, now: float) -> None:
        """Drop the move if the seat has a pending one; otherwise refuse it."""
        if seat.pending is not None:
            seat.deliver(Overlooked(seat.pending_game))
            self._stop_waiting_for_move(seat, None, now)
        elif not isinstance(seat.situation, Gone) and not seat.takes_early(command):
            objections = seat.standing()
            if command.column is None:
                objections |= Objection.NOT_A_COLUMN
            self._refuse(seat, Refused(objections, command.to), now)
            # Who steps out after each game may have sent this move for the game before.
            punishes = seat.manners.illegal is Illegal.FORFEIT and not seat.steps_out
            if punishes and Objection.WAITING in objections:
                self._leave(seat, Dismissed(Why.FORFEIT), now)

    def _stop_waiting_for_move(self, seat: Seat, pending: Pending | None, now: float) -> None:
        """Begin the next game or queue the seat, if only a pending move held it back."""
        if not seat.stop_awaiting(pending):
            return
        self._runner.pending.cancel(seat)
        match seat.situation:
            case Seated(series):
                self._runner.go_on(series, now)
            case Waiting():
                self._runner.wait(seat, now)
                self._settle(now)

    def _ask(self, seat: Seat, command: Ask, now: float) -> None:
        situation = seat.situation
        if isinstance(situation, PlayingElsewhere) and situation.started is not None:
            situation.game.submit(command, 0, 0.0)
        elif isinstance(situation, Seated) and situation.series.is_playing:
            seat.deliver(situation.series.session.show())
        else:
            self._refuse(seat, Refused(seat.standing(), command.to), now)

    def _introduce(self, seat: Seat, command: Introduce, now: float) -> None:
        if command.name is None:
            self._give_up_name(seat, command, now)
            return
        objections = _unfitness(command)
        if seat.manners.strict and seat.name is not None:  # who it is may be said once
            objections |= seat.standing() | Objection.UNFIT
        if objections:
            self._refuse(seat, Refused(objections, command.to), now)
            return
        if seat.introduce(command.name, counted=command.counted):
            self.feed.publish(came(seat))
        seat.deliver(Introduced(command.name))
        if seat.has_place:
            self.matchmaker.rename(seat.number, command.name, counted=command.counted)
            self._settle(now)

    def _give_up_name(self, seat: Seat, command: Introduce, now: float) -> None:
        """Remove a seat from its series and its place, and take away its name. It stays connected."""
        if seat.name is None:
            self._refuse(seat, Refused(seat.standing() | Objection.NO_NAME, command.to), now)
            return
        self._leave_series(seat, now)
        if isinstance(seat.situation, Gone):
            return  # disconnected because of a bug
        self.matchmaker.leave(seat.number)
        self.feed.publish(Left(seat.number))
        seat.give_up_name()  # timers of the seat that are left have no effect
        seat.deliver(Introduced(None))
        self._settle(now)

    def _enter(self, seat: Seat, command: Enter, now: float) -> None:
        """Continue the seat's series, or ask the matchmaker whether it may enter."""
        name = command.name if command.name is not None else seat.name
        objections = seat.standing() & ~Objection.NOT_ENTERED
        if not seat.manners.house:
            objections |= _unfitness(command)
        if name is None:
            objections |= Objection.NO_NAME
        elif not objections and command.waits and seat.wants_next_round(name, command.place):
            self._next_round(seat, name, command, now)
            return
        entry = Entry(
            seat=seat.number,
            name=name or "",
            place=command.place,
            counted=seat.counted,
            manners=seat.manners,
            origin=seat.origin,
            against=objections,
            proven=command.proven,
            is_first=seat.place is None,
            waits=command.waits,
            resumes=command.resumes and seat.manners.resumes,
        )
        seat.ask(Question(command, entry))
        self.matchmaker.enter(entry)
        self._settle(now)

    def _next_round(self, seat: Seat, name: str, command: Enter, now: float) -> None:
        if isinstance(seat.situation, PlayingElsewhere):
            self._remote.next_round(seat.situation, command)
            return
        assert isinstance(seat.situation, Seated)
        series = seat.situation.series
        seat.join(series, seat.situation.number)
        self._runner.rejoins.cancel(seat)
        seat.deliver(Entered(name, table=seat.table))
        self._runner.go_on(series, now)

    def _refuse(self, seat: Seat, refused: Refused, now: float) -> None:
        situation, is_strict = seat.situation, seat.manners.strict
        if is_strict and isinstance(situation, PlayingElsewhere) and situation.started is not None:
            # The node of the game disconnects the player, after the end of the game.
            situation.game.submit(Denied(refused.objections, to=refused.to), 0, 0.0)
            return
        seat.deliver(refused)
        if is_strict or (seat.manners.strict_entry and seat.place is None):
            self._leave(seat, Dismissed(Why.REFUSED, refused.objections), now)

    def _deny(self, seat: Seat, now: float) -> None:
        """Refuse a denied name, after its pause."""
        denied = self._question(seat)
        assert isinstance(denied, Denied)
        objections = seat.standing() & ~Objection.NOT_ENTERED | denied.objections
        self._refuse(seat, Refused(objections, denied.to), now)

    def _question(self, seat: Seat) -> Question | Denied | None:
        """Remove and return a seat's question, which is being answered. A held mailbox will be resumed."""
        if seat.is_held:
            self._answered.append(seat.mailbox)
        return seat.answered()

    def _decide(self, seat: Seat, against: Objection, now: float) -> None:
        """Answer a seat that has asked to enter, as the matchmaker has decided."""
        question = self._question(seat)
        assert isinstance(question, Question)
        entry = question.entry
        against |= entry.against
        if against:
            self._refuse(seat, Refused(against, question.command.to), now)
            return
        self._leave_series(seat, now)
        if isinstance(seat.situation, Gone):
            return  # disconnected because of a bug
        self._runner.rejoins.cancel(seat)
        if seat.enter(entry.name, entry.place):
            self.feed.publish(came(seat))
        if entry.waits:
            seat.deliver(Entered(entry.name, table=seat.table))
            self._runner.wait(seat, now)
        else:
            seat.give_up_place()
            seat.deliver(Introduced(entry.name, entry.resumes))
        self._settle(now)

    def _leave(self, seat: Seat, dismissed: Dismissed, now: float) -> None:
        """Disconnect a seat, and end its series."""
        self._leave_series(seat, now)
        self._hang_up(seat, dismissed)
        self._settle(now)

    def _leave_series(self, seat: Seat, now: float) -> None:
        if isinstance(seat.situation, PlayingElsewhere):
            self._remote.leave(seat, seat.situation)
        left = self._runner.leave(seat, now)
        self._part([parting for parting in left if parting.seat is not seat], now)

    def _part(self, partings: Sequence[Parting], now: float) -> None:
        """Disconnect, queue or release the seats of a series that is over."""
        for parting in partings:
            with self._contain(parting.seat, now):
                self._depart(parting, now)
        if partings:
            self._settle(now)

    def _depart(self, parting: Parting, now: float) -> None:
        seat = parting.seat
        if parting.dismissed is not None:
            self._hang_up(seat, parting.dismissed)
        elif seat.is_remote:
            self._hang_up(seat, Dismissed(Why.RETURNED))
        elif seat.absence is not None:
            self._hang_up(seat, Dismissed(Why.LEFT))
        elif parting.asked is not None:
            self._enter(seat, parting.asked, now)
        elif parting.waits:
            self._runner.wait(seat, now)
        elif not isinstance(seat.place, AtTable):  # a seat at a table is kept for a while
            self._runner.give_up_place(seat)

    # Pairing.

    def _settle(self, now: float) -> None:
        """Carry out the matchmaker's answers. If it raises, disconnect the seat that it was working on."""
        is_settled = False
        while not is_settled:
            try:
                for answer in self.matchmaker.answers(now):
                    self._follow(answer, now)
                is_settled = True
            except Exception:
                is_settled = not self._cut_off_suspect(now)
        if self._is_deciding:
            return  # the outer call carries out `_open`; recursion could be hundreds of calls deep
        self._is_deciding = True
        while self._open:
            try:
                self._follow_open(self._open.popleft(), now)
            except Exception:
                self._cut_off_suspect(now)
        self._is_deciding = False

    def _follow(self, answer: Answer, now: float) -> None:
        match answer:
            case Decision() | Returning():
                self._open.append(answer)  # after all other answers, since it may lead to further questions
            case Probe(number):
                if self.is_kept(number):
                    self.matchmaker.away(number)
                elif number in self._seats:
                    self._seats[number].mailbox.probe()
            case Hindered(turn, obstacle):
                seat = self._runner.waiting(turn)
                if seat is not None and seat.hinder(obstacle):
                    self.feed.publish(hindered(seat))
            case Pair() | HousePair():
                self._runner.meet(answer, now)
            case _:
                assert_never(answer)

    def _follow_open(self, answer: Decision | Returning | Hosting, now: float) -> None:
        if isinstance(answer, Hosting):
            for seat in [*self._seats.values()]:
                if isinstance(seat.situation, Seated) and seat.situation.series.match == answer:
                    absent = next(each for each in seat.situation.series.seats if each.is_remote)
                    self._part(self._runner.leave(absent, now, is_lost=True), now)
                    return
            return
        if isinstance(answer, Returning):
            self._return(answer, now)
            return
        asking = self._seats.get(answer.seat)
        if asking is not None and asking.question is not None:
            with self._contain(asking, now):
                self._decide(asking, answer.against, now)
        elif not answer.against:  # the seat has left meanwhile
            self.matchmaker.leave(answer.seat)

    def _return(self, answer: Returning, now: float) -> None:
        """Let a player that has come back have its kept seat, unless it was given to another connection."""
        newcomer = self.asking(answer.seat)
        if newcomer is None:
            self.matchmaker.leave(answer.seat)  # the client has left meanwhile
            return
        if not self.is_kept(answer.kept):
            self.ask_again(answer.seat)
        else:
            self._question(newcomer)
            mailbox = newcomer.hand_over()
            self._hang_up(newcomer, Dismissed(Why.RETURNED))
            self.give_back(answer, mailbox, now)
        self._settle(now)

    def _kept_mailbox(self, seat: Seat) -> Kept:
        return Kept(self.expect, lambda request: self.handed(seat, request, self._flushed_at))

    # A bug ends one game, without a winner, and disconnects both players, since their state may be wrong.
    # Each of these steps is done even if another one fails. Steps for one seat are in `with self._contain`
    # blocks; `submit` and `handed`, which run for every move, have a `try`, which is faster.

    @contextmanager
    def _contain(self, seat: Seat, now: float) -> Iterator[None]:
        """Run the block. If it raises, disconnect the seat and its opponent, and go on after the block."""
        try:
            yield
        except Exception:
            self._cut_off(seat, now)

    @contextmanager
    def _step(self, seat: Seat, now: float) -> Iterator[None]:
        """Run the block of a public method as `_contain` does, then flush mailboxes."""
        with self._contain(seat, now):
            yield
        self._flush(now)

    def _cut_off(self, seat: Seat | None, now: float) -> bool:
        """Disconnect a seat and its opponent; return whether any player was disconnected.

        Call it while the exception is handled.
        """
        hit = [] if seat is None else [seat]
        if seat is not None and isinstance(seat.situation, Seated):
            series = seat.situation.series
            hit += [each for each in series.seats if each is not seat]
            self._runner.forget_flag(series)
            self._attempt(partial(self._runner.finished, series.match))
            self._attempt(partial(self._runner.stop, series, now))
        going = [each for each in hit if not isinstance(each.situation, Gone)]
        for each in going:
            self._hang_up(each, Dismissed(Why.FAULT))
        self._on_fault([each.name for each in going])
        return bool(going)

    def _cut_off_suspect(self, now: float) -> bool:
        """Disconnect the seat that the matchmaker worked on when it raised, as `_cut_off` does."""
        number = self.matchmaker.suspect()
        return self._cut_off(None if number is None else self._seats.get(number), now)

    def _hang_up(self, seat: Seat, dismissed: Dismissed) -> None:
        """Disconnect a seat that is in no series, or whose series was cut off."""
        if isinstance(seat.situation, PlayingElsewhere):
            self._attempt(seat.situation.game.leave)
        elif isinstance(seat.situation, Relayed):  # no further call has an effect
            self._attempt(partial(seat.situation.game.leave, is_broken=True))
        if seat.name is not None and not seat.is_relayed:
            self._attempt(partial(self.feed.publish, Left(seat.number)))
        self._attempt(partial(self.matchmaker.leave, seat.number))
        for each in self._timers:
            each.cancel(seat)
        self._seats.pop(seat.number, None)
        self._attempt(partial(seat.dismiss, dismissed))

    def _attempt(self, step: Callable[[], object]) -> None:
        try:
            step()
        except Exception:
            self._on_fault(())

    def _flush(self, now: float) -> None:
        unsent, self._flushed_at = self._unsent, now
        while unsent:
            mailbox = unsent.pop()
            try:
                mailbox.flush()
            except Exception:
                own = (seat for seat in self._seats.values() if seat.mailbox is mailbox)
                self._cut_off(next(own, None), now)
        while self._answered:
            self._answered.pop().resume()


def _unfitness(command: Enter | Introduce) -> Objection:
    """Return the objections to the names in a command."""
    if is_too_long(command.name, command.place if isinstance(command, Enter) else LOBBY):
        return Objection.TOO_LONG
    return Objection.NAME_RESERVED if command.name is not None and is_house_name(command.name) else NOTHING
