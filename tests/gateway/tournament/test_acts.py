"""The acts of the director: the entry of each, what is refused and why, and what can be undone."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds.tournaments import Played, Stored

from gateway.game.commands import HOUSE_PLAYERS
from gateway.tournament.acts import ACTS, AFTER_THE_END, LONGEST_LINE, LONGEST_SIGNATURE, NOBODY, decide
from gateway.tournament.log import (
    Announced,
    Awarded,
    Begun,
    Ended,
    Entered,
    Entry,
    Forbidden,
    Forfeited,
    NextSet,
    Paired,
    Paused,
    Replayed,
    RequestedTest,
    Resumed,
    Returned,
    StageBegun,
    StartRequested,
    Undone,
    Voided,
    Withdrawn,
    parsed,
)
from gateway.tournament.report import described
from gateway.tournament.tournament import REOPENING

NAMES = ("ann", "bob", "cid", "dan")
BACK = Withdrawn(3, "3 faults in a row", may_return=True)

HOUSE = sorted(HOUSE_PLAYERS)


def named(value: object) -> str:
    """Return a name for a value of a table that is the same in all processes."""
    return value[:40] if isinstance(value, str) else type(value).__name__


def cup(*entries: Entry, **settings: object) -> Stored:
    """Return a tournament in which ann plays bob, and cid has won game 1 against dan."""
    stored = Stored(**settings)
    stored.begin(*NAMES, pairings=[(0, 1, 1), (2, 3, 1)])
    stored.play(1, 0, 0)
    stored.log(*entries)
    return stored


def unbegun(*entries: Entry, **settings: object) -> Stored:
    stored = Stored(**settings)
    stored.log(*map(Entered, NAMES), *entries)
    return stored


def stage_two(then: str = "swiss") -> Stored:
    """Return a tournament in whose second stage ann and bob play, after a first pairing of ann and cid."""
    stored = Stored(then=then, advance=2)
    stored.begin(*NAMES, pairings=[(0, 2, 1)])
    stored.log(Forfeited(0, [0, 1], [2]), StageBegun([0, 1]))
    return stored


def round_two(**settings: object) -> Stored:
    """Return a knockout in which ann won and has been paired for round 2, with a bye."""
    stored = Stored(format="knockout", **settings)
    stored.begin("ann", "bob", "cid", pairings=[(1, 2, 1), (0, None, 1)])
    for number in (0, 1):
        stored.play(0, number, 0)
    stored.log(Paired([(0, 1, 2)]))
    return stored


def error_of(stored: Stored, act: str, **given: str) -> str:
    before = [*stored.entries]
    with pytest.raises(ValueError, match=r".") as caught:
        stored.act(act, **given)
    assert stored.entries == before
    return str(caught.value)


# What each act adds.

GOOD: list[tuple[Stored, str, dict[str, str], Entry]] = [
    (unbegun(), "start", {}, StartRequested()),
    (cup(), "pause", {}, Paused()),
    (unbegun(), "pause", {}, Paused()),
    (cup(Paused()), "resume", {}, Resumed()),
    (cup(), "end", {}, Ended(by_director=True)),
    (unbegun(), "end", {}, Ended(by_director=True)),
    (cup(), "withdraw", {"player": "dan"}, Withdrawn(3, "by the director")),
    (unbegun(), "withdraw", {"player": "dan"}, Withdrawn(3, "by the director")),
    (cup(BACK), "withdraw", {"player": "dan"}, Withdrawn(3, "by the director")),  # now for good
    (cup(BACK), "readmit", {"player": "dan"}, Returned(3)),
    (cup(Withdrawn(0, "")), "readmit", {"player": "ann"}, Returned(0)),
    (cup(), "enter", {"player": "eve"}, Entered("eve")),
    (cup(), "enter", {"player": "Ann"}, Entered("Ann")),  # each spelling is a name of its own
    (cup(late=False), "enter", {"player": "eve"}, Entered("eve")),
    (cup(roster={"ann": ""}), "enter", {"player": "eve"}, Entered("eve")),
    (cup(entry_test="random"), "enter", {"player": "eve"}, Entered("eve")),
    (unbegun(format="knockout"), "enter", {"player": "eve"}, Entered("eve")),
    (cup(), "enter", {"player": " eve "}, Entered("eve")),
    (cup(), "house", {"player": "random"}, Entered("random", house=True)),
    (cup(), "award", {"game": "2.1", "to": "dan"}, Awarded(1, 0, 3)),
    (cup(), "award", {"game": "00001-000000", "to": "dan"}, Awarded(1, 0, 3)),
    (cup(), "award", {"game": " OOOOI-OOOOOO ", "to": "dan"}, Awarded(1, 0, 3)),
    (cup(), "award", {"game": "1.2", "to": "ann"}, Awarded(0, 1, 0)),  # that was not played yet
    (cup(), "award", {"game": "1.2", "to": "draw"}, Awarded(0, 1, None)),
    (cup(Entered("draw")), "award", {"game": "1.2", "to": "ann"}, Awarded(0, 1, 0)),
    (cup(Ended()), "award", {"game": "1.1", "to": "ann"}, Awarded(0, 0, 0)),
    (stage_two(), "award", {"game": "1.1", "to": "cid"}, Awarded(0, 0, 2)),
    (round_two(), "award", {"game": "3.1", "to": "bob"}, Awarded(2, 0, 1)),
    (cup(), "void", {"game": "2.1"}, Voided(1, [0])),
    (cup(Awarded(1, 0, None)), "void", {"game": "2.1"}, Voided(1, [0])),
    (cup(Ended()), "void", {"game": "1.2"}, Voided(0, [1])),
    (cup(), "replay", {"game": "2.1"}, Replayed(1, [0], ["00001-000000"])),
    (cup(Voided(0, [1])), "replay", {"game": "1.2"}, Replayed(0, [1], [])),
    (cup(Forfeited(0, [0, 1], [1])), "replay", {"game": "1.2"}, Replayed(0, [1], [])),
    (cup(), "forbid", {"player": "ann", "other": "dan"}, Forbidden([0, 3], [])),
    (cup(), "forbid", {"player": "dan", "other": "cid"}, Forbidden([3, 2], [(1, [1])])),
    (unbegun(), "forbid", {"player": "ann", "other": "dan"}, Forbidden([0, 3], [])),
    (
        cup(format="swiss"),
        "next",
        {"pairs": "dan - ann, bob,cid"},
        NextSet([(3, 0), (1, None), (2, None)]),
    ),
    (
        cup(Withdrawn(3, ""), format="swiss"),
        "next",
        {"pairs": "bob - ann, cid"},
        NextSet([(1, 0), (2, None)]),
    ),
    (stage_two(), "next", {"pairs": "bob - ann"}, NextSet([(1, 0)])),
    (cup(), "announce", {"text": " lunch at one "}, Announced("lunch at one")),
    (cup(Announced("lunch")), "announce", {}, Announced("")),
    (cup(Ended()), "announce", {"text": "thanks"}, Announced("thanks")),
    (cup(), "test", {"player": "ann", "house": "aima"}, RequestedTest(0, "aima")),
    (unbegun(), "test", {"player": "ann", "house": "random"}, RequestedTest(0, "random")),
]


@pytest.mark.parametrize(("stored", "act", "given", "entry"), GOOD, ids=named)
def test_act_adds_its_entry_and_who_decided_it_why(
    stored: Stored, act: str, given: dict[str, str], entry: Entry
) -> None:
    decision = decide(stored.read(), act, {**given, "by": " nora ", "why": " for a reason "}, 0.0, HOUSE)
    if act == "withdraw":
        assert isinstance(entry, Withdrawn)
        assert decision.entry in (entry, replace(entry, why="for a reason"))
    else:
        assert (decision.entry, decision.reason) == (entry, "for a reason")
    assert decision.by == "nora"
    stored = Stored.like(stored)
    stored.sign(decision.entry, decision.by, decision.reason)
    *_, logged = described(stored.read(), 0.0)["log"]
    assert (logged["by"], logged["act"], logged["undone"]) == ("nora", act, False)
    assert "for a reason" in f"{logged['why']} {logged['words']}"
    assert "\n" not in logged["words"]


def test_every_act_is_in_the_table() -> None:
    assert {act for _, act, _, _ in GOOD} == ACTS.keys() - {"undo"}


@pytest.mark.parametrize(("given", "by"), [({}, NOBODY), ({"by": "  "}, NOBODY), ({"by": " nora "}, "nora")])
def test_act_is_signed_also_if_nobody_gives_a_name(given: dict[str, str], by: str) -> None:
    decision = decide(cup().read(), "pause", given, 0.0, HOUSE)
    assert decision.by == by


def test_reason_of_a_withdrawal_is_given_once() -> None:
    stored = cup()
    stored.act("withdraw", player="dan", why=" asked for it ")
    *_, logged = described(stored.read(), 0.0)["log"]
    assert (logged["words"], logged["why"]) == ("Withdrew dan", "asked for it")


def test_act_names_the_pairings_whose_results_it_depends_on() -> None:
    cases: list[tuple[str, dict[str, str], list[int]]] = [
        ("pause", {}, []),
        ("award", {"game": "2.1", "to": "cid"}, [1]),
        ("void", {"game": "2.2"}, [1]),
        ("replay", {"game": "2.1"}, [1]),
        ("forbid", {"player": "ann", "other": "bob"}, [0]),
        ("forbid", {"player": "ann", "other": "cid"}, []),
    ]
    for act, parameters, pairings in cases:
        assert [*decide(cup().read(), act, parameters, 0.0, HOUSE).pairings] == pairings


# What is refused.

BAD: list[tuple[Stored, str, dict[str, str], str]] = [
    (cup(), "awrad", {}, "there is no act 'awrad'; did you mean 'award'?"),
    (cup(), "award", {"game": "1.1"}, "the parameter to is missing"),
    (cup(), "next", {}, "the parameter pairs is missing"),
    (cup(), "pause", {"by": "n" * (LONGEST_SIGNATURE + 1)}, "the name of the person who decides is one line"),
    (cup(), "pause", {"why": "w" * (LONGEST_LINE + 1)}, "a reason is one line"),
    (cup(), "pause", {"why": "one\ntwo"}, "a reason is one line"),
    (cup(), "start", {}, "'cup' has begun already"),
    (Stored(), "start", {}, "needs 2 players or more; 0 players entered so far"),
    (cup(Ended()), "start", {}, "the tournament 'cup' is over"),
    (cup(Paused()), "pause", {}, "'cup' is paused already"),
    (cup(), "resume", {}, "'cup' is not paused"),
    (cup(), "withdraw", {"player": "Dan"}, "'Dan' takes no part in 'cup'; did you mean 'dan'?"),
    (cup(Withdrawn(3, "")), "withdraw", {"player": "dan"}, "'dan' is withdrawn already"),
    (cup(), "readmit", {"player": "dan"}, "'dan' is not withdrawn"),
    (cup(), "readmit", {"player": "eve"}, "'eve' takes no part"),
    (cup(), "enter", {"player": "dan"}, "'dan' takes part already"),
    (cup(), "enter", {"player": " dan "}, "takes part already"),
    (cup(BACK), "enter", {"player": "dan"}, "'dan' is withdrawn; the act readmit takes that back"),
    (cup(), "enter", {"player": "random"}, "the act house adds"),
    (cup(), "enter", {"player": "RANDOM"}, "a player of the server"),
    (cup(), "enter", {"player": "a\nb"}, "a name is one line of up to 256 visible characters"),
    (cup(), "enter", {"player": "n" * 257}, "a name is one line of up to 256 visible characters"),
    (cup(), "enter", {"player": "  "}, "name"),
    (cup(format="knockout"), "enter", {"player": "eve"}, "nobody enters a knockout that has begun"),
    (stage_two(), "enter", {"player": "eve"}, "nobody enters the second stage"),
    (stage_two(), "house", {"player": "aima"}, "nobody enters the second stage"),
    (cup(), "house", {"player": "Random"}, "is no player of the server; possible: aima, "),
    (cup(Entered("random", house=True)), "house", {"player": "random"}, "takes part already"),
    (cup(), "award", {"game": "1.1", "to": "cid"}, "'cid' has no part in game 1.1 (ann and bob)"),
    (cup(), "award", {"game": "1.1", "to": "Draw"}, "'Draw' takes no part"),
    (cup(), "award", {"game": "0.1", "to": "ann"}, "there is no pairing 0; there are 2"),
    (cup(), "award", {"game": "3.1", "to": "ann"}, "there is no pairing 3; there are 2"),
    (cup(), "award", {"game": "1.3", "to": "ann"}, "pairing 1 has 2 games, and no game 3"),
    (cup(), "award", {"game": "1.0", "to": "ann"}, "pairing 1 has 2 games, and no game 0"),
    (cup(), "award", {"game": "1", "to": "ann"}, "is called PAIRING.GAME, such as 12.2"),
    (cup(), "award", {"game": "1.-1", "to": "ann"}, "is called PAIRING.GAME, such as 12.2"),
    (cup(), "award", {"game": "1.1.1", "to": "ann"}, "is called PAIRING.GAME, such as 12.2"),
    (cup(), "award", {"game": "00001-000001", "to": "ann"}, "no game '00001-000001' is stored"),
    (round_two(), "award", {"game": "2.1", "to": "ann"}, "pairing 2 is a bye, which has no games"),
    (round_two(), "award", {"game": "1.1", "to": "cid"}, "'bob' has been paired for round 2 since"),
    (round_two(), "void", {"game": "1.1"}, "'bob' has been paired for round 2 since"),
    (round_two(), "replay", {"game": "1.1"}, "'bob' has been paired for round 2 since"),
    (cup(Voided(0, [0])), "void", {"game": "1.1"}, "game 1.1 (ann and bob) is void already"),
    (cup(), "replay", {"game": "1.1"}, "game 1.1 (ann and bob) is not over"),
    (cup(Ended()), "replay", {"game": "2.1"}, "the tournament 'cup' is over"),
    (stage_two(), "replay", {"game": "1.1"}, "the first stage, which is over; award it or make it void"),
    (cup(), "forbid", {"player": "ann", "other": "ann"}, "give two players"),
    (cup(Forbidden([1, 0])), "forbid", {"player": "ann", "other": "bob"}, "are forbidden already"),
    (
        cup(format="knockout"),
        "forbid",
        {"player": "ann", "other": "bob"},
        "award the games of the two instead",
    ),
    (cup(), "next", {"pairs": "ann - bob"}, "only the rounds of a Swiss tournament can be set"),
    (unbegun(format="swiss"), "next", {"pairs": "ann - bob"}, "the tournament has not begun"),
    (cup(format="swiss", rounds=1), "next", {"pairs": "ann - bob"}, "no round follows: there are 1"),
    (cup(format="swiss"), "next", {"pairs": "ann - bob"}, "missing: 'cid', 'dan'; a name alone"),
    (cup(format="swiss"), "next", {"pairs": "ann - bob, cid - ann"}, "'ann' is there twice"),
    (cup(format="swiss"), "next", {"pairs": "ann - ann, bob, cid, dan"}, "'ann' is there twice"),
    (cup(format="swiss"), "next", {"pairs": "ann - Bob, cid - dan"}, "'Bob' takes no part"),
    (cup(format="swiss"), "next", {"pairs": "ann - bob - cid - dan"}, "takes no part"),
    (cup(format="swiss"), "next", {"pairs": "ann - bob, cid, dan,"}, "'' takes no part"),
    (cup(BACK, format="swiss"), "next", {"pairs": "ann - dan, bob - cid"}, "'dan' is withdrawn"),
    (stage_two(), "next", {"pairs": "ann - bob, cid"}, "'cid'"),
    (cup(), "announce", {}, "nothing is announced"),
    (cup(Announced("lunch")), "announce", {"text": "lunch"}, "that is announced already"),
    (cup(), "announce", {"text": "t" * (LONGEST_LINE + 1)}, "an announcement is one line of up to 200"),
    (cup(), "announce", {"text": "\u202e"}, "an announcement is one line of up to 200"),
    (cup(), "test", {"player": "ann", "house": "Random"}, "is no player of the server; possible: aima, "),
    (cup(), "test", {"player": "eve", "house": "random"}, "'eve' takes no part"),
    (cup(BACK), "test", {"player": "dan", "house": "random"}, "'dan' is withdrawn"),
    (
        cup(Entered("aima", house=True)),
        "test",
        {"player": "aima", "house": "random"},
        "is a player of the server itself",
    ),
    (cup(), "undo", {}, "nothing can be undone"),
]


@pytest.mark.parametrize(("stored", "act", "given", "words"), BAD, ids=named)
def test_act_that_is_not_possible_is_refused_in_one_line(
    stored: Stored, act: str, given: dict[str, str], words: str
) -> None:
    error = error_of(stored, act, **given)
    assert words in error
    assert "\n" not in error


@pytest.mark.parametrize("act", sorted(ACTS.keys() - AFTER_THE_END))
def test_what_cannot_be_done_when_it_is_over(act: str) -> None:
    given = {"player": "ann", "other": "bob", "game": "2.1", "pairs": "ann - bob, cid - dan", "house": "aima"}
    assert error_of(cup(Ended(), format="swiss"), act, **given) == "the tournament 'cup' is over"


NAME = st.text("ab -.,'\u00e4\u202e\n\x00", max_size=6)


@given(st.sampled_from([*ACTS]), st.dictionaries(st.sampled_from(["player", "other", "game", "to"]), NAME))
def test_act_with_any_parameters_gives_an_entry_or_a_line(act: str, given: dict[str, str]) -> None:
    stored = cup()
    values = {
        name: given.get(name, "x") for name in ("player", "other", "game", "to", "pairs", "house", "text")
    }
    words = ""
    try:
        stored.act(act, **values)
    except ValueError as error:
        words = str(error)
    assert words.isprintable()
    stored.read()


@pytest.mark.parametrize(
    ("pairs", "entry"),
    [
        ("a - b - c, d", NextSet([(0, 1), (2, None)])),
        ("c - a - b, d", NextSet([(1, 0), (2, None)])),
        ("a - b,c  -  d", None),
        ("a - b, c - d", NextSet([(0, None), (1, 2)])),
    ],
)
def test_names_with_separators_in_them_can_be_paired(pairs: str, entry: NextSet | None) -> None:
    stored = Stored(format="swiss")
    stored.begin("a - b", "c", "d")
    if entry is None:
        error_of(stored, "next", pairs=pairs)
    else:
        assert stored.act("next", pairs=pairs) == entry


@pytest.mark.parametrize(
    ("pairs", "entry"),
    [
        ('[["a, b", "c"], ["[[d"]]', NextSet([(0, 1), (2, None)])),
        ('[["c"], ["a, b", "[[d"]]', NextSet([(1, None), (0, 2)])),
        ('[["a, b", "c"]]', None),
        ('[["a, b", "c", "[[d"]]', None),
        ('[["a, b", "c"], []]', None),
        ('[["a, b", "c"], [1]]', None),
        ('[["a, b", "c"], 1]', None),
        ('[["a, b", "c"], {"[[d": 1}]', None),
        ('[["a, b", "c"], "d"]', None),
        ('[["a, b", "c"]', None),
        ("[[", None),
        ("[[" * 100_000, None),
    ],
)
def test_names_with_commas_in_them_can_be_paired_by_json(pairs: str, entry: NextSet | None) -> None:
    stored = Stored(format="swiss")
    stored.begin("a, b", "c", "[[d")
    if entry is None:
        error_of(stored, "next", pairs=pairs)
    else:
        assert stored.act("next", pairs=pairs) == entry


# Undo.


def report(stored: Stored, now: float = 0.0) -> dict[str, Any]:
    return {key: value for key, value in described(stored.read(), now).items() if key not in ("log", "undo")}


def without_undone(stored: Stored) -> Stored:
    """Return the same tournament with a log that lacks the entries that were undone."""
    undone, other = stored.read().undone, Stored.like(stored)
    other.entries = [
        each
        for number, each in enumerate(stored.entries)
        if number not in undone and not isinstance(parsed(each.entry).entry, Undone)
    ]
    return other


@pytest.mark.parametrize(("stored", "act", "given", "entry"), GOOD, ids=named)
def test_act_can_be_undone_and_leaves_nothing_behind(
    stored: Stored, act: str, given: dict[str, str], entry: Entry
) -> None:
    stored = Stored.like(stored)
    before = report(stored)
    stored.act(act, **given)
    number = len(stored.entries) - 1
    assert described(stored.read(), 0.0)["undo"]["number"] == number + 1
    assert stored.act("undo", number=str(number + 1)) == Undone(number)
    assert report(stored) == before
    after = described(stored.read(), 0.0)
    assert after["log"][-1]["act"] == "undo"
    assert after["log"][-2]["undone"]


LATER_PAIRS = Paired([(0, 2, 2), (1, 3, 2)])
UNDOABLE: list[tuple[Callable[[], Stored], Entry, Sequence[Entry], bool]] = [
    (cup, Withdrawn(3, ""), [Forfeited(1, [1], [3])], False),
    (cup, Withdrawn(3, ""), [Forfeited(0, [0, 1], [0])], True),
    (cup, Withdrawn(3, ""), [BACK], False),
    (cup, Withdrawn(3, ""), [Withdrawn(0, "3 faults in a row", may_return=True)], True),
    (cup, Withdrawn(3, ""), [Entered("eve")], True),
    (cup, Withdrawn(3, ""), [LATER_PAIRS], False),
    (cup, Withdrawn(3, ""), [Ended()], False),
    (cup, Entered("eve"), [Entered("fay")], False),  # fay would have another number
    (cup, Entered("eve"), [Withdrawn(0, "3 faults in a row", may_return=True)], False),
    (unbegun, StartRequested(), [Begun([0, 1, 2, 3])], False),
    (unbegun, Withdrawn(3, ""), [Begun([0, 1, 2, 3])], False),
    (unbegun, Forbidden([2, 3]), [Begun([0, 1, 2, 3])], False),
    (unbegun, RequestedTest(3, "aima"), [Begun([3, 1, 2, 0])], True),
    (cup, Awarded(1, 0, 3), [LATER_PAIRS], False),
    (cup, Awarded(1, 0, 3), [Forfeited(1, [1], [3])], False),
    (cup, Awarded(1, 0, 3), [Forfeited(0, [1], [0])], True),
    (lambda: cup(then="swiss"), Voided(1, [0]), [StageBegun([0, 1])], False),
    (cup, NextSet([(0, 2), (1, 3)]), [LATER_PAIRS], False),
    (cup, NextSet([(0, 2), (1, 3)]), [Withdrawn(0, "3 faults in a row", may_return=True)], False),
    (cup, Forbidden([0, 1], [(0, [0, 1])]), [LATER_PAIRS], False),
    (cup, Forbidden([0, 1], [(0, [0, 1])]), [Withdrawn(3, "3 faults in a row", may_return=True)], True),
    (cup, Forbidden([0, 1], [(0, [0, 1])]), [Withdrawn(0, "3 faults in a row", may_return=True)], False),
    (cup, Replayed(1, [0], ["00001-000000"]), [LATER_PAIRS], False),
    (cup, Announced("lunch"), [LATER_PAIRS, Ended()], True),
    (cup, RequestedTest(0, "aima"), [LATER_PAIRS, Ended()], True),
    (cup, Paused(), [Entered("eve")], True),
    (cup, Ended(by_director=True), [], True),
]


@pytest.mark.parametrize(("world", "act", "later", "is_undoable"), UNDOABLE, ids=named)
def test_act_on_which_something_was_built_cannot_be_undone(
    world: Callable[[], Stored], act: Entry, later: Sequence[Entry], is_undoable: bool
) -> None:
    stored = world()
    stored.sign(act)
    number = len(stored.entries)
    stored.log(*later)
    if is_undoable:
        assert described(stored.read(), 0.0)["undo"]["number"] == number
        stored.act("undo", number=str(number))
        assert report(stored) == report(without_undone(stored))
    else:
        assert described(stored.read(), 0.0)["undo"] is None
        assert "something was built on the last one" in error_of(stored, "undo", number=str(number))


def test_replay_cannot_be_undone_once_the_game_was_played_again() -> None:
    stored = cup()
    stored.act("replay", game="2.1")
    assert described(stored.read(), 0.0)["undo"] is not None
    stored.play(1, 0, 1)
    assert described(stored.read(), 0.0)["undo"] is None


def test_award_cannot_be_undone_once_the_game_that_was_on_was_ended_by_it() -> None:
    """Its loser would have lost by a fault that it did not make."""
    stored = cup()
    stored.act("award", game="1.1", to="ann")
    assert described(stored.read(), 0.0)["undo"] is not None
    stored.play(0, 0, 0, "time", fault_of=1)
    assert described(stored.read(), 0.0)["undo"] is None


def test_end_can_be_undone_for_a_while() -> None:
    stored = cup()
    stored.act("end")
    made = stored.now / 1000
    cases = [(made + REOPENING, True), (made + REOPENING + 1, False)]
    assert [described(stored.read(), now)["undo"] is not None for now, _ in cases] == [
        is_on for _, is_on in cases
    ]
    stored.act("undo", at=made + REOPENING)
    assert stored.read().state == "running"


def test_undo_takes_back_one_act_after_the_other_and_no_other_act_than_was_seen() -> None:
    stored = cup()
    before = report(stored)
    for act, parameters in (
        ("announce", {"text": "lunch"}),
        ("enter", {"player": "eve"}),
        ("withdraw", {"player": "eve"}),
        ("void", {"game": "1.1"}),
    ):
        stored.act(act, **parameters)
    seen = len(stored.entries)
    assert error_of(stored, "undo", number=str(seen - 1)).startswith(
        "the last act is 'Voided game 1.1 (ann and bob)'"
    )
    for number in range(seen, seen - 4, -1):
        assert stored.act("undo", number=str(number)) == Undone(number - 1)
    assert report(stored) == before
    assert error_of(stored, "undo").startswith("nothing can be undone")


def test_other_acts_are_possible_after_an_undo() -> None:
    stored = cup()
    stored.act("enter", player="eve")
    stored.act("undo")
    stored.act("enter", player="fay")
    stored.act("withdraw", player="fay")
    stored.act("undo")
    tournament = stored.read()
    assert [each.name for each in tournament.entrants] == [*NAMES, "fay"]
    assert tournament.entrants[4].withdrawn is None


@pytest.mark.parametrize("number", [0, 5, 6])
def test_log_that_takes_back_what_no_person_decided_cannot_be_read(number: int) -> None:
    stored = cup()
    stored.act("announce", text="lunch")
    stored.log(Undone(6))
    stored.read()
    stored.log(Undone(number))
    with pytest.raises(ValueError, match="cannot be undone"):
        stored.read()


# Any acts in any order, while it is played.


@given(st.integers(0, 2**32))
def test_any_acts_can_be_read_in_pieces_undone_and_recounted(seed: int) -> None:
    played = Played.drawn(seed)
    for _ in range(60):
        played.step(trouble=0.2, acts=0.3)
        tournament = played.stored.read()
        assert report(played.stored) == report(without_undone(played.stored))
        played.check_points(tournament)
    played.read()
    whole = described(played.stored.read(), played.unix)
    assert described(played.table.tournament, played.unix) == whole
    for _ in range(3):
        assert described(played.read_in_pieces(), played.unix) == whole


@given(st.integers(0, 2**32))
def test_any_tournament_ends_after_any_acts(seed: int) -> None:
    played = Played.drawn(seed)
    for _ in range(40):
        played.step(trouble=0.3, acts=0.3)
    played.end()
    played.check_end()


@pytest.mark.parametrize("name", ["draw", "Draw"])
def test_nobody_is_called_draw_since_that_is_a_result(name: str) -> None:
    stored = cup()
    assert not stored.read().admits(name)
    with pytest.raises(ValueError, match="the word for a draw"):
        stored.act("enter", player=name)
    with pytest.raises(ValueError, match="the word for a draw"):
        Stored(expected=[name])


def test_no_more_players_are_entered_by_hand_than_can_take_part() -> None:
    stored = Stored(cycles=100)
    most = stored.settings.most_players
    stored.log(Entered("late"), Entered("out"), Withdrawn(1, "by the organiser"))
    for number in range(most):
        stored.act("enter", player=f"p{number}")
    with pytest.raises(ValueError, match=f"{most} players will take part, and no more can"):
        stored.act("enter", player="more")
    began = stored.read().beginning({}, {"late"})
    assert {stored.read().name_of(each) for each in began.order} == {f"p{number}" for number in range(most)}


def test_player_that_left_before_the_beginning_can_be_named_by_the_director() -> None:
    stored = Stored(format="knockout")
    stored.log(Entered("ann"), Entered("bob"), Entered("cid"))
    stored.act("enter", player="bob")
    assert [each.name for each in stored.read().entrants] == ["ann", "bob", "cid"]
    began = stored.read().beginning({}, {"ann"})
    assert {stored.read().name_of(each) for each in began.order} == {"ann", "bob"}
    stored.act("undo")
    began = stored.read().beginning({}, {"ann", "cid"})
    assert {stored.read().name_of(each) for each in began.order} == {"ann", "cid"}


def test_pair_that_is_forbidden_after_the_round_was_set_is_not_paired() -> None:
    stored = Stored(format="swiss", rounds=3)
    stored.begin("ann", "bob", "cid", "dan", pairings=[(0, 1, 1), (2, 3, 1)])
    stored.act("next", pairs="ann - cid, bob - dan")
    stored.act("forbid", player="ann", other="cid")
    for pairing in (0, 1):
        for number in (0, 1):
            stored.play(pairing, number, 0)
    question = stored.read().question(0.0)
    assert question is not None
    assert [*question()] == [(1, 3, 2), (0, None, 2), (2, None, 2)]
