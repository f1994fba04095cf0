"""What counts as met and as missed, and how it is shown."""

from dataclasses import replace

import pytest

from conformance.lab.abuse.figures import (
    MB,
    MOST_GROWTH,
    MOST_HOUSE_MS,
    MOST_LEFT_OUT,
    MOST_PAGE,
    MOST_STOP,
    Memory,
    Outcome,
    Report,
    Said,
    Spread,
    Stop,
    Window,
    typical,
    with_missed,
)
from conformance.lab.abuse.table import as_data, readable

QUIET = Spread(1000, 0.5, 2.0, 9.0)
WINDOW = Window(QUIET, [], Spread(9, 15.0, 20.0, 30.0), 0.1, 0.0, 0.0, 0.0)
MEMORY = Memory(100 * MB, 100 * MB, 100 * MB)
GOOD = Outcome("pings", WINDOW, MEMORY, Said(), {"pings": {"messages": 7}}, 0.5, quiet_share=0.1)
REPORT = Report([GOOD], WINDOW, [WINDOW, WINDOW], Stop(0.5, 0), MB, Said(), [])


def moving(p50: float, p99: float) -> Window:
    return replace(WINDOW, moves=Spread(1000, p50, p99, p99))


def test_times_within_the_beat_stand_for_themselves() -> None:
    assert with_missed([0.05, 0.1], 0.1) == [0.05, 0.1]


def test_long_time_stands_for_the_moves_that_it_held_up() -> None:
    assert with_missed([0.35], 0.1) == pytest.approx([0.35, 0.25, 0.15, 0.05])


def test_spread_is_in_milliseconds() -> None:
    assert Spread.of([0.001] * 98 + [0.002, 0.5]) == Spread(100, 1.0, 2.0, 500.0)
    assert Spread.of([]) == Spread(0, None, None, None)


@pytest.mark.parametrize(
    ("p50", "p99", "missed"), [(2.0, 20.0, []), (2.1, 20.0, ["p50"]), (1.0, 20.1, ["p99"])]
)
def test_half_of_the_moves_stay_within_two_ms_and_99_of_100_within_twenty(
    p50: float, p99: float, missed: list[str]
) -> None:
    assert replace(GOOD, window=moving(p50, p99)).missed == missed


def test_run_in_which_moves_take_long_in_quiet_is_void() -> None:
    slow = replace(REPORT, quiet=moving(0.5, 2.1))
    assert (REPORT.is_void, slow.is_void) == (False, True)
    assert "VOID: 99 of 100 moves in quiet took up to 2.1 ms" in readable(slow)
    assert "VOID" not in readable(REPORT)


def test_no_moves_at_all_miss_the_goal() -> None:
    assert replace(GOOD, window=replace(WINDOW, moves=Spread.of([]))).missed == ["p50", "p99"]


@pytest.mark.parametrize(
    ("change", "missed"),
    [
        ({"window": replace(WINDOW, left_out=MOST_LEFT_OUT + 0.01)}, "too few moves counted"),
        ({"window": replace(WINDOW, lost=["hung up"])}, "games lost"),
        ({"said": Said(tracebacks=1)}, "tracebacks"),
        ({"said": Said(errors=1)}, "errors logged"),
        ({"said": Said(controls=1)}, "control characters logged"),
        ({"memory": Memory(0, MOST_GROWTH + 1, 0)}, "memory"),
        ({"memory": Memory(100 * MB, 100 * MB, 111 * MB)}, "memory kept"),
        ({"window": replace(WINDOW, house=Spread(1, MOST_HOUSE_MS + 1, 0.0, 0.0))}, "house"),
        ({"counts": {"pings": {"messages": 7}, "junk": {}}}, "attackers idle"),
    ],
)
def test_each_fault_misses_the_goal(change: dict[str, object], missed: str) -> None:
    assert replace(GOOD, **change).missed == [missed]  # type: ignore[arg-type]


def test_errors_are_in_order_where_the_operator_should_hear_of_it() -> None:
    assert replace(GOOD, said=Said(errors=1), may_log=True).missed == []


