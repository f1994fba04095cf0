"""The file of a match. It has a line with the settings, then a line of JSON for each game.

A game's line is written as soon as the game is over. A match that was stopped or killed can go on from its
file. After `sync` the games also survive a power failure. The file is locked while a match writes to it. An
incomplete last line, which a full disk may leave, is removed.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from gateway.game.text import json_text
from gateway.runtime.disk import is_locked, sync_folder, write_all
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
    """The number of moves in the game's opening; 0 for the empty board."""
    record: GameRecord
    """The record of the game. The players have their names in the match."""
    late: tuple[int, int] = (0, 0)
    """The numbers of moves of the first and the second mover that took longer than ``--think`` allows."""

    @property
    def points(self) -> float:
        """The points of the pairing's first player, which moves first in games with an even number."""
        if self.record.winner is None:
            return 0.5
        return float(self.record.winner == self.number % 2)


class Journal:
    """The open file of a match."""

    def __init__(self, path: Path, settings: dict[str, Any], number: int) -> None:
        self.path = path
        self.settings = settings
        """The settings in the first line of the file, in the form of `Plan.settings`."""
        self._number = number
        """The file descriptor."""
        self._is_ahead = False
        """Whether games were written after the last sync."""

    @classmethod
    def new(cls, path: Path, settings: dict[str, Any]) -> Self:
        """Create a file. Raises FileExistsError if it exists, or another OSError."""
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o666)
        try:
            _lock(number, path)
            write_all(number, f"{json_text({_MARK: _VERSION, **settings})}\n".encode())
            os.fsync(number)
            sync_folder(path.parent)
        except BaseException:
            path.unlink()  # otherwise the next attempt would raise FileExistsError
            os.close(number)
            raise
        return cls(path, settings, number)

    @classmethod
    def old(cls, path: Path) -> Self:
        """Open a file to continue its match. Raises OSError, or ValueError if it is not a match's file."""
        number = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        try:
            _lock(number, path)
            with path.open("rb") as lines:
                settings = _object(lines.readline(), path, 1)
            if settings.pop(_MARK, None) != _VERSION:
                raise ValueError(f"{path} is not the file of a match")
            _cut(number)  # must not change a file that is not the file of a match
        except BaseException:
            os.close(number)
            raise
        return cls(path, settings, number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.sync()
        finally:
            os.close(self._number)

    def append(self, entry: Played) -> None:
        """Write a game. Raises OSError; the file may then have an incomplete line, which `old` removes.

        Withdrawals are not written: a player that was dropped plays again when the match goes on, since its
        user may have corrected it.
        """
        line = {
            "pairing": entry.pairing,
            "number": entry.number,
            "opening": entry.opening,
            "late": entry.late,
            "game": jsonl.as_object(entry.record),
        }
        self._is_ahead = True
        write_all(self._number, f"{json_text(line)}\n".encode())

    def sync(self) -> None:
        """Wait until all written games are on disk, which takes milliseconds. Raises OSError."""
        if self._is_ahead:
            self._is_ahead = False
            os.fdatasync(self._number)

    def load(self) -> Iterator[Played]:
        """Yield the games in the order in which they ended. Raises OSError or ValueError."""
        with self.path.open("rb") as lines:
            lines.readline()
            for at, line in enumerate(lines, 2):
                entry = _object(line, self.path, at)
                try:
                    record = jsonl.from_object(entry["game"])
                    first, second = entry.get("late", (0, 0))
                    number, late = int(entry["number"]), (int(first), int(second))
                    yield Played(int(entry["pairing"]), number, int(entry["opening"]), record, late)
                except (KeyError, OverflowError, TypeError, ValueError) as error:
                    raise ValueError(f"{self.path}, line {at}: {error}") from error


def _lock(number: int, path: Path) -> None:
    if not is_locked(number):
        raise OSError(f"another match writes to {path}")


def _cut(number: int) -> None:
    """Remove an incomplete last line."""
    size = end = os.fstat(number).st_size
    while end and os.pread(number, 1, end - 1) != b"\n":
        end -= 1
    if end < size:
        os.ftruncate(number, end)


def _object(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        entry = json.loads(line) if line.endswith(b"\n") else None
    except (RecursionError, ValueError):
        entry = None
    if not isinstance(entry, dict):
        raise ValueError(f"{path}, line {number}: not a line of the file of a match")
    return entry
