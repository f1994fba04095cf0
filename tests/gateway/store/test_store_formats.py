"""What an export says, and that JSON lines are read back as they were written, and no other."""

import io
import json
import time

import pytest
from game_records import game
from hypothesis import example, given
from hypothesis import strategies as st
from store_world import records

from gateway.game.events import Reason
from gateway.game.results import FAULT_WORDS
from gateway.game.text import is_visible
from gateway.store.formats import arena_lines, jsonl, pgn, sheet
from gateway.store.records import LATEST, GameRecord, Participant, TournamentGame, from_moment, moment

ALL = [jsonl.write, pgn.write, arena_lines, sheet.write]
NASTY = '"x\\" ]\r\n[White "eve"]\n\n\u2028\x85\x00,;\'=1+1\x7f\u202e\u200b\u3164\U000e0041'
CUT_OFF = {"reason": Reason.STOPPED, "winner": None, "moves": "", "counted": False}
STRANGE = game(
    players=(Participant(NASTY, "nac4"), Participant("*", "house", house=True)), table=NASTY, **CUT_OFF
)


def lines_of(text: str) -> list[str]:
    """Return the lines of a file, as Python reads one that was opened with newline=''."""
    return list(io.StringIO(text, newline=""))


@given(st.lists(records(), max_size=5))
@example([STRANGE])
def test_what_is_written_is_read_back_the_same_also_from_the_array_of_the_log(
    games: list[GameRecord],
) -> None:
    lines = lines_of("".join(jsonl.write(games)))
    assert [record for line in lines for record in jsonl.read(line)] == games
    assert jsonl.read(json.dumps([jsonl.as_object(each) for each in games]).encode()) == games


def test_every_game_has_its_position_string_and_an_export_from_before_there_were_any_is_read() -> None:
    written = json.loads("".join(jsonl.write([game(moves="0101010")])))
    assert written.pop("position") == "1212121"
    assert jsonl.from_object(written) == game(moves="0101010")
    assert '[Position "1212121"]\n' in "".join(pgn.write([game(moves="0101010")]))


@pytest.mark.parametrize("write", ALL)
def test_no_name_brings_a_line_of_its_own(write) -> None:
    count = len("".join(write([game(**CUT_OFF)])).splitlines())
    text = "".join(write([STRANGE]))
    assert len(text.splitlines()) == count
    assert all(is_visible(sign) for line in text.splitlines() for sign in line)


@pytest.mark.parametrize("write", ALL)
def test_formats_hold_one_game_at_a_time(write) -> None:
    drawn = 0

    def endless():
        nonlocal drawn
        while True:
            drawn += 1
            yield game()

    pieces = write(endless())
    for _ in range(10):
        next(pieces)
    assert drawn <= 10


@pytest.mark.parametrize("text", ["x", "{}", "17", "[{}]", '{"id": "1"}', "\0", "", "[" * 100_000, "[[]]"])
def test_what_is_no_export_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        jsonl.read(text)


