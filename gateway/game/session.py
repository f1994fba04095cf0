"""One series of games between two seats.

Knows the rules, the turn, and the cost of a refused move. Does not know clients, and reads no clock: its
methods take the time, and return the events for the two seats. Seats are numbered 0 and 1 for the whole
series. Seat 0 moves first in round 1, and the first move swaps with every round; a *side* is the first or the
second mover of one round.
"""

from enum import Enum, auto
from typing import Literal

from gateway.game.board import CELLS, COLUMNS, FIRST, SECOND, Board, Side, other
from gateway.game.clock import Clock, Terms
from gateway.game.commands import Play
from gateway.game.events import (
    NOTHING,
    Event,
    Moved,
    Objection,
    Reason,
    Refused,
    Resumed,
    Shown,
    Started,
    ToMove,
)
from gateway.game.facts import GameStarted, MoveMade, Standing
from gateway.game.ids import GameId
from gateway.game.manners import Afterwards, Illegal
from gateway.game.results import (
    NOTHING_CAME,
    Broken,
    Ending,
    Finished,
    Note,
    Number,
    Outcome,
    Player,
    Scheduled,
    Step,
)

BOTH_MOVED = 2
"""If a player leaves while fewer discs than this are on the board, the game is aborted."""
_OTHER: tuple[Literal[1], Literal[0]] = (1, 0)


class Phase(Enum):
    """The state of a series."""

    PLAYING = auto()
    BETWEEN = auto()
    """Before a round; `begin` starts it."""
    OVER = auto()


