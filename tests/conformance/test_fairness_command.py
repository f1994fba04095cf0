"""The search for unfair losses as a command: one short run of all of it."""

import json
from pathlib import Path

import pytest

from conformance.__main__ import main
from conformance.lab.redis_server import redis_program

WORDS = "--games 60 --at-once 6 --stalls 1 --stall 0.6 --clock 0.4 --burners 1"


needs_redis = pytest.mark.skipif(redis_program() is None, reason="no Redis server here")


@pytest.mark.lab
@pytest.mark.parametrize(
    "where",
    [[], pytest.param(["--cluster"], marks=[needs_redis, pytest.mark.thorough])],
    ids=["alone", "cluster"],
)
def test_short_run_sees_those_lose_who_sleep(
    where: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    report = tmp_path / "fairness.json"
    status = main(["fairness", *WORDS.split(), *where, "--json", str(report)])
    out = capsys.readouterr().out
    stalled, overloaded = json.loads(report.read_text())
    for found in (stalled, overloaded):
        assert found["games"] >= 30
        assert found["moves"] > 3 * found["games"]
        assert 0 < found["slept"] == found["told"]
        assert {loss["loser"] for loss in found["losses"]} >= set(found["losers"])
    assert stalled["stalls"] >= 1
    assert overloaded["stalls"] == 0
    assert max(map(len, out.splitlines()[:14])) <= 110
    # How fair it is here is no matter of this test, only whether the status tells.
    assert status == int(bool(stalled["complaints"] or overloaded["complaints"]))


@pytest.mark.parametrize("words", [["--games", "0"], ["--stall", "-1"], ["--clock", "x"], ["more"]])
def test_bad_usage_is_status_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fairness", *words]) == 2
    assert capsys.readouterr().err.endswith("(--help tells more)\n")
