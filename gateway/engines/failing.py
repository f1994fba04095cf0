"""What is said of code of the user's that raised something. Knows Python's errors, and no engine."""

import sys


def in_words(error: BaseException) -> str:
    """Return in one line what an engine raised; where it lacks a module, how to install that for engines."""
    words = " ".join(f"{type(error).__name__}: {error}".split())
    if isinstance(error, ModuleNotFoundError) and error.name and "." not in error.name:
        words += f"; to install it where engines run: {sys.executable} -m pip install {error.name}"
    return words
