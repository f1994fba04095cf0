"""Seats: the players of a hub, and the situation of each.

A seat has a mailbox and no socket, so the hub does not distinguish clients from house players. A seat is in
one of six situations. In any of these it may have a pending move (`Pending`) and an open question
(`Question`). Only methods of this module change a seat.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from math import inf
from typing import NamedTuple, Protocol, TypeAlias, assert_never

from gateway.game.board import COLUMNS, Board, other
from gateway.game.commands import LOBBY, AtTable, Command, Denied, Enter, InLobby, Place, Play
from gateway.game.events import Dismissed, Ended, Event, Objection, Refused, Shown, Started, ToMove
from gateway.game.facts import Obstacle
from gateway.game.ids import GameId
from gateway.game.manners import Afterwards, Manners
from gateway.game.results import Number, Player, Scheduled
from gateway.game.session import Session
from gateway.matchmaking.matchmaker import Entry, Match, Opponent, Turn

MOST_EARLIER = 8
"""The most broken connections of a player that are remembered in a game."""

# Where events go.


class Mailbox(Protocol):
    """Takes the events for one player: a connection, a house player, or a player of another node.

    No method may block or call the hub, except as documented.
    """

    @property
    def is_reachable(self) -> bool:
        """Whether the client seems to be connected. Read before each series, so it must be cheap."""

    def deliver(self, event: Event) -> None:
        """Queue an event. Events keep their order. May call `hub.expect`."""

    def resume(self) -> None:
        """Resume after `submit` returned True. Once this call has returned, submit further commands."""

    def probe(self) -> None:
        """Begin to find out whether the client has vanished.

        Later call the hub's `alive` if the client answers; otherwise submit `Leave`.
        """

    def move_to(self, seat: "Seat") -> None:
        """Use `seat` from now on: the player had it before its earlier connection broke.

        Called while a request of the player to enter is open.
        """

    def conclude(self, ended: Ended, *, is_last: bool) -> None:
        """Record the end of the game that was on when the connection broke. The client is not told.

        `is_last` says that the player has not come back.
        """

    async def settle(self) -> None:
        """Wait until everything that the client had sent before the call has been submitted.

        The timekeeper calls it before a flag falls, the hub never.
        """


class Outgoing(Mailbox, Protocol):
    """A mailbox that can be flushed."""

    def flush(self) -> None:
        """Send as much as possible without blocking. Must not raise. May call `hub.handed`."""


class Nowhere:
    """The mailbox of a disconnected seat. Drops all events."""

    is_reachable = False

    def deliver(self, event: Event) -> None:
        """Drop an event."""

    def resume(self) -> None:
        """Do nothing."""

    def probe(self) -> None:
        """Do nothing."""

    def move_to(self, seat: "Seat") -> None:
        """Do nothing."""

    def conclude(self, ended: Ended, *, is_last: bool) -> None:
        """Do nothing."""

    async def settle(self) -> None:
        """Return at once."""


class Kept(Nowhere):
    """The mailbox of a seat that is kept for a player whose connection broke. Only starts its clock."""

    def __init__(self, expect: "Callable[[Kept], None]", handed: Callable[[ToMove], None]) -> None:
        """`expect` is `Hub.expect`. `handed` starts the clock for a request."""
        self._expect = expect
        self._handed = handed
        self._request: ToMove | None = None
        self.has_missed_start = False
        """Whether the current game began while the player was away."""

    def deliver(self, event: Event) -> None:
        """Drop an event, except a request to move."""
        if isinstance(event, ToMove):
            self._request = event
            self._expect(self)
        elif isinstance(event, Started):
            self.has_missed_start = True

    def flush(self) -> None:
        """Start the clock for the latest request."""
        request, self._request = self._request, None
        if request is not None:
            self._handed(request)


# Series with a player of another node. Each is played on one of the two nodes, and the hubs of both nodes
# know it.


@dataclass(frozen=True, slots=True)
class Hosting:
    """A series on this node. A waiting seat, which has the first move, plays another node's player."""

    turn: Turn
    node: str
    other: Turn
    """The turn of the other player, on its own node."""
    player: Player
    """The other player."""
    origin: str
    """The origin of the other player's client."""
    rounds: int | None = None
    table: str | None = None
    scheduled: Scheduled | None = None
    """`rounds`, `table` and `scheduled` are as in `Pair`."""

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns of the seats of this node."""
        return (self.turn,)


@dataclass(frozen=True, slots=True)
class Hosted:
    """A series that has begun on another node, for a waiting seat of this node."""

    turn: Turn
    node: str
    player: Player
    """The opponent."""
    table: str | None = None
    """As in `Pair`."""
    grace: float = 0.0
    """As `Terms.grace`, for this series."""

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns of the seats of this node."""
        return (self.turn,)


