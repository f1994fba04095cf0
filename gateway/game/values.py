"""A decorator for immutable values that are made for every move.

Making an instance of a frozen dataclass takes three times as long. Only the type checker prevents changes to
these values. For all other values use a frozen dataclass.
"""

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def value(kind: type[T]) -> type[T]:
    """Return the class as a dataclass with slots. Its fields must never be assigned to."""
    return dataclass(slots=True, unsafe_hash=True)(kind)
