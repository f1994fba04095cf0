"""A player's place in the hub, and the state that it is in.

A seat is a mailbox, not a socket: the hub cannot tell a client on a wire from a player inside this process.
What a seat is about is one of four situations, and what belongs to one of them alone is kept in it. Beside
that a seat may owe a move (`Owed`), and may have asked to enter and have no answer yet (`Question`). Every
change of a seat is a method here, and no other module assigns to its fields.
"""

from dataclasses import dataclass, field, replace
from enum import Enum, auto
from math import inf
from typing import Protocol, TypeAlias, assert_never

from gateway.game.board import other
from gateway.game.commands import LOBBY, AtTable, Denied, Enter, InLobby, Place
from gateway.game.events import Dismissed, Event, Objection
from gateway.game.facts import Obstacle
from gateway.game.ids import GameId
from gateway.game.manners import Afterwards, Manners
from gateway.game.results import Number, Player
from gateway.game.session import Session
from gateway.hub.remote import Away, RemoteGame
from gateway.matchmaking.matchmaker import Entry, Hosted, Hosting, Match, Turn

# Where a player's events go, as the hub sees it: a socket's end, a player of the house, or one elsewhere.


class Mailbox(Protocol):
    """Where a player's events go."""

    @property
    def is_reachable(self) -> bool:
        """Whether nothing says that the player has vanished. Asked before each series: MUST be cheap."""

    def deliver(self, event: Event) -> None:
        """Queue an event. MUST NOT block, MUST keep order, MUST NOT call the hub."""

    def resume(self) -> None:
        """Submit commands again, after `submit` has returned True. MUST NOT block, MUST NOT call the hub."""

    def probe(self) -> None:
        """Begin to find out whether the player has vanished.

        Later the hub's `alive` is called, or `Leave` submitted. MUST NOT block, MUST NOT call the hub.
        """

    async def settle(self) -> None:
        """Return when all that the player had sent before the call has been submitted.

        For the timekeeper, before a flag falls; the hub itself never calls it.
        """


class Nowhere:
    """The mailbox of a player who is gone. Drops whatever comes."""

    is_reachable = False

    def deliver(self, event: Event) -> None:
        """Drop an event."""

    def resume(self) -> None:
        """Do nothing."""

    def probe(self) -> None:
        """Do nothing."""

    async def settle(self) -> None:
        """Return at once."""


# The seat.

NEVER = inf
"""A time that does not come."""


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
    """Whether there was one before, in this wait."""


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


@dataclass(frozen=True, slots=True)
class Gone:
    """Hung up on; its commands are void."""


Situation: TypeAlias = Out | Waiting | Seated | Away | Gone


class Owed(Enum):
    """Whether a move for a game that is over may still come from the player. It is to hit no other game.

    Asked for a move when the game ended, a player owes it `SOON`; after a while without a game, `LATE`;
    and none any more once it has come, or another move is asked for.
    """

    SOON = auto()
    """It may be under way: the player gets no game, and the move is dropped."""
    LATE = auto()
    """It was waited for in vain; should it still come, it is dropped."""


