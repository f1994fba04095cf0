"""Players whose series are played on other nodes.

Knows what such a player may do here, when its time is up, and what becomes of its seat when the series is
over. Does not know the game: the other node holds that, and takes the player's commands. The rules it keeps:

- A player's time runs where its client is, from when the request left until the move arrived. So the way
  between the nodes costs nobody any.
- The player is told in the order in which the other node tells.
"""

from typing import Protocol

from gateway.game.board import FIRST, SECOND, other
from gateway.game.commands import Ask, Enter, Play
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
from gateway.hub.feed import Feed, came
from gateway.hub.remote import Away
from gateway.hub.seat import Seat
from gateway.hub.series import CROSSING
from gateway.hub.timers import Timers
from gateway.matchmaking.matchmaker import Matchmaker


class HomeComing(Protocol):
    """What becomes of a player whose series is over."""

    def settle_in(self, seat: Seat, now: float, *, waits: bool) -> None:
        """Let a player that is back wait, or have no place."""

    def enter(self, seat: Seat, command: Enter, now: float) -> None:
        """Let a player that is back ask for an opponent."""

    def leave(self, seat: Seat, farewell: Dismissed, now: float) -> None:
        """Hang up on a player that is back."""


class AwayPlayers:
    """All players of this node that play on another."""

    def __init__(
        self, home: HomeComing, matchmaker: Matchmaker, timers: Timers, feed: Feed, idle: float
    ) -> None:
        """`idle`: seconds for a move where the game has no clock."""
        self._home = home
        self._matchmaker = matchmaker
        self._timers = timers
        self._feed = feed
        self._idle = idle

    def play(self, seat: Seat, away: Away, command: Play, now: float) -> None:
        """Pass a move on, with the time that it took."""
        self._timers.flags_away.cancel(seat)
        if away.request is not None:
            away.move(command.column)
        away.game.submit(command, *away.answered(now))

    def ask(self, away: Away, command: Ask) -> None:
        """Ask to be shown the game."""
        away.game.submit(command, 0, 0.0)

    def go_on(self, away: Away, command: Enter) -> None:
        """Ask for the next round of the series."""
        away.ask(command)
        away.game.submit(command, 0, 0.0)

    def handed(self, seat: Seat, away: Away, request: ToMove, now: float) -> None:
        """Let the player's time run from `now`: the request has left for its client."""
        if away.request == request and away.handed is None:
            away.run(now)
            self._timers.flags_away.set(seat, now + (self._idle if request.rest is None else request.rest))

    def flag(self, away: Away, now: float) -> None:
        """Say that the player's time is up, if a move is asked for."""
        if away.request is not None:
            away.game.flag(away.request.number, away.used(now))

    def told(self, seat: Seat, event: Event, now: float) -> None:
        """Tell a player of what happened in its series on the other node."""
        away = seat.situation
        if not isinstance(away, Away):
            return
        match event:
            case Started():
                away.begin(event, now)
            case Moved(board=board):
                away.see(board)
            case ToMove():
                away.open(event)
                seat.rest(None)
            case Entered():
                away.join()
            case Overlooked():
                seat.rest(None)
            case Ended():
                self._end(seat, away, event, now)
                return
            case Dismissed():
                if away.begun is None:
                    self._come_home(seat, away, event, now)
                else:  # the other node stops
                    self.lose(seat, away, now)
                return
        seat.deliver(event)

    def lose(self, seat: Seat, away: Away, now: float) -> None:
        """Let the series be over for a player: its other node is gone, or the way to it."""
        if away.begun is not None:
            finished = _cut_off(away, away.begun, now)
            self._feed.results.keep(finished)
            self._end(seat, away, finished.told(), now)
        self._come_home(seat, away, Dismissed(Why.RETURNED), now)

    def leave(self, seat: Seat, away: Away) -> None:
        """Let a player leave its series."""
        away.game.leave()
        self._part(seat, away)

    def _end(self, seat: Seat, away: Away, ended: Ended, now: float) -> None:
        self._timers.flags_away.cancel(seat)
        seat.deliver(ended)
        if away.request is not None and not seat.steps_out:
            seat.owe(ended.game)
            self._timers.rests.set(seat, now + CROSSING)
        away.over(ready=not seat.steps_out)

    def _come_home(self, seat: Seat, away: Away, farewell: Dismissed, now: float) -> None:
        """Let the series be over for a player."""
        self._part(seat, away)
        if farewell.why is not Why.RETURNED:
            self._home.leave(seat, farewell, now)
        elif away.asked is not None:
            self._home.enter(seat, away.asked, now)
        else:
            self._home.settle_in(seat, now, waits=away.ready)

    def _part(self, seat: Seat, away: Away) -> None:
        self._timers.flags_away.cancel(seat)
        seat.part()
        self._matchmaker.finished(away.match)
        self._feed.publish(came(seat))


def _cut_off(away: Away, started: Started, now: float) -> Finished:
    """Return a game that has no result, since its other player cannot be reached any more."""
    players, thought = [away.player, away.opponent], [away.thought, 0.0]
    if started.you == SECOND:
        players.reverse()
        thought.reverse()
    return Finished(
        game=started.game,
        players=(players[FIRST], players[SECOND]),
        board=away.board,
        winner=None,
        reason=Reason.STOPPED,
        thought=(thought[FIRST], thought[SECOND]),
        round=away.rounds,
        table=away.match.table,
        began=away.began,
        ended=now,
        leaver=other(started.you),
    )
