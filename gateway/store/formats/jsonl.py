"""One JSON object a line, with everything that is stored of a game but its evidence.

The keys are those of `GameRecord`; what there are two of is an array, the first mover's first. Times are
milliseconds, points in time Unix time. `winner` is 1 for the first mover, 2 for the second, 0 for nobody.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from gateway.game.text import json_text
from gateway.store.records import REASONS, WORDS, GameRecord, Participant, StoredGame, winner_of


def write(games: Iterable[StoredGame]) -> Iterator[str]:
    """Yield a line for each game."""
    for game in games:
        yield json_text({"id": game.id, **as_object(game.record)}) + "\n"


def read(lines: Iterable[str]) -> Iterator[StoredGame]:
    """Yield the games. Raises ValueError."""
    for line in lines:
        try:
            found = json.loads(line)
            yield StoredGame(found["id"], from_object(found))
        except (KeyError, TypeError) as error:
            raise ValueError(f"no game: {line!r}") from error


def as_object(record: GameRecord) -> dict[str, Any]:
    """Return the game as what JSON can say."""
    return {
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


def from_object(found: dict[str, Any]) -> GameRecord:
    """Undo `as_object`. Raises KeyError, TypeError, ValueError."""
    first, second = (Participant(each["name"], each["kind"], each["house"]) for each in found["players"])
    first_thought, second_thought = found["thought"]
    return GameRecord(
        began=found["began"],
        ended=found["ended"],
        players=(first, second),
        moves=found["moves"],
        winner=winner_of(found["winner"]),
        reason=REASONS[found["reason"]],
        thought=(first_thought, second_thought),
        table=found["table"],
        series=found["series"],
        round=found["round"],
        counted=found["counted"],
    )
