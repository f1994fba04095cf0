"""The feed: publishes facts to any number of subscribers.

Publishing never blocks or fails. The number of facts that wait for a subscriber is limited. A subscriber that
falls behind gets `Missed` instead of the waiting facts. It must then take a snapshot of the hub in the same
step. The end of a game is published when its result is stored. Later facts about its players may be published
before that.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Protocol, TypeAlias

from gateway.game.facts import (
    Away,
    AwayFor,
    Back,
    Came,
    Fact,
    GameStarted,
    Hindered,
    Left,
    Missed,
    MoveMade,
    Shown,
    Snapshot,
    Standing,
    Waits,
)
from gateway.game.results import Finished, Results
from gateway.hub.seats import Gone, PlayingElsewhere, Relayed, Seat, Seated, Series, Waiting

ALL: tuple[type[Fact], ...] = (
    Came,
    Waits,
    Hindered,
    Left,
    GameStarted,
    MoveMade,
    Away,
    Back,
    Finished,
)
LIMIT = 10_000
"""The most facts that wait for a subscriber."""
TEXT_LIMIT = 1024 * 1024
"""The most characters in the names of the facts that wait for a subscriber."""


class Subscription:
    """The queue of facts for one subscriber."""

    __slots__ = ("_characters", "_facts", "_feed", "_limit", "_missed", "_wake")

    def __init__(self, feed: "Feed", wake: Callable[[], None], limit: int) -> None:
        self._feed = feed
        self._wake = wake
        self._limit = limit
        self._facts: list[Fact] = []
        self._characters = 0
        self._missed = 0

    def put(self, fact: Fact, characters: int = 0) -> None:
        """Queue a fact; wake the subscriber if no other fact waits.

        `characters` is the number of characters of the names in the fact.
        """
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
        """Remove and return the waiting facts, oldest first; only `Missed` if facts were dropped."""
        facts, self._facts = self._facts, []
        missed, self._missed = self._missed, 0
        self._characters = 0
        return (Missed(missed),) if missed else facts

    def close(self) -> None:
        """End the subscription."""
        self._feed.drop(self)


class Feed:
    """Publishes the facts of one hub."""

    def __init__(self, results: Results, on_fault: Callable[[], object]) -> None:
        """Create a feed. `results` stores each game that is over, before its end is published.

        If a subscriber raises, `on_fault` is called while the exception is being handled.
        """
        self.results = results
        self.moves: Sequence[Subscription] = ()
        """The subscriptions to moves. If there are none, no facts about moves need to be made."""
        self.counts: Counter[tuple[str, str]] = Counter()
        """Counts of events for which there is no fact, by (event, kind of player), for the metrics. Names
        must not be keys."""
        self._subscribers: dict[type[Fact], tuple[Subscription, ...]] = dict.fromkeys(ALL, ())
        self._unpublished: deque[tuple[Finished, MoveMade | None]] = deque()
        self._on_fault = on_fault

    def subscribe(
        self, wake: Callable[[], None], kinds: Iterable[type[Fact]] = ALL, limit: int = LIMIT
    ) -> Subscription:
        """Return a subscription to facts of these kinds from now on; at most `limit` of them wait.

        `wake` is called when a fact waits and none did before. It may take the facts at once; it must not
        block or call the hub.
        """
        subscription = Subscription(self, wake, limit)
        for kind in kinds:
            self._subscribers[kind] += (subscription,)
        self.moves = self._subscribers[MoveMade]
        return subscription

    def publish(self, fact: Fact) -> None:
        """Queue a fact for all subscribers to its kind."""
        subscribers = self._subscribers[type(fact)]
        if subscribers:
            characters = _characters(fact)
            for subscription in subscribers:
                subscription.put(fact, characters)

    def move(self, fact: MoveMade) -> None:
        """Publish a move. Faster than `publish`."""
        for subscription in self.moves:
            subscription.put(fact)

    def end(self, finished: Finished, move: MoveMade | None = None) -> None:
        """Store the result of a game, and publish its end.

        If a move ended the game, it is given as `move` and is published before the end. Both are published
        when the result is stored and all earlier ends are published.
        """
        self.results.keep(finished)
        if any(self._subscribers.values()):
            self._unpublished.append((finished, move))
            self.tell_ends()

    def tell_ends(self, *, all_of_them: bool = False) -> None:
        """Publish the ends of games whose results are stored; with `all_of_them`, of all games that ended."""
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


# The facts of other nodes. On a node of a cluster they come from `hub.cluster.feed`.

RemoteFact: TypeAlias = Shown | Missed
"""A fact of another node, or a game there with its current state."""


class RemoteSubscription(Protocol):
    """One subscription to the state of all other nodes, and then their facts."""

    @property
    def is_whole(self) -> bool:
        """Whether the whole state of all nodes has been taken."""

    def take(self, most: int) -> Sequence[RemoteFact]:
        """Remove and return waiting facts, about `most` at most. After `Missed`, subscribe again."""

    def close(self) -> None:
        """End the subscription."""


class RemoteFacts(Protocol):
    """The feed of all other nodes."""

    def subscribe(self, wake: Callable[[], None]) -> RemoteSubscription:
        """Subscribe to the state of all other nodes, and then their facts.

        `wake` is called when there is something to take. It must not block or raise.
        """


# Facts about seats and series.


def came(seat: Seat) -> Came:
    """Return the fact that the player of a seat has come."""
    assert seat.name is not None
    return Came(seat.number, seat.name, seat.manners.kind)


def waits(seat: Seat, now: float) -> Waits:
    """Return the fact that the player of a seat waits."""
    assert isinstance(seat.situation, Waiting)
    return Waits(seat.number, seat.table, max(0.0, now - seat.situation.since))


def hindered(seat: Seat) -> Hindered:
    """Return the fact about the obstacle of a seat's player."""
    assert isinstance(seat.situation, Waiting)
    assert seat.name is not None
    obstacle = seat.situation.obstacle
    is_first = obstacle is not None and not seat.situation.was_hindered
    return Hindered(seat.number, seat.name, obstacle, is_first)


