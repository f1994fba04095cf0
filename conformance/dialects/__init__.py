"""The dialects, one module each: what runner and laboratory need to know of them.

Nothing here comes from the gateway: a dialect is written down once more, from its PROTOCOL.md, so that a
server is checked and not trusted. `DIALECTS` is the one list of them.
"""

from conformance.dialects import arena, droidcon, nac4
from conformance.dialects.script import Dialect

DIALECTS: dict[str, Dialect] = {each.name: each for each in (nac4.DIALECT, arena.DIALECT, droidcon.DIALECT)}
