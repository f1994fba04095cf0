"""The feed: publishes what happens as facts, once, to any number of subscribers.

- To publish never waits and never fails. A subscriber that raises is subscribed no longer.
- What waits for a subscriber is bounded. One that falls behind takes `Missed` in place of the facts, and asks
  the hub for a snapshot in the same step; the next facts begin where the snapshot ends.
- The facts of one game come in order. Its end is published when its players hear of it: once its result is
  stored. What its players do next is not held back, and may be published before.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeAlias

from gateway.game.commands import AtTable
from gateway.game.facts import (
    Came,
    Fact,
    GameStarted,
    Hindered,
    Left,
    Missed,
    MoveMade,
    Shown,
    Snapshot,
    Waits,
)
from gateway.game.results import Finished, Results
from gateway.hub.seats import Gone, PlayingElsewhere, Seat, Seated, Series, Waiting

ALL: tuple[type[Fact], ...] = (Came, Waits, Hindered, Left, GameStarted, MoveMade, Finished)
LIMIT = 10_000
"""Facts that may wait for a subscriber."""
TEXT_LIMIT = 1024 * 1024
"""Characters that the names in them may have, together."""


class Subscription:
    """What waits for one subscriber."""

    __slots__ = ("_characters", "_facts", "_feed", "_limit", "_missed", "_wake")

    def __init__(self, feed: "Feed", wake: Callable[[], None], limit: int) -> None:
        self._feed = feed
        self._wake = wake
        self._limit = limit
        self._facts: list[Fact] = []
        self._characters = 0
        self._missed = 0

    def put(self, fact: Fact, characters: int = 0) -> None:
        """Queue a fact that has so many characters of names, and wake the subscriber if it is the first."""
        facts = self._facts
        self._characters += characters
        if facts:
            facts.append(fact)
            if len(facts) > self._limit or self._characters > TEXT_LIMIT:
                self._missed = len(facts)
                facts.clear()
        elif self._missed:
            self._missed += 1
        else:
            facts.append(fact)
            try:
                self._wake()
            except Exception:
                self._feed.fail(self)

    def take(self) -> Sequence[Fact | Missed]:
        """Return what waits, oldest first, or `Missed` alone."""
        facts, self._facts = self._facts, []
        missed, self._missed = self._missed, 0
        self._characters = 0
        return (Missed(missed),) if missed else facts

    def close(self) -> None:
        """End the subscription."""
        self._feed.drop(self)


class Feed:
    """The facts of one hub."""

    def __init__(self, results: Results, on_fault: Callable[[], object]) -> None:
        """`results` is given each game that is over before its end is published.

        `on_fault` is called for a subscriber's mistake, while its exception is handled.
        """
        self.results = results
        self.moves: Sequence[Subscription] = ()
        """The subscriptions to moves. Where there are none, no fact need be made of a move."""
        self.counts: Counter[tuple[str, str]] = Counter()
        """How often something happened of which no fact tells: what, and to which kind. No player's name."""
        self._subscribers: dict[type[Fact], tuple[Subscription, ...]] = dict.fromkeys(ALL, ())
        self._unpublished: deque[tuple[Finished, MoveMade | None]] = deque()
        self._on_fault = on_fault

    def subscribe(
        self, wake: Callable[[], None], kinds: Iterable[type[Fact]] = ALL, limit: int = LIMIT
    ) -> Subscription:
        """Return a subscription to facts of these kinds from now on; `limit` of them may wait.

        `wake` is called when something waits and nothing did before. It may take that at once; it MUST NOT
        block or call the hub.
        """
        subscription = Subscription(self, wake, limit)
        for kind in kinds:
            self._subscribers[kind] += (subscription,)
        self.moves = self._subscribers[MoveMade]
        return subscription

    def publish(self, fact: Fact) -> None:
        """Queue a fact for all who subscribe to its kind."""
        subscribers = self._subscribers[type(fact)]
        if subscribers:
            characters = _characters(fact)
            for subscription in subscribers:
                subscription.put(fact, characters)

    def move(self, fact: MoveMade) -> None:
        """Publish a move: as `publish` does, in less time."""
        for subscription in self.moves:
            subscription.put(fact)

    def end(self, finished: Finished, move: MoveMade | None = None) -> None:
        """Keep the result of a game, and publish it later: the move that ended it too, if one did.

        Both are published once the result is stored and all ends before this one are published.
        """
        self.results.keep(finished)
        if any(self._subscribers.values()):
            self._unpublished.append((finished, move))
            self.tell_ends()

    def tell_ends(self, *, all_of_them: bool = False) -> None:
        """Publish the ends of the games whose result is stored by now, or of all that are over."""
        unpublished = self._unpublished
        while unpublished and (all_of_them or not self.results.is_open(unpublished[0][0].game)):
            finished, move = unpublished.popleft()
            if move is not None:
                self.move(move)
            self.publish(finished)

    def drop(self, subscription: Subscription) -> None:
        """End a subscription."""
        for kind, subscribers in self._subscribers.items():
            self._subscribers[kind] = tuple(each for each in subscribers if each is not subscription)
        self.moves = self._subscribers[MoveMade]

    def fail(self, subscription: Subscription) -> None:
        """End a subscription whose subscriber raised the exception that is being handled."""
        self.drop(subscription)
        self._on_fault()


