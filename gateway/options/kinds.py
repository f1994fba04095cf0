"""What the value of an option may be: how it is read, what stands for it in help texts, and its range."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
N = TypeVar("N", int, float)


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """A kind of value."""

    read: Callable[[str], T]
    """Returns the value that a text stands for. Raises ValueError."""
    unit: str = ""
    """What stands for the value in help texts, such as ``SECONDS``; if empty, the option's name does."""
    choices: tuple[str, ...] = ()
    """All values that there are, where these are words."""
    fault_if_typed: Callable[[T], str | None] | None = None
    """Returns what is wrong with a value on the command line, which the list of processes shows."""


def one_of(*choices: str) -> Kind[str]:
    """Return the kind of some words."""
    return Kind(str, choices=choices)


def count(least: int = 0, most: int = 10**9, unit: str = "N") -> Kind[int]:
    """Return the kind of whole numbers within these bounds."""
    return Kind(_within(int, "a whole number", least, most), unit)


def seconds(least: float = 0.1, most: float = 1e6, unit: str = "SECONDS") -> Kind[float]:
    """Return the kind of numbers within these bounds."""
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