class RemoteGame(Protocol):
    """Sends commands of a player to the node of its series. Must not block or raise."""

    def submit(self, command: Command, request: int, used: float) -> None:
        """Send a command, with the number of the open request to move and the seconds since it was sent.

        `request` is 0 if no request is open.
        """

    def flag(self, request: int, used: float) -> None:
        """Report that the time for the open request, sent `used` seconds ago, is up."""

    def away(self, grace: float) -> None:
        """Report that the player's connection broke, and that its seat is kept for `grace` seconds."""

    def back(self, game: GameId, *, is_told: bool, resumes: bool) -> None:
        """Report that the player has come back.

        `game` is the latest game that its node knows. `is_told` says whether the player was told of it,
        `resumes` whether it goes on with the game. If not, the game is played again.
        """

    def alive(self) -> None:
        """Report that the client has answered a probe."""

    def leave(self, *, is_broken: bool = False) -> None:
        """Report that the player has left. Further calls have no effect, as after `submit` with `Leave`."""


class RemoteGames(Protocol):
    """The series with players of other nodes."""

    def open_seat(self, match: Hosting, now: float) -> "Seat":
        """Open a seat in the hub for a player of another node, for one series, and return it."""

    def play_elsewhere(self, seat: "Seat", match: Hosted) -> RemoteGame:
        """Return the game on another node that the player of `seat` plays from now on."""


class RemotePairing(Protocol):
    """Records the series between players of this node and players of other nodes."""

    def began(
        self, match: Hosting | Hosted, game: int, *, is_again: bool = False, grace: float = 0.0
    ) -> None:
        """Record that a game of a series began. For a series on another node, record only the first game.

        `is_again` is as in `Matchmaker.began`. `grace` is `Terms.grace`, for this series.
        """

    def finished(self, match: Hosting | Hosted) -> None:
        """Record that a series is over."""


# Situations.


@dataclass(frozen=True, slots=True)
class Out:
    """The player has not asked for an opponent since it connected, or since its last series ended."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The player waits for an opponent."""

    turn: Turn
    since: float
    obstacle: Obstacle | None = None
    """Why there is no opponent, as far as the matchmaker knows."""
    was_hindered: bool = False
    """Whether there was an obstacle earlier in this wait."""


@dataclass(frozen=True, slots=True)
class Seated:
    """The player is in a series."""

    series: "Series"
    number: Number
    """The seat's number in the session."""
    ready: bool = True
    """Whether the player is ready for the next round."""

    @property
    def names(self) -> tuple[str, str]:
        """The player's own name in the series, and the opponent's."""
        players = self.series.session.players
        return players[self.number].name, players[other(self.number)].name


@dataclass(eq=False, slots=True)
class PlayingElsewhere:
    """The player is in a series on another node. The state follows from the events received so far."""

    match: Hosted
    game: RemoteGame
    player: Player
    opponent: Player
    rounds: int = 0
    """The number of games that have begun."""
    started: Started | None = None
    """The current game; None between two games."""
    began: float = 0.0
    """When the event `started` arrived."""
    board: Board = field(default_factory=Board)
    thought: float = 0.0
    """Seconds that the player has thought in this game."""
    ready: bool = True
    """Whether the player is ready for the next round."""
    request: ToMove | None = None
    """The open request to move."""
    handed: float | None = None
    """When the request was sent to the client."""
    asked: Enter | None = None
    """The player's request for the next round, until it is answered."""
    awaits_replay: bool = False
    """Whether the player has come back and the game will be played again. Until then, events are dropped."""
    shown: int = 0
    """The number of moves on the board that the player was told when it came back."""
    repeats: bool = False
    """Whether the next game is a round that is played again."""

    @property
    def names(self) -> tuple[str, str]:
        """The player's own name in the series, and the opponent's."""
        return self.player.name, self.opponent.name


@dataclass(eq=False, slots=True)
class Relayed:
    """The client has come back to a seat on another node, to which everything is passed on."""

    game: RemoteGame
    plays: bool = False
    """Whether a game is on."""
    request: ToMove | None = None
    """The open request to move."""
    handed: float | None = None
    """When the request was sent to the client."""


@dataclass(frozen=True, slots=True)
class Gone:
    """The player is disconnected. Its commands are ignored."""


Situation: TypeAlias = Out | Waiting | Seated | PlayingElsewhere | Relayed | Gone


