"""The kinds of option values: their parsers, their placeholders in help texts, and their ranges."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
N = TypeVar("N", int, float)


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """A kind of option values."""

    read: Callable[[str], T]
    """Parses a text. Raises ValueError."""
    unit: str = ""
    """The placeholder in help texts, such as ``SECONDS``; if empty, the name of the option."""
    choices: tuple[str, ...] = ()
    """All valid words; empty for other kinds."""
    fault_if_typed: Callable[[T], str | None] | None = None
    """Returns why a value must not be on the command line; None if it may be there. All users can see the
    command line in the list of processes."""


def one_of(*choices: str) -> Kind[str]:
    """Return the kind for one of these words."""
    return Kind(str, choices=choices)


def count(least: int = 0, most: int = 10**9, unit: str = "N") -> Kind[int]:
    """Return the kind for whole numbers from `least` to `most`."""
    return Kind(_within(int, "a whole number", least, most), unit)


def seconds(least: float = 0.1, most: float = 1e6, unit: str = "SECONDS") -> Kind[float]:
    """Return the kind for numbers from `least` to `most`."""
    return Kind(_within(float, "a number", least, most), unit)


def _within(convert: Callable[[str], N], what: str, least: N, most: N) -> Callable[[str], N]:
    def read(text: str) -> N:
        with suppress(ValueError):
            if least <= (value := convert(text)) <= most:
                return value
        raise ValueError(f"{text!r} is not {what} from {least:g} to {most:g}")

    return read


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is not a whole number") from error


TEXT = Kind(str)
FILE = Kind(str, "FILE")
PORT = count(0, 65_535, "PORT")
WHOLE_NUMBER = Kind(_whole_number, "N")
