"""The events for all viewers of the same games: some games, each at its place, and counts of all.

Pure. An event is encoded once, numbered from 1, and kept in a ring that is bounded in bytes. A viewer is a
number: that of the last event it got. The rules it keeps:

- A snapshot and all events after it say the same as a later snapshot.
- A viewer whose number is not in the ring gets a snapshot.
- Event ids are unique over all channels and processes.
"""

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import islice
from typing import TypeAlias

from adapters.web.live.model import Game, Json, Model
from gateway.game.ids import GameId

RING = 64 * 1024
"""Bytes of events in the ring."""
FRESH = 0.1
"""Seconds for which a snapshot is used again while nothing happens."""
RETRY = 2_000
"""Milliseconds after which a browser connects again."""

Wake: TypeAlias = Callable[[], object]
_NONE: tuple[int, float, bytes] = (-1, 0.0, b"")
"""In place of a snapshot: its number, when it was made, and what it is."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The games that a viewer wants, and how many of them."""

    player: str | None = None
    """The name of one of its players."""
    table: str | None = None
    """The name of its table, in any case."""
    game: GameId | None = None
    most: int = 60

    def has(self, game: Game) -> bool:
        """Whether the game is wanted."""
        started = game.started
        return (
            (self.player is None or self.player in started.names)
            and (self.table is None or self.table.casefold() == (started.table or "").casefold())
            and (self.game is None or self.game == started.game)
        )


def event(kind: str, data: Json) -> bytes:
    """Return an event without its id.

    Half a surrogate pair, of which a name may consist, has no UTF-8: it becomes an escape, as JSON has it.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"event: {kind}\ndata: {text}\n\n".encode("utf-8", "backslashreplace")


class Channel:
    """The events for one `Wanted`."""

    def __init__(self, name: str, wanted: Wanted, model: Model) -> None:
        """`name` is unique."""
        self.viewers = 0
        self.left = 0.0
        """When the last viewer left."""
        self._name = name
        self._wanted = wanted
        self._model = model
        self._waiting: dict[Wake, None] = {}
        self._places: dict[GameId, int] = {}
        self._free: list[int] = []
        self._others: dict[GameId, None] = {}
        """Live games that are wanted but have no place, the newest last."""
        self._number = 0
        self._ring: deque[bytes] = deque()
        self._size = 0
        self._tail: tuple[int, int, bytes] = (0, 0, b"")
        """The latest answer of `since`: many viewers are at the same number."""
        self._snapshot = _NONE
        self._take_places()

    @property
    def number(self) -> int:
        """The number of the latest event."""
        return self._number

    # What happens.

    def started(self, game: Game, now: float) -> None:
        """Carry a new game, if it is wanted and a place is free."""
        if not self._wanted.has(game):
            return
        if self._free:
            self._carry(game, heappop(self._free), now)
        else:
            self._others[game.started.game] = None

    def moved(self, game: Game, event: bytes) -> None:
        """Send a move, if its game is carried."""
        if game.started.game in self._places:
            self.put(event)

    def ended(self, game: Game, event: bytes) -> None:
        """Send an end, if the game is carried. The game keeps its place."""
        if game.started.game in self._places:
            self.put(event)
        else:
            self._others.pop(game.started.game, None)

    def let_go(self, game: Game, event: bytes, now: float) -> None:
        """Give the place of a game that is over to the newest game without one, or send that it is free."""
        place = self._places.pop(game.started.game, None)
        if place is None:
            return
        if self._others:
            other, _ = self._others.popitem()
            self._carry(self._model.games[other], place, now)
        else:
            heappush(self._free, place)
            self.put(event)

    def put(self, event: bytes) -> None:
        """Number an event, keep it, and wake the viewers."""
        self._number += 1
        numbered = b"id: %s-%d\n%s" % (self._name.encode(), self._number, event)
        self._ring.append(numbered)
        self._size += len(numbered)
        while self._size > RING:
            self._size -= len(self._ring.popleft())
        if self._waiting:
            self._wake()

    def renew(self, model: Model) -> None:
        """Give every viewer a snapshot of a new model, after facts were missed."""
        self._model = model
        self._number += 1
        self._ring.clear()
        self._size = 0
        self._take_places()
        self._wake()

    # What viewers get.

    def await_news(self, wake: Wake) -> None:
        """Call `wake` once, with the next event. It MUST NOT raise or call the channel."""
        self._waiting[wake] = None

    def await_no_news(self, wake: Wake) -> None:
        """Do not call `wake` any more."""
        self._waiting.pop(wake, None)

    def number_in(self, event_id: str) -> int | None:
        """Return the number of the event with this id; None if it is not an event of this channel."""
        name, _, digits = event_id.rpartition("-")
        is_ours = name == self._name and digits.isdecimal() and digits.isascii() and len(digits) < 16
        return int(digits) if is_ours else None

    def since(self, number: int | None, now: float) -> bytes:
        """Return all events after this one, or a snapshot if the ring has lost some."""
        if number is None or not self._number - len(self._ring) <= number <= self._number:
            return self.snapshot(now)
        if self._tail[:2] != (number, self._number):
            latest = [*islice(reversed(self._ring), self._number - number)]
            self._tail = number, self._number, b"".join(reversed(latest))
        return self._tail[2]

    def snapshot(self, now: float) -> bytes:
        """Return the state as an event."""
        number, made, data = self._snapshot
        if number != self._number or not made <= now <= made + FRESH:
            data = b"retry: %d\nid: %s-%d\n%s" % (
                *(RETRY, self._name.encode(), self._number),
                event("snapshot", self.state(now)),
            )
            self._snapshot = self._number, now, data
        return data

    def tidy(self, now: float) -> None:
        """Let go of a snapshot that serves nobody any more: with the longest names it is large."""
        if now > self._snapshot[1] + FRESH:
            self._snapshot = _NONE

    def state(self, now: float) -> Json:
        """Return the games that are carried, and the counts."""
        known = {**self._model.over, **self._model.games}
        places = sorted(self._places.items(), key=lambda item: item[1])
        games = [known[game].shown(place, now) for game, place in places]
        return {**self._model.counts(now), "games": games}

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for wake in waiting:
            wake()

    def _carry(self, game: Game, place: int, now: float) -> None:
        self._places[game.started.game] = place
        self.put(event("started", game.shown(place, now)))

    def _take_places(self) -> None:
        """Give places to games, the newest first: their ids sort as they started."""
        on = [game for game, each in self._model.games.items() if self._wanted.has(each)]
        over = [game for game, each in self._model.over.items() if self._wanted.has(each)]
        newest_first = sorted([*on, *over], reverse=True)
        carried = newest_first[: self._wanted.most]
        self._places = {game: place for place, game in enumerate(carried)}
        self._others = dict.fromkeys(sorted({*on} - {*carried}))
        self._free = [*range(len(carried), self._wanted.most)]
        heapify(self._free)
