"""PGN, in the manner of chess: tags in brackets, then the columns of the game in one word, and the result.

The seven tags that PGN demands come first, White being the first mover; then our own. ``*`` is the result of
a game that was aborted or that the server cut short. PGN knows no line break in a tag: a character that would
be one, or that nobody sees, is written as in JSON, ``\\u000a``.
"""

import json
import re
from collections.abc import Iterable, Iterator

from gateway.game.board import Side
from gateway.game.results import WITHOUT_RESULT
from gateway.game.text import is_visible
from gateway.store.formats.moments import from_moment, moment
from gateway.store.records import REASONS, WORDS, GameRecord, Participant, StoredGame

_RESULTS = {1: "1-0", 2: "0-1", 0: "1/2-1/2"}
_WINNERS: dict[str, Side | None] = {"1-0": 0, "0-1": 1, "1/2-1/2": None, "*": None}
_TAG = re.compile(r'\[(\w+) ("(?:[^"\\]|\\.)*")\]')


def write(games: Iterable[StoredGame]) -> Iterator[str]:
    """Yield the text of each game, an empty line after it."""
    for game in games:
        tags = "".join(f"[{name} {_quoted(value)}]\n" for name, value in _tags(game))
        moves = f"{game.record.moves} " if game.record.moves else ""
        yield f"{tags}\n{moves}{_result(game.record)}\n\n"


def read(lines: Iterable[str]) -> Iterator[StoredGame]:
    """Yield the games. Raises ValueError."""
    tags: dict[str, str] = {}
    for piece in lines:
        for line in piece.split("\n"):
            if found := _TAG.fullmatch(line):
                tags[found[1]] = json.loads(found[2])
            elif line:
                yield _game(tags, line.split())
                tags = {}
    if tags:
        raise ValueError("the last game has no moves")


def _tags(game: StoredGame) -> Iterator[tuple[str, object]]:
    record = game.record
    began = moment(record.began)
    (first, second), (white_thought, black_thought) = record.players, record.thought
    yield "Event", "lobby" if record.table is None else f"table {record.table}"
    yield "Site", "c4gateway"
    yield "Date", began[:10].replace("-", ".")
    yield "Round", record.round
    yield "White", first.name
    yield "Black", second.name
    yield "Result", _result(record)
    yield "Termination", WORDS[record.reason]
    yield "GameId", game.id
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


def _game(tags: dict[str, str], words: list[str]) -> StoredGame:
    try:
        *moves, result = words
        record = GameRecord(
            began=from_moment(tags["Began"]),
            ended=from_moment(tags["Ended"]),
            players=(_player(tags, "White"), _player(tags, "Black")),
            moves="".join(moves),
            winner=_WINNERS[result],
            reason=REASONS[tags["Termination"]],
            thought=(int(tags["WhiteThought"]), int(tags["BlackThought"])),
            table=None if tags["Event"] == "lobby" else tags["Event"].removeprefix("table "),
            series=int(tags["Series"]),
            round=int(tags["Round"]),
            counted=tags["Counted"] == "yes",
        )
        return StoredGame(int(tags["GameId"]), record)
    except KeyError as error:
        raise ValueError(f"a game without, or with a strange, {error.args[0]}") from error


def _player(tags: dict[str, str], colour: str) -> Participant:
    return Participant(tags[colour], tags[f"{colour}Kind"], tags[f"{colour}Type"] == "program")


def _result(record: GameRecord) -> str:
    return "*" if record.reason in WITHOUT_RESULT else _RESULTS[record.result]


def _quoted(value: object) -> str:
    text = json.dumps(str(value), ensure_ascii=False)
    return text if text.isascii() and text.isprintable() else "".join(map(_shown, text))


def _shown(sign: str) -> str:
    """Return a character as it may stand in a tag: one beyond U+FFFF that nobody sees takes two escapes."""
    if is_visible(sign):
        return sign
    units = sign.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
