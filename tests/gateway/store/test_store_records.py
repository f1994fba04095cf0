"""What is stored of a game that the core reports."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from store_world import records

from gateway.game.board import Board
from gateway.game.events import Reason
from gateway.game.manners import Afterwards, Illegal, Manners
from gateway.game.results import Finished, Player, Scheduled
from gateway.store.records import (
    REASONS,
    WORDS,
    GameRecord,
    Participant,
    TournamentGame,
    game_id,
    record_of,
    winner_of,
)

CLIENT = Manners(Illegal.RETRY, Afterwards.STAND_BY, kind="nac4")
HOUSE = Manners(Illegal.FORFEIT, Afterwards.HANG_UP, house=True, kind="house")
FINISHED = Finished(
    game="00007-00000a",
    players=(Player("alice", CLIENT), Player("aima", HOUSE)),
    board=Board().drop(3).drop(0),
    winner=1,
    reason=Reason.TIME,
    thought=(0.12, 0.0034),
    round=2,
    series=7,
    table="corner",
    began=10.0,
    ended=11.5004,
)


def test_reported_game_is_stored_with_all_that_is_known_of_it() -> None:
    assert record_of(FINISHED, 1_700_000_000.0) == GameRecord(
        game="00007-00000a",
        began=1_700_000_010_000,
        ended=1_700_000_011_500,
        players=(Participant("alice", "nac4"), Participant("aima", "house", house=True)),
        moves="30",
        winner=1,
        reason=Reason.TIME,
        thought=(120, 3),
        table="corner",
        series=7,
        round=2,
        counted=True,
    )


@pytest.mark.parametrize(
    ("players", "reason", "counted"),
    [
        ((Player("alice", CLIENT), Player("bob", CLIENT)), Reason.FOUR, True),
        ((Player("alice", CLIENT), Player("bob", CLIENT)), Reason.STOPPED, False),
        ((Player("alice", CLIENT), Player("bob", CLIENT)), Reason.ABORTED, False),
        ((Player("TEST", CLIENT, counted=False), Player("bob", CLIENT)), Reason.FOUR, False),
        ((Player("random", HOUSE), Player("aima", HOUSE)), Reason.FOUR, False),
        ((Player("alice", CLIENT), Player("alice", CLIENT)), Reason.FOUR, False),
        ((Player("alice", CLIENT), Player("Alice", CLIENT)), Reason.FOUR, True),
        ((Player("alice", CLIENT), Player("c4bot-17", CLIENT)), Reason.FOUR, False),
        ((Player("guest-0123abcd", CLIENT), Player("alice", CLIENT)), Reason.FOUR, False),
        ((Player("alice", CLIENT), Player("c4bot-x", CLIENT)), Reason.FOUR, True),
    ],
)
def test_game_counts_between_two_names_of_which_one_is_a_client(
    players: tuple[Player, Player], reason: Reason, counted: bool
) -> None:
    assert record_of(replace(FINISHED, players=players, reason=reason), 0.0).counted is counted


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({}, TournamentGame(3, 5, 0, "time")),
        ({"round": 1}, TournamentGame(3, 4, 0, "time")),
        ({"winner": 0, "reason": Reason.FOUR}, TournamentGame(3, 5)),
        ({"winner": None, "reason": Reason.ABORTED, "leaver": 1}, TournamentGame(3, 5, 1, "crash")),
        ({"winner": None, "reason": Reason.STOPPED}, TournamentGame(3, 5)),
        ({"round": 1, "scheduled": Scheduled(3, 4, created=7)}, TournamentGame(3, 4, 0, "time", 7)),
    ],
)
def test_game_of_a_tournament_is_stored_with_its_place_and_its_fault(
    changes: dict[str, Any], place: TournamentGame
) -> None:
    clocked = (Player("alice", replace(CLIENT, clocked=True)), Player("bob", CLIENT))
    finished = replace(FINISHED, players=clocked, **({"scheduled": Scheduled(3, 4)} | changes))
    record = record_of(finished, 0.0)
    assert record.scheduled == place
    assert GameRecord.of_row(record.row()).scheduled == place


@pytest.mark.parametrize("is_rated", [True, False])
def test_game_of_a_tournament_counts_if_the_tournament_does(is_rated: bool) -> None:
    players = Player("alice", CLIENT), Player("bob", CLIENT)
    scheduled = Scheduled(0, 0, is_rated)
    assert record_of(replace(FINISHED, players=players, scheduled=scheduled), 0.0).counted is is_rated


@pytest.mark.parametrize("text", ["00001-000001", "zzzzz-zzzzzz", "1", "9223372036854775807"])
def test_id_of_a_stored_game_is_one_of_today_or_a_number(text: str) -> None:
    assert game_id(text) == text


@pytest.mark.parametrize(
    "text",
    ["", "0", "01", "-1", "1" + "0" * 19, "00001-00000", "00001-00000U", "0000l-000000", "\u0661", "1\n"],
)
def test_other_texts_are_no_id(text: str) -> None:
    with pytest.raises(ValueError):
        game_id(text)
    with pytest.raises(ValueError):
        winner_of(3)


@given(records())
def test_board_is_the_one_that_the_moves_lead_to(record: GameRecord) -> None:
    assert winner_of(record.result) == record.winner
    assert REASONS[WORDS[record.reason]] is record.reason
    board = record.board()
    assert "".join(map(str, board.moves)) == record.moves
    if record.reason is Reason.FOUR:
        assert board.winner == record.winner
