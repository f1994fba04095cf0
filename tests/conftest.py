"""The property tests are deterministic, and take the time that they take."""

import gc
import os

from hypothesis import settings

settings.register_profile("default", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("default")

# The tests start the command some hundred times. Each start would compile the whole source again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_collection_finish() -> None:
    """Let the collector of garbage pass over what was collected here: as many objects as there are tests."""
    gc.collect()
    gc.freeze()
