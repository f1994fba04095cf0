"""Facts on their way from the process that plays to the web's: one row of JSON for each.

A row begins with a letter for its kind. Times are whole milliseconds. Of a game's end only what viewers need
crosses. The process that plays writes many rows, so they are flat and written by hand. The rule it keeps: a
row with a missing or further value, or a value of the wrong type or out of range, is a LinkError.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, assert_never

from adapters.web.link import LinkError
from gateway.game.board import CELLS, COLUMNS, Side
from gateway.game.commands import LONGEST_NAME
from gateway.game.facts import (
    Came,
    Cause,
    Fact,
    GameStarted,
    Hindered,
    Left,
    MoveMade,
    Obstacle,
    Standing,
    Vanished,
    Waits,
)
from gateway.game.ids import GameId, parse
from gateway.game.results import Finished
from gateway.store.records import REASONS, WORDS

Row: TypeAlias = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Begun:
    """The state begins. It replaces what was sent before; facts may come between its rows."""

    number: int
    """The number of the request, from 1."""


@dataclass(frozen=True, slots=True)
class Complete:
    """The state ends."""


@dataclass(frozen=True, slots=True)
class Stands:
    """A live game, as a part of the state."""

    started: GameStarted
    standing: Standing


@dataclass(frozen=True, slots=True)
class Over:
    """A game is over."""

    game: GameId
    winner: Side | None
    reason: str
    """A word of `gateway.store.records.WORDS`."""
    thought: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Kept:
    """Why a player that waits has no opponent; None: that is not known, or over."""

    player: int
    obstacle: Obstacle | None


Told: TypeAlias = (
    Came | Waits | Kept | Left | GameStarted | MoveMade | Over | Stands | Vanished | Begun | Complete
)


def written(fact: Fact | Vanished | tuple[GameStarted, Standing]) -> str:
    """Return the row of a fact, of a live game, or of the loss of a node, as JSON."""
    if isinstance(fact, MoveMade):  # most facts are moves, and a pattern is slower
        left = "null" if fact.left is None else int(fact.left * 1000)
        return f'["m","{fact.game}",{fact.side},{fact.column},{int(fact.used * 1000)},{left}]'
    row: Row
    match fact:
        case GameStarted():
            row = "s", *_game(fact)
        case Finished(thought=(one, other)):
            row = "e", fact.game, fact.winner, WORDS[fact.reason], int(one * 1000), int(other * 1000)
        case Came(player, name, kind):
            row = "c", player, name, kind
        case Waits(player, table, waited):
            row = "w", player, table, int(waited * 1000)
        case Hindered(player=player, obstacle=why):
            row = "h", player, *(() if why is None else (why.cause.value, why.name, why.alike))
        case Left(player):
            row = "l", player
        case Vanished(first, last):
            row = "x", first, last
        case (started, standing):
            row = "g", *_game(started), *_stands(standing)
        case _:
            assert_never(fact)
    return json.dumps(row)


def begun(number: int) -> str:
    """Return the row that begins the state for a request."""
    return f'["b",{number}]'


COMPLETE = '["r"]'
"""The row that ends the state."""


def read(row: object) -> Told:
    """Undo `written`. Raises LinkError."""
    try:
        return _read(row)
    except ValueError as error:
        raise LinkError(f"not a fact: {error}") from error


def _stands(standing: Standing) -> Row:
    left = None if standing.left is None else [int(each * 1000) for each in standing.left]
    return "".join(map(str, standing.moves)), left, int(standing.thinking * 1000)


def _game(fact: GameStarted) -> Row:
    clock = None if fact.clock is None else int(fact.clock * 1000)
    return (fact.game, *fact.players, *fact.names, *fact.kinds, fact.table, fact.round, clock)


def _read(row: object) -> Told:
    told: Told
    match row:
        case ["m", game, side, column, used, left]:
            of = _side(side)
            told = MoveMade(_id(game), of, _whole(column, COLUMNS - 1), _seconds(used), _maybe(left))
        case ["s", *rest]:
            told = _started(rest)
        case ["e", game, winner, str(reason), one, other] if reason in REASONS:
            won = None if winner is None else _side(winner)
            told = Over(_id(game), won, reason, (_seconds(one), _seconds(other)))
        case ["c", player, name, kind]:
            told = Came(_whole(player), _text(name), _text(kind))
        case ["w", player, table, waited]:
            told = Waits(_whole(player), None if table is None else _text(table), _seconds(waited))
        case ["h", player, *why]:
            told = Kept(_whole(player), _obstacle(why))
        case ["l", player]:
            told = Left(_whole(player))
        case ["x", first, last]:
            told = Vanished(_whole(first), _whole(last))
        case ["g", *rest, moves, left, thinking]:
            both = None if left is None else _pair(left)
            standing = Standing(_columns(moves), (0.0, 0.0), both, _seconds(thinking))
            told = Stands(_started(rest), standing)
        case ["b", number]:
            told = Begun(_whole(number))
        case ["r"]:
            told = Complete()
        case _:
            raise ValueError("of an unknown kind")
    return told


def _obstacle(found: Row) -> Obstacle | None:
    if not found:
        return None
    cause, name, alike = found
    return Obstacle(Cause(cause), _text(name), None if alike is None else _text(alike))


def _started(row: Row) -> GameStarted:
    game, one, other, *texts, table, number, clock = row
    first, second, kind, other_kind = map(_text, texts)
    return GameStarted(
        game=_id(game),
        players=(_whole(one), _whole(other)),
        names=(first, second),
        kinds=(kind, other_kind),
        table=None if table is None else _text(table),
        round=_whole(number),
        clock=_maybe(clock),
    )


def _whole(found: Any, most: int = 1 << 53) -> int:
    if type(found) is not int or not 0 <= found <= most:
        raise ValueError("not a number, or out of its range")
    return found


def _side(found: Any) -> Literal[0, 1]:
    return 1 if _whole(found, 1) else 0


def _seconds(found: Any) -> float:
    return _whole(found) / 1000


def _maybe(found: Any) -> float | None:
    return None if found is None else _seconds(found)


def _pair(found: Any) -> tuple[float, float]:
    if type(found) is not list:
        raise ValueError("not a pair")
    one, other = found
    return _seconds(one), _seconds(other)


def _text(found: Any) -> str:
    if type(found) is not str or len(found) > LONGEST_NAME:
        raise ValueError("not a name")
    return found


def _id(found: Any) -> GameId:
    return parse(_text(found))


def _columns(found: Any) -> tuple[int, ...]:
    text = _text(found)
    if len(text) > CELLS or not all("0" <= digit < str(COLUMNS) for digit in text):
        raise ValueError("not the columns of a game")
    return tuple(map(int, text))