def started(series: Series) -> GameStarted:
    """Return the fact that the current game of a series has started."""
    first, second = series.session.order
    return series.session.started((series.seats[first].number, series.seats[second].number))


def standing(series: Series, now: float) -> Standing:
    """Return the state of the current game of a series."""
    first, second = (
        None if absence is None else AwayFor(max(0.0, now - absence.since), absence.grace)
        for absence in (series.seats[number].absence for number in series.session.order)
    )
    return replace(series.session.standing(now), away=(first, second))


def snapshot(seats: Iterable[Seat], now: float) -> Snapshot:
    """Return the state of the players on these seats, and of the games in which one of them is seat 0."""
    here = [seat for seat in seats if not isinstance(seat.situation, Gone | PlayingElsewhere | Relayed)]
    situations = [seat.situation for seat in here]
    series = [each.series for each in situations if isinstance(each, Seated) and each.number == 0]
    return Snapshot(
        players=tuple(came(seat) for seat in here if seat.name is not None),
        waiting=tuple(waits(seat, now) for seat in here if seat.waits),
        games=tuple((started(each), standing(each, now)) for each in series if each.is_playing),
        hindered=tuple(hindered(seat) for seat in here if seat.waits and seat.is_hindered),
    )


def _characters(fact: Fact) -> int:
    match fact:
        case Came() | Away() | Back():
            return len(fact.name)
        case Hindered(name=name, obstacle=obstacle):
            return len(name) + (0 if obstacle is None else obstacle.characters)
        case GameStarted():
            return sum(map(len, fact.names)) + len(fact.table or "")
        case Finished():
            return sum(len(player.name) for player in fact.players) + len(fact.table or "")
        case _:
            return 0
