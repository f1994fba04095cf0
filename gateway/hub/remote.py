"""Players of this node in series on other nodes, and the protocol of a cluster.

The other node has the game and carries out commands. The time of a player is measured on its own node, from
when the request was sent to the client until the move arrived, so that delays between nodes are not charged.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from gateway.game.board import FIRST, SECOND, Board, other
from gateway.game.commands import Command, Enter, Leave, Play
from gateway.game.deadlines import Deadlines
from gateway.game.events import (
    Dismissed,
    Ended,
    Entered,
    Event,
    Introduced,
    Moved,
    Overlooked,
    Reason,
    Resumed,
    Started,
    ToMove,
    Why,
)
from gateway.game.results import Finished
from gateway.hub.feed import RemoteFacts, came
from gateway.hub.seats import PlayingElsewhere, Relayed, Seat
from gateway.hub.series import Parting, SeriesRunner


class Cluster(Protocol):
    """The cluster of this node."""

    @property
    def feed(self) -> RemoteFacts:
        """The facts of the other nodes."""

    @property
    def nodes(self) -> int:
        """The number of nodes in the registry's last answer, including this one."""

    def condition(self) -> Mapping[str, object]:
        """Return the state of this node's connections, as a JSON object."""

    def drain(self) -> None:
        """Stop pairing this node's players. Their series on other nodes end after the current game."""

    def is_reserved(self, seat: int) -> bool:
        """Whether this node waits for another node's answer about a series with this seat."""


# The players.


