"""The dialects that the server and c4bot speak, in the order in which options and help list them.

To add a dialect, add its folder, and a line here. A package of somebody else's needs an entry point
(docs/plug-ins.md).
"""

from functools import cache
from typing import TYPE_CHECKING

from adapters import arena, droidcon, i32cfsp, nac4, rpi, tutorial
from adapters.client.dialect import Dialect

if TYPE_CHECKING:
    from adapters.client.plugins import Found

DIALECTS = (
    nac4.DIALECT,
    arena.DIALECT,
    droidcon.DIALECT,
    i32cfsp.DIALECT,
    rpi.DIALECT,
    tutorial.DIALECT,
)
"""The built-in dialects."""


@cache
def found() -> "Found":
    """Return the built-in dialects and those of plug-ins. Loads the plug-ins when it is called first."""
    from adapters.client.plugins import with_plugins  # noqa: PLC0415  not every command needs the dialects

    return with_plugins(DIALECTS)


def all_dialects() -> tuple[Dialect, ...]:
    """Return the dialects that can be used: the built-in ones, then those of plug-ins."""
    return found().dialects