class Pending(Enum):
    """A move for a game that is over. It may still arrive, and must not count in another game.

    If a request to move was open when the game ended, its answer is a pending move, until it arrives or
    another request is sent. A pending move is dropped when it arrives.
    """

    AWAITED = auto()
    """The move may be on its way, so the player gets no game yet."""
    LATE = auto()
    """The move has not arrived in time, so the player can get a game."""


class Absence(NamedTuple):
    """The absence of a player whose connection broke during a game."""

    since: float
    grace: float
    """Seconds for which the seat is kept."""


@dataclass(frozen=True, slots=True)
class Question:
    """A request to enter that the matchmaker has not decided on."""

    command: Enter
    entry: Entry


# The seat.


@dataclass(eq=False, slots=True)
class Seat:
    """A player of the hub."""

    number: int
    """The number of the seat for the matchmaker."""
    mailbox: Mailbox
    manners: Manners
    origin: str = ""
    """The address or network of the client (`addresses.origin_at`)."""
    came: float = 0.0
    """When the client connected."""
    is_remote: bool = False
    """Whether the player is connected to another node, and is here for one series."""
    name: str | None = None
    counted: bool = True
    place: Place | None = None
    """The place where the player last entered; None before it has entered."""
    has_place: bool = False
    """Whether the player still has that place."""
    situation: Situation = Out()
    question: Question | Denied | None = None
    """The player's request that has no answer yet."""
    is_held: bool = False
    """Whether `submit` has returned True, and the mailbox waits for `resume`."""
    absence: Absence | None = None
    """The absence of the player; None while it is connected."""
    earlier: tuple[Mailbox, ...] = ()
    """The mailboxes of its connections that broke during the current game. They get the end of the game."""
    early: Play | None = None
    """The move that the player has sent before its next game began."""
    pending: Pending | None = None
    pending_game: GameId = ""
    """The game of the latest pending move. The client gets the end of this game only when the result is
    stored."""

    # State.

    @property
    def waits(self) -> bool:
        """Whether the player waits for an opponent and could play at once."""
        return isinstance(self.situation, Waiting) and self.pending is not Pending.AWAITED

    @property
    def table(self) -> str | None:
        """The name of the table where the player last entered; None for the lobby."""
        return self.place.name if isinstance(self.place, AtTable) else None

    @property
    def is_hindered(self) -> bool:
        """Whether the player waits, and a known obstacle keeps it from being paired."""
        return isinstance(self.situation, Waiting) and self.situation.obstacle is not None

    @property
    def is_ready(self) -> bool:
        """Whether the player is in a series and ready for its next round."""
        situation = self.situation
        return isinstance(situation, Seated) and situation.ready and self.pending is not Pending.AWAITED

    @property
    def names(self) -> tuple[str, ...]:
        """The player's name, perhaps empty, and the name in its open request to enter, if there is one."""
        asked = (self.question.entry.name,) if isinstance(self.question, Question) else ()
        return (self.name or "", *asked)

    @property
    def is_gone(self) -> bool:
        """Whether the player was disconnected."""
        return isinstance(self.situation, Gone)

    @property
    def is_asked(self) -> bool:
        """Whether the player has an open request to move."""
        situation = self.situation
        if isinstance(situation, PlayingElsewhere | Relayed):
            return situation.request is not None
        return isinstance(situation, Seated) and situation.series.session.to_move == situation.number

    @property
    def may_think(self) -> bool:
        """Whether the client may be thinking: a request to move is open, or was open when its game ended."""
        return self.is_asked or self.pending is not None

    @property
    def plays(self) -> bool:
        """Whether the player is in a game."""
        return Objection.PLAYING in self.standing()

    @property
    def game(self) -> Shown | None:
        """The player's game, if it is on and on this node."""
        situation = self.situation
        if isinstance(situation, Seated) and situation.series.is_playing:
            return situation.series.session.show()
        return None

    @property
    def is_relayed(self) -> bool:
        """Whether the player's own seat is on another node."""
        return isinstance(self.situation, Relayed)

    @property
    def grace(self) -> float:
        """Seconds for which the seat would be kept if the connection broke now; 0 if no game is on."""
        match self.situation:
            case Seated(series) if series.is_playing or series.session.repeats:
                return series.grace
            case PlayingElsewhere(match=match, started=started, repeats=repeats):
                return match.grace if started is not None or repeats else 0.0
            case _:
                return 0.0

    @property
    def might_be_kept(self) -> bool:
        """Whether the seat would perhaps be kept if the connection broke now.

        For a client that has come back to a seat on another node, that node decides.
        """
        return self.grace > 0 or self.is_relayed

    @property
    def steps_out(self) -> bool:
        """Whether the player has to ask for each game."""
        return self.manners.afterwards is Afterwards.STEP_OUT

    @property
    def plays_once(self) -> bool:
        """Whether the player is disconnected after one game."""
        return self.manners.afterwards is Afterwards.ONE_GAME

    def standing(self) -> Objection:
        """Return the objection that the seat's situation raises to any command other than a move."""
        plays = waits = False
        match self.situation:
            case Seated(series, _, waits):
                plays = series.is_playing
            case PlayingElsewhere(started=started, ready=ready, asked=asked):
                plays, waits = started is not None, ready or asked is not None
            case Relayed(plays=plays):
                pass  # the node of the player's seat knows whether it waits
            case Waiting():
                waits = True
            case Out() | Gone():
                pass
            case _:
                assert_never(self.situation)
        if plays:
            return Objection.PLAYING
        return Objection.WAITING if waits else Objection.NOT_ENTERED

    def opponent(self) -> Opponent:
        """Return the player's data for a house player that plays against it."""
        assert self.name is not None
        return Opponent(self.origin, self.name, self.manners.clocked)

    def player(self) -> Player:
        """Return the player's data for a series. Later changes of the name do not affect the series."""
        assert self.name is not None
        return Player(self.name, self.manners, self.counted, self.is_remote)

    def wants_next_round(self, name: str, place: Place) -> bool:
        """Whether a request to enter as `name` asks for the next round of the player's series."""
        if not isinstance(self.situation, Seated | PlayingElsewhere) or not self.has_place:
            return False
        if self.is_remote:  # its own node has checked the request
            return True
        own, opponent = self.situation.names
        if name != own:
            return False
        match place, self.place:
            case AtTable(), AtTable() as here:
                return place.key == here.key
            case InLobby(wish), InLobby():
                return wish is None or wish.grants(opponent)
            case _:
                return False

    # Changes.

    def introduce(self, name: str | None, *, counted: bool) -> bool:
        """Set the name for further series, None for no name; return whether it has changed."""
        is_new = name != self.name
        self.name, self.counted = name, counted
        return is_new

    def ask(self, question: Question | Denied) -> None:
        """Store a question, until the matchmaker has decided or the pause of a denial is over."""
        self.question = question

    def hold(self) -> None:
        """Record that `submit` returned True, so the mailbox waits for `resume`."""
        self.is_held = True

    def answered(self) -> Question | Denied | None:
        """Remove and return the question, which has been answered."""
        question, self.question, self.is_held = self.question, None, False
        return question

    def enter(self, name: str, place: Place) -> bool:
        """Record the seat's place and name; return whether the name has changed."""
        self.place, self.has_place, self.early = place, True, None
        return self.introduce(name, counted=self.counted)

    def enter_remote(self, player: Player) -> None:
        """Enter as a player of another node, for one series."""
        self.is_remote, self.counted = True, player.counted
        self.enter(player.name, LOBBY)

    def takes_early(self, command: Play) -> bool:
        """Keep a move for the player's next game, if it waits for one and may send it now."""
        is_early = self.manners.moves_early and Objection.WAITING in self.standing()
        if not is_early or command.column not in range(COLUMNS):
            return False
        self.early = command
        return True

    def take_early(self) -> Play | None:
        """Remove and return the move that was sent before the game; None if there is none."""
        early, self.early = self.early, None
        return early

    def refuse_early(self, game: GameId) -> None:
        """Refuse the move that was sent before `game`, if there is one: the opponent has the first move."""
        early = self.take_early()
        if early is not None:
            self.deliver(Refused(Objection.NOT_YOUR_TURN, early.to, game))

    def give_up_place(self) -> None:
        """Release the place."""
        self.has_place = False

    def give_up_name(self) -> None:
        """Be as after connecting: without a name, a place or a series."""
        self.name = self.place = self.pending = None
        self.has_place = False
        self.situation = Out()

    def wait(self, turn: int, since: float) -> Turn:
        """Make the player wait for an opponent; return its turn, which gets the number `turn`.

        `since` is the time at which the wait began. If the player has been waiting since then already, its
        obstacle is kept.
        """
        before, new = self.situation, Turn(self.number, turn)
        if isinstance(before, Waiting) and before.since == since:
            self.situation = replace(before, turn=new)
        else:
            self.situation = Waiting(new, since)
        return new

    def hinder(self, obstacle: Obstacle | None) -> bool:
        """Set the obstacle, or None; return whether it has changed."""
        waiting = self.situation
        if not isinstance(waiting, Waiting) or waiting.obstacle == obstacle:
            return False
        hindered = waiting.was_hindered or waiting.obstacle is not None
        self.situation = replace(waiting, obstacle=obstacle, was_hindered=hindered)
        return True

    def join(self, series: "Series", number: Number, *, ready: bool = True) -> None:
        """Enter a series, ready for its next round or not."""
        self.situation = Seated(series, number, ready)

    def play_elsewhere(self, game: RemoteGame, match: Hosted) -> None:
        """Enter a series on another node."""
        opponent = replace(match.player, is_remote=True)
        self.situation = PlayingElsewhere(match, game, self.player(), opponent)

    def keep(self, mailbox: Kept, since: float, grace: float) -> None:
        """Keep the seat for `grace` seconds for the player, whose connection broke."""
        self.earlier = (*self.earlier, self.mailbox)[-MOST_EARLIER:]
        self.mailbox, self.question, self.is_held = mailbox, None, False
        self.pending = None  # the move cannot arrive any more
        self.go_away(since, grace)

    def go_away(self, since: float, grace: float) -> None:
        """Record that the player is away since then, and that its seat is kept for `grace` seconds."""
        self.absence = Absence(since, grace)

    def come_back(self) -> float | None:
        """Record that the player is back; return since when it was away, or None if it was not away."""
        absence, self.absence = self.absence, None
        return None if absence is None else absence.since

    def take_back(self, mailbox: Mailbox, origin: str) -> None:
        """Give the seat back to its player, which has a new connection."""
        self.mailbox, self.origin = mailbox, origin

    def hand_over(self) -> Mailbox:
        """Return the mailbox, and use none from now on: it gets another seat."""
        mailbox, self.mailbox = self.mailbox, Nowhere()
        return mailbox

    def relay(self, game: RemoteGame, name: str, place: Place) -> None:
        """Pass everything on to the seat, on another node, to which the client has come back."""
        self.situation, self.name, self.place = Relayed(game), name, place

    def part(self) -> None:
        """Leave the series."""
        self.situation = Out()

    def await_move(self, game: GameId) -> None:
        """Wait for a pending move of `game`. The seat gets no game until the move has arrived or is late."""
        self.pending, self.pending_game = Pending.AWAITED, game

    def stop_awaiting(self, pending: Pending | None) -> bool:
        """Set the state of the pending move; return whether the move kept the player from games until now.

        A move cannot become late if it is not awaited any more.
        """
        was_awaited = self.pending is Pending.AWAITED
        if was_awaited or pending is None:
            self.pending = pending
        return was_awaited

    def deliver(self, event: Event) -> None:
        """Queue an event for the player."""
        self.mailbox.deliver(event)
        if self.earlier and isinstance(event, Ended):
            self.end_earlier(event)

    def end_earlier(self, ended: Ended) -> None:
        """Let the mailboxes of the player's earlier connections record the end of the game."""
        for number, mailbox in enumerate(self.earlier, 1):
            is_last = self.absence is not None and number == len(self.earlier)
            mailbox.conclude(ended, is_last=is_last)
        self.earlier = ()

    def dismiss(self, dismissed: Dismissed) -> None:
        """Disconnect the player with a last event.

        The seat drops its references to mailboxes. Most mailboxes also refer to the seat, and only the
        cyclic garbage collector, which seldom runs, would free both.
        """
        self.situation, self.question, self.earlier = Gone(), None, ()
        mailbox, self.mailbox = self.mailbox, Nowhere()
        mailbox.deliver(dismissed)


@dataclass(eq=False, slots=True)
class Series:
    """A series that is being played."""

    match: Match | Hosting
    seats: tuple[Seat, Seat]
    """The seats, by their numbers in the session."""
    session: Session = field(init=False)
    """Set immediately after both seats have joined the series."""
    grace: float = 0.0
    """As `Terms.grace`, for this series."""
    leaves_next: Seat | None = None
    """The seat that leaves the series after the current game."""
    watched: float = inf
    """When the clock is checked next: at the latest when its flag falls."""

    @property
    def numbered(self) -> tuple[tuple[Number, Seat], tuple[Number, Seat]]:
        """The two seats with their numbers."""
        return (0, self.seats[0]), (1, self.seats[1])

    @property
    def leaver(self) -> Seat | None:
        """The seat that leaves the series after the current game: its player is away, or plays no other."""
        leavers = (seat for seat in self.seats if seat.absence is not None or seat.plays_once)
        return self.leaves_next or next(leavers, None)

    @property
    def is_playing(self) -> bool:
        """Whether a game is on."""
        return self.session.to_move is not None
