"""Seats: the players of a hub, and what each of them is doing.

A seat has a mailbox and no socket: the hub cannot tell a client on a wire from a player inside this process.
A seat is in one of five situations, and what belongs to one of them alone is kept in it. Beside that, a move
of its player may still be under way (`Pending`), and its player may have asked for something that has no
answer yet (`Question`). Every change of a seat is a method here, and no other module assigns to its fields.
"""

from dataclasses import dataclass, field, replace
from enum import Enum, auto
from math import inf
from typing import Protocol, TypeAlias, assert_never

from gateway.game.board import Board, other
from gateway.game.commands import LOBBY, AtTable, Command, Denied, Enter, InLobby, Place
from gateway.game.events import Dismissed, Event, Objection, Started, ToMove
from gateway.game.facts import Obstacle
from gateway.game.ids import GameId
from gateway.game.manners import Afterwards, Manners
from gateway.game.results import Number, Player
from gateway.game.session import Session
from gateway.matchmaking.matchmaker import Entry, Match, Opponent, Turn

# Where events go.


class Mailbox(Protocol):
    """Takes the events of one player: the end of a socket, a house player, or the way to another node."""

    @property
    def is_reachable(self) -> bool:
        """Whether nothing says that the player has vanished. Asked before each series: MUST be cheap."""

    def deliver(self, event: Event) -> None:
        """Queue an event. MUST NOT block, MUST keep order. MUST NOT call the hub, except `expect`."""

    def resume(self) -> None:
        """Submit commands again, after `submit` has returned True. MUST NOT block, MUST NOT call the hub."""

    def probe(self) -> None:
        """Begin to find out whether the player has vanished.

        Later the hub's `alive` is called, or `Leave` submitted. MUST NOT block, MUST NOT call the hub.
        """

    async def settle(self) -> None:
        """Return when all that the player had sent before the call has been submitted.

        The timekeeper waits for it before a flag falls; the hub itself never calls it.
        """


class Outgoing(Mailbox, Protocol):
    """A mailbox that can send at once what it holds."""

    def flush(self) -> None:
        """Send what leaves without waiting. MUST NOT block or raise.

        Of the hub's methods it MAY call `handed` alone.
        """


class Nowhere:
    """The mailbox of a seat that is gone: drops whatever comes."""

    is_reachable = False

    def deliver(self, event: Event) -> None:
        """Drop an event."""

    def resume(self) -> None:
        """Do nothing."""

    def probe(self) -> None:
        """Do nothing."""

    async def settle(self) -> None:
        """Return at once."""


# Series with a player of another node. One of the two nodes holds the series; the hubs of both know of it.


@dataclass(frozen=True, slots=True)
class Hosting:
    """A series, held here, between a seat that waits and a player of another node. The seat opens."""

    turn: Turn
    node: str
    other: Turn
    """The turn of the other player, on its own node."""
    player: Player
    """The other player."""
    origin: str
    """Where the client of that player comes from."""
    rounds: int | None = None
    table: str | None = None
    """Both as in `Pair`."""

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns of the seats of this node."""
        return (self.turn,)


@dataclass(frozen=True, slots=True)
class Hosted:
    """A series of a seat that waits, which another node holds and has begun."""

    turn: Turn
    node: str
    player: Player
    """The opponent, there."""
    table: str | None = None
    """As in `Pair`."""

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns of the seats of this node."""
        return (self.turn,)


class RemoteGame(Protocol):
    """Sends what a player does to the node that holds its series. MUST NOT block or raise."""

    def submit(self, command: Command, request: int, used: float) -> None:
        """Send a command. A move answers the open request of that number, for which it took `used` seconds.

        The number is 0 where the client was asked for no move.
        """

    def flag(self, request: int, used: float) -> None:
        """Say that the time for the open request is up, which has run for `used` seconds."""

    def leave(self) -> None:
        """Say that the player has left. Nothing follows."""


class RemoteGames(Protocol):
    """Carries series with players of other nodes."""

    def open_seat(self, match: Hosting, now: float) -> "Seat":
        """Open a seat in the hub for a player of another node, for one series, and return it."""

    def play_elsewhere(self, seat: "Seat", match: Hosted) -> RemoteGame:
        """Return the way to the series of another node in which the player of `seat` is from now on."""


class RemotePairing(Protocol):
    """Agrees with other nodes on series between their players and those of this one."""

    def began(self, match: Hosting | Hosted, game: int) -> None:
        """Record that a game of a series began; for a series of another node, only its first."""

    def finished(self, match: Hosting | Hosted) -> None:
        """Record that a series is over."""


# Situations.


