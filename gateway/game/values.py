"""Values that are made quickly.

A frozen dataclass guards its fields even from its own ``__init__``, which goes round the guard for each field
and takes three times as long. Every move makes some values; the type checker alone guards these. Everywhere
else a frozen dataclass is right.
"""

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def value(kind: type[T]) -> type[T]:
    """Make a dataclass with slots. Its fields must never be assigned to."""
    return dataclass(slots=True, unsafe_hash=True)(kind)
