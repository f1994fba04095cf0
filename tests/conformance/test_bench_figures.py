"""The arithmetic of the benchmark, its order, and its tables."""

import json
from dataclasses import asdict, replace

import pytest

from conformance.lab.bench.command import schedule
from conformance.lab.bench.figures import Figures, Goal, figures, floor_of
from conformance.lab.bench.table import as_data, tables
from conformance.lab.figures import aligned
from conformance.lab.plan import (
    COUPLES,
    MIX,
    Counted,
    Plan,
    Report,
    Speed,
    Stretch,
    connections_by_transport,
    plan_of,
    speed,
)

COUNTED = Counted(
    seconds=2.0,
    moves=1000,
    games=20.0,
    server_cpu=1.9,
    server_waited=0.05,
    load_cpu=1.0,
    p50=0.001,
    p99=0.0025,
)
SPEED = Speed(
    moves_per_second=500.0,
    games_per_second=10.0,
    cpu_us=1900.0,
    p50_ms=1.0,
    p99_ms=2.5,
    server_share=0.95,
    waited_share=0.025,
    load_share=0.5,
)
REPORT = Report(
    connections=200, rss_before=1024 * 1000, rss_playing=1024 * 3000, stretches=(COUNTED, COUNTED)
)
GOAL = Goal(1.0, 0.5)
UNKNOWN = replace(COUNTED, server_cpu=None, server_waited=None)


def measured(ratio: float, goal: Goal | None = GOAL) -> Figures:
    return figures("droidcon", REPORT, 1900.0 / ratio, goal)


def test_speed_is_by_the_second_and_by_the_move() -> None:
    assert speed(COUNTED) == SPEED


def test_cpu_that_was_not_measured_is_not_known() -> None:
    assert speed(UNKNOWN) == replace(SPEED, cpu_us=None, server_share=None, waited_share=None)


def test_memory_is_shared_by_all_connections() -> None:
    assert measured(1.0).kb_per_connection == 10.0
    assert figures("nac4", replace(REPORT, rss_before=None), None, None).kb_per_connection is None


@pytest.mark.parametrize(("ratio", "missed"), [(0.99, False), (1.01, True)])
def test_goal_is_missed_by_more_than_its_ratio(ratio: float, missed: bool) -> None:
    assert measured(ratio).ratio == pytest.approx(ratio)
    assert measured(ratio).is_missed == missed


def test_goal_that_cannot_be_judged_is_missed_and_no_goal_is_not() -> None:
    assert figures("nac4", REPORT, None, Goal(1.0, 0.5)).is_missed
    assert not figures("nac4", REPORT, None, None).is_missed
    assert not measured(9.0, None).is_missed


def test_server_with_work_is_saturated_even_where_others_take_its_core() -> None:
    assert SPEED.is_saturated
    assert not replace(SPEED, server_share=0.5).is_saturated
    assert replace(SPEED, server_share=0.5, waited_share=0.45).is_saturated
    assert speed(UNKNOWN).is_saturated


def test_floor_is_the_median_of_its_measurements() -> None:
    floors = {"tcp": [replace(SPEED, cpu_us=value) for value in (10.0, 50.0, 20.0)]}
    assert floor_of(COUPLES["droidcon"], floors) == 20.0
    assert floor_of(COUPLES["nac4"], floors) is None


def test_floor_of_a_mix_is_weighed_by_connections() -> None:
    floors = {"tcp": [replace(SPEED, cpu_us=10.0)], "websocket": [replace(SPEED, cpu_us=50.0)]}
    assert connections_by_transport(MIX) == {"tcp": 0.25, "websocket": 0.75}
    assert floor_of(MIX, floors) == 40.0


def test_mix_has_all_kinds_in_equal_parts_and_pairs_across_dialects() -> None:
    kinds = [kind for couple in MIX for kind in couple]
    assert {kind: kinds.count(kind) for kind in kinds} == dict.fromkeys(
        ["droidcon", "nac4", "arena-json", "arena-edn"], 2
    )
    assert all(one != other for one, other in MIX)


