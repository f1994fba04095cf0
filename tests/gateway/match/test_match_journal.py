"""The file of a match: each game that was counted is in it once, whatever happens to who writes it."""

from pathlib import Path

import pytest
from match_games import played

from gateway.match.journal import Journal

SETTINGS = {"games": 4, "players": [["a", "random"], ["b", "x {port}"]]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "match.jsonl"


def test_games_are_read_back_as_they_were_written(path: Path) -> None:
    games = [played(0), played(1, 0.5), played(2, 0.0)]
    with Journal.new(path, SETTINGS) as journal:
        for each in games:
            journal.add(each)
    with Journal.old(path) as journal:
        assert journal.settings == SETTINGS
        assert list(journal.games()) == games


def test_game_is_in_the_file_as_soon_as_it_is_written(path: Path) -> None:
    with Journal.new(path, SETTINGS) as journal:
        journal.add(played(0))
        assert path.read_text().count("\n") == 2


@pytest.mark.parametrize("lost", [1, 10, 200])
def test_line_that_was_cut_off_is_no_game_and_the_next_begins_where_it_did(path: Path, lost: int) -> None:
    with Journal.new(path, SETTINGS) as journal:
        journal.add(played(0))
        journal.add(played(1))
    path.write_bytes(path.read_bytes()[:-lost])
    with Journal.old(path) as journal:
        assert list(journal.games()) == [played(0)]
        journal.add(played(1, 0.5))
        assert list(journal.games()) == [played(0), played(1, 0.5)]


def test_match_is_not_begun_where_there_is_one(path: Path) -> None:
    Journal.new(path, SETTINGS).__exit__()
    with pytest.raises(FileExistsError):
        Journal.new(path, SETTINGS)


def test_two_matches_do_not_write_to_one_file(path: Path) -> None:
    with Journal.new(path, SETTINGS), pytest.raises(OSError, match="another match writes to"):
        Journal.old(path)


@pytest.mark.parametrize("text", ["", "{}\n", "[1]\n", "what\n", '{"c4gateway match": 99}\n'])
def test_other_files_are_of_no_match(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(ValueError, match=r"match\.jsonl"):
        Journal.old(path)


@pytest.mark.parametrize("line", ["what", "[]", '{"pairing": 0}', '{"game": {}}'])
def test_line_that_is_no_game_is_named(path: Path, line: str) -> None:
    with Journal.new(path, SETTINGS) as journal:
        journal.add(played(0))
    with path.open("a") as file:
        file.write(f"{line}\n")
    with Journal.old(path) as journal, pytest.raises(ValueError, match="line 3: "):
        list(journal.games())
