"""Values that are made quickly.

A frozen dataclass guards its fields even from its own ``__init__``, which has to go round the guard field by
field: 0.33 us for three fields, where a plain one takes 0.10. Of some kinds every move makes one; these are
guarded by the type checker alone. Everywhere else a frozen dataclass is right.
"""

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def value(kind: type[T]) -> type[T]:
    """Make a dataclass with slots whose fields are never to be assigned to."""
    return dataclass(slots=True, unsafe_hash=True)(kind)
