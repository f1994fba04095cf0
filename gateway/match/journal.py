"""The file of a match: what was asked for, then a line of JSON for each game, written as soon as it is over.

Whatever happens to the process, the file has each game that was counted, once, and the match can go on from
it; what `sync` was called for stays through a power cut, too. A line that was cut off in the middle, as by a
full disk, is no game: it is cut away. While a match writes to the file no other one can.
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
from gateway.tournament.schedule import Withdrawal

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
    late: tuple[int, int] = (0, 0)
    """How many moves of the first and of the second mover took longer than ``--think`` allows."""

    @property
    def points(self) -> float:
        """What the first-named player of the pairing got, who moves first in games with an even number."""
        if self.record.winner is None:
            return 0.5
        return float(self.record.winner == self.number % 2)


class Journal:
    """The open file."""

    def __init__(self, path: Path, settings: dict[str, Any], number: int) -> None:
        self.path = path
        self.settings = settings
        """What was asked for."""
        self._number = number
        self._is_ahead = False
        """Whether more is written than the disk is known to have."""

    @classmethod
    def new(cls, path: Path, settings: dict[str, Any]) -> Self:
        """Begin a file. Raises OSError, FileExistsError where there is one."""
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o666)
        try:
            _lock(number, path)
            write_all(number, f"{json_text({_MARK: _VERSION, **settings})}\n".encode())
            os.fsync(number)
            sync_folder(path.parent)
        except BaseException:
            path.unlink()  # it is of no match, and would keep the next one from its place
            os.close(number)
            raise
        return cls(path, settings, number)

    @classmethod
    def old(cls, path: Path) -> Self:
        """Open a file to go on. Raises OSError, and ValueError where it is of no match."""
        number = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        try:
            _lock(number, path)
            with path.open("rb") as lines:
                settings = _object(lines.readline(), path, 1)
            if settings.pop(_MARK, None) != _VERSION:
                raise ValueError(f"{path} is not the file of a match")
            _cut(number)  # only now: nothing is cut from a file of anybody else's
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

    def append(self, entry: Played | Withdrawal) -> None:
        """Write a game. Raises OSError; then the file may have a part of it, which is cut away later.

        A withdrawal is not written: a player that was dropped plays again when the match goes on, as what
        was wrong with it may have been mended.
        """
        if isinstance(entry, Withdrawal):
            return
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
        """Wait, for milliseconds, until what was written is on the disk. Raises OSError."""
        if self._is_ahead:
            self._is_ahead = False
            os.fdatasync(self._number)

    def load(self) -> Iterator[Played]:
        """Yield the games in the order in which they ended. Raises OSError, ValueError."""
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
    """Cut away what follows the last end of a line."""
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
