"""Commands that measure several parts, one after the other, of which `--only` names some.

Does not know what is measured. A part that comes to nothing misses its goal, and costs no other part.
"""

from argparse import Namespace
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from conformance.lab.figures import Row
from conformance.lab.jobs import LoadError, first_cause, say

Part: TypeAlias = Callable[[Namespace], Awaitable[list[Row]]]
"""Measures what the options ask for. Raises LoadError, ServerError, wrapped."""


async def measured(parts: Mapping[str, Part], options: Namespace) -> list[Row]:
    """Measure the parts that the options name. Raises ServerError, wrapped."""
    rows: list[Row] = []
    for name in options.only:
        say(f"measuring {name} ...")
        rows += await _rows(name, parts[name], options)
    return rows


async def _rows(name: str, part: Part, options: Namespace) -> list[Row]:
    """Return what a part came to: one row that misses its goal where it came to nothing."""
    rows = [Row(name, "could not be measured", None, "", 0.0)]
    try:
        rows = await part(options)
    except* LoadError as errors:
        say(f"conformance: {first_cause(errors)}")
    return rows
