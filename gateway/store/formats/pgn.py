"""The export format PGN, as in chess: tags in brackets, then the columns as one word, and the result.

The seven tags that PGN requires come first, then further tags. The first mover is White. The tag ``Notation``
explains the columns. The result of a game that was aborted, cut off by the server or played again is ``*``.
"""

import json
from collections.abc import Iterable, Iterator

from gateway.game.results import WITHOUT_RESULT
from gateway.game.text import is_visible
from gateway.store.records import WORDS, GameRecord, moment

NOTATION = "below: the columns played, 0 to 6, a digit each, White first; Position: the same from 1 to 7"
_RESULTS = {1: "1-0", 2: "0-1", 0: "1/2-1/2"}


def write(games: Iterable[GameRecord]) -> Iterator[str]:
    """Yield the text of each game, followed by an empty line."""
    for game in games:
        event = "lobby" if game.table is None else f"table {game.table}"
        yield text_of(game, event, str(game.round))


def text_of(game: GameRecord, event: str, round: str) -> str:
    """Return the text of a game, followed by an empty line. `event` and `round` are the tags."""
    tags = "".join(f"[{name} {_quoted(value)}]\n" for name, value in _tags(game, event, round))
    moves = f"{game.moves} " if game.moves else ""
    return f"{tags}\n{moves}{_result(game)}\n\n"


def text_without_moves(
    players: tuple[str, str], winner: str | None, termination: str, event: str, round: str
) -> str:
    """Return the text of a game that was decided without being played, followed by an empty line.

    `players` has the first mover first. A game of which nobody is the winner is drawn if it was awarded.
    """
    white, black = players
    result = "1/2-1/2" if termination == "awarded" else "*"
    if winner is not None:
        result = "1-0" if winner == white else "0-1"
    known = {
        "Event": event, "Site": "c4gateway", "Date": "????.??.??", "Round": round, "White": white,
        "Black": black, "Result": result, "Termination": termination,
    }  # fmt: skip
    tags = "".join(f"[{name} {_quoted(value)}]\n" for name, value in known.items())
    return f"{tags}\n{result}\n\n"


def _tags(record: GameRecord, event: str, round: str) -> Iterator[tuple[str, object]]:
    began = moment(record.began)
    (first, second), (white_thought, black_thought) = record.players, record.thought
    yield "Event", event
    yield "Site", "c4gateway"
    yield "Date", began[:10].replace("-", ".")
    yield "Round", round
    yield "White", first.name
    yield "Black", second.name
    yield "Result", _result(record)
    yield "Termination", WORDS[record.reason]
    yield "GameId", record.game
    yield "Began", began
    yield "Ended", moment(record.ended)
    yield "WhiteKind", first.kind
    yield "BlackKind", second.kind
    yield "WhiteType", "program" if first.house else "client"
    yield "BlackType", "program" if second.house else "client"
    yield "WhiteThought", white_thought
    yield "BlackThought", black_thought
    yield "Series", record.series
    yield "Counted", "yes" if record.counted else "no"
    yield "Position", record.position
    yield "Notation", NOTATION


def _result(record: GameRecord) -> str:
    return "*" if record.reason in WITHOUT_RESULT else _RESULTS[record.result]


def _quoted(value: object) -> str:
    text = json.dumps(str(value), ensure_ascii=False)
    return text if text.isascii() and text.isprintable() else "".join(map(_shown, text))


def _shown(sign: str) -> str:
    r"""Return a character of a tag. Line breaks and invisible characters are escaped as in JSON: ``\u000a``.

    An invisible character beyond U+FFFF takes two escapes.
    """
    if is_visible(sign):
        return sign
    units = sign.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
