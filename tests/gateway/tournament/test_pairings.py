"""The state of a pairing: what its stored games and the decisions on them say, in any order."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds.tournaments import Stored

from gateway.game.board import Side
from gateway.tournament.formats import Pairing
from gateway.tournament.log import Awarded, Forfeited, Replayed, TournamentResult, Voided
from gateway.tournament.pairings import BREAKS, PairingState, Ruling
from gateway.tournament.report import described

ANN, BOB = 4, 7
"""The numbers of the two players."""


def game(
    number: int, row: int, result: int, reason: str = "four", culprit: Side | None = None
) -> TournamentResult:
    names = ("ann", "bob") if number % 2 == 0 else ("bob", "ann")
    fault = None if culprit is None else "crash"
    return TournamentResult(
        row, f"00001-{row:06}", 0, number, 10 * row, *names, result, reason, (row, 100 * row), culprit, fault
    )


def counted(results: Sequence[TournamentResult], rulings: Sequence[Ruling], games: int = 2) -> PairingState:
    state = PairingState(Pairing(ANN, BOB), results=[*results], rulings=[*rulings])
    state.recount(games)
    return state


def ruled(*entries: Forfeited | Awarded | Voided | Replayed) -> list[Ruling]:
    """Return the rulings of these entries, of which each forfeit is a fault of those that were absent."""
    return [
        Ruling(entry, 1000 + number, entry.absent if isinstance(entry, Forfeited) else ())
        for number, entry in enumerate(entries)
    ]


WON, LOST = game(0, 1, 1), game(0, 1, 2)
ID = WON.game
TO_BOB, DRAW, VOID = Awarded(0, 0, BOB), Awarded(0, 0, None), Voided(0, [0])
AGAIN, ABSENT = Replayed(0, [0], [ID]), Forfeited(0, [0], [BOB])


@pytest.mark.parametrize(
    ("results", "entries", "points"),
    [
        ([WON], [], (1, 0)),
        ([WON], [TO_BOB], (0, 1)),
        ([], [TO_BOB], (0, 1)),
        ([WON], [DRAW], (0.5, 0.5)),
        ([WON], [VOID], (0, 0)),
        ([WON], [TO_BOB, VOID], (0, 0)),
        ([WON], [VOID, TO_BOB], (0, 1)),
        ([WON], [TO_BOB, DRAW], (0.5, 0.5)),
        ([], [ABSENT], (1, 0)),
        ([], [Forfeited(0, [0], [ANN, BOB])], (0, 0)),
        ([], [ABSENT, TO_BOB], (0, 1)),
        ([], [TO_BOB, ABSENT], (0, 1)),  # the forfeit was decided without the award
        ([], [ABSENT, VOID], (0, 0)),
        ([WON], [AGAIN], None),
        ([WON, game(0, 2, 2)], [AGAIN], (0, 1)),
        ([WON, game(0, 2, 2)], [], (1, 0)),
        ([WON], [AGAIN, TO_BOB], (0, 1)),
        ([WON], [TO_BOB, AGAIN], None),
        ([WON], [VOID, AGAIN], None),
        ([], [ABSENT, Replayed(0, [0], [])], None),
        ([], [ABSENT, Replayed(0, [0], []), ABSENT], (1, 0)),
        ([WON, game(0, 2, 0, "aborted")], [AGAIN], None),
        ([WON, game(0, 2, 2), game(0, 3, 1)], [AGAIN, Replayed(0, [0], [ID, game(0, 2, 2).game])], (1, 0)),
        ([WON, game(0, 2, 2)], [AGAIN, TO_BOB, Replayed(0, [0], [ID, game(0, 2, 2).game])], None),
        ([game(0, 1, 0, "full")], [], (0.5, 0.5)),
        ([game(0, 1, 0, "stopped")], [TO_BOB], (0, 1)),
    ],
)
def test_last_decision_on_a_game_counts_or_else_its_first_result(
    results: Sequence[TournamentResult],
    entries: Sequence[Forfeited | Awarded | Voided | Replayed],
    points: tuple[float, float] | None,
) -> None:
    state = counted(results, ruled(*entries))
    assert state.points == ({} if points is None else {0: points})
    assert {*state.games.values()} | {*state.broken} == {*results}


def test_points_of_a_game_that_bob_begins_are_swapped() -> None:
    state = counted([game(1, 1, 1)], [])
    assert (state.points, state.thought) == ({1: (0, 1)}, (100, 1))
    assert counted([], ruled(Awarded(0, 1, BOB))).points == {1: (0, 1)}


def test_bye_has_the_points_of_no_game() -> None:
    state = PairingState(Pairing(ANN, None))
    state.recount(2)
    assert (state.points, state.players, state.faults) == ({0: (0, 0), 1: (0, 0)}, (ANN,), (0, 0))


@pytest.mark.parametrize(
    ("results", "entries", "faults"),
    [
        ([game(0, 1, 1, "left", 1)], [], (0, 1)),
        ([game(1, 1, 1, "left", 1)], [], (1, 0)),
        ([game(0, 1, 0, "aborted", 1)], [], (0, 1)),
        ([game(0, 1, 1, "left", 1)], [TO_BOB], (0, 0)),
        ([game(0, 1, 1, "left", 1)], [VOID], (0, 0)),
        ([game(0, 1, 1, "left", 1)], [AGAIN], (0, 0)),
        ([game(0, 1, 1, "left", 1), game(0, 2, 1, "left", 1)], [AGAIN], (0, 1)),
        ([], [ABSENT], (0, 1)),
        ([], [Forfeited(0, [0, 1], [BOB])], (0, 1)),  # one walkover, although two games are lost
        ([], [Forfeited(0, [0, 1], [BOB]), TO_BOB], (0, 1)),
        ([], [ABSENT, TO_BOB], (0, 0)),
        ([], [ABSENT, Replayed(0, [0], [])], (0, 0)),
        ([], [ABSENT, Replayed(0, [0], []), Forfeited(0, [0], [ANN])], (1, 0)),
    ],
)
def test_fault_in_a_game_that_does_not_count_is_none(
    results: Sequence[TournamentResult],
    entries: Sequence[Forfeited | Awarded | Voided | Replayed],
    faults: tuple[int, int],
) -> None:
    assert counted(results, ruled(*entries)).faults == faults


def test_leaving_before_a_replay_does_not_count_after_it() -> None:
    results = [game(0, row, 0, "aborted", 1) for row in range(1, BREAKS + 1)]
    assert counted(results, []).points == {0: (1, 0)}
    again = Replayed(0, [0], [each.game for each in results])
    more = [game(0, 10 + row, 0, "aborted", 1) for row in range(BREAKS)]
    assert counted([*results, *more[:-1]], ruled(again)).points == {}
    assert counted([*results, *more], ruled(again)).points == {0: (1, 0)}


def test_game_of_which_a_result_was_stored_later_is_not_without_result() -> None:
    first = game(0, 1, 0, "stopped")
    state = counted([first, first._replace(row=2, result=1, reason="four")], [])
    assert (state.points, state.broken) == ({0: (1, 0)}, [])


def test_game_with_a_number_that_the_pairing_does_not_have_does_not_count() -> None:
    state = counted([game(2, 1, 1)], [])
    assert (state.points, state.games) == ({}, {})


Step = TournamentResult | Forfeited | Awarded | Voided | Replayed


@st.composite
def stories(draw: st.DrawFn) -> list[Step]:
    """Draw games and decisions as they follow each other: a replay annuls what was stored before it."""
    story, stored = list[Step](), list[TournamentResult]()
    for row in range(1, draw(st.integers(1, 10))):
        number, kind = draw(st.integers(0, 1)), draw(st.integers(0, 9))
        culprit: Side = draw(st.sampled_from((0, 1)))
        if kind < 4:
            reason = draw(st.sampled_from(["four", "full", "left", "aborted", "stopped"]))
            result = {"four": 1 + culprit, "left": 2 - culprit}.get(reason, 0)
            story.append(
                game(number, row, result, reason, culprit if reason in ("left", "aborted") else None)
            )
            stored.append(story[-1])
        elif kind < 6:
            story.append(Awarded(0, number, draw(st.sampled_from([ANN, BOB, None]))))
        elif kind == 6:
            story.append(Voided(0, [number]))
        elif kind == 7:
            story.append(Forfeited(0, [number], draw(st.sampled_from([[ANN], [BOB], [ANN, BOB]]))))
        else:
            story.append(Replayed(0, [number], [each.game for each in stored if each.number == number]))
    return story


@given(stories(), st.randoms(use_true_random=False))
def test_state_is_the_same_in_whatever_order_games_and_decisions_became_known(
    story: list[Step], rng: random.Random
) -> None:
    games = [each for each in story if isinstance(each, TournamentResult)]
    rulings = ruled(*(each for each in story if not isinstance(each, TournamentResult)))
    whole, stepwise = counted(games, rulings), PairingState(Pairing(ANN, BOB))
    left, right = [*games], [*rulings]
    while left or right:
        if left and (not right or rng.random() < 0.5):
            stepwise.results.append(left.pop(0))
        else:
            stepwise.rulings.append(right.pop(0))
        stepwise.recount(2)
    assert stepwise == whole


@given(stories())
def test_decisions_on_a_game_leave_the_other_one_alone(story: list[Step]) -> None:
    def part(number: int | None) -> PairingState:
        chosen = [each for each in story if number is None or _is_of(each, number)]
        games = [each for each in chosen if isinstance(each, TournamentResult)]
        return counted(games, ruled(*(each for each in chosen if not isinstance(each, TournamentResult))))

    whole, parts = part(None), [part(0), part(1)]
    assert whole.points == parts[0].points | parts[1].points
    assert whole.decided == {**parts[0].decided, **parts[1].decided}
    assert whole.faults == tuple(sum(each.faults[side] for each in parts) for side in (0, 1))


def _is_of(step: Step, number: int) -> bool:
    match step:
        case TournamentResult() | Awarded():
            return (step.number if isinstance(step, TournamentResult) else step.game) == number
        case _:
            return [*step.games] == [number]


# The players, by all of their pairings.


def test_faults_of_games_that_do_not_count_do_not_withdraw_a_player() -> None:
    stored = Stored(faults=2)
    stored.begin("ann", "bob", pairings=[(0, 1, 1)])
    for number in (0, 1):
        stored.play(0, number, 0, "left", fault_of=1)
    [entry] = stored.read().withdrawals()
    stored.act("award", game="1.1", to="draw")
    assert stored.read().withdrawals() == []
    stored.act("undo")
    assert stored.read().withdrawals() == [entry]
    stored.act("replay", game="1.2")
    assert stored.read().withdrawals() == []
    row = described(stored.read(), 0.0)["standings"][1]
    assert (row["name"], row["faults"]["crash"], row["lost"]) == ("bob", 1, 1)


def test_fault_from_before_a_readmission_withdraws_nobody_again() -> None:
    stored = Stored(faults=2)
    stored.begin("ann", "bob", pairings=[(0, 1, 1), (0, 1, 2)])
    for number in (0, 1):
        stored.play(0, number, 0, "left", fault_of=1)
    stored.log(*stored.read().withdrawals())
    stored.act("readmit", player="bob")
    assert stored.read().withdrawals() == []
    stored.play(1, 0, 0, "left", fault_of=1)
    assert stored.read().withdrawals() == []
    stored.play(1, 1, 0, "left", fault_of=1)
    assert len(stored.read().withdrawals()) == 1
