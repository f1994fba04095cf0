"""Encodes facts, and games with their current state, as bytes for other processes.

A move, the most frequent fact, is encoded as the letter `m` and a short form. Any other fact is encoded as
the letter `v` and a value of `gateway.game.encoding`. Neither form contains a line feed. Facts of other nodes
are checked as strictly as texts of clients.
"""

from dataclasses import dataclass, replace

from gateway.game.board import CELLS, COLUMNS, FIRST, SECOND
from gateway.game.encoding import EncodingError, Kinds, decode, encode_unchecked, kinds_of
from gateway.game.facts import (
    Away,
    AwayFor,
    Back,
    Came,
    Fact,
    GameStarted,
    Hindered,
    Left,
    MoveMade,
    Shown,
    Standing,
    Vanished,
    Waits,
)
from gateway.game.ids import parse
from gateway.game.results import Finished

SEATS = 1 << 36
"""The number of seat numbers that each node has."""
MOST = 1e9
"""The largest valid number of seconds, and of rounds."""


@dataclass(frozen=True, slots=True)
class Stands:
    """A game with its current state: a `Standing` with the columns as digits."""

    started: GameStarted
    moves: str
    used: tuple[float, ...]
    left: tuple[float, float] | None
    thinking: float
    away: tuple[AwayFor | None, AwayFor | None]


_KINDS = kinds_of(Came | Waits | Hindered | Left | GameStarted | Away | Back | Finished | Stands)
_LOCAL_KINDS: Kinds = {**_KINDS, "Vanished": Vanished}
_SIDES = {b"0": FIRST, b"1": SECOND}
_COLUMNS = {b"%d" % column: column for column in range(COLUMNS)}


def encode_fact(fact: Shown) -> bytes:
    """Encode a fact, or a game with its current state. Raises EncodingError."""
    match fact:
        case MoveMade(game, side, column, used, left):
            rest = b"-" if left is None else b"%r" % left
            return b"m %s %d %d %r %s" % (game.encode(), side, column, used, rest)
        case (started, standing):
            moves = "".join(map(str, standing.moves))
            return b"v " + encode_unchecked(
                Stands(started, moves, standing.used, standing.left, standing.thinking, standing.away)
            )
        case _:
            return b"v " + encode_unchecked(fact)


def decode_fact(data: bytes) -> Shown:
    """Decode a fact of this node. Raises ValueError."""
    match data[:2]:
        case b"m ":
            return _move(data)
        case b"v ":
            found: Shown | Stands = decode(data[2:], _LOCAL_KINDS)
            return (found.started, _standing(found)) if isinstance(found, Stands) else found
        case _:
            raise EncodingError("neither a move nor a value")


def decode_remote_fact(data: bytes, offset: int) -> Shown:
    """Decode a fact of another node, and add `offset` to the numbers of seats. Raises ValueError."""
    match data[:2]:
        case b"m ":
            return _move(data)
        case b"v ":
            return _placed(decode(data[2:], _KINDS), offset)
        case _:
            raise EncodingError("neither a move nor a value")


def _move(data: bytes) -> MoveMade:
    _, game, side, column, used, left = data.split(b" ")
    if column not in _COLUMNS or side not in _SIDES:
        raise EncodingError("not a column, or not a side")
    rest = None if left == b"-" else float(left)
    move = MoveMade(parse(game.decode("ascii")), _SIDES[side], _COLUMNS[column], float(used), rest)
    _check(move.used, move.left)
    return move


def _placed(fact: Fact | Stands, offset: int) -> Shown:
    """Check a fact of another node, and add `offset` to the numbers of seats. Raises ValueError."""
    match fact:
        case Waits(waited=waited):
            _check(waited)
            return replace(fact, player=_number(fact.player, offset))
        case Came() | Hindered() | Left():
            return replace(fact, player=_number(fact.player, offset))
        case GameStarted():
            return _started(fact, offset)
        case Stands(started):
            return _started(started, offset), _standing(fact)
        case Away(grace=grace, away=away):
            _check(grace, away)
        case Back(away=away):
            _check(away)
        case Finished(thought=thought):
            _check(*thought)
    return fact


def _standing(stands: Stands) -> Standing:
    _check(*stands.used, *(stands.left or ()), stands.thinking)
    if len(stands.moves) > CELLS or not all("0" <= digit < str(COLUMNS) for digit in stands.moves):
        raise EncodingError("not the columns of a game")
    if len(stands.used) != len(stands.moves):
        raise EncodingError("not a time for each move")
    _check(*(seconds for absence in stands.away if absence is not None for seconds in absence))
    return Standing(tuple(map(int, stands.moves)), stands.used, stands.left, stands.thinking, stands.away)


def _started(started: GameStarted, offset: int) -> GameStarted:
    one, other = started.players
    _check(started.clock, started.round)
    return replace(started, players=(_number(one, offset), _number(other, offset)))


def _check(*values: float | None) -> None:
    if not all(value is None or 0 <= value <= MOST for value in values):
        raise EncodingError("out of its range")


def _number(seat: int, offset: int) -> int:
    if not 0 < seat < SEATS:
        raise EncodingError("not the number of a seat")
    return offset + seat
