"""What all tests share: how properties are tried, and what the tests spare the machine.

Properties are deterministic, and take the time that they take. `--hypothesis-profile=thorough` tries each of
them with ten times as many examples.
"""

import gc
import os
import sys

from hypothesis import settings

settings.register_profile("default", derandomize=True, deadline=None, print_blob=True, max_examples=40)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=400)
settings.load_profile("default")

# The tests start the command some hundred times. Each start would compile the whole source again, and each
# run would rewrite the assertions of all tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_collection_finish() -> None:
    """Let the collector of garbage pass over what was collected here: as many objects as there are tests."""
    gc.collect()
    gc.freeze()
