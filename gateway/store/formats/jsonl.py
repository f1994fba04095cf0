"""The export format of JSON lines: each line is an object with all stored data of a game except its evidence.

The keys are the fields of `GameRecord`, but `game` is called `id`. Pairs are arrays that have the first
mover's value first. Durations are milliseconds, points in time milliseconds of Unix time. `winner` is 1 for
the first mover, 2 for the second, 0 for neither. This is the only format that can be imported.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

from gateway.game.events import Reason
from gateway.game.results import FAULT_WORDS, WITHOUT_RESULT
from gateway.game.text import json_text
from gateway.store.records import (
    LATEST,
    REASONS,
    WORDS,
    GameRecord,
    Participant,
    TournamentGame,
    game_id,
    winner_of,
)


def write(games: Iterable[GameRecord]) -> Iterator[str]:
    """Yield a line for each game."""
    for game in games:
        yield json_text(as_object(game)) + "\n"


def read(line: str | bytes) -> list[GameRecord]:
    """Return the games of a line, which is one object, or an array of objects as in the server's log.

    Raises ValueError for any other line.
    """
    try:
        found = json.loads(line)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return [from_object(each) for each in (found if type(found) is list else [found])]


def as_object(record: GameRecord) -> dict[str, Any]:
    """Return a game as a JSON object."""
    found = {
        "id": record.game,
        "began": record.began,
        "ended": record.ended,
        "players": [
            {"name": player.name, "kind": player.kind, "house": player.house} for player in record.players
        ],
        "moves": record.moves,
        "position": record.position,
        "winner": record.result,
        "reason": WORDS[record.reason],
        "thought": record.thought,
        "table": record.table,
        "series": record.series,
        "round": record.round,
        "counted": record.counted,
    }
    return found if record.scheduled is None else {**found, _SCHEDULED: record.scheduled}


def from_object(found: object) -> GameRecord:
    """Return the game of a JSON object that `as_object` made. Raises ValueError for any other object.

    Objects of older versions have no `position`. Only games of a tournament, in a journal, have `scheduled`.
    """
    lacking = {_POSITION: None, _SCHEDULED: None}
    entry = _object({**lacking, **found} if isinstance(found, dict) else found, {*_KEYS, *lacking})
    one, two = (_participant(each) for each in _pair(entry["players"]))
    thought = _pair(entry["thought"])
    record = GameRecord(
        game=game_id(_text(entry["id"])),
        began=_number(entry["began"], most=LATEST),
        ended=_number(entry["ended"], most=LATEST),
        players=(one, two),
        moves=_text(entry["moves"]),
        winner=winner_of(_number(entry["winner"])),
        reason=_reason(_text(entry["reason"])),
        thought=(_number(thought[0]), _number(thought[1])),
        table=None if entry["table"] is None else _text(entry["table"]),
        series=_number(entry["series"]),
        round=_number(entry["round"], most=2**31 - 1),
        counted=_truth(entry["counted"]),
        scheduled=None if entry[_SCHEDULED] is None else _scheduled(entry[_SCHEDULED]),
    )
    if not _could_end_so(record):
        raise ValueError(f"game {record.game} cannot have ended so")
    if entry[_POSITION] not in (None, record.position):
        raise ValueError(f"game {record.game}: position {entry[_POSITION]!r} is not that of its moves")
    return record


_POSITION, _SCHEDULED = "position", "scheduled"
_KEYS = {"id", *(field.name for field in fields(GameRecord) if field.compare)} - {"game"}


def _could_end_so(record: GameRecord) -> bool:
    """Whether moves, winner and reason are consistent. Raises ValueError if the moves are not legal."""
    board = record.board()
    if board.winner is not None:
        fits = record.reason is Reason.FOUR and record.winner == board.winner
    elif board.over:
        fits = record.reason is Reason.FULL and record.winner is None
    elif record.reason in WITHOUT_RESULT:
        fits = record.winner is None and not record.counted
    else:
        fits = record.reason not in (Reason.FOUR, Reason.FULL) and record.winner is not None
    return fits and record.moves.isascii()


def _object(found: object, keys: set[str]) -> dict[str, object]:
    if not isinstance(found, dict) or found.keys() != keys:
        raise ValueError(f"not an object with the keys {', '.join(sorted(keys))}")
    return found


def _participant(found: object) -> Participant:
    entry = _object(found, {"name", "kind", "house"})
    return Participant(_text(entry["name"]), _text(entry["kind"]), _truth(entry["house"]))


def _pair(found: object) -> list[object]:
    if not isinstance(found, list) or len(found) != 2:
        raise ValueError("not an array of two")
    return found


def _scheduled(found: object) -> TournamentGame:
    match found:
        case [pairing, number, None as culprit, None as fault, created]:
            pass
        case [pairing, number, 0 | 1 as culprit, str(fault), created] if (
            type(culprit) is int and fault in FAULT_WORDS
        ):
            pass
        case _:
            raise ValueError("not the place of a game in a tournament")
    most = 2**31 - 1
    return TournamentGame(_number(pairing, most), _number(number, most), culprit, fault, _number(created))


def _text(found: object) -> str:
    if not isinstance(found, str):
        raise ValueError(f"{found!r} is not a string")
    found.encode()  # raises UnicodeEncodeError, a ValueError, for a lone surrogate
    return found


def _number(found: object, most: int = 2**63 - 1) -> int:
    if type(found) is not int or not 0 <= found <= most:
        raise ValueError(f"{found!r} is not a whole number from 0 to {most}")
    return found


def _truth(found: object) -> bool:
    if not isinstance(found, bool):
        raise ValueError(f"{found!r} is not a truth value")
    return found


def _reason(word: str) -> Reason:
    if word not in REASONS:
        raise ValueError(f"{word!r} is not a reason")
    return REASONS[word]
