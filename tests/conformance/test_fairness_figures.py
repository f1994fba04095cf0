"""How much time a bot has used, what the log says, and what is complained of."""

from dataclasses import replace

import pytest

from conformance.lab.fairness.figures import Figures, table
from conformance.lab.fairness.log import Log, Loss, loss_in
from conformance.lab.fairness.used import Fault, Look, UsedTime

LINE = (
    "2026-11-21 13:42:57,123 INFO    game 'p4-1b' beats 'p4-1a': "
    "time (after 1.502 s, the server was deaf for 0.031 s), moving first, moves 01"
)


def at(now: float, before: float | None = None) -> Look:
    return Look(now, now - 0.01 if before is None else before)


# The used.


def test_loss_after_an_answer_in_time_is_the_servers_fault() -> None:
    used = UsedTime(1.5, renewed=True)
    used.asked(at(10.0))
    used.answered(11.4)
    assert not used.is_open
    assert used.lost(at(99.0)) is Fault.SERVER


def test_loss_after_an_answer_that_came_late_is_the_bots_own() -> None:
    used = UsedTime(1.5, renewed=True)
    used.asked(at(10.0))
    used.answered(11.6)
    assert used.lost(at(12.0)) is Fault.PLAYER


def test_nobody_can_tell_where_the_request_may_have_come_long_before_it_was_read() -> None:
    used = UsedTime(1.5, renewed=True)
    used.asked(at(10.0, before=9.0))
    used.answered(11.0)
    assert used.lost(at(12.0)) is Fault.UNKNOWN


def test_time_of_all_moves_is_added_in_a_game_on_a_clock() -> None:
    used = UsedTime(1.5, renewed=False)
    for now in (10.0, 20.0):
        used.asked(at(now, now))
        used.answered(now + 0.7)
    assert used.lost(at(30.0)) is Fault.SERVER
    used.asked(at(40.0, 40.0))
    used.answered(40.2)
    assert used.lost(at(50.0)) is Fault.PLAYER


def test_time_of_earlier_moves_does_not_count_where_each_has_its_own() -> None:
    used = UsedTime(1.5, renewed=True)
    for now in (10.0, 20.0, 30.0):
        used.asked(at(now))
        used.answered(now + 1.0)
    assert used.lost(at(40.0)) is Fault.SERVER
    assert used.moves == 3


@pytest.mark.parametrize(
    ("told", "fault"),
    [(at(11.4), Fault.SERVER), (at(11.505), Fault.UNKNOWN), (at(11.52), Fault.PLAYER)],
)
def test_loss_with_an_open_request_is_held_against_the_time_it_was_told(told: Look, fault: Fault) -> None:
    used = UsedTime(1.5, renewed=False)
    used.asked(at(10.0))
    assert used.is_open
    assert used.lost(told) is fault


def test_words_on_a_used_say_whether_it_had_answered() -> None:
    used = UsedTime(1.5, renewed=False)
    used.asked(at(10.0))
    assert str(used) == "had not answered, after 0 moves, of 1.5 s"
    used.answered(10.25)
    assert str(used) == "had answered within 0.250 s, after 1 moves, of 1.5 s"


# The log.


def test_line_on_a_loss_on_time_is_read_with_the_servers_delay() -> None:
    assert loss_in(LINE) == Loss("p4-1a", 1.502, 0.031)


def test_line_without_the_servers_delay_is_told_from_one_with_it() -> None:
    assert loss_in(LINE.replace(", the server was deaf for 0.031 s", "")) == Loss("p4-1a", None, None)


@pytest.mark.parametrize("word", ["four in a row", "left", "illegal move"])
def test_line_on_another_end_is_no_loss_on_time(word: str) -> None:
    assert loss_in(f"INFO game 'a' beats 'b': {word}, moving first, moves 01") is None


def test_log_may_come_in_pieces() -> None:
    log = Log()
    for letter in f"{LINE}\n{LINE}\nINFO game":
        log.hear(letter.encode())
    assert [loss.loser for loss in log.losses] == ["p4-1a", "p4-1a"]


# The figures.

FAIR = Figures(
    name="stalled",
    games=100,
    moves=700,
    seconds=3.25,
    stalls=2,
    slept=2,
    told=2,
    losers=["a", "b"],
    faults={fault: [] for fault in Fault},
    losses=[Loss("a", 1.5, 0.1), Loss("b", 1.5, 2.0), Loss("c", 1.5, 0.1)],
)


def test_fair_server_is_not_complained_of() -> None:
    assert list(FAIR.complaints()) == []


@pytest.mark.parametrize(
    ("unfair", "said"),
    [
        (
            replace(FAIR, faults={**FAIR.faults, Fault.SERVER: ["x"]}),
            "lost on time by the server's fault: x",
        ),
        (
            replace(FAIR, faults={**FAIR.faults, Fault.UNKNOWN: ["x"]}),
            "lost on time, and nobody can tell by whose fault: x",
        ),
        (replace(FAIR, losers=["a", "b", "d"]), "lost on time, which the log does not say: d"),
        (replace(FAIR, losses=[*FAIR.losses, Loss("d", None, None)]), "logged without the server's delay: d"),
        (replace(FAIR, told=1), "1 players slept and were not told that they had lost"),
        (replace(FAIR, slept=0, told=0), "nobody slept, so that a loss on time was not seen to be seen"),
    ],
)
def test_whatever_is_not_as_it_should_be_is_complained_of(unfair: Figures, said: str) -> None:
    assert list(unfair.complaints()) == [f"stalled: {said}"]


def test_bots_own_fault_is_none_of_the_servers() -> None:
    assert not list(replace(FAIR, faults={**FAIR.faults, Fault.PLAYER: ["x"]}).complaints())


def test_many_complaints_of_one_kind_are_cut_short() -> None:
    unfair = replace(FAIR, faults={**FAIR.faults, Fault.SERVER: ["x"] * 30})
    assert list(unfair.complaints())[-1] == "stalled: lost on time by the server's fault: 20 more"
    assert len(list(unfair.complaints())) == 11


def test_table_has_a_column_for_each_stretch() -> None:
    lines = table([FAIR, replace(FAIR, name="overloaded", losses=[])]).splitlines()
    assert lines[0].split() == ["stalled", "overloaded"]
    assert lines[1].split() == ["games", "100", "100"]
    assert lines[-1].split()[-2:] == ["2.000", "-"]
