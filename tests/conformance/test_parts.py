"""Parts of a measurement that come to something, and such that do not."""

from argparse import Namespace

import pytest

from conformance.lab.figures import Row
from conformance.lab.jobs import LoadError
from conformance.lab.parts import measured


async def good(options: Namespace) -> list[Row]:
    return [Row("good", "players", options.players, "")]


async def bad(_: Namespace) -> list[Row]:
    raise LoadError("nobody came")


async def test_part_that_comes_to_nothing_misses_its_goal_and_costs_no_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = Namespace(only=["bad", "good"], players=3)
    lost, found = await measured({"good": good, "bad": bad, "other": bad}, options)
    assert (lost.part, lost.is_missed) == ("bad", True)
    assert found == Row("good", "players", 3, "")
    assert "conformance: nobody came" in capsys.readouterr().err
