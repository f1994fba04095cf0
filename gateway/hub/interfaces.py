"""The hub as those outside it see it: connections, house players and the timekeeper.

They name these protocols and never the class behind them. A seat is for them a token that they hand back: of
its properties they read `is_asked`, `may_think` and `mailbox`, and change nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

from gateway.game.commands import Command
from gateway.game.events import Event, ToMove
from gateway.game.facts import Fact, GameStarted, Missed, Snapshot, Standing, Vanished
from gateway.game.manners import Manners
from gateway.game.results import Results
from gateway.hub.feed import Feed
from gateway.hub.remote import RemoteGame
from gateway.hub.seat import Mailbox, Seat
from gateway.matchmaking.matchmaker import Hosted, Hosting, Matchmaker, Opponent, Visitors


class Outgoing(Mailbox, Protocol):
    """A mailbox that can pass on at once what it holds."""

    def flush(self) -> None:
        """Pass on what leaves without waiting. MUST NOT block or raise.

        Of the hub it MAY call `handed` alone.
        """


class HubForPlayers(Protocol):
    """What connections and house players need. All times are seconds of the hub's clock."""

    @property
    def results(self) -> Results:
        """Where results are kept, and the evidence of a connection with them."""

    @property
    def feed(self) -> Feed:
        """Tells what happens to its subscribers: an end, when a connection has told its client."""

    def open(self, mailbox: Mailbox, manners: Manners, now: float, origin: str = "") -> Seat:
        """Return a seat for a player who has just come, from `origin`, and has not entered yet."""

    @property
    def expect(self) -> Callable[[Outgoing], None]:
        """Flush a mailbox when the hub is done: it has just got something."""

    def submit(self, seat: Seat, command: Command, now: float) -> bool:
        """Carry out or refuse a command that arrived at `now`. One of a seat that is gone is void.

        Return whether the caller has to wait until `Mailbox.resume` before it submits another command than
        `Leave` for this seat.
        """

    def handed(self, seat: Seat, request: ToMove, now: float) -> None:
        """Note that a request to move left for the seat's client at `now`: its time runs."""

    def alive(self, seat: Seat, now: float) -> None:
        """Note that the seat's client has answered a probe."""


class HubForTime(Protocol):
    """What the timekeeper needs."""

    @property
    def feed(self) -> Feed:
        """Tells what happens to its subscribers."""

    def tick(self, now: float) -> list[Seat]:
        """Do what is due, and return the seats whose time is up. These lose nothing before `flag`."""

    def flag(self, seat: Seat, now: float) -> None:
        """Let the seat lose on time, unless its move has been read meanwhile."""

    def fail(self, seat: Seat, now: float) -> None:
        """Hang up on a seat and its opponent, for a mistake of ours: the one that is being handled."""

    def next_alarm(self) -> float | None:
        """Return a time before which `tick` has nothing to do; None if nothing is due at all."""

    def seats(self) -> tuple[Seat, ...]:
        """Return the seats of all players who are here."""

    def drain(self) -> None:
        """Begin no further game, and let nobody in any more. Games that are on go on."""

    def let_go(self, seat: Seat, now: float) -> bool:
        """Say good-bye to a seat, unless it plays, or may on another node; return whether that was done."""

    def close(self, now: float) -> None:
        """Say good-bye to everybody, those who come later too. A game that is on ends without a winner."""


Told: TypeAlias = Fact | Missed | Vanished | tuple[GameStarted, Standing]
"""What other nodes tell: facts, and the games of their state."""


class Elsewhere(Protocol):
    """What is on on the other nodes of a cluster. One subscriber at a time follows it."""

    def watch(self, wake: Callable[[], None]) -> None:
        """Ask for the state of all nodes, and then facts.

        `wake` is called when something waits. It MUST NOT block or raise.
        """

    def close(self) -> None:
        """Hear of nothing more."""

    @property
    def is_whole(self) -> bool:
        """Whether the state of all nodes has been taken."""

    def take(self, most: int) -> Sequence[Told]:
        """Return what waits, up to about `most`. After `Missed` only another `watch` helps."""