def test_missed_time_on_a_busy_machine_is_in_doubt() -> None:
    busy = replace(GOOD, window=replace(moving(1.0, 99.0), waited_share=0.3, load_waited=0.2))
    text = readable(replace(REPORT, outcomes=[busy]))
    assert "Beside pings the server waited 30% and honest games 20% of the time for a core" in text


def test_unknown_memory_is_no_fault() -> None:
    assert replace(GOOD, memory=Memory(None, None, None)).missed == []


def test_said_since_is_the_difference() -> None:
    assert Said(3, 4, 5, 60).since(Said(1, 1, 1, 10)) == Said(2, 3, 4, 50)


def test_typical_is_in_the_middle() -> None:
    found = typical([replace(moving(1.0, p99), server_share=None) for p99 in (1.0, 50.0, 2.0)])
    assert found.moves.p99 == 2.0
    assert found.server_share is None


@pytest.mark.parametrize(
    ("change", "missed"),
    [
        ({"stop": Stop(MOST_STOP + 0.1, 0)}, "stop: 5.1 s, status 0"),
        ({"stop": Stop(0.1, 1)}, "stop: 0.1 s, status 1"),
        ({"page": MOST_PAGE + MB}, "page: 5.0 MB"),
        ({"quiets": [replace(WINDOW, lost=["cut off"])]}, "quiet: 1 games lost"),
        ({"outcomes": [replace(GOOD, said=Said(tracebacks=1))]}, "pings: tracebacks"),
    ],
)
def test_run_is_missed_where_anything_is(change: dict[str, object], missed: str) -> None:
    assert REPORT.missed == []
    assert replace(REPORT, **change).missed == [missed]  # type: ignore[arg-type]


def test_memory_is_back_within_a_tenth() -> None:
    assert replace(GOOD, memory=Memory(100 * MB, 200 * MB, 110 * MB)).missed == []


def test_counts_of_all_attackers_and_of_hurt_games_are_told() -> None:
    counts = {"pings": {"connections": 2, "messages": 7, "bytes": 3 * MB}, "junk": {"messages": 1}}
    window = replace(WINDOW, lost=["cut off"])
    report = replace(REPORT, outcomes=[replace(GOOD, counts=counts), GOOD], quiets=[window])
    assert "2 attacks, 2 connections, 15 inputs, 3 MB; honest games hurt: 1.\n" in readable(report)


def test_table_says_what_was_lost_logged_and_missed() -> None:
    window = replace(WINDOW, lost=["nac4 bot x was hung up on"], house=Spread.of([]), server_share=None)
    bad = replace(GOOD, name="long-texts", window=window, memory=Memory(None, None, None))
    report = replace(REPORT, outcomes=[GOOD, bad], examples=["ERROR accept"])
    lines = readable(report).splitlines()
    assert lines[2].split()[-1] == "met"
    assert lines[3].split()[-1] == "missed"
    assert "lost beside long-texts: nac4 bot x was hung up on" in lines
    assert "logged: ERROR accept" in lines
    assert "MISSED long-texts: games lost, house" in lines
    assert max(map(len, lines)) <= 110


def test_moves_that_are_not_counted_are_told() -> None:
    one, other = (
        replace(GOOD, name=f"x{share}", window=replace(WINDOW, left_out=share)) for share in (0.3, 0.4)
    )
    report = replace(REPORT, outcomes=[GOOD, one, other], quiet=typical([replace(WINDOW, left_out=0.016)]))
    told = (
        "Not counted, as the host of this machine held moves up: 1.6% in quiet, 40.0% at most, beside x0.4."
    )
    assert told in readable(report).splitlines()
    assert "not counted" not in readable(REPORT)


def test_data_has_the_verdicts_too() -> None:
    data = as_data(REPORT)
    assert data["missed"] == []
    assert [one["missed"] for one in data["outcomes"]] == [[]]  # type: ignore[attr-defined]
    assert data["is_void"] is False
