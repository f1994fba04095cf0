"""Seats that are kept during a game for players whose connections broke.

A seat stays in its series meanwhile, and its clock runs on. Only its mailbox changes: `Kept` takes the place
of the broken connection, and the new connection takes the place of `Kept`. Does not decide which client is
the player: the matchmaker does.
"""

from collections.abc import Callable, Mapping

from gateway.game.deadlines import Deadlines
from gateway.game.events import Entered
from gateway.game.ids import GameId
from gateway.hub.remote import RemotePlayers
from gateway.hub.seats import Kept, Mailbox, PlayingElsewhere, Seat, Seated
from gateway.hub.series import SeriesRunner
from gateway.matchmaking.matchmaker import Returning


class KeptSeats:
    """Keeps seats, and gives them back."""

    def __init__(
        self,
        runner: SeriesRunner,
        remote: RemotePlayers,
        seats: Mapping[int, Seat],
        mailbox_of: Callable[[Seat], Kept],
    ) -> None:
        """`seats` are the hub's seats. `mailbox_of` returns the mailbox of a seat that is kept."""
        self.until: Deadlines[Seat] = Deadlines()
        """The times until which seats are kept."""
        self._runner = runner
        self._remote = remote
        self._seats = seats
        self._mailbox_of = mailbox_of

    def has(self, number: int) -> bool:
        """Whether a seat is kept for its player, who can have it back."""
        seat = self._seats.get(number)
        if seat is None or seat.absence is None:
            return False
        return seat.manners.resumes or not self._runner.is_closed

    def may_keep(self, seat: Seat) -> bool:
        """Whether the seat is to be kept, since its connection broke.

        During a drain it is not, since no player can come back. A game that was played again for this player
        is not played again once more. Who has asked for another place gives up a game that is to be repeated.
        """
        situation = seat.situation
        if seat.question is not None and not seat.plays:
            return False
        if not seat.grace or self._runner.is_closed or seat.is_remote or seat.manners.house:
            return False
        return not isinstance(situation, Seated) or (
            seat.manners.resumes or situation.series.session.may_play_again(situation.number)
        )

    def keep(self, seat: Seat, now: float) -> None:
        """Keep a seat. Its clock starts now if its client has not got the open request to move."""
        grace, situation = seat.grace, seat.situation
        seat.keep(self._mailbox_of(seat), now, grace)
        self.until.set(seat, now + grace)
        if isinstance(situation, Seated):
            self._runner.away(seat, now)
            request = situation.series.session.request(situation.number)
        else:
            assert isinstance(situation, PlayingElsewhere)
            situation.game.away(grace)
            request = situation.request
        if request is not None:
            seat.mailbox.deliver(request)

    def give_back(self, returning: Returning, mailbox: Mailbox, now: float) -> None:
        """Give a seat back to its player, whose new connection has this mailbox."""
        seat = self._seats[returning.kept]
        since, situation, kept = seat.come_back(), seat.situation, seat.mailbox
        assert since is not None
        is_told = not (isinstance(kept, Kept) and kept.has_missed_start)
        self.until.cancel(seat)
        seat.take_back(mailbox, returning.origin)
        mailbox.move_to(seat)
        if isinstance(situation, PlayingElsewhere):
            goes_on = returning.resumes and situation.started is not None
            seat.deliver(Entered(situation.names[0], goes_on, seat.table))
            self._remote.resume(seat, situation, now, is_told=is_told, resumes=returning.resumes)
            return
        assert isinstance(situation, Seated)
        series, number = situation.series, situation.number
        self._runner.back(seat, max(0.0, now - since))
        if series.is_playing and not returning.resumes and self._may_play_again(situation):
            self._runner.play_again(seat, now, is_told=is_told)
        seat.deliver(Entered(situation.names[0], series.is_playing, seat.table))
        if series.is_playing:
            for event in series.session.resume(number, now):
                seat.deliver(event)
        else:
            self._ask_again(seat, situation, now)

    # Players of other nodes in series on this node. Their own nodes keep the seats.

    def note_away(self, seat: Seat, grace: float, now: float) -> bool:
        """Record that the connection of another node's player broke, and that its seat is kept for `grace`.

        Return False if the player may not come back, since the game was played again for it before.
        """
        situation = seat.situation
        if not isinstance(situation, Seated):
            return True
        if not seat.manners.resumes and not self._may_play_again(situation):
            return False
        seat.go_away(now, grace)
        self._runner.away(seat, now)
        return True

    def note_back(self, seat: Seat, game: GameId, now: float, *, is_told: bool, resumes: bool) -> bool:
        """Go on with the game of another node's player, which has come back, or play it again.

        The arguments are as for `RemoteGame.back`. The player will hear of a game later than `game` as of any
        game. Return False if the game cannot be played again, so that the player is lost for it.
        """
        situation, since = seat.situation, seat.come_back()
        if not isinstance(situation, Seated) or not situation.series.is_playing:
            return True
        if since is not None:
            self._runner.back(seat, max(0.0, now - since))
        if not resumes and situation.series.session.game == game:
            if not self._may_play_again(situation):
                return False
            self._runner.play_again(seat, now, is_told=is_told)
            self._ask_again(seat, situation, now)
        return True

    def _ask_again(self, seat: Seat, situation: Seated, now: float) -> None:
        """Begin the game that is played again, since coming back counts as asking for it."""
        seat.join(situation.series, situation.number)
        self._runner.rejoins.cancel(seat)
        self._runner.go_on(situation.series, now)

    def _may_play_again(self, situation: Seated) -> bool:
        return not self._runner.is_closed and situation.series.session.may_play_again(situation.number)