class Session:
    """A series of games between two seats."""

    __slots__ = (
        "_began",
        "_board",
        "_clock",
        "_clocked",
        "_control",
        "_replayed",
        "_request",
        "_rounds",
        "_scheduled",
        "_series",
        "_table",
        "_terms",
        "_turn",
        "_used",
        "game",
        "phase",
        "players",
        "round",
        "to_move",
    )

    def __init__(
        self,
        players: tuple[Player, Player],
        terms: Terms,
        series: int = 0,
        table: str | None = None,
        rounds: int | None = None,
        scheduled: Scheduled | None = None,
    ) -> None:
        """`rounds` is the number of games, 1 or more; None for the higher `Manners.rounds` of the players.

        `scheduled` says which games of a tournament these are.
        """
        self.players = players
        self.game: GameId = ""
        """The id of the current or the last game; empty before the first."""
        self.phase = Phase.BETWEEN
        self.round = 0
        """The number of the current or the last round; 0 before the first."""
        self.to_move: Number | None = None
        """The seat to move; None while no game is on."""
        self._terms = terms
        self._series = series
        self._table = table
        self._scheduled = scheduled
        self._rounds = rounds or max(player.manners.rounds for player in players)
        self._began = 0.0
        self._replayed: set[tuple[int, Number, bool]] = set()
        """The rounds that were played again, each with the seat whose connection broke, and whether its
        player had been told of the game."""
        self._board = Board()
        self._turn: Side = FIRST
        """The side to move."""
        self._clocked = any(player.manners.clocked for player in players)
        self._control = terms.control(clocked=self._clocked)
        self._clock = Clock(self._control)
        self._request = 0
        """The number of the open request to move; 0 if none is open."""
        self._used: list[float] = []
        """The seconds that each move of the current game took."""

    @property
    def deadline(self) -> float | None:
        """When the flag of the seat to move falls; None while no clock runs."""
        return self._clock.deadline

    @property
    def order(self) -> tuple[Number, Number]:
        """The seats of the first and of the second mover of the round."""
        return (0, 1) if self.round & 1 else (1, 0)

    @property
    def names(self) -> tuple[str, str]:
        """The names of the first and of the second mover of the round."""
        first, second = self.order
        return self.players[first].name, self.players[second].name

    def begin(self, game: GameId, now: float) -> list[Note]:
        """Start the next round, whose game has the id `game`. Allowed only between rounds."""
        assert self.phase is Phase.BETWEEN
        self.round += 1
        self.game = game
        self.phase = Phase.PLAYING
        self._began = now
        self._board = Board()
        self._used = []
        self._clock = Clock(self._control)
        first, second = self.order
        return [
            (first, Started(game, FIRST, self.names)),
            (second, Started(game, SECOND, self.names)),
            (first, self._ask(first, FIRST)),
        ]

    def handed(self, game: GameId, number: int, now: float) -> float | None:
        """Start the clock of the seat to move: its request `number` was sent to the client at `now`.

        Return when the flag falls; None if the request is not open any more, or if its clock was started
        before.
        """
        if number != self._request or game != self.game or self._clock.running is not None:
            return None
        return self._clock.start(self._turn, now)

    def play(self, number: Number, command: Play, now: float) -> Step | Outcome:
        """Carry out, or refuse, a move that arrived at `now`, while a game is on."""
        column = command.column
        if number != self.to_move or column is None:
            return self._refuse(number, command, now)
        try:
            board = self._board.drop(column)
        except ValueError:
            return self._refuse(number, command, now)
        self._used.append(self._clock.stop(now))
        self._board = board
        if board.winner is not None or len(board.moves) == CELLS:
            self._request = 0
            reason = Reason.FULL if board.winner is None else Reason.FOUR
            return Outcome(ending=self._end(board.winner, reason, now))
        mover = self._turn
        return Moved(self.game, mover, column, board), self._ask(_OTHER[number], _OTHER[mover])

    def show(self) -> Shown:
        """Return the event with the current board."""
        return Shown(self.game, self._board)

    def started(self, players: tuple[int, int]) -> GameStarted:
        """Return the fact that the current game started; `players` are the seat numbers of the two movers."""
        first, second = (self.players[number].manners.kind for number in self.order)
        return GameStarted(
            game=self.game,
            players=players,
            names=self.names,
            kinds=(first, second),
            table=self._table,
            round=self.round,
            clock=self._control.budget if self._clocked else None,
            scheduled=self._scheduled,
        )

    def latest_move(self) -> MoveMade:
        """Return the fact about the latest move. The game must have a move."""
        moves = self._board.moves
        side = FIRST if len(moves) & 1 else SECOND
        left = self._clock.rest(side) if self._clocked else None
        return MoveMade(self.game, side, moves[-1], self._used[-1], left)

    def standing(self, now: float) -> Standing:
        """Return the state of the current game, for spectators."""
        clock = self._clock
        return Standing(
            moves=self._board.moves,
            used=tuple(self._used),
            left=(clock.rest(FIRST), clock.rest(SECOND)) if self._clocked else None,
            thinking=clock.running_for(now),
        )

    def leave(self, number: Number, now: float, *, is_lost: bool = False) -> Outcome:
        """End the series because a seat left.

        The other seat wins the current game if both have moved in it. `is_lost` means that a node, or the
        connection between two nodes, is lost. Then the game has no winner.
        """
        return Outcome(ending=self._break(number, Reason.LEFT, now, is_lost=is_lost))

    def resume(self, number: Number, now: float) -> list[Event]:
        """Return the events for a player that has come back to the current game.

        Its clock ran on meanwhile.
        """
        side = self.side(number)
        events: list[Event] = [Resumed(self.game, side, self.names, self._board, max(0.0, now - self._began))]
        request = self.request(number)
        if request is not None:
            left = None if request.rest is None else max(0.0, request.rest - self._clock.running_for(now))
            events.append(ToMove(self.game, request.number, self._board, left))
        return events

    def request(self, number: Number) -> ToMove | None:
        """Return the open request to a seat to move; None if there is none."""
        if self.to_move != number:
            return None
        rest = self._clock.rest(self.side(number)) if self._clocked else None
        return ToMove(self.game, self._request, self._board, rest)

    def may_play_again(self, number: Number) -> bool:
        """Whether a seat's broken connection may make the current round be played again: once.

        Between two rounds, the next one is meant.
        """
        if any(player.manners.afterwards is Afterwards.ONE_GAME for player in self.players):
            return False
        round = self.round + (self.phase is Phase.BETWEEN)
        return (round, number, True) not in self._replayed

    @property
    def repeats(self) -> bool:
        """Whether the next round is one that is played again."""
        return self.phase is Phase.BETWEEN and any(self.round + 1 == round for round, _, _ in self._replayed)

    def play_again(self, number: Number, now: float, *, is_told: bool = True) -> Ending:
        """End the current game without a result, since a seat's connection broke.

        `begin` then repeats the round. A game of which the player was not told, because its connection had
        broken before, does not count for `may_play_again`, once in a round.
        """
        is_told = is_told or (self.round, number, False) in self._replayed
        self._replayed.add((self.round, number, is_told))
        ending = self._end(None, Reason.REPLAYED, now, (number, Reason.LEFT))
        self.round -= 1
        self.phase = Phase.BETWEEN
        asked = None if ending.asked == number else ending.asked
        return Ending(ending.finished, asked)

    def adjudicate(self, number: Number, now: float) -> Outcome:
        """End the current game: the seat loses it as if its time were up."""
        if self.phase is not Phase.PLAYING:
            return NOTHING_CAME
        return Outcome(ending=self._out_of_time(number, now))

    def flag(self, number: Number, now: float) -> Outcome:
        """End the game if it is the seat's move and its time is up."""
        deadline = self._clock.deadline
        if self.to_move != number or deadline is None or now < deadline:
            return NOTHING_CAME
        return Outcome(ending=self._out_of_time(number, now))

    def stop(self, now: float) -> Finished | None:
        """End the series at once. Return the current game, without a winner; None if no game was on."""
        ending = self._end(None, Reason.STOPPED, now) if self.phase is Phase.PLAYING else None
        self.phase = Phase.OVER
        return None if ending is None else ending.finished

    def side(self, number: Number) -> Side:
        """Return the side of a seat in the current round."""
        return number if self.round & 1 else other(number)

    def _ask(self, number: Number, side: Side) -> ToMove:
        self.to_move, self._turn = number, side
        request = self._request = self._request + 1
        rest = self._clock.rest(side) if self._clocked else None
        return ToMove(self.game, request, self._board, rest)

    def _objections(self, number: Number, column: int | None) -> Objection:
        objections = NOTHING
        if self.to_move != number:
            objections |= Objection.NOT_YOUR_TURN
        if column is None:
            objections |= Objection.NOT_A_COLUMN
        elif not 0 <= column < COLUMNS:
            objections |= Objection.OUTSIDE
        elif not self._board.has_room(column):
            objections |= Objection.COLUMN_FULL
        return objections

    def _refuse(self, number: Number, command: Play, now: float) -> Outcome:
        objections = self._objections(number, command.column)
        note: Note = (number, Refused(objections, command.to, self.game))
        manners = self.players[number].manners
        match manners.illegal:
            case _ if manners.strict and Objection.NOT_YOUR_TURN in objections:
                return Outcome([note], self._break(number, Reason.ILLEGAL, now))
            case Illegal.FORFEIT:
                return Outcome([note], self._break(number, Reason.ILLEGAL, now))
            case Illegal.GAME:
                if Objection.NOT_YOUR_TURN not in objections:
                    self._request = 0  # this move has answered it
                return Outcome([note], self._end(self.side(other(number)), Reason.ILLEGAL, now))
            case Illegal.PENALTY if Objection.NOT_YOUR_TURN not in objections:
                return self._punish(number, note, now)
            case _:
                return Outcome([note])

    def _punish(self, number: Number, note: Note, now: float) -> Outcome:
        self._clock.stop(now)
        if self._clock.charge(self._turn, self._terms.penalty):
            self._request = 0
            return Outcome([note], self._out_of_time(number, now))
        return Outcome([note, (number, self._ask(number, self._turn))])

    def _out_of_time(self, number: Number, now: float) -> Ending:
        if self.players[number].manners.afterwards is Afterwards.HANG_UP:
            return self._break(number, Reason.TIME, now)
        return self._end(self.side(other(number)), Reason.TIME, now)

    def _break(self, number: Number, reason: Reason, now: float, *, is_lost: bool = False) -> Ending:
        broken = (number, reason)
        if self.phase is Phase.PLAYING and is_lost:
            ending = self._end(None, Reason.STOPPED, now, broken)
        elif (
            self.phase is Phase.PLAYING
            and reason is Reason.LEFT
            and len(self._board.moves) < BOTH_MOVED
            and (self.round, number, True) not in self._replayed  # else breaking off twice would avoid a loss
        ):
            ending = self._end(None, Reason.ABORTED, now, broken)
        elif self.phase is Phase.PLAYING:
            ending = self._end(self.side(other(number)), reason, now, broken)
        else:
            ending = Ending(None, broken=broken)
        self.phase = Phase.OVER
        return ending

    def _end(self, winner: Side | None, reason: Reason, now: float, broken: Broken | None = None) -> Ending:
        self._clock.stop(now)
        asked = self.to_move if self._request else None
        self._request, self.to_move = 0, None
        self.phase = Phase.OVER if self.round >= self._rounds else Phase.BETWEEN
        first, second = self.order
        finished = Finished(
            game=self.game,
            players=(self.players[first], self.players[second]),
            board=self._board,
            winner=winner,
            reason=reason,
            thought=(self._clock.spent(FIRST), self._clock.spent(SECOND)),
            round=self.round,
            series=self._series,
            table=self._table,
            began=self._began,
            ended=max(now, self._began),
            leaver=self.side(broken[0]) if broken is not None and broken[1] is Reason.LEFT else None,
            scheduled=self._scheduled,
        )
        return Ending(finished, asked, broken)
