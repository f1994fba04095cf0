"""The property tests are deterministic, and take the time that they take."""

from hypothesis import settings

settings.register_profile("default", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("default")
