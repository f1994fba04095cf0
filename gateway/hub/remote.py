"""Players of this node that play on another, and the cluster as the server sees it.

The other node holds the game and takes the player's commands. A player's time runs where its client is, from
when the request left until the move arrived, so the way between the nodes costs nobody any. The player hears
everything in the order in which the other node sends it.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Protocol

from gateway.game.board import FIRST, SECOND, Board, other
from gateway.game.commands import Enter, Play
from gateway.game.deadlines import Deadlines
from gateway.game.events import (
    Dismissed,
    Ended,
    Entered,
    Event,
    Moved,
    Overlooked,
    Reason,
    Started,
    ToMove,
    Why,
)
from gateway.game.results import Finished
from gateway.hub.feed import RemoteFacts, came
from gateway.hub.seats import PlayingElsewhere, Seat
from gateway.hub.series import Parting, SeriesRunner


class Cluster(Protocol):
    """The cluster that this server is a node of."""

    @property
    def feed(self) -> RemoteFacts:
        """What happens on the other nodes."""

    @property
    def nodes(self) -> int:
        """How many nodes the registry named when it last answered, this one included."""

    def condition(self) -> Mapping[str, object]:
        """Return how this node is connected, as JSON."""

    def drain(self) -> None:
        """Stop the pairing of this node's players; their series elsewhere end with the game that is on."""

    def is_reserved(self, seat: int) -> bool:
        """Whether another node may have begun a game with a seat, which this one has not heard yet."""


# The players.


class RemotePlayers:
    """All players of this node that play on another. A step that ends a series returns what follows."""

    def __init__(self, runner: SeriesRunner, idle: float) -> None:
        """`idle`: seconds for a move where the game has no clock."""
        self.flags: Deadlines[Seat] = Deadlines()
        self._runner = runner
        self._feed = runner.feed
        self._idle = idle

    def play(self, seat: Seat, there: PlayingElsewhere, command: Play, now: float) -> None:
        """Pass a move on, with the time that it took."""
        self.flags.cancel(seat)
        request, used = there.request, _used(there, now)
        there.request = there.handed = None
        there.thought += used
        if request is not None:
            # It may be the last move that is known here. Whether it ends the game, the other node says.
            with suppress(ValueError):
                board = there.board.drop(-1 if command.column is None else command.column)
                there.board = there.board if board.over else board
        there.game.submit(command, 0 if request is None else request.number, used)

    def next_round(self, there: PlayingElsewhere, command: Enter) -> None:
        """Ask for the next round of the series."""
        there.asked = command
        there.game.submit(command, 0, 0.0)

    def handed(self, seat: Seat, there: PlayingElsewhere, request: ToMove, now: float) -> None:
        """Start the player's clock: the request has left for its client."""
        if there.request == request and there.handed is None:
            there.handed = now
            self.flags.set(seat, now + (self._idle if request.rest is None else request.rest))

    def flag(self, there: PlayingElsewhere, now: float) -> None:
        """Say that the player's time is up, if a move is asked for."""
        if there.request is not None:
            there.game.flag(there.request.number, _used(there, now))

    def relay(self, seat: Seat, there: PlayingElsewhere, event: Event, now: float) -> Parting | None:
        """Deliver what happened in a player's series."""
        match event:
            case Started():
                there.started, there.began = event, now
                there.rounds += 1
                there.board, there.thought = Board(), 0.0
            case Moved(board=board):
                there.board = board
            case ToMove():
                there.request, there.handed, there.board = event, None, event.board
                seat.stop_awaiting(None)
            case Entered():
                there.ready, there.asked = True, None
            case Overlooked():
                seat.stop_awaiting(None)
            case Ended():
                self._end(seat, there, event, now)
                return None
            case Dismissed() if there.started is not None:  # the other node stops
                return self.lose(seat, there, now)
            case Dismissed():
                return self._over(seat, there, event)
            case _:
                pass
        seat.deliver(event)
        return None

    def lose(self, seat: Seat, there: PlayingElsewhere, now: float) -> Parting:
        """End the series for a player: its other node is lost, or the way to it."""
        if there.started is not None:
            finished = _cut_off(there, there.started, now)
            self._feed.results.keep(finished)
            self._end(seat, there, finished.as_event(), now)
        return self._over(seat, there, Dismissed(Why.RETURNED))

    def leave(self, seat: Seat, there: PlayingElsewhere) -> None:
        """Remove a player from its series."""
        there.game.leave()
        self._part(seat, there)

    def _end(self, seat: Seat, there: PlayingElsewhere, ended: Ended, now: float) -> None:
        self.flags.cancel(seat)
        seat.deliver(ended)
        if there.request is not None and not seat.steps_out:
            self._runner.await_move(seat, ended.game, now)
        there.started = there.request = there.handed = None
        there.ready = not seat.steps_out

    def _over(self, seat: Seat, there: PlayingElsewhere, dismissed: Dismissed) -> Parting:
        self._part(seat, there)
        goes = dismissed.why is not Why.RETURNED
        return Parting(seat, dismissed if goes else None, there.ready, there.asked)

    def _part(self, seat: Seat, there: PlayingElsewhere) -> None:
        self.flags.cancel(seat)
        seat.part()
        self._runner.pairing.finished(there.match)
        self._feed.publish(came(seat))


def _used(there: PlayingElsewhere, now: float) -> float:
    """Return for how many seconds the time for the open request has run."""
    return 0.0 if there.handed is None else max(0.0, now - there.handed)


def _cut_off(there: PlayingElsewhere, started: Started, now: float) -> Finished:
    """Return a game that has no result, since its other player cannot be reached any more."""
    players, thought = [there.player, there.opponent], [there.thought, 0.0]
    if started.you == SECOND:
        players.reverse()
        thought.reverse()
    return Finished(
        game=started.game,
        players=(players[FIRST], players[SECOND]),
        board=there.board,
        winner=None,
        reason=Reason.STOPPED,
        thought=(thought[FIRST], thought[SECOND]),
        round=there.rounds,
        table=there.match.table,
        began=there.began,
        ended=now,
        leaver=other(started.you),
    )
