"""One JSON object a line, with everything that is stored of a game but its evidence.

The keys are those of `GameRecord`, but `id` for its `game`; what there are two of is an array, the first
mover's first. Times are milliseconds, points in time Unix time. `winner` is 1 for the first mover, 2 for the
second, 0 for nobody. This is the only format that is read back, and it is read as strictly as what a client
sends.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

from gateway.game.events import Reason
from gateway.game.results import WITHOUT_RESULT
from gateway.game.text import json_text
from gateway.store.records import LATEST, REASONS, WORDS, GameRecord, Participant, game_id, winner_of


def write(games: Iterable[GameRecord]) -> Iterator[str]:
    """Yield a line for each game."""
    for game in games:
        yield json_text(as_object(game)) + "\n"


def read(line: str | bytes) -> list[GameRecord]:
    """Return the games of a line: an object, or an array of them, as the log has games that were not stored.

    Raises ValueError.
    """
    try:
        found = json.loads(line)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return [from_object(each) for each in (found if type(found) is list else [found])]


def as_object(record: GameRecord) -> dict[str, Any]:
    """Return the game as what JSON can say."""
    return {
        "id": record.game,
        "began": record.began,
        "ended": record.ended,
        "players": [
            {"name": player.name, "kind": player.kind, "house": player.house} for player in record.players
        ],
        "moves": record.moves,
        "winner": record.result,
        "reason": WORDS[record.reason],
        "thought": record.thought,
        "table": record.table,
        "series": record.series,
        "round": record.round,
        "counted": record.counted,
    }


def from_object(found: object) -> GameRecord:
    """Undo `as_object`. Raises ValueError for what that makes of no game."""
    about = _object(found, _KEYS)
    one, two = (_participant(each) for each in _pair(about["players"]))
    thought = _pair(about["thought"])
    record = GameRecord(
        game=game_id(_text(about["id"])),
        began=_number(about["began"], most=LATEST),
        ended=_number(about["ended"], most=LATEST),
        players=(one, two),
        moves=_text(about["moves"]),
        winner=winner_of(_number(about["winner"])),
        reason=_reason(_text(about["reason"])),
        thought=(_number(thought[0]), _number(thought[1])),
        table=None if about["table"] is None else _text(about["table"]),
        series=_number(about["series"]),
        round=_number(about["round"], most=2**31 - 1),
        counted=_truth(about["counted"]),
    )
    if not _could_end_so(record):
        raise ValueError(f"game {record.game} cannot have ended so")
    return record


# The parts of it.

_KEYS = {"id", *(field.name for field in fields(GameRecord) if field.compare)} - {"game"}


def _could_end_so(record: GameRecord) -> bool:
    """Whether moves, winner and reason fit together. Raises ValueError where the moves are no game."""
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
    about = _object(found, {"name", "kind", "house"})
    return Participant(_text(about["name"]), _text(about["kind"]), _truth(about["house"]))


def _pair(found: object) -> list[object]:
    if not isinstance(found, list) or len(found) != 2:
        raise ValueError("not an array of two")
    return found


def _text(found: object) -> str:
    if not isinstance(found, str):
        raise ValueError(f"{found!r} is not a string")
    found.encode()  # a database has no room for half a character
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