@dataclass(frozen=True, slots=True)
class Question:
    """A player's request to enter, while the matchmaker has not decided on it."""

    command: Enter
    entry: Entry


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
    is_visiting: bool = False
    """Whether the player has another seat, on its own node, and goes back there after its series."""
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
    owed: Owed | None = None
    owed_game: GameId = ""
    """The game that a move was owed for last. While its result is open, its end is not told yet."""

    # What it is.

    @property
    def waits(self) -> bool:
        """Whether the player waits for an opponent and could play at once."""
        return isinstance(self.situation, Waiting) and self.owed is not Owed.SOON

    @property
    def is_hindered(self) -> bool:
        """Whether the player waits, and it is known that no opponent is here."""
        return isinstance(self.situation, Waiting) and self.situation.obstacle is not None

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
        if isinstance(situation, Away):
            return situation.request is not None
        return isinstance(situation, Seated) and situation.series.session.to_move == situation.number

    @property
    def may_think(self) -> bool:
        """Whether the player may think about a move: one is asked of it, or was when its game ended."""
        return self.is_asked or self.owed is not None

    @property
    def plays(self) -> bool:
        """Whether the player is in a game."""
        return Objection.PLAYING in self.standing()

    def standing(self) -> Objection:
        """Return what the seat's own situation says against anything but a move."""
        match self.situation:
            case Seated(series, _, ready):
                if series.is_playing:
                    return Objection.PLAYING
                return Objection.WAITING if ready else Objection.NOT_ENTERED
            case Away(begun=begun, ready=ready, asked=asked):
                if begun is not None:
                    return Objection.PLAYING
                return Objection.WAITING if ready or asked is not None else Objection.NOT_ENTERED
            case Waiting():
                return Objection.WAITING
            case Out() | Gone():
                return Objection.NOT_ENTERED
            case _:
                assert_never(self.situation)

    @property
    def steps_out(self) -> bool:
        """Whether the player must ask again for each game."""
        return self.manners.afterwards is Afterwards.STEP_OUT

    def player(self) -> Player:
        """Return who plays here; a series keeps the name that it began with."""
        assert self.name is not None
        return Player(self.name, self.manners, self.counted, self.is_visiting)

    def wants_next_round(self, name: str, place: Place) -> bool:
        """Whether a player who asks to enter as `name` wants the next round of the series that it is in."""
        if not isinstance(self.situation, Seated | Away) or not self.is_kept:
            return False
        if self.is_visiting:  # its own node has looked
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
        """Take a name for the series to come; return whether it is another than before."""
        is_new = name != self.name
        self.name, self.counted = name, counted
        return is_new

    def ask(self, question: Question | Denied) -> None:
        """Wait for the matchmaker's decision, or for a refusal that is to come later."""
        self.question = question

    def hold(self) -> None:
        """Let the mailbox wait until the question has been answered."""
        self.is_held = True

    def answered(self) -> Question | Denied | None:
        """Return the question that has been answered, and let it be open no more."""
        question, self.question, self.is_held = self.question, None, False
        return question

    def enter(self, name: str, place: Place) -> bool:
        """Have a place, under a name; return whether that is another than before."""
        self.place, self.is_kept = place, True
        return self.introduce(name, counted=self.counted)

    def give_up_place(self) -> None:
        """Have no place any more."""
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

    def join(self, series: "Series", number: Number) -> None:
        """Be in a series, and ready for its next round."""
        self.situation = Seated(series, number)

    def step_out(self, series: "Series", number: Number) -> None:
        """Be in a series still, and not ready for its next round."""
        self.situation = Seated(series, number, ready=False)

    def come(self, guest: Player) -> None:
        """Be the seat of a player of another node."""
        self.is_visiting = True
        self.counted = guest.counted
        self.enter(guest.name, LOBBY)

    def go_away(self, game: RemoteGame, match: Hosted) -> None:
        """Be in a series on another node, against a player there."""
        self.situation = Away(match, game, self.player(), replace(match.player, is_remote=True))

    def part(self) -> None:
        """Be in no series any more."""
        self.situation = Out()

    def owe(self, game: GameId) -> None:
        """Owe a move for a game that is over, and get none before it has come or has been waited for."""
        self.owed, self.owed_game = Owed.SOON, game

    def rest(self, owed: Owed | None) -> bool:
        """Let a move be owed no more, or only later on; return whether it has kept the player from a game."""
        rests, self.owed = self.owed is Owed.SOON, owed
        return rests

    def deliver(self, event: Event) -> None:
        """Tell the player of an event."""
        self.mailbox.deliver(event)

    def dismiss(self, farewell: Dismissed) -> None:
        """Tell the player of its going, after which it hears nothing more.

        Mailbox and seat mostly know each other. The seat lets go, or every connection would leave a heap of
        things that only the cyclic garbage collector clears away, which looks for them seldom.
        """
        self.situation, self.question = Gone(), None
        mailbox, self.mailbox = self.mailbox, Nowhere()
        mailbox.deliver(farewell)


@dataclass(eq=False, slots=True)
class Series:
    """A series that is on, and the seats of its session by their numbers."""

    match: Match | Hosting
    seats: tuple[Seat, Seat]
    session: Session = field(init=False)
    """Set when the series starts, at once after both seats have joined it."""
    leaves_next: Seat | None = None
    """Who leaves it after the game that is on."""
    watched: float = NEVER
    """When the timers look at its clock; no later than its flag falls."""

    @property
    def numbered(self) -> tuple[tuple[Number, Seat], tuple[Number, Seat]]:
        """The two seats with their numbers."""
        return (0, self.seats[0]), (1, self.seats[1])

    @property
    def is_playing(self) -> bool:
        """Whether a game is on."""
        return self.session.to_move is not None
