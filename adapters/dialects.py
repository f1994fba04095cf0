"""The dialects that the server and c4bot speak, in the order in which options and help list them.

To add a dialect, add its folder, and a line here.
"""

from adapters import arena, droidcon, nac4

DIALECTS = (
    nac4.DIALECT,
    arena.DIALECT,
    droidcon.DIALECT,
)
