"""nac4's documents, from stored games."""

import json
from collections.abc import Iterator

from game_records import DRAW, drawn, game

from adapters.web import nac4
from gateway.game.events import Reason
from gateway.store.records import GameRecord
from gateway.store.statistics import Meeting, Record, Score, Standing
from gateway.store.totals import Rating


def result(record: GameRecord) -> dict[str, str | float]:
    (row,) = nac4.results([record])
    return row


def test_result_has_the_originals_keys_and_seconds() -> None:
    assert result(game(moves="0011223", thought=(124, 252))) == {
        "_rBoard": "RRRR...YYY................................",
        "_rStatus": "WinR",
        "_rTimeR": 0.124,
        "_rTimeY": 0.252,
        "_rUserR": "alice",
        "_rUserY": "bob",
    }


def test_board_begins_with_the_lowest_row_and_the_first_column() -> None:
    assert result(game(moves="0006"))["_rBoard"] == "R.....YY......R" + 27 * "."


def test_statuses_are_the_three_of_the_original() -> None:
    assert result(game(moves="0", winner=1, reason=Reason.TIME))["_rStatus"] == "WinY"
    tie = result(drawn(moves=DRAW))
    assert tie["_rStatus"] == "Tie"
    assert set(str(tie["_rBoard"])) == {"R", "Y"}


def standing(name: str, first: Score, second: Score, thought: int) -> Standing:
    return Standing(name, "nac4", False, Record(first, second, thought, 9), Rating())


def test_user_has_the_originals_keys_and_the_mean_is_by_game() -> None:
    row = nac4.users([standing("alice", Score(2, 1, 0), Score(2, 0, 1), 6_000)])
    assert row == [
        {"uAvgTime": 1.5, "uGames": 4, "uLoses": 2, "uTies": 1, "uTime": 6.0, "uUser": "alice", "uWins": 1}
    ]


def test_users_are_in_the_order_of_their_names() -> None:
    none = Score(0, 0, 0)
    rows = nac4.users([standing(name, none, none, 0) for name in ("b", "a", "B")])
    assert [row["uUser"] for row in rows] == ["B", "a", "b"]
    assert rows[0]["uAvgTime"] == 0


def test_pairs_are_one_document_in_pieces_however_many_there_are() -> None:
    for count in (0, 1, 500, 501, 1_200):
        pieces = [*nac4.pairs(Meeting("bob", f"{number}", 3) for number in range(count))]
        assert json.loads("".join(pieces)) == [
            {"gNbGames": 3, "gUserR": "bob", "gUserY": f"{number}"} for number in range(count)
        ]
        assert max(map(len, pieces)) < 50_000


def test_pairs_are_read_no_further_than_the_piece_that_is_taken() -> None:
    taken = 0

    def endless() -> Iterator[Meeting]:
        nonlocal taken
        while True:
            taken += 1
            yield Meeting("alice", "bob", 1)

    pieces = nac4.pairs(endless())
    assert next(pieces).startswith('[{"gNbGames": 1, "gUserR": "alice", "gUserY": "bob"}, {')
    assert taken == 500
