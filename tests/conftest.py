"""What all tests share: how properties are tried, and what the tests spare the machine.

Properties are deterministic, and take the time that they take. `--hypothesis-profile=change` tries each of
them with 30 examples in place of 25, as before a change lands, and `thorough` with 400.
"""

import gc
import os
import sys
from collections.abc import Generator

import pytest
from hypothesis import settings

settings.register_profile("default", derandomize=True, deadline=None, print_blob=True, max_examples=25)
settings.register_profile("change", settings.get_profile("default"), max_examples=30)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=400)
settings.load_profile("default")

# The tests start the command some hundred times. Each start would compile the whole source again, and each
# run would rewrite the assertions of all tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
os.environ.pop("PYTHONUNBUFFERED", None)  # else no output is written late, which is what goes wrong

BACKWARDS = os.environ.get("PYTEST_XDIST_WORKER", "gw0")[-1] in "13579"
"""Whether this worker reads the files of the tests from the last to the first.

All workers read all files at the same time, and compile those that no other has compiled yet.
"""
gc.disable()  # nothing that is read before the tests run is garbage


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if BACKWARDS and isinstance(collector, pytest.Directory) and report.result:
        report.result.reverse()
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests one order in all workers, which count them."""
    items.sort(key=lambda item: str(item.path))


def pytest_collection_finish() -> None:
    """Let the collector of garbage pass over what was collected here, and look seldom for more: 6 %."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()
