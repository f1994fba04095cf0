"""The bracket of a knockout: its seeds, its lines, and what stands in place of a name."""

from typing import Any

import pytest

from adapters.web.page.bracket import Bracket, bracket

NAMES = ("ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal")


def pairing(number: int, round: int, names: str, points: tuple[float, float], *, over: bool = True) -> Any:
    return {
        "number": number,
        "round": round,
        "players": names.split(),
        "points": [*points],
        "state": "over" if over else "waiting",
        "forfeited": 0,
        "voided": [],
        "awarded": [],
        "games": [{"number": each} for each in ((1, 2) if over else ())],
    }


PAIRINGS = [
    pairing(4, 1, "ann hal", (2, 0)),
    pairing(5, 1, "dan eve", (0, 2)),
    pairing(6, 1, "bob gus", (2, 0)),
    pairing(7, 1, "cat fay", (2, 0)),
    pairing(8, 2, "ann eve", (2, 0)),
    pairing(9, 2, "bob cat", (1, 1)),
    pairing(10, 2, "bob cat", (0, 0), over=False),
]
SLOTS: list[list[dict[str, Any]]] = [
    [
        {"players": ["ann", "hal"], "winner": "ann"},
        {"players": ["dan", "eve"], "winner": "eve"},
        {"players": ["bob", "gus"], "winner": "bob"},
        {"players": ["cat", "fay"], "winner": "cat"},
    ],
    [{"players": ["ann", "eve"], "winner": "ann"}, {"players": ["bob", "cat"], "winner": None}],
    [{"players": ["ann", None], "winner": None}],
]
STAGE = {"format": "knockout", "rounds": 3, "groups": [], "bracket": SLOTS}
LIVE = {10: {"game": "x", "moves": "33"}}


def drawn(slots: list[list[dict[str, Any]]] = SLOTS, extra: int = 2) -> Bracket:
    stage = STAGE | {"bracket": slots, "rounds": len(slots)}
    return bracket(stage, PAIRINGS, LIVE, {"extra": extra, "games": 2})


def test_rounds_say_how_far_they_are_and_players_keep_their_seeds() -> None:
    rounds = drawn().rounds
    assert [(each.title, each.sign, each.words) for each in rounds] == [
        ("Quarter-finals", "✓", "over"),
        ("Semi-finals", "●", "1 pair on"),
        ("Final", "", ""),
    ]
    assert [player.seed for match in rounds[1].matches for player in match.players] == [1, 5, 2, 3]


def test_further_pairings_of_a_drawn_pair_count_together_and_say_so() -> None:
    match = drawn().rounds[1].matches[1]
    assert (match.state, match.number, match.game, [each.points for each in match.players]) == (
        "on",
        10,
        3,
        [1, 1],
    )
    assert match.words == "1 : 1 after 2 games, so a further pair is played."
    assert drawn(extra=1).rounds[1].matches[1].words.endswith("; then the faster wins.")


@pytest.mark.parametrize(
    ("semi_final", "words", "final_words"),
    [
        (["bob", "cat"], "winner of pair 10", "Begins when pair 10 is over."),
        (["bob", None], "winner of semi-final 2", "Begins when semi-final 2 is over."),
    ],
)
def test_unknown_player_is_the_winner_of_a_pair(
    semi_final: list[str | None], words: str, final_words: str
) -> None:
    slots = [SLOTS[0], [SLOTS[1][0], {"players": semi_final, "winner": None}], SLOTS[2]]
    found = drawn(slots)
    assert found.rounds[2].matches[0].players[1].words == words
    assert found.final_words == f"{final_words} 2 games of each pair."


def test_lines_lead_from_the_middle_of_a_match_to_a_row_of_the_next_one() -> None:
    found = drawn()
    assert found.rounds[0].lines[:2] == [(1, "M0 38.5H50V61H100"), (5, "M0 115.5H50V93H100")]
    assert found.rounds[1].lines[1] == (None, "M0 231H50V170H100")
    assert (found.height, found.rounds[2].lines) == (308, [])


@pytest.mark.parametrize(
    ("final", "leader", "words"),
    [({"players": ["ann", None], "winner": None}, "ann", "is in the final"),
     ({"players": ["ann", "bob"], "winner": "bob"}, "bob", "won")],
)  # fmt: skip
def test_way_is_that_of_the_champion_or_of_who_came_furthest(
    final: dict[str, Any], leader: str, words: str
) -> None:
    found = drawn([*SLOTS[:2], [final]])
    assert found.leader is not None
    assert (found.leader.name, found.leader_words) == (leader, words)


def test_board_beside_the_bracket_is_that_of_the_strongest() -> None:
    found = drawn()
    assert found.live is not None
    assert ([each.name for each in found.live.players], found.on) == (["bob", "cat"], 1)