def test_every_kind_stands_between_measurements_of_its_floors() -> None:
    order = schedule(list(COUPLES), with_floors=True)
    assert [kind for kind in order if kind in COUPLES] == list(COUPLES)
    for kind in COUPLES:
        at = order.index(kind)
        for transport in connections_by_transport(COUPLES[kind]):
            assert transport in neighbours(order[:at][::-1])
            assert transport in neighbours(order[at + 1 :])


def neighbours(order: list[str]) -> list[str]:
    """Return what stands before the first kind."""
    return order[: next((at for at, what in enumerate(order) if what in COUPLES), len(order))]


def test_no_floor_is_measured_where_none_is_wanted() -> None:
    assert schedule(["nac4"], with_floors=False) == ["nac4"]


def test_plan_crosses_a_pipe_unchanged() -> None:
    plan = Plan(
        couples=[("nac4", "arena-edn")],
        pairs=3,
        addresses={"nac4": ("127.0.0.1", 8080, "/x")},
        stretches=[Stretch(1.0, 0.5), Stretch(1.0, 0.5, 1000)],
        pid=7,
        cores=(0, 1),
    )
    for one in (plan, replace(plan, pid=None, cores=None, is_gateway=False)):
        assert plan_of(json.loads(json.dumps(asdict(one)))) == one


def test_columns_are_aligned() -> None:
    assert aligned([("a", "bb", "c"), ("long", "1", "22")]) == "a     bb   c\nlong   1  22"


def test_goals_stand_beside_what_was_reached() -> None:
    text = tables({"tcp": [SPEED]}, [measured(0.75), measured(1.5), measured(0.4), measured(2.0, None)])
    found = [line.split() for line in text.splitlines() if line.startswith("droidcon")]
    assert found[0][4:10] == ["2533.33", "0.75", "1.0", "met", "0.5", "missed"]
    assert found[1][4:10] == ["1266.67", "1.50", "1.0", "missed", "0.5", "missed"]
    assert found[2][6:10] == ["1.0", "met", "0.5", "met"]
    assert found[3][6:8] == ["-", "-"]


def test_what_is_not_known_is_a_dash_and_a_goal_then_unknown() -> None:
    unknown = replace(REPORT, rss_before=None, stretches=(UNKNOWN, UNKNOWN))
    text = tables({"tcp": [speed(UNKNOWN)]}, [figures("droidcon", unknown, 20.0, GOAL)])
    assert "1.0 unknown" in text
    floor = next(line for line in text.splitlines() if line.startswith("tcp"))
    assert floor.split() == ["tcp", "500", "-", "-", "-", "1", "-", "50%"]


def test_server_that_was_idle_or_kept_waiting_is_told_of() -> None:
    idle = replace(COUNTED, server_cpu=0.8)
    kept = replace(COUNTED, server_cpu=1.0, server_waited=0.9)
    found = [figures("nac4", replace(REPORT, stretches=(it, it)), 1.0, None) for it in (idle, kept)]
    floors = {"tcp": [SPEED, replace(SPEED, waited_share=0.3)], "websocket": [SPEED]}
    notes = tables(floors, found).split("\n\n")[-1].splitlines()
    assert notes == [
        "tcp: others kept the floor off its core for up to 30% of the time",
        "nac4: NOT SATURATED, the server had work for less than 90% of the time "
        "(the load used 50% of its core)",
        "nac4: others kept the server off its core for 45% of the time",
    ]


def test_tables_fit_110_columns() -> None:
    fast = Speed(123456.7, 12345.6, 1234.56, 1234.56, 12345.67, 1.0, 0.0, 1.0)
    one = Figures("arena-json", 20000, fast, fast, 1234.5, 1234.56, Goal(1.0, 0.5))
    text = tables({"websocket": [fast]}, [one, replace(one, saturated=replace(fast, server_share=0.2))])
    assert max(map(len, text.splitlines())) <= 110


def test_data_for_machines_has_ratios_and_verdicts() -> None:
    data = as_data({"tcp": [SPEED]}, [measured(1.5)])
    assert data["floors"]
    kinds = data["kinds"]
    assert isinstance(kinds, list)
    assert (kinds[0]["kind"], kinds[0]["ratio"], kinds[0]["missed"]) == ("droidcon", pytest.approx(1.5), True)
