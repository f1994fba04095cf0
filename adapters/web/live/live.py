"""The games that viewers see: the state, and a channel for each choice of games.

Knows trio, because viewers wait; does not know HTTP. The server sends facts only while there are viewers,
and for `KEPT` seconds afterwards. After missed facts, viewers see the old state until the new one is
complete.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from itertools import count

import trio

from adapters.web.live.channel import Channel, Wanted, event
from adapters.web.live.state import NAMESAKES, Game, Json, State
from gateway.game.fact_encoding import decode_fact
from gateway.game.facts import Away, Back, GameStarted, MoveMade, Shown, Vanished
from gateway.game.ids import GameId
from gateway.game.results import Finished
from gateway.runtime.child import LinkError

VIEWERS = 768
"""The most viewers at once."""
CHANNELS = 768
"""At this number of channels, a new one replaces a channel without viewers, if there is one."""
KEPT = 20.0
"""Seconds for which a channel without viewers is kept, for a browser that reconnects."""
PATIENCE = 2.0
"""Seconds that a viewer waits for the first complete state."""
TICK = 1.0
"""Seconds between two calls of `tick`."""
RATED = 5.0
"""Seconds after which ratings are read again."""


class UnavailableError(Exception):
    """Watching is not possible now. The text says why."""


class Live:
    """The live games, for all viewers."""

    def __init__(
        self,
        run: str,
        watch: Callable[[int], Awaitable[object]],
        clock: Callable[[], float] = trio.current_time,
    ) -> None:
        """`run` is a part of each event's id, and differs in each process.

        `watch` asks the server for facts, see `link.Watch`.
        """
        self.is_stopping = False
        """Whether all streams are to end."""
        self.channels: dict[Wanted, Channel] = {}
        self.watching = 0
        """How many viewers watch, or wait for the state."""
        self._run = run
        self._watch = watch
        self._clock = clock
        self._state: State | None = None
        """The state; None until it is complete."""
        self._coming: State | None = None
        """The next state, while it arrives."""
        self._request = 1
        """The number of the latest request for the state. A state for an earlier request is ignored."""
        self._names = count(1)
        self._counts: Json = {}
        """The counts that were sent last."""
        self._latest = 0.0
        """When the last viewer left."""
        self._watched = trio.Event()
        self._complete = trio.Event()

    async def run(self) -> None:
        """Ask the server for facts while there are viewers, until cancelled."""
        while True:
            await self._watched.wait()
            await self._watch(self._request)
            while self.watching or self._clock() < self._latest + KEPT:
                await trio.sleep(TICK)
                self.tick()
            self._watched, self._complete = trio.Event(), trio.Event()
            self._state = self._coming = None
            self.channels.clear()
            self._request += 1
            await self._watch(0)

    async def keep_ratings(
        self, read: Callable[[Collection[str]], Awaitable[Mapping[str, Json] | None]]
    ) -> None:
        """Read the ratings of those who play every `RATED` seconds while there are viewers, until cancelled.

        `read` returns the rank and the rating of players by name; None if they cannot be read now.
        """
        while True:
            await self._complete.wait()
            if self._state is None:
                continue  # the last viewer has left just now
            ratings = await read(self._state.names())
            if ratings is not None:
                self.rate(ratings)
            await trio.sleep(RATED)

    def rate(self, ratings: Mapping[str, Json]) -> None:
        """Set the ratings of players by name, and send those that have changed."""
        if self._state is None:
            return
        for game in self._state.rate(ratings):
            rated = event("rated", {"game": game.id, "ratings": game.ratings})
            for channel in self.channels.values():
                if game.id in channel.places:
                    channel.put(rated)

    def stop(self) -> None:
        """End all streams."""
        self.is_stopping = True
        for channel in self.channels.values():
            channel.news.unpark_all()

    # Messages of the server.

    def begin(self, number: int) -> None:
        """Begin to receive the state for request `number`. A state for an earlier request is ignored."""
        self._coming = State(self._state) if number == self._request else None

    def hear(self, encoded: Iterable[bytes]) -> None:
        """Apply facts, as `gateway.game.fact_encoding` writes them, and send events. Raises LinkError."""
        try:
            facts = [*map(decode_fact, encoded)]
        except ValueError as error:
            raise LinkError(f"not a fact: {error}") from error
        now = self._clock()
        for fact in facts:
            if self._coming is not None:
                self._coming.hear(fact, now)
            elif self._state is not None:
                game = self._state.hear(fact, now)
                if isinstance(fact, Vanished):
                    self._renew(self._state, now)
                elif game is not None:
                    self._send(fact, game, now)

    def complete(self) -> None:
        """Send all viewers a snapshot, because the state is complete, or another node's part was added."""
        if self._coming is not None:
            self._state, self._coming = self._coming, None
        if self._state is not None:
            self._state.complete()
            self._renew(self._state, self._clock())
            self._complete.set()

    def tick(self) -> None:
        """Drop old snapshots, channels and games; send the counts if they changed. Called once a second."""
        now = self._clock()
        for wanted, channel in [*self.channels.items()]:
            channel.tidy(now)
            channel.send_viewers()
            if not channel.viewers and now >= channel.left + KEPT:
                del self.channels[wanted]
        if self._state is None:
            return
        for game in self._state.drop_old(now):
            gone = event("gone", {"game": game.id})
            for channel in self.channels.values():
                channel.drop(game, gone, now)
        counts = self._state.counts(now)
        if _lasting(counts) != _lasting(self._counts):
            self._counts = counts
            changed = event("counts", counts)
            for channel in self.channels.values():
                channel.put(changed)

    def _renew(self, state: State, now: float) -> None:
        self._counts = state.counts(now)
        for channel in self.channels.values():
            channel.renew(state)

    def _send(self, fact: Shown, game: Game, now: float) -> None:
        channels = self.channels.values()
        match fact:
            case GameStarted():
                for channel in channels:
                    channel.start(game, now)
            case MoveMade():
                about = {"game": game.id, "number": len(game.moves), "side": fact.side}
                used = round(fact.used, 3)
                moved = event("moved", {**about, "column": fact.column, "used": used, "left": game.left})
                for channel in channels:
                    if game.id in channel.places:
                        channel.put(moved)
            case Away() | Back():
                away = event("away", {"game": game.id, "away": game.absences(now)})
                for channel in channels:
                    if game.id in channel.places:
                        channel.put(away)
            case Finished():
                about = {"game": game.id, "winner": game.winner, "reason": game.reason, "left": game.left}
                ended = event("ended", about)
                for channel in channels:
                    channel.end(game, ended)

    # Requests of viewers.

    async def state(self, wanted: Wanted) -> Json:
        """Return the state that a new viewer would get. Raises UnavailableError."""
        async with self._await_state() as state:
            return Channel("", wanted, state).state(self._clock())

    async def game(self, game: GameId) -> Game | None:
        """Return a game that is on, or ended a moment ago. Raises UnavailableError."""
        async with self._await_state() as state:
            return state.games.get(game) or state.over.get(game)

    async def games(self) -> list[Game]:
        """Return the games that are on. Raises UnavailableError."""
        async with self._await_state() as state:
            return [*state.games.values()]

    async def named(self, name: str) -> Json:
        """Return the connected players of this name, and their games. Raises UnavailableError."""
        async with self._await_state() as state:
            now = self._clock()
            games = Channel("", Wanted(player=name, most=NAMESAKES), state).state(now)["games"]
            return {"players": state.named(name, now), "games": games}

    async def containing(self, text: str, limit: int) -> dict[str, str]:
        """Return up to `limit` names of connected players that contain a text, in upper or lower case.

        Each has the kind of its player. Raises UnavailableError.
        """
        async with self._await_state() as state:
            return state.containing(text, limit)

    @asynccontextmanager
    async def viewer(self, wanted: Wanted) -> AsyncIterator[Channel]:
        """Wait until the state is complete, then provide a viewer's channel. Raises UnavailableError."""
        if self.watching >= VIEWERS:
            raise UnavailableError("too many watch at the moment")
        async with self._await_state():
            channel = self.open(wanted)
            try:
                yield channel
            finally:
                self.close(channel)

    def open(self, wanted: Wanted) -> Channel:
        """Return the channel for `wanted`, and count one more viewer of it. The state must be complete."""
        assert self._state is not None
        channel = self.channels.get(wanted)
        if channel is None:
            if len(self.channels) >= CHANNELS:
                idle = {each.left: key for key, each in self.channels.items() if not each.viewers}
                if idle:
                    del self.channels[idle[min(idle)]]
            channel = Channel(f"{self._run}-{next(self._names)}", wanted, self._state)
            self.channels[wanted] = channel
        channel.viewers += 1
        return channel

    def close(self, channel: Channel) -> None:
        """Remove a viewer from a channel."""
        channel.viewers -= 1
        channel.left = self._clock()

    @asynccontextmanager
    async def _await_state(self) -> AsyncIterator[State]:
        """Count a viewer, wait until the state is complete, and provide it.

        Raises UnavailableError after `PATIENCE` seconds.
        """
        self.watching += 1
        self._watched.set()
        try:
            with trio.move_on_after(PATIENCE):
                await self._complete.wait()
            if self._state is None:
                raise UnavailableError("the games are not known yet")
            yield self._state
        finally:
            self.watching -= 1
            self._latest = self._clock()


def _lasting(counts: Json) -> Json:
    """Return the counts without the waiting times, which always change."""
    lobby = [{**each, "waited": None} for each in counts.get("lobby", ())]
    return {**counts, "lobby": lobby}
