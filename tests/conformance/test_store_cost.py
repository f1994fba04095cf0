"""What keeping results costs: the arithmetic, when play is called slower, and one short run."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.__main__ import main
from conformance.lab import store_cost as store
from conformance.lab.plan import Counted, Report
from conformance.lab.store_cost import Cost, Run, as_data, mean_of, readable, run_of

FULL = Counted(
    seconds=2.0,
    moves=4200,
    games=100.0,
    server_cpu=1.0,
    server_waited=0.0,
    load_cpu=1.0,
    p50=0.001,
    p99=0.0025,
    loop_cpu=0.9,
    play_p50=0.002,
    play_p99=0.003,
    result_p50=0.004,
    result_p99=0.005,
)
PACED = replace(FULL, play_p50=0.0002, play_p99=0.0003, result_p50=0.006, result_p99=0.007)
RUN = run_of(Report(200, None, None, [FULL, PACED]))


def paced(p50: float, p99: float) -> Run:
    return {**RUN, "play_p50_ms": p50, "play_p99_ms": p99}


def test_run_has_both_stretches_in_their_units() -> None:
    assert {name: value if value is None else round(value, 3) for name, value in RUN.items()} == {
        "moves_per_second": 2100.0,
        "cpu_us": 238.095,
        "loop_us": 214.286,
        "aside_us": 1000.0,
        "result_p50_ms": 4.0,
        "result_p99_ms": 5.0,
        "play_p50_ms": 0.2,
        "play_p99_ms": 0.3,
        "paced_result_p50_ms": 6.0,
        "paced_result_p99_ms": 7.0,
        "waited": 0.0,
    }


def test_what_was_not_measured_is_not_known() -> None:
    bare = Counted(2.0, 10, 0.0, None, None, 1.0, 0.001, 0.002)
    run = run_of(Report(200, None, None, [bare, bare]))
    assert {name for name, value in run.items() if value is not None} == {"moves_per_second"}
    assert mean_of([run], "cpu_us") is None
    assert Cost("nac4", [run], [run]).game_us is None
    assert "to keep a game costs the server an unknown time" in readable([Cost("nac4", [run], [run])])


def test_threads_beside_the_loop_are_not_known_where_no_game_ended() -> None:
    assert run_of(Report(200, None, None, [replace(FULL, games=0.0), PACED]))["aside_us"] is None


def test_doubt_is_told_where_others_kept_the_server_off_its_core() -> None:
    calm = run_of(Report(200, None, None, [replace(FULL, server_waited=0.08), PACED]))
    busy = run_of(Report(200, None, None, [FULL, replace(PACED, server_waited=0.12)]))
    assert "others" not in readable([Cost("nac4", [calm], [calm])])
    doubt = "nac4: others kept the server off its core for up to 6% of the time\n"
    assert readable([Cost("nac4", [calm], [busy])]).endswith(doubt)


def test_keeping_a_game_costs_what_all_of_its_moves_cost_more() -> None:
    before, after = {**RUN, "cpu_us": 10.0}, {**RUN, "cpu_us": 12.0}
    assert Cost("nac4", [before, before], [after, after]).game_us == pytest.approx(84.0)


@pytest.mark.parametrize(
    ("without", "kept", "slower"),
    [
        ((0.20, 0.22), (0.20, 0.22), False),
        ((0.20, 0.22), (0.23, 0.24), True),
        ((0.20, 0.22), (0.22, 0.40), False),  # one is no slower than one without
        ((0.20, 0.20), (0.205, 0.206), False),  # always slower, and not by 5 %
        ((0.30, 0.30), (0.20, 0.20), False),
    ],
)
def test_play_is_slower_where_every_run_is_and_by_so_much(
    without: tuple[float, float], kept: tuple[float, float], slower: bool
) -> None:
    cost = Cost("nac4", [paced(1.0, p99) for p99 in without], [paced(1.0, p99) for p99 in kept])
    assert [*cost.slower] == (["play_p99_ms"] if slower else [])
    assert ("play itself is SLOWER, in its p99" in readable([cost])) is slower
    assert as_data([cost])[0]["slower"] == [*cost.slower]


@pytest.mark.lab
def test_small_run_measures_both_ways(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(store, "TURNS", (False, True))
    report, database = tmp_path / "cost.json", tmp_path / "cost.db"
    words = ["--pairs", "4", "--seconds", "0.2", "--rate", "400", "--only", "mix"]
    status = main(["store-cost", *words, "--db", str(database), "--json", str(report)])
    told = capsys.readouterr()
    assert "conformance:" not in told.err
    [found] = json.loads(report.read_text())["kinds"]
    for run in (*found["without"], *found["kept"]):
        assert run["moves_per_second"] > 0
        assert 0 < run["play_p50_ms"] <= run["play_p99_ms"]
        for name in ("result", "paced_result"):  # on a busy machine no game may end
            p50, p99 = run[f"{name}_p50_ms"], run[f"{name}_p99_ms"]
            assert p50 is p99 is None or 0 < p50 <= p99
    assert (len(found["without"]), len(found["kept"])) == (1, 1)
    assert database.exists()
    assert max(map(len, told.out.splitlines())) <= 110
    # How fast it is here is no matter of this test, only whether the status tells.
    assert status == int(bool(found["slower"]))


@pytest.mark.parametrize("words", [["--pairs", "0"], ["--only", "chess"], ["--db", "none"], ["more"]])
def test_bad_usage_is_status_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store-cost", *words]) == 2
    assert capsys.readouterr().err.endswith("(--help tells more)\n")
