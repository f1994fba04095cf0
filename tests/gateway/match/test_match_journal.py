"""The file of a match: each game that was counted is in it once, whatever happens to who writes it."""

import os
from collections.abc import Callable
from contextlib import nullcontext
from errno import EINVAL, EIO, ENOSPC
from pathlib import Path
from stat import S_ISDIR

import pytest
from match_games import played

from gateway.game.text import json_text
from gateway.match.journal import Journal
from gateway.store.formats import jsonl

SETTINGS = {"games": 4, "players": [["a", "random"], ["b", "x {port}"]]}
ENDLESS = {"pairing": 0, "number": float("inf"), "opening": 0, "game": jsonl.as_object(played(0).record)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "match.jsonl"


def test_games_are_read_back_as_they_were_written(path: Path) -> None:
    games = [played(0), played(1, 0.5), played(2, 0.0)]
    with Journal.new(path, SETTINGS) as journal:
        for each in games:
            journal.append(each)
    with Journal.old(path) as journal:
        assert journal.settings == SETTINGS
        assert list(journal.load()) == games


def test_line_that_was_cut_off_at_any_byte_is_no_game_and_the_next_begins_where_it_did(path: Path) -> None:
    """A power cut may leave zeros in its place."""
    with Journal.new(path, SETTINGS) as journal:
        head = path.stat().st_size
        journal.append(played(0))
        whole = path.stat().st_size
        journal.append(played(1))
        data = path.read_bytes()  # of each game as soon as it is written
    for size in (*range(0, head, 7), head - 1):
        path.write_bytes(data[:size])
        with pytest.raises(ValueError, match="line 1: "):
            Journal.old(path)
    cut_off = [data[whole:size] for size in (*range(whole, len(data), 7), len(data) - 1)]
    for rest in (*cut_off, data[whole:-10] + bytes(100)):
        path.write_bytes(data[:whole] + rest)
        with Journal.old(path) as journal:
            assert list(journal.load()) == [played(0)]
        assert path.read_bytes() == data[:whole]
    with Journal.old(path) as journal:
        journal.append(played(1, 0.5))
        assert list(journal.load()) == [played(0), played(1, 0.5)]


def test_disk_has_what_is_written_once_it_was_waited_for(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = list[int]()

    def sync(number: int) -> None:
        if not S_ISDIR(os.fstat(number).st_mode):
            kept.append(os.fstat(number).st_size)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "fdatasync", sync)
    with Journal.new(path, SETTINGS) as journal:
        sizes = [path.stat().st_size]
        assert kept == sizes
        journal.append(played(0))
        sizes.append(path.stat().st_size)
        journal.sync()
        journal.sync()
        assert kept == sizes
        journal.append(played(1))
    assert kept == [*sizes, path.stat().st_size]


def test_file_has_one_match_that_writes_to_it(path: Path) -> None:
    with Journal.new(path, SETTINGS), pytest.raises(OSError, match="another match writes to"):
        Journal.old(path)
    with pytest.raises(FileExistsError):
        Journal.new(path, SETTINGS)


@pytest.mark.parametrize(
    ("number", "of_folders", "begins"), [(EINVAL, True, True), (EIO, True, False), (ENOSPC, False, False)]
)
def test_match_begins_where_a_folder_cannot_be_synced_and_leaves_no_file_where_it_cannot_begin(
    path: Path, monkeypatch: pytest.MonkeyPatch, number: int, of_folders: bool, begins: bool
) -> None:
    def fails(file: int, real: Callable[[int], None] = os.fsync) -> None:
        if S_ISDIR(os.fstat(file).st_mode) or not of_folders:
            raise OSError(number, "it is refused")
        real(file)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fails)
        with nullcontext() if begins else pytest.raises(OSError, match="it is refused"):
            Journal.new(path, SETTINGS).__exit__()
    with pytest.raises(FileExistsError) if begins else nullcontext():
        Journal.new(path, SETTINGS).__exit__()


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"{}\n", b"[1]\n", b"what\n", b'{"c4gateway match": 99}\n', b"\xff\n\xff"),
        *(b"a letter\nwithout an end", b'{"c4gateway match": 99}\nx'),
    ],
)
def test_other_files_are_of_no_match_and_nothing_is_cut_from_them(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"match\.jsonl"):
        Journal.old(path)
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    "line",
    [
        *(b"what", b"[]", b"\xff", b"[" * 100_000, b'{"pairing": 0}', b'{"game": {}}'),
        json_text(ENDLESS).encode(),
    ],
)
def test_line_that_is_no_game_is_named(path: Path, line: bytes) -> None:
    with Journal.new(path, SETTINGS) as journal:
        journal.append(played(0))
    with path.open("ab") as file:
        file.write(line + b"\n")
    with Journal.old(path) as journal, pytest.raises(ValueError, match="line 3: "):
        list(journal.load())
