"""The channel of all viewers that watch the same choice of games, and its events.

Reads no clock. A channel shows counts of all games, and a limited number of games, each at a place numbered
from 0. An event is encoded once, numbered from 1, and kept in a ring of limited size. Nothing is queued for a
viewer: it asks for the events after its latest one, so a viewer that stops reading takes no memory. A
snapshot and all events after it result in the same state as a later snapshot.
"""

import json
from collections import deque
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import islice

import trio

from adapters.web.live.state import Game, Json, State
from gateway.game.ids import GameId

RING = 64 * 1024
"""The most bytes of events in the ring."""
FRESH = 0.1
"""Seconds for which a snapshot is reused while nothing happens."""
RETRY = 2_000
"""Milliseconds after which a browser reconnects."""

_NONE: tuple[int, float, bytes] = (-1, 0.0, b"")
"""Stands for no snapshot. A snapshot has a number, the time when it was made, and its bytes."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The games that a viewer wants to see, and the largest number of them."""

    player: str | None = None
    """Only games with a player of this name; None for all."""
    table: str | None = None
    """Only games at the table of this name, in upper or lower case; None for all."""
    game: GameId | None = None
    most: int = 60
    first: tuple[str, ...] = ()
    """The players whose games get a place before those of others."""

    def has(self, game: Game) -> bool:
        """Whether the game is wanted."""
        started = game.started
        return (
            (self.player is None or self.player in started.names)
            and (self.table is None or self.table.casefold() == (started.table or "").casefold())
            and (self.game is None or self.game == started.game)
        )

    def precedence(self, game: Game) -> tuple[bool, float, GameId]:
        """Return a value that is greater for a game that gets a place before another one.

        Games of chosen players come first, then those of the strongest pairs, then the newest. Game ids sort
        by start time.
        """
        return not {*self.first}.isdisjoint(game.started.names), game.strength, game.id


def event(kind: str, data: Json) -> bytes:
    """Encode an event, without its id.

    A name may contain half of a surrogate pair, which UTF-8 cannot encode. It is written as a JSON escape.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"event: {kind}\ndata: {text}\n\n".encode("utf-8", "backslashreplace")


class Channel:
    """The events for one `Wanted`."""

    def __init__(self, name: str, wanted: Wanted, state: State) -> None:
        """`name` is a part of each event's id. It is unique over all channels and processes."""
        self.viewers = 0
        self.left = 0.0
        """When the last viewer left."""
        self._viewers_sent = 0
        """The number of viewers that was sent last."""
        self.number = 0
        """The number of the latest event."""
        self.places: dict[GameId, int] = {}
        """The places of the games in this channel."""
        self.news = trio.lowlevel.ParkingLot()
        """Where viewers wait for the next event."""
        self._name = name
        self._wanted = wanted
        self._ring: deque[bytes] = deque()
        self._size = 0
        self._tail: tuple[int, int, bytes] = (0, 0, b"")
        """The latest result of `since`, with the two event numbers that it is for. Many viewers get it."""
        self._snapshot = _NONE
        self._take_places(state)

    # Changes.

    def start(self, game: Game, now: float) -> None:
        """Add a new game, if it is wanted. If no place is free, the game waits for one."""
        if self._wanted.has(game):
            if self._free:
                self._carry(game, heappop(self._free), now)
            else:
                self._others[game.id] = None

    def end(self, game: Game, event: bytes) -> None:
        """Send `event`, the end of a game, if the game has a place. The game keeps the place."""
        if game.id in self.places:
            self.put(event)
        else:
            self._others.pop(game.id, None)

    def drop(self, game: Game, event: bytes, now: float) -> None:
        """Give the place of a finished game to the first of those that have no place, by `precedence`.

        If there is no such game, free the place and send `event`.
        """
        place = self.places.pop(game.id, None)
        if place is None:
            return
        if self._others:
            games = self._state.games
            other = max(self._others, key=lambda each: self._wanted.precedence(games[each]))
            del self._others[other]
            self._carry(games[other], place, now)
        else:
            heappush(self._free, place)
            self.put(event)

    def put(self, event: bytes) -> None:
        """Number an event, keep it, and wake the viewers."""
        self.number += 1
        numbered = b"id: %s-%d\n%s" % (self._name.encode(), self.number, event)
        self._ring.append(numbered)
        self._size += len(numbered)
        while self._size > RING:
            self._size -= len(self._ring.popleft())
        if self.news:
            self.news.unpark_all()

    def renew(self, state: State) -> None:
        """Replace the state and drop all events, so that every viewer gets a snapshot."""
        self.number += 1
        self._ring.clear()
        self._size = 0
        self._take_places(state)
        self.news.unpark_all()

    def tidy(self, now: float) -> None:
        """Drop the snapshot if it is too old to be reused, to free its memory."""
        if now > self._snapshot[1] + FRESH:
            self._snapshot = _NONE

    def send_viewers(self) -> None:
        """Send how many watch a single game, if their number has changed."""
        if self.viewers != self._viewers_sent and self._watching():
            self._viewers_sent = self.viewers
            self.put(event("watching", self._watching()))

    # Answers to viewers.

    def number_in(self, event_id: str) -> int | None:
        """Return the number of the event with this id; None if it is not an event of this channel."""
        name, _, digits = event_id.rpartition("-")
        is_ours = name == self._name and digits.isdecimal() and digits.isascii() and len(digits) < 16
        return int(digits) if is_ours else None

    def since(self, number: int | None, now: float) -> bytes:
        """Return all events after event `number`, or a snapshot if the ring does not have all of them."""
        if number is None or not self.number - len(self._ring) <= number <= self.number:
            return self.snapshot(now)
        if self._tail[:2] != (number, self.number):
            latest = [*islice(reversed(self._ring), self.number - number)]
            self._tail = number, self.number, b"".join(reversed(latest))
        return self._tail[2]

    def snapshot(self, now: float) -> bytes:
        """Return the state as an event."""
        number, made, data = self._snapshot
        if number != self.number or not made <= now <= made + FRESH:
            data = b"retry: %d\nid: %s-%d\n%s" % (
                *(RETRY, self._name.encode(), self.number),
                event("snapshot", {**self.state(now), **self._watching()}),
            )
            self._snapshot = self.number, now, data
        return data

    def state(self, now: float) -> Json:
        """Return the games of this channel, and the counts."""
        known = {**self._state.over, **self._state.games}
        places = sorted(self.places.items(), key=lambda item: item[1])
        timed = self._wanted.game is not None
        games = [known[game].shown(place, now, timed=timed) for game, place in places]
        return {**self._state.counts(now), "games": games}

    def _watching(self) -> Json:
        """Return the number of viewers, if they have chosen a single game."""
        return {} if self._wanted.game is None else {"watching": self.viewers}

    def _carry(self, game: Game, place: int, now: float) -> None:
        self.places[game.id] = place
        self.put(event("started", game.shown(place, now, timed=self._wanted.game is not None)))

    def _take_places(self, state: State) -> None:
        """Assign places to the games of a state, by `precedence`."""
        self._state = state
        known = [each for each in (*state.games.values(), *state.over.values()) if self._wanted.has(each)]
        known.sort(key=self._wanted.precedence, reverse=True)
        carried = [each.id for each in known[: self._wanted.most]]
        self.places = {game: place for place, game in enumerate(carried)}
        others = known[self._wanted.most :]
        self._others: dict[GameId, None] = {each.id: None for each in others if each.reason is None}
        """Live games that are wanted but have no place."""
        self._free = [*range(len(carried), self._wanted.most)]
        heapify(self._free)