@pytest.mark.parametrize(
    "fault",
    [
        {"id": 12},
        {"id": "0"},
        {"id": "00001-00000u"},
        {"began": "now"},
        {"began": True},
        {"ended": -1},
        {"ended": 2**63},
        {"began": LATEST + 1},
        {"ended": LATEST + 1},
        {"players": []},
        {"players": [{"name": "alice", "kind": "nac4", "house": False}] * 3},
        {"players": [{"name": "\ud800", "kind": "nac4", "house": False}] * 2},
        {"players": [{"name": "alice", "kind": "nac4", "house": 0}] * 2},
        {"players": [{"name": "alice", "kind": "nac4"}] * 2},
        {"moves": "7"},
        {"moves": "01010100"},
        {"moves": "0000000"},
        {"moves": "\u0660101010"},
        {"moves": 101010},
        {"winner": 2},
        {"winner": 3},
        {"winner": 0},
        {"reason": "full"},
        {"reason": "boredom"},
        {"moves": "33"},
        {"moves": "33", "reason": "full", "winner": 0},
        {"moves": "33", "reason": "left", "winner": 0},
        {"moves": "33", "reason": "aborted"},
        {"moves": "33", "reason": "aborted", "winner": 0, "counted": True},
        {"thought": [1, 2, 3]},
        {"thought": [1.5, 2]},
        {"table": 3},
        {"series": None},
        {"round": 2**31},
        {"counted": "yes"},
        {"weather": "fine"},
        {"position": "121212"},
        {"position": 1212121},
    ],
)
def test_game_that_there_cannot_be_is_a_value_error(fault: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        jsonl.from_object(json.loads(json.dumps(jsonl.as_object(game()) | fault)))


@pytest.mark.parametrize(
    "place",
    [
        TournamentGame(0, 0),
        TournamentGame(2**31 - 1, 2**31 - 1),
        *(TournamentGame(3, 1, 0, fault) for fault in FAULT_WORDS),
        TournamentGame(3, 1, 1, "crash"),
        TournamentGame(3, 1, created=1_795_730_400_000),
        None,
    ],
)
def test_line_of_a_tournaments_game_has_its_place(place: TournamentGame | None) -> None:
    [line] = jsonl.write([game(scheduled=place)])
    assert ('"scheduled"' in line) is (place is not None)
    assert [each.scheduled for each in jsonl.read(line)] == [place]


@pytest.mark.parametrize(
    "place",
    [
        *("cup", 1, True, {}, {"pairing": 0, "number": 0}),
        *([], [0, 0], [0, 0, None], [0, 0, None, None], [0, 0, None, None, 0, 0]),
        *([-1, 0, None, None, 0], [0, 2**31, None, None, 0], [0.0, 0, None, None, 0]),
        *([True, 0, None, None, 0], [None, 0, None, None, 0], ["0", 0, None, None, 0]),
        *([0, 0, 0, None, 0], [0, 0, None, "time", 0], [0, 0, 0, "left", 0]),
        *([0, 0, 0, "", 0], [0, 0, 0, 1, 0]),
        *([0, 0, 2, "time", 0], [0, 0, True, "time", 0], [0, 0, 1.0, "time", 0]),
        *([0, 0, None, None, each] for each in (None, -1, True, 1.5, "0")),
    ],
)
def test_place_in_a_tournament_that_there_cannot_be_is_a_value_error(place: object) -> None:
    found = json.loads(json.dumps(jsonl.as_object(game()) | {"scheduled": place}))
    with pytest.raises(ValueError, match=r"place of a game in a tournament|whole number"):
        jsonl.from_object(found)


def test_every_export_takes_the_latest_time_that_an_import_takes() -> None:
    read = jsonl.read(json.dumps(jsonl.as_object(game(began=LATEST, ended=LATEST))))
    for write in ALL:
        assert "".join(write(read))


def test_arena_line_is_the_winner_and_the_columns() -> None:
    games = [game(), game(moves="3", winner=1, reason=Reason.LEFT), game(**CUT_OFF)]
    assert list(arena_lines(games)) == ["10101010\n", "23\n", "0\n"]


@pytest.mark.parametrize("reason", [Reason.ABORTED, Reason.STOPPED])
def test_pgn_has_no_result_for_a_game_without_one(reason: Reason) -> None:
    [text] = pgn.write([game(moves="3", winner=None, reason=reason)])
    assert '[Result "*"]' in text
    assert text.endswith("\n3 *\n\n")


def test_pgn_begins_with_the_tags_that_it_demands() -> None:
    [text] = pgn.write([game(table="t")])
    assert text.splitlines()[:7] == [
        '[Event "table t"]',
        '[Site "c4gateway"]',
        '[Date "2023.11.14"]',
        '[Round "1"]',
        '[White "alice"]',
        '[Black "bob"]',
        '[Result "1-0"]',
    ]
    assert text.endswith("]\n\n0101010 1-0\n\n")
    [notation] = [line for line in text.splitlines() if line.startswith("[Notation ")]
    assert "0 to 6" in notation
    assert "Position: the same from 1 to 7" in notation


def test_pgn_of_a_tournament_has_its_name_and_round() -> None:
    text = pgn.text_of(game(table="t"), 'the "cup"\n', "2.1.1")
    assert text.splitlines()[0] == '[Event "the \\"cup\\"\\n"]'
    assert '[Round "2.1.1"]' in text


def test_moments_are_utc_to_the_millisecond() -> None:
    assert moment(1_700_000_000_250) == "2023-11-14T22:13:20.250Z"
    assert from_moment("2023-11-14T22:13:20.250Z") == 1_700_000_000_250
    assert from_moment("2023-11-14") == from_moment("2023-11-14T00:00:00+00:00")
    assert from_moment("2023-11-14T02:00:00+02:00") == from_moment("2023-11-14")
    assert from_moment("today") - from_moment("yesterday") == 86_400_000
    assert from_moment("today") == from_moment(moment(round(1000 * time.time()))[:10])
    with pytest.raises(ValueError):
        from_moment("tomorrow")


@pytest.mark.parametrize(
    ("text", "ago"), [("0s", 0), ("45s", 45), ("90m", 5400), ("2h", 7200), ("3d", 259_200), ("week", 604_800)]
)
def test_duration_is_so_long_ago(text: str, ago: int) -> None:
    before = time.time()
    assert before - ago - 1 <= from_moment(text) / 1000 <= time.time() - ago + 1


@pytest.mark.parametrize("text", ["90", "m", "-5m", "1.5h", "2w", "90 m", "9999999d", "\u0663m"])
def test_what_is_no_duration_is_no_moment(text: str) -> None:
    with pytest.raises(ValueError, match="isoformat"):
        from_moment(text)
