"""The property tests are deterministic, and take the time that they take."""

import os

from hypothesis import settings

settings.register_profile("default", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("default")

# The tests start the command some hundred times. Each start would compile the whole source again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