@dataclass(frozen=True, slots=True)
class Out:
    """Has not asked for an opponent, or not again."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Waits for an opponent."""

    turn: Turn
    since: float
    obstacle: Obstacle | None = None
    """Why no opponent is here, as far as the matchmaker knows."""
    was_hindered: bool = False
    """Whether there was an obstacle before, in this wait."""


@dataclass(frozen=True, slots=True)
class Seated:
    """In a series."""

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
    """In a series that another node holds, as far as the player has heard of it."""

    match: Hosted
    game: RemoteGame
    player: Player
    opponent: Player
    rounds: int = 0
    """How many games have begun."""
    started: Started | None = None
    """The game that is on."""
    began: float = 0.0
    """When the player heard of that."""
    board: Board = field(default_factory=Board)
    thought: float = 0.0
    """Seconds that the player has thought in this game."""
    ready: bool = True
    """Whether the player is ready for the next round."""
    request: ToMove | None = None
    """The open request to move."""
    handed: float | None = None
    """When that left for the client."""
    asked: Enter | None = None
    """The player's request for the next round, while it has no answer."""

    @property
    def names(self) -> tuple[str, str]:
        """The player's own name in the series, and the opponent's."""
        return self.player.name, self.opponent.name


@dataclass(frozen=True, slots=True)
class Gone:
    """Hung up on; its commands are void."""


Situation: TypeAlias = Out | Waiting | Seated | PlayingElsewhere | Gone


class Pending(Enum):
    """Whether a move for a game that is over may still come from the player. It must hit no other game.

    A move that was asked for when the game ended is `AWAITED`, after a while without a game `LATE`. It is
    pending no more once it has come, or another move is asked for.
    """

    AWAITED = auto()
    """It may be under way: the player gets no game, and the move is dropped."""
    LATE = auto()
    """It was waited for in vain; should it still come, it is dropped."""


@dataclass(frozen=True, slots=True)
class Question:
    """A request to enter that the matchmaker has not decided on."""

    command: Enter
    entry: Entry


# The seat.


