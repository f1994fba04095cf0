"""Export formats. Each has its own module with a function `write`.

`write` takes an iterator of games and yields texts, each of one or more complete lines. Only one game at a
time is in memory. Invisible characters are escaped in all formats.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from gateway.store.formats import jsonl, pgn, sheet
from gateway.store.records import GameRecord

ONLY_OUT = re.compile(
    rb'(?P<csv>(\xef\xbb\xbf)?"?id"?[,;\t]"?began)|(?P<pgn>\[Event ")|(?P<arena>[0-2][0-6]*\s*$)'
)
"""Matches the beginning of an export that cannot be imported again."""


def arena_lines(games: Iterable[GameRecord]) -> Iterator[str]:
    """Yield each game in c4-arena's own format: the digit of the result, then the columns."""
    return (f"{game.result}{game.moves}\n" for game in games)


FORMATS: dict[str, Callable[[Iterable[GameRecord]], Iterator[str]]] = {
    "csv": sheet.write,
    "jsonl": jsonl.write,
    "pgn": pgn.write,
    "arena": arena_lines,
}
