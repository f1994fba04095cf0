"""All channels, and the model that they are fed from.

Pure. Each distinct wish has one channel, however many watch it. The rules it keeps:

- A channel that nobody watches any more stays for long enough that a browser that lost its connection goes on
  where it was, and no longer.
- Where something was missed, and all is told anew, viewers see what was on before until that is complete.
- What is told for an earlier request changes nothing.
"""

from collections.abc import Iterable
from itertools import count

from adapters.web.live.channel import Channel, Wanted, event
from adapters.web.live.model import Game, Json, Model
from adapters.web.live.rows import Begun, Complete, Over, Told
from gateway.game.facts import GameStarted, MoveMade

KEPT = 20.0
"""Seconds for which a channel stays without viewers."""
MOST = 768
"""Channels."""


class FullError(Exception):
    """As many different wishes are watched as there may be."""


class Channels:
    """What viewers are told."""

    def __init__(self, run: str) -> None:
        """`run` is in each id, and is another one in each process."""
        self.request = 1
        """The number of the latest request for all that is on."""
        self._run = run
        self._model: Model | None = None
        """What is on, once all of it has been told."""
        self._coming: Model | None = None
        """What is on, as far as it has been told."""
        self._channels: dict[Wanted, Channel] = {}
        self._names = count(1)
        self._told: Json = {}
        """The counts that were told last."""

    def __len__(self) -> int:
        """Return how many channels there are."""
        return len(self._channels)

    @property
    def is_whole(self) -> bool:
        """Whether all that is on has been told."""
        return self._model is not None

    # For viewers, once it is whole.

    def open(self, wanted: Wanted) -> Channel:
        """Return the channel for a wish, with one more viewer. Raises FullError."""
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
        """Return what somebody would be told first who came now."""
        assert self._model is not None
        return Channel("", wanted, self._model).state(now)

    # What happens.

    def renew(self) -> None:
        """Know nothing any more, and expect what is told for one more request."""
        self.request += 1
        self._model = self._coming = None
        self._channels.clear()

    def hear(self, rows: Iterable[Told], now: float) -> None:
        """Take in what happened, and tell it."""
        for told in rows:
            if isinstance(told, Begun):
                self._coming = Model(self._model) if told.number == self.request else None
            elif self._coming is not None:
                self._coming.hear(told, now)
                if isinstance(told, Complete):
                    self._complete(self._coming, now)
            elif self._model is not None and (game := self._model.hear(told, now)) is not None:
                self._tell(told, game, now)

    def tick(self, now: float) -> None:
        """Once a second: let go of what is past, and tell how much is on."""
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

    def _complete(self, model: Model, now: float) -> None:
        self._model, self._coming = model, None
        self._told = model.counts(now)
        for channel in self._channels.values():
            channel.renew(model)

    def _tell(self, told: Told, game: Game, now: float) -> None:
        channels = self._channels.values()
        match told:
            case GameStarted():
                for channel in channels:
                    channel.started(game, now)
            case MoveMade():
                moved = _moved(told, game)
                for channel in channels:
                    channel.moved(game, moved)
            case Over():
                ended = _ended(game)
                for channel in channels:
                    channel.ended(game, ended)

    def _make_room(self) -> None:
        """Where there are as many channels as may be, let the one go that nobody watches for longest."""
        if len(self._channels) < MOST:
            return
        idle = {wanted: each.left for wanted, each in self._channels.items() if not each.viewers}
        if not idle:
            raise FullError
        del self._channels[min(idle, key=lambda wanted: idle[wanted])]


def _moved(move: MoveMade, game: Game) -> bytes:
    about = {"game": move.game, "number": len(game.moves), "side": move.side, "column": move.column}
    return event("moved", {**about, "used": move.used, "left": game.left})


def _ended(game: Game) -> bytes:
    about = {"game": game.started.game, "winner": game.winner, "reason": game.reason, "left": game.left}
    return event("ended", about)


def _lasting(counts: Json) -> Json:
    """Return the counts without how long each has waited, which changes all the time."""
    lobby = [(each["name"], each["kind"], each["table"]) for each in counts.get("lobby", ())]
    return {**counts, "lobby": lobby}