@dataclass(eq=False, slots=True)
class Seat:
    """A player as the hub knows it."""

    number: int
    """What the matchmaker knows the seat by."""
    mailbox: Mailbox
    manners: Manners
    origin: str = ""
    """Where the client comes from: what clients have in common that may be one and the same."""
    came: float = 0.0
    """When the client came."""
    is_remote: bool = False
    """Whether the player has its own seat on another node, and goes on there after this series."""
    name: str | None = None
    counted: bool = True
    place: Place | None = None
    """Where it was let in last; None before it has entered."""
    is_kept: bool = False
    """Whether it has its place there still."""
    situation: Situation = Out()
    question: Question | Denied | None = None
    """What the player has asked for and has no answer to yet."""
    is_held: bool = False
    """Whether `submit` has returned True, and the mailbox waits for `resume`."""
    pending: Pending | None = None
    pending_game: GameId = ""
    """The game of the latest pending move. While its result is open, the client has not heard of its end."""

    # What it is.

    @property
    def waits(self) -> bool:
        """Whether the player waits for an opponent and could play at once."""
        return isinstance(self.situation, Waiting) and self.pending is not Pending.AWAITED

    @property
    def is_hindered(self) -> bool:
        """Whether the player waits, and it is known that no opponent is here."""
        return isinstance(self.situation, Waiting) and self.situation.obstacle is not None

    @property
    def is_ready(self) -> bool:
        """Whether the player is in a series, and the next round may begin as far as it is concerned."""
        situation = self.situation
        return isinstance(situation, Seated) and situation.ready and self.pending is not Pending.AWAITED

    @property
    def names(self) -> tuple[str, ...]:
        """Its name, empty if it has none, and the one that it has asked for and not been answered about."""
        asked = (self.question.entry.name,) if isinstance(self.question, Question) else ()
        return (self.name or "", *asked)

    @property
    def is_gone(self) -> bool:
        """Whether the player was hung up on."""
        return isinstance(self.situation, Gone)

    @property
    def is_asked(self) -> bool:
        """Whether a move is asked of the player."""
        situation = self.situation
        if isinstance(situation, PlayingElsewhere):
            return situation.request is not None
        return isinstance(situation, Seated) and situation.series.session.to_move == situation.number

    @property
    def may_think(self) -> bool:
        """Whether the player may think about a move: one is asked of it, or was when its game ended."""
        return self.is_asked or self.pending is not None

    @property
    def plays(self) -> bool:
        """Whether the player is in a game."""
        return Objection.PLAYING in self.standing()

    @property
    def steps_out(self) -> bool:
        """Whether the player must ask again for each game."""
        return self.manners.afterwards is Afterwards.STEP_OUT

    def standing(self) -> Objection:
        """Return what the seat's own situation says against anything but a move."""
        match self.situation:
            case Seated(series, _, ready):
                if series.is_playing:
                    return Objection.PLAYING
                return Objection.WAITING if ready else Objection.NOT_ENTERED
            case PlayingElsewhere(started=started, ready=ready, asked=asked):
                if started is not None:
                    return Objection.PLAYING
                return Objection.WAITING if ready or asked is not None else Objection.NOT_ENTERED
            case Waiting():
                return Objection.WAITING
            case Out() | Gone():
                return Objection.NOT_ENTERED
            case _:
                assert_never(self.situation)

    def opponent(self) -> Opponent:
        """Return the player as a house player needs it."""
        assert self.name is not None
        return Opponent(self.origin, self.name, self.manners.clocked)

    def player(self) -> Player:
        """Return the player as a series knows it, which keeps the name that it began with."""
        assert self.name is not None
        return Player(self.name, self.manners, self.counted, self.is_remote)

    def wants_next_round(self, name: str, place: Place) -> bool:
        """Whether a player who asks to enter as `name` wants the next round of the series that it is in."""
        if not isinstance(self.situation, Seated | PlayingElsewhere) or not self.is_kept:
            return False
        if self.is_remote:  # its own node has looked
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

    # What becomes of it.

    def introduce(self, name: str, *, counted: bool) -> bool:
        """Set the name for the series to come; return whether it differs from the one before."""
        is_new = name != self.name
        self.name, self.counted = name, counted
        return is_new

    def ask(self, question: Question | Denied) -> None:
        """Keep a question until the matchmaker has decided, or until a refusal that comes later."""
        self.question = question

    def hold(self) -> None:
        """Record that `submit` returned True, so the mailbox waits for `resume`."""
        self.is_held = True

    def answered(self) -> Question | Denied | None:
        """Return the question that has been answered, which is open no more."""
        question, self.question, self.is_held = self.question, None, False
        return question

    def enter(self, name: str, place: Place) -> bool:
        """Record the seat's place and name; return whether the name is another than before."""
        self.place, self.is_kept = place, True
        return self.introduce(name, counted=self.counted)

    def enter_remote(self, player: Player) -> None:
        """Make this the seat of a player of another node, for one series."""
        self.is_remote, self.counted = True, player.counted
        self.enter(player.name, LOBBY)

    def give_up_place(self) -> None:
        """Release the place."""
        self.is_kept = False

    def wait(self, turn: int, since: float) -> Turn:
        """Wait for an opponent, in a turn of the number `turn`."""
        before, new = self.situation, Turn(self.number, turn)
        if isinstance(before, Waiting) and before.since == since:
            self.situation = replace(before, turn=new)
        else:
            self.situation = Waiting(new, since)
        return new

    def hinder(self, obstacle: Obstacle | None) -> bool:
        """Wait with another obstacle than before, or none; return False if it is the same."""
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
        """Enter a series that another node holds."""
        opponent = replace(match.player, is_remote=True)
        self.situation = PlayingElsewhere(match, game, self.player(), opponent)

    def part(self) -> None:
        """Leave the series."""
        self.situation = Out()

    def await_move(self, game: GameId) -> None:
        """Get no game before the move for a game that is over has come, or has been waited for."""
        self.pending, self.pending_game = Pending.AWAITED, game

    def stop_awaiting(self, pending: Pending | None) -> bool:
        """Wait no longer for a pending move; return whether it has kept the player from a game."""
        was_kept, self.pending = self.pending is Pending.AWAITED, pending
        return was_kept

    def deliver(self, event: Event) -> None:
        """Queue an event for the player."""
        self.mailbox.deliver(event)

    def dismiss(self, dismissed: Dismissed) -> None:
        """Hang up on the player, who hears nothing more after `dismissed`.

        Mailbox and seat mostly refer to each other. The seat drops its reference, or every connection would
        leave objects that only the cyclic garbage collector frees, which seldom runs.
        """
        self.situation, self.question = Gone(), None
        mailbox, self.mailbox = self.mailbox, Nowhere()
        mailbox.deliver(dismissed)


@dataclass(eq=False, slots=True)
class Series:
    """A series that is on, and the seats of its session by their numbers."""

    match: Match | Hosting
    seats: tuple[Seat, Seat]
    session: Session = field(init=False)
    """Set when the series starts, at once after both seats have joined it."""
    leaves_next: Seat | None = None
    """The seat that leaves the series after the game that is on."""
    watched: float = inf
    """When the clock is looked at next; no later than its flag falls."""

    @property
    def numbered(self) -> tuple[tuple[Number, Seat], tuple[Number, Seat]]:
        """The two seats with their numbers."""
        return (0, self.seats[0]), (1, self.seats[1])

    @property
    def is_playing(self) -> bool:
        """Whether a game is on."""
        return self.session.to_move is not None