class Cluster(Protocol):
    """The cluster that this server is a node of, for those who show it."""

    @property
    def elsewhere(self) -> Elsewhere:
        """What is on on the other nodes."""

    @property
    def nodes(self) -> int:
        """How many nodes the registry named when it last answered, this one included."""

    def condition(self) -> Mapping[str, object]:
        """Return how this node is connected, as JSON."""

    def drain(self) -> None:
        """Let no player of this node be paired any more, and no series of theirs elsewhere go on."""

    def is_reserved(self, seat: int) -> bool:
        """Whether another node may have begun a game with a seat, which this one has not heard yet."""


class HubForSubscribers(Protocol):
    """What those need who follow all that is on."""

    cluster: Cluster | None
    """The cluster that this server is a node of, if it is of one."""

    @property
    def is_draining(self) -> bool:
        """Whether the games that are on are finished, and no other begins: the server stops."""

    @property
    def feed(self) -> Feed:
        """Tells what happens to its subscribers."""

    def seats(self) -> tuple[Seat, ...]:
        """Return the seats of all players who are here."""

    def snapshot(self, now: float, seats: Iterable[Seat] | None = None) -> Snapshot:
        """Return all that is on, or the part of it that is of `seats`. MUST NOT be called by `wake`."""


class HubForMetrics(HubForSubscribers, Protocol):
    """What those need who count."""

    def __len__(self) -> int:
        """Return how many players are here, whatever they do."""


class HubForNodes(HubForSubscribers, Protocol):
    """What a node of a cluster needs. All times are seconds of the hub's clock."""

    @property
    def is_closed(self) -> bool:
        """Whether nobody is let in any more."""

    @property
    def matchmaker(self) -> Matchmaker:
        """What pairs the players."""

    @property
    def results(self) -> Results:
        """Where results are kept."""

    def open(self, mailbox: Mailbox, manners: Manners, now: float, origin: str = "") -> Seat:
        """Return a seat for a player of another node."""

    def submit(self, seat: Seat, command: Command, now: float) -> bool:
        """Carry out or refuse a command."""

    def arrived(self, seat: Seat, command: Command, answered: ToMove | None, used: float, now: float) -> None:
        """Carry out a command from another node; a move answers a request, and took `used` seconds there."""

    def flagged(self, seat: Seat, request: ToMove, used: float, now: float) -> None:
        """Let a seat lose on time whose request to move was open for `used` seconds there."""

    def told(self, seat: Seat, event: Event, now: float) -> None:
        """Tell a seat what happened in its series on another node."""

    def end_series(self, seat: Seat, now: float) -> None:
        """Let a series be over with the game that is on: the node of one player drains."""

    def lose(self, seat: Seat, now: float) -> None:
        """Let a series be over, and a game in it have no result: the way to the other node is gone."""

    def connect(self, nodes: "Nodes") -> None:
        """Let players meet those of other nodes."""

    def can_reach(self, seat: int) -> bool:
        """Whether nothing says that the player on a seat has vanished."""

    def settle(self, now: float) -> None:
        """Carry out what the matchmaker answers: it has heard of something elsewhere."""


class Nodes(Protocol):
    """The other nodes of a cluster."""

    def open_seat(self, match: Hosting, now: float) -> Seat:
        """Open a seat in the hub for a player of another node, who comes for a series, and return it."""

    def send_away(self, seat: Seat, match: Hosted) -> RemoteGame:
        """Return the way to the series that the player of `seat` has on another node from now on."""


class House(Visitors, Protocol):
    """Where house players come from."""

    def open_seat(self, name: str, opponent: Opponent, now: float) -> Seat:
        """Open a seat in the hub for the player called `name`, who is to play `opponent`, and return it."""
