"""The order of the players of a tournament, by match points and tie breaks."""

from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.tournament.formats import Field, Meeting, Pairing
from gateway.tournament.standings import TIE_BREAKS, Row, standings


def field_of(players: int) -> Field:
    return Field(players, frozenset(range(players)))


def over(
    one: int, two: int | None, points: tuple[float, float] = (2, 0), faults: tuple[int, int] = (0, 0)
) -> Meeting:
    return Meeting(Pairing(one, two), True, points, faults=faults)


FIVE = [
    over(0, 1, (2, 0)),
    over(0, 2, (1, 1)),
    over(1, 2, (1.5, 0.5), faults=(2, 0)),
    over(3, None, (2, 0)),
    over(3, 0, (1.5, 0.5), faults=(0, 1)),
    over(1, None, (2, 0)),
    over(2, 4, (0, 0)),
    Meeting(Pairing(4, 3), False, (2, 0), faults=(3, 0)),
]
"""Match points 1.5, 2, 0.5, 2, 0: two byes, one meeting without points, and one that is not over."""


@pytest.mark.parametrize(
    ("tie_break", "values"),
    [
        ("game-points", [3.5, 3.5, 1.5, 3.5, 0]),
        ("direct", [0, 0, 0, 0, 0]),
        # The opponents of 0 are 1, 2 and 3; those of 1 are 0, 2 and a bye that counts like 1 itself.
        ("buchholz", [2 + 0.5 + 2, 1.5 + 0.5 + 2, 1.5 + 2 + 0, 2 + 1.5, 0.5]),
        ("sonneborn-berger", [2 + 0.25, 0.5 + 2, 0.75, 2 + 1.5, 0]),
        ("faults", [1, 2, 0, 0, 0]),
    ],
)
def test_values_of_tie_breaks(tie_break: str, values: Sequence[float]) -> None:
    rows = sorted(standings(field_of(5), FIVE, [tie_break]))
    assert [each.points for each in rows] == [1.5, 2, 0.5, 2, 0]
    assert [each.tie_breaks for each in rows] == [{tie_break: each} for each in values]


@pytest.mark.parametrize(
    ("tie_breaks", "ranks"),
    [
        ((), {1: 1, 3: 1, 0: 3, 2: 4, 4: 5}),
        (("game-points", "direct"), {1: 1, 3: 1, 0: 3, 2: 4, 4: 5}),
        (("buchholz",), {1: 1, 3: 2, 0: 3, 2: 4, 4: 5}),
        (("sonneborn-berger", "buchholz"), {3: 1, 1: 2, 0: 3, 2: 4, 4: 5}),
        (("faults",), {3: 1, 1: 2, 0: 3, 2: 4, 4: 5}),
    ],
)
def test_players_are_ranked_by_the_tie_breaks_in_their_order(
    tie_breaks: Sequence[str], ranks: dict[int, int]
) -> None:
    rows = standings(field_of(5), FIVE, tie_breaks)
    assert [(each.player, each.rank) for each in rows] == list(ranks.items())


def test_direct_counts_the_meetings_of_players_that_are_tied_so_far() -> None:
    # Players 0, 1 and 2 have 2 match points each. 0 beat 1, 1 beat 2, and 0 and 2 have not met.
    meetings = [over(0, 1), over(1, 2), over(0, 3, faults=(1, 0)), over(1, 3), over(2, 3), over(2, 4)]
    values = [each.tie_breaks for each in standings(field_of(5), meetings, ["direct"])]
    assert values == 5 * [{"direct": 0}]
    # By their faults, only 1 and 2 are tied.
    rows = standings(field_of(5), meetings, ["faults", "direct"])
    assert [(each.player, *each.tie_breaks.values()) for each in rows[:3]] == [
        (1, 0, 1),
        (2, 0, 0),
        (0, 1, 0),
    ]


def test_default_is_all_tie_breaks_in_the_order_of_their_table() -> None:
    assert list(TIE_BREAKS) == ["game-points", "direct", "buchholz", "sonneborn-berger", "faults"]
    assert standings(field_of(5), FIVE) == standings(field_of(5), FIVE, list(TIE_BREAKS))


def test_unknown_tie_break_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="koya"):
        standings(field_of(2), [], ["koya"])


@st.composite
def tournaments(draw: st.DrawFn) -> tuple[Field, list[Meeting]]:
    """Return a few meetings between any players, some of them byes and some not over."""
    players = draw(st.integers(1, 6))
    someone = st.integers(0, players - 1)
    pairing = st.builds(Pairing, someone, st.none() | someone).filter(lambda each: each.first != each.second)
    points = st.sampled_from([(2, 0), (1, 1), (0, 2), (0, 0), (0.5, 1.5)])
    faults = st.tuples(st.integers(0, 1), st.integers(0, 1))
    meeting = st.builds(Meeting, pairing, st.sampled_from([True, True, True, False]), points, faults=faults)
    meetings = draw(st.lists(meeting, max_size=15))
    return field_of(players), [each for each in meetings if each.is_over or each.pairing.second is not None]


