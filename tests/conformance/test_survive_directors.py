"""The count of a tournament's points in the laboratory, which shares no code with the gateway's."""

from collections.abc import Sequence

import pytest

from conformance.lab.survive.directors import recount
from gateway.tournament.log import (
    Awarded,
    Begun,
    Entered,
    Entry,
    Forbidden,
    Forfeited,
    LoggedEntry,
    Paired,
    Replayed,
    StageBegun,
    TournamentNews,
    TournamentResult,
    Undone,
    Voided,
    written,
)
from gateway.tournament.report import described
from gateway.tournament.tournament import Tournament

BEFORE = [Entered("bob"), Entered("ann"), Begun([1, 0]), Paired([(0, 1, 1)])]


def game(row: int, number: int, result: int, reason: str = "four") -> TournamentResult:
    names = ("bob", "ann") if number % 2 else ("ann", "bob")
    culprit = 0 if reason == "aborted" else None
    return TournamentResult(row, f"g{row}", 0, number, row, *names, result, reason, (0, 0), culprit, None)


@pytest.mark.parametrize(
    ("entries", "games", "points", "twice"),
    [
        ([], [(0, 1), (1, 2)], {"ann": (1, 2), "bob": (0, 0)}, []),
        ([], [(0, 1), (1, 0), (1, 1)], {"ann": (1, 1.5), "bob": (0, 0.5)}, ["g3"]),
        ([], [(0, 1)], {}, []),
        ([], [(1, 1), *[(0, 0, "aborted")] * 3], {"ann": (0, 0), "bob": (1, 2)}, []),
        ([Awarded(0, 0, 1)], [(0, 1), (1, 0)], {"ann": (0, 0.5), "bob": (1, 1.5)}, []),
        ([Awarded(0, 0, 1), Undone(4)], [(0, 1), (1, 0)], {"ann": (1, 1.5), "bob": (0, 0.5)}, []),
        ([Voided(0, [0, 1])], [(0, 1), (1, 0)], {"ann": (0, 0), "bob": (0, 0)}, []),
        ([Forbidden([0, 1], [(0, [1])])], [(0, 0)], {"ann": (0.5, 0.5), "bob": (0.5, 0.5)}, []),
        ([Forfeited(0, [1], [0])], [(0, 0), (1, 2)], {"ann": (0, 0.5), "bob": (1, 1.5)}, ["g2"]),
        ([Replayed(0, [0], ["g1"])], [(0, 1), (1, 0), (0, 2)], {"ann": (0, 0.5), "bob": (1, 1.5)}, []),
        ([Replayed(0, [0], ["g1"])], [(0, 1), (1, 0)], {}, []),
        ([Paired([(0, None, 2)])], [], {"ann": (1, 2)}, []),
    ],
)
def test_points_are_counted_as_the_gateway_counts_them(
    entries: Sequence[Entry],
    games: Sequence[tuple[int, int] | tuple[int, int, str]],
    points: dict[str, tuple[float, float]],
    twice: Sequence[str],
) -> None:
    texts = [written(each, "nora") for each in [*BEFORE, *entries]]
    found = [game(row, *each) for row, each in enumerate(games, start=1)]
    settings = 'name = "cup"\nformat = "swiss"\nthen = "knockout"'
    news = TournamentNews("cup", settings, [LoggedEntry(0, each) for each in texts], found)
    counts = recount(news, 2)
    assert counts.points == [points]
    assert [each.game for each in counts.twice] == twice
    report = described(Tournament.of(news), 0.0)
    assert counts.differences(report) == []
    counts.points[0]["ann"] = 7.0, 7.0
    assert len(counts.differences(report)) == 1


def test_points_of_each_stage_are_counted_apart() -> None:
    entries = [*BEFORE, Paired([(0, None, 2)]), StageBegun([1, 0]), Paired([(1, None, 1)])]
    news = TournamentNews("cup", "", [LoggedEntry(0, written(each)) for each in entries], [])
    assert recount(news, 4).points == [{"ann": (1, 4)}, {"bob": (1, 4)}]
