"""Games, counted by dialect and reason."""

import pytest
from metrics_world import Told

from gateway.game.board import FIRST, SECOND
from gateway.game.events import Reason
from gateway.store.records import WORDS


def test_games_are_counted_by_the_dialects_of_both_and_by_reason() -> None:
    told = Told()
    told.start("nac4", "arena", 2)
    told.end(("nac4", "arena"), "0101010", Reason.FOUR, FIRST)
    told.end(("arena", "nac4"), "", Reason.ABORTED, None)
    tally = told.tally
    assert tally.started == {("nac4", "arena"): 2}
    assert tally.ended == {("nac4", "arena"): 1, ("arena", "nac4"): 1}
    assert tally.reasons == {"four": 1, "aborted": 1}


def test_reasons_have_the_words_of_exports() -> None:
    told = Told()
    for reason in Reason:
        told.end(("nac4", "arena"), "", reason, None)
    assert tally_words(told) == {*WORDS.values()}


def tally_words(told: Told) -> set[str]:
    return {*told.tally.reasons}


@pytest.mark.parametrize(("moves", "first", "second"), [("", 0, 0), ("3", 1, 0), ("33", 1, 1), ("333", 2, 1)])
def test_moves_are_counted_for_who_made_them(moves: str, first: int, second: int) -> None:
    told = Told()
    told.end(("nac4", "droidcon"), moves, Reason.LEFT, FIRST)
    assert (told.tally.moves["nac4"], told.tally.moves["droidcon"]) == (first, second)


def test_loss_on_time_is_counted_for_the_loser() -> None:
    told = Told()
    told.end(("nac4", "arena"), "3", Reason.TIME, FIRST)
    told.end(("nac4", "droidcon"), "33", Reason.TIME, SECOND)
    told.end(("nac4", "droidcon"), "33", Reason.FOUR, SECOND)
    assert told.tally.time_losses == {"arena": 1, "nac4": 1}


def test_game_is_on_until_its_end_is_told() -> None:
    told = Told()
    told.start("nac4", "arena", 3)
    assert told.tally.playing == 3
    told.end(("nac4", "arena"), "", Reason.STOPPED, None)
    assert told.tally.playing == 2
