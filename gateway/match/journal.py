"""The file of a match: what was asked for, then a line of JSON for each game, written as soon as it is over.

Whatever happens to the process, the file has each game that was counted, once, and the match can go on from
it. A line that was cut off in the middle, as by a full disk, is no game: it is cut away. While a match writes
to the file no other one can.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from gateway.game.text import json_text
from gateway.store.formats import jsonl
from gateway.store.records import GameRecord

_MARK = "c4gateway match"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Played:
    """A game of a match."""

    pairing: int
    number: int
    opening: int
    """How many of its moves were given; 0 for the empty board."""
    record: GameRecord
    """Its players bear the names that they have in the match."""


class Journal:
    """The open file."""

    def __init__(self, path: Path, settings: dict[str, Any], number: int) -> None:
        self.path = path
        self.settings = settings
        """What was asked for."""
        self._number = number

    @classmethod
    def new(cls, path: Path, settings: dict[str, Any]) -> Self:
        """Begin a file. Raises OSError, FileExistsError where there is one."""
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o666)
        _lock(number, path)
        _write(number, json_text({_MARK: _VERSION, **settings}) + "\n")
        return cls(path, settings, number)

    @classmethod
    def old(cls, path: Path) -> Self:
        """Open a file to go on. Raises OSError, and ValueError where it is of no match."""
        number = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        try:
            _lock(number, path)
            _cut(number)
            with path.open(encoding="utf-8") as lines:
                settings = _object(next(lines, ""), path, 1)
            if settings.pop(_MARK, None) != _VERSION:
                raise ValueError(f"{path} is not the file of a match")
        except BaseException:
            os.close(number)
            raise
        return cls(path, settings, number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._number)

    def add(self, played: Played) -> None:
        """Write a game. Raises OSError; then the file may have a part of it, which is cut away later."""
        about = {"pairing": played.pairing, "number": played.number, "opening": played.opening}
        _write(self._number, json_text({**about, "game": jsonl.as_object(played.record)}) + "\n")

    def games(self) -> Iterator[Played]:
        """Yield the games in the order in which they ended. Raises OSError, ValueError."""
        with self.path.open(encoding="utf-8") as lines:
            next(lines)
            for number, line in enumerate(lines, 2):
                found = _object(line, self.path, number)
                try:
                    record = jsonl.from_object(found["game"])
                    yield Played(int(found["pairing"]), int(found["number"]), int(found["opening"]), record)
                except (KeyError, TypeError, ValueError) as error:
                    raise ValueError(f"{self.path}, line {number}: {error}") from error


def _lock(number: int, path: Path) -> None:
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise OSError(f"another match writes to {path}") from None


def _write(number: int, line: str) -> None:
    data = line.encode()
    while data:
        data = data[os.write(number, data) :]


def _cut(number: int) -> None:
    """Cut away what follows the last end of a line."""
    size = end = os.fstat(number).st_size
    while end and os.pread(number, 1, end - 1) != b"\n":
        end -= 1
    if end < size:
        os.ftruncate(number, end)


def _object(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"{path}, line {number}: not a line of the file of a match")
    return found