class RemotePlayers:
    """The players of this node in series on other nodes. A step that ends a series returns a `Parting`."""

    def __init__(self, runner: SeriesRunner, idle: float) -> None:
        """`idle` is the time for a move, in seconds, in games without a clock."""
        self.flags: Deadlines[Seat] = Deadlines()
        self._runner = runner
        self._feed = runner.feed
        self._idle = idle

    def play(self, seat: Seat, there: PlayingElsewhere, command: Play, now: float) -> None:
        """Send a move to the other node, with the time that it took."""
        self.flags.cancel(seat)
        request, used = there.request, _used(there, now)
        there.request = there.handed = None
        there.thought += used
        if request is not None:
            # The board is kept in case the other node is lost. Only that node decides whether the move ends
            # the game.
            with suppress(ValueError):
                board = there.board.drop(-1 if command.column is None else command.column)
                there.board = there.board if board.over else board
        there.game.submit(command, 0 if request is None else request.number, used)

    def next_round(self, there: PlayingElsewhere, command: Enter) -> None:
        """Ask the other node for the next round of the series."""
        there.asked = command
        there.game.submit(command, 0, 0.0)

    def handed(self, seat: Seat, there: PlayingElsewhere | Relayed, request: ToMove, now: float) -> None:
        """Start the player's clock for `request`, which was sent to its client at `now`."""
        if there.request is not None and there.request.number == request.number and there.handed is None:
            there.handed = now
            self.flags.set(seat, now + (self._idle if request.rest is None else request.rest))

    def flag(self, there: PlayingElsewhere | Relayed, now: float) -> None:
        """Report that the player's time is up, if it has an open request to move."""
        if there.request is not None:
            there.game.flag(there.request.number, _used(there, now))

    def relay(self, seat: Seat, there: PlayingElsewhere, event: Event, now: float) -> Parting | None:
        """Deliver an event that the other node sent to a player."""
        if there.awaits_replay and not isinstance(event, Started | Ended | Dismissed):
            return None
        match event:
            case Started():
                there.started, there.began = event, now
                there.awaits_replay = there.repeats = False
                there.rounds += 1
                there.board, there.thought, there.shown = Board(), 0.0, 0
            case Moved(board=board):
                there.board = board
                if len(board.moves) <= there.shown:
                    return None  # its own move, of which the player was told when it came back
            case ToMove():
                there.request, there.handed, there.board = event, None, event.board
                seat.stop_awaiting(None)
            case Entered():
                there.ready, there.asked = True, None
                event = replace(event, table=seat.table)  # the other node does not know it
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
        if isinstance(event, Started):
            seat.refuse_early(event.game)  # a series on another node begins with the first move of its player
        return None

    def lose(self, seat: Seat, there: PlayingElsewhere, now: float) -> Parting:
        """End a player's series, because the other node is lost or stops."""
        if there.started is not None:
            finished = _cut_off(there, there.started, now)
            self._feed.results.keep(finished)
            self._end(seat, there, finished.as_event(), now)
        return self._over(seat, there, Dismissed(Why.RETURNED))

    def leave(self, seat: Seat, there: PlayingElsewhere) -> None:
        """Remove a player from its series."""
        there.game.leave()
        self._part(seat, there)

    def resume(
        self, seat: Seat, there: PlayingElsewhere, now: float, *, is_told: bool, resumes: bool
    ) -> None:
        """Go on with a player's game after its absence, or have it played again unless it `resumes`.

        `is_told` says whether the player was told of the game before.
        """
        game = "" if there.started is None else there.started.game
        there.game.back(game, is_told=is_told, resumes=resumes)
        if there.started is None:  # the game is to be played again
            if not there.ready and seat.place is not None:
                self.next_round(there, Enter(seat.place, there.player.name))
            return
        if not resumes:
            there.awaits_replay = True
            there.request = there.handed = None
            self.flags.cancel(seat)
            return
        game, you, names = there.started.game, there.started.you, there.started.names
        there.shown = len(there.board.moves)
        seat.deliver(Resumed(game, you, names, there.board, max(0.0, now - there.began)))
        if there.request is not None:
            rest = there.request.rest
            left = None if rest is None else max(0.0, rest - _used(there, now))
            seat.deliver(replace(there.request, rest=left))

    # Clients that have come back to a seat on another node. That node gets all commands, with the time that a
    # move took.

    def pass_on(self, seat: Seat, there: Relayed, command: Command, now: float) -> None:
        """Send a command to the node of a client's seat."""
        request, used = there.request, _used(there, now)
        if isinstance(command, Play | Leave):
            self.flags.cancel(seat)
            there.request = there.handed = None
        there.game.submit(command, 0 if request is None else request.number, used)

    def hear(self, seat: Seat, there: Relayed, event: Event) -> None:
        """Deliver an event that the node of a client's seat sent."""
        match event:
            case Started() | Resumed():
                there.plays = True
            case ToMove():
                there.request, there.handed = event, None
            case Ended():
                there.plays, there.request = False, None
                self.flags.cancel(seat)
            case Introduced(name) | Entered(name):
                seat.introduce(name, counted=seat.counted)
            case _:
                pass
        seat.deliver(event)

    def _end(self, seat: Seat, there: PlayingElsewhere, ended: Ended, now: float) -> None:
        self.flags.cancel(seat)
        if there.awaits_replay:
            seat.end_earlier(ended)
        else:
            seat.deliver(ended)
            if there.request is not None and not seat.steps_out:
                self._runner.await_move(seat, ended.game, now)
        there.repeats = ended.reason is Reason.REPLAYED
        if there.repeats:
            there.rounds -= 1
        there.started = there.request = there.handed = None
        there.ready = not seat.steps_out

    def _over(self, seat: Seat, there: PlayingElsewhere, dismissed: Dismissed) -> Parting:
        self._part(seat, there)
        goes = dismissed.why is not Why.RETURNED or (seat.plays_once and there.rounds > 0)
        return Parting(seat, dismissed if goes else None, there.ready, there.asked)

    def _part(self, seat: Seat, there: PlayingElsewhere) -> None:
        self.flags.cancel(seat)
        seat.part()
        self._runner.pairing.finished(there.match)
        self._feed.publish(came(seat))


def _used(there: PlayingElsewhere | Relayed, now: float) -> float:
    """Return the seconds since the open request was sent; 0 if it was not sent yet."""
    return 0.0 if there.handed is None else max(0.0, now - there.handed)


def _cut_off(there: PlayingElsewhere, started: Started, now: float) -> Finished:
    """Return the current game as over, without a result, since the other node is lost or stops."""
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
