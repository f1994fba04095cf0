"""All channels, and the model that feeds them.

Pure. Each distinct `Wanted` has one channel, however many watch it. The rules it keeps:

- A channel without viewers stays for `KEPT` seconds, so that a browser that lost its connection can go on
  where it was.
- If facts were missed and the state is sent again, viewers see the old state until the new one is complete.
- Facts that were sent for an earlier request change nothing.
"""

from collections.abc import Iterable
from itertools import count

from adapters.web.live.channel import Channel, Wanted, event
from adapters.web.live.model import NAMESAKES, Game, Json, Model
from gateway.game.facts import GameStarted, MoveMade, Shown, Vanished
from gateway.game.results import Finished

KEPT = 20.0
"""Seconds for which a channel stays without viewers."""
MOST = 768
"""Channels, unless viewers watch more."""


class Channels:
    """The channels by what they carry."""

    def __init__(self, run: str) -> None:
        """`run` is a part of each event's id, and differs in each process."""
        self.request = 1
        """The number of the latest request for the state."""
        self._run = run
        self._model: Model | None = None
        """The state, once it is complete."""
        self._coming: Model | None = None
        """The next state, while it arrives."""
        self._channels: dict[Wanted, Channel] = {}
        self._names = count(1)
        self._told: Json = {}
        """The counts that were sent last."""

    def __len__(self) -> int:
        """Return the number of channels."""
        return len(self._channels)

    @property
    def is_whole(self) -> bool:
        """Whether the state is complete."""
        return self._model is not None

    # For viewers, once the state is complete.

    def open(self, wanted: Wanted) -> Channel:
        """Return the channel for `wanted`, with one more viewer."""
        assert self._model is not None
        channel = self._channels.get(wanted)
        if channel is None:
            self._make_room()
            name = f"{self._run}-{next(self._names)}"
            channel = self._channels[wanted] = Channel(name, wanted, self._model)
        channel.viewers += 1
        return channel

    def close(self, channel: Channel, now: float) -> None:
        """Let a viewer of a channel go."""
        channel.viewers -= 1
        channel.left = now

    def state(self, wanted: Wanted, now: float) -> Json:
        """Return the state that a new viewer would get."""
        assert self._model is not None
        return Channel("", wanted, self._model).state(now)

    def about(self, name: str, now: float) -> Json:
        """Return the players of this name that are here, and their games."""
        assert self._model is not None
        games = self.state(Wanted(player=name, most=NAMESAKES), now)["games"]
        return {"players": self._model.named(name, now), "games": games}

    # What happens.

    def renew(self) -> None:
        """Forget everything, and expect the facts of another request."""
        self.request += 1
        self._model = self._coming = None
        self._channels.clear()

    def begin(self, number: int) -> None:
        """Expect the state for a request."""
        self._coming = Model(self._model) if number == self.request else None

    def hear(self, facts: Iterable[Shown], now: float) -> None:
        """Take in facts, and send events."""
        for fact in facts:
            if self._coming is not None:
                self._coming.hear(fact, now)
            elif self._model is not None:
                game = self._model.hear(fact, now)
                if isinstance(fact, Vanished):
                    self._renew(self._model, now)
                elif game is not None:
                    self._tell(fact, game, now)

    def complete(self, now: float) -> None:
        """Give all viewers a snapshot: the state is complete, or that of another node of a cluster is."""
        if self._coming is not None:
            self._model, self._coming = self._coming, None
        if self._model is not None:
            self._model.complete()
            self._renew(self._model, now)

    def tick(self, now: float) -> None:
        """Drop what is over, and send the counts if they changed. To be called once a second."""
        for wanted, channel in [*self._channels.items()]:
            channel.tidy(now)
            if not channel.viewers and now >= channel.left + KEPT:
                del self._channels[wanted]
        if self._model is None:
            return
        for game in self._model.let_go(now):
            gone = event("gone", {"game": game.started.game})
            for channel in self._channels.values():
                channel.let_go(game, gone, now)
        counts = self._model.counts(now)
        if _lasting(counts) != _lasting(self._told):
            self._told = counts
            changed = event("counts", counts)
            for channel in self._channels.values():
                channel.put(changed)

    def _renew(self, model: Model, now: float) -> None:
        """Give all viewers a snapshot."""
        self._told = model.counts(now)
        for channel in self._channels.values():
            channel.renew(model)

    def _tell(self, fact: Shown, game: Game, now: float) -> None:
        channels = self._channels.values()
        match fact:
            case GameStarted():
                for channel in channels:
                    channel.started(game, now)
            case MoveMade():
                moved = _moved(fact, game)
                for channel in channels:
                    channel.moved(game, moved)
            case Finished():
                ended = _ended(game)
                for channel in channels:
                    channel.ended(game, ended)

    def _make_room(self) -> None:
        """If there are `MOST` channels, drop the one that has been without viewers for longest."""
        if len(self._channels) < MOST:
            return
        idle = {wanted: each.left for wanted, each in self._channels.items() if not each.viewers}
        if idle:
            del self._channels[min(idle, key=lambda wanted: idle[wanted])]


def _moved(move: MoveMade, game: Game) -> bytes:
    about = {"game": move.game, "number": len(game.moves), "side": move.side, "column": move.column}
    return event("moved", {**about, "used": round(move.used, 3), "left": game.left})


def _ended(game: Game) -> bytes:
    about = {"game": game.started.game, "winner": game.winner, "reason": game.reason, "left": game.left}
    return event("ended", about)


def _lasting(counts: Json) -> Json:
    """Return the counts without the waiting times, which always change."""
    lobby = [{**each, "waited": None} for each in counts.get("lobby", ())]
    return {**counts, "lobby": lobby}