def value_of(name: str, player: int, tied: set[int], meetings: Sequence[Meeting]) -> float:
    """Return a value of the standings from the meetings that are over, without regard to time."""
    mine = [
        (each.pairing[1 - side], each.score[side], each.points[side], each.faults[side])
        for each in meetings
        for side in (0, 1)
        if each.pairing[side] == player
    ]
    if name == "match-points":
        return sum(score for _, score, _, _ in mine)
    if name == "game-points":
        return sum(points for _, _, points, _ in mine)
    if name == "faults":
        return sum(faults for _, _, _, faults in mine)
    if name == "direct":
        met = {frozenset(each.pairing[:2]) for each in meetings}
        have_met = all(frozenset(each) in met for each in combinations(tied, 2))
        return sum(score for opponent, score, _, _ in mine if opponent in tied) if have_met else 0
    total = 0.0
    for opponent, score, _, _ in mine:
        strength = value_of("match-points", player if opponent is None else opponent, set(), meetings)
        total += strength * (score if name == "sonneborn-berger" else 1)
    return total


@settings(max_examples=150, deadline=None)
@given(tournaments(), st.permutations(list(TIE_BREAKS)), st.integers(0, 5))
def test_each_criterion_parts_only_those_that_are_equal_in_all_before(
    tournament: tuple[Field, list[Meeting]], tie_breaks: list[str], used: int
) -> None:
    field, meetings = tournament
    over = [each for each in meetings if each.is_over]
    groups, values = (
        [set(range(field.players))],
        {player: dict[str, float]() for player in range(field.players)},
    )
    for name in ["match-points", *tie_breaks[:used]]:
        parted = list[set[int]]()
        for tied in groups:
            found = {player: value_of(name, player, tied, over) for player in tied}
            parted += [
                {player for player in tied if found[player] == value}
                for value in sorted({*found.values()}, reverse=name != "faults")
            ]
            for player in tied:
                values[player][name] = found[player]
        groups = parted
    wanted = list[Row]()
    for tied in groups:
        rank = len(wanted) + 1
        wanted += [Row(each, rank, values[each].pop("match-points"), values[each]) for each in sorted(tied)]
    assert standings(field, meetings, tie_breaks[:used]) == wanted


BYES = [over(each, None) for each in range(3)]
SEMIFINALS = [
    *BYES,
    over(3, 4),
    Meeting(Pairing(1, 2, 2), True, (0, 2)),
    Meeting(Pairing(0, 3, 2), False),
]
FINALISTS = [*SEMIFINALS[:-1], Meeting(Pairing(0, 3, 2), True, (0.5, 1.5))]
LEVEL = Meeting(Pairing(2, 3, 3), True, (1, 1), thought=(70, 60))


@pytest.mark.parametrize(
    ("meetings", "reached"),
    [
        pytest.param([], dict.fromkeys(range(6), 0), id="not-begun"),
        pytest.param(SEMIFINALS, {2: 3, 0: 2, 1: 2, 3: 2, 4: 1, 5: 0}, id="a-finalist-waits"),
        pytest.param(
            [*3 * [Meeting(Pairing(3, 4), True, (1, 1), thought=(20, 30))], *BYES, *SEMIFINALS[-2:]],
            {2: 3, 3: 2, 0: 2, 1: 2, 4: 1, 5: 0},
            id="out-with-more-points",
        ),
        pytest.param(FINALISTS, {2: 3, 3: 3, 0: 2, 1: 2, 4: 1, 5: 0}, id="the-final-is-next"),
        pytest.param(
            [*FINALISTS, LEVEL, Meeting(Pairing(2, 3, 3), False)],
            {2: 3, 3: 3, 0: 2, 1: 2, 4: 1, 5: 0},
            id="the-final-goes-on",
        ),
        pytest.param([*FINALISTS, LEVEL], {3: 4, 2: 3, 0: 2, 1: 2, 4: 1, 5: 0}, id="won-by-time"),
        pytest.param(
            [*FINALISTS, Meeting(Pairing(3, None, 3), True, (2, 0))],
            {3: 4, 2: 3, 0: 2, 1: 2, 4: 1, 5: 0},
            id="won-by-a-bye",
        ),
    ],
)
def test_knockout_goes_by_the_round_reached(meetings: Sequence[Meeting], reached: dict[int, int]) -> None:
    """Players 0, 1 and 2 had byes in round 1. Player 5 came late."""
    rows = standings(field_of(6), meetings, (), is_knockout=True)
    assert [(each.player, each.reached) for each in rows] == list(reached.items())


def test_players_out_in_the_same_round_are_equal_unless_a_tie_break_parts_them() -> None:
    meetings = [*FINALISTS, LEVEL]
    rows = standings(field_of(6), meetings, (), is_knockout=True)
    assert {each.player: each.rank for each in rows} == {3: 1, 2: 2, 0: 3, 1: 3, 4: 5, 5: 6}
    rows = standings(field_of(6), meetings, ["game-points"], is_knockout=True)
    assert {each.player: each.rank for each in rows} == {3: 1, 2: 2, 0: 3, 1: 4, 4: 5, 5: 6}