# The facts of other nodes: where a server is a node of a cluster, `hub.cluster.feed` has them.

RemoteFact: TypeAlias = Shown | Missed
"""A fact of another node, or a game of its state."""


class RemoteSubscription(Protocol):
    """What waits for one subscriber: the state of all other nodes, and then their facts."""

    @property
    def is_whole(self) -> bool:
        """Whether the state of all nodes has been taken."""

    def take(self, most: int) -> Sequence[RemoteFact]:
        """Return what waits, up to about `most`. After `Missed` only another subscription helps."""

    def close(self) -> None:
        """End the subscription."""


class RemoteFacts(Protocol):
    """The feed of all other nodes."""

    def subscribe(self, wake: Callable[[], None]) -> RemoteSubscription:
        """Ask all nodes for their state, and then facts.

        `wake` is called when something waits. It MUST NOT block or raise.
        """


# Facts of what the hub has.


def came(seat: Seat) -> Came:
    """Return the fact that the player of a seat has come."""
    assert seat.name is not None
    return Came(seat.number, seat.name, seat.manners.kind)


def waits(seat: Seat, now: float) -> Waits:
    """Return the fact that the player of a seat waits."""
    assert isinstance(seat.situation, Waiting)
    table = seat.place.name if isinstance(seat.place, AtTable) else None
    return Waits(seat.number, table, max(0.0, now - seat.situation.since))


def hindered(seat: Seat) -> Hindered:
    """Return the fact of what is known about why the player of a seat waits."""
    assert isinstance(seat.situation, Waiting)
    assert seat.name is not None
    obstacle = seat.situation.obstacle
    is_first = obstacle is not None and not seat.situation.was_hindered
    return Hindered(seat.number, seat.name, obstacle, is_first)


def started(series: Series) -> GameStarted:
    """Return the fact that the game which is on has started."""
    first, second = series.session.order
    return series.session.started((series.seats[first].number, series.seats[second].number))


def snapshot(seats: Iterable[Seat], now: float) -> Snapshot:
    """Return what the players on these seats do. A game comes with one of its two, always the same one."""
    here = [seat for seat in seats if not isinstance(seat.situation, Gone | PlayingElsewhere)]
    situations = [seat.situation for seat in here]
    series = [each.series for each in situations if isinstance(each, Seated) and each.number == 0]
    return Snapshot(
        players=tuple(came(seat) for seat in here if seat.name is not None),
        waiting=tuple(waits(seat, now) for seat in here if seat.waits),
        games=tuple((started(each), each.session.standing(now)) for each in series if each.is_playing),
        hindered=tuple(hindered(seat) for seat in here if seat.waits and seat.is_hindered),
    )


def _characters(fact: Fact) -> int:
    match fact:
        case Came():
            return len(fact.name)
        case Hindered(name=name, obstacle=obstacle):
            return len(name) + (0 if obstacle is None else obstacle.characters)
        case GameStarted():
            return sum(map(len, fact.names)) + len(fact.table or "")
        case Finished():
            return sum(len(player.name) for player in fact.players) + len(fact.table or "")
        case _:
            return 0
