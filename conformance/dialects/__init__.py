"""The dialects, one module each: what the runner and the laboratory need to know about each.

Nothing here comes from the gateway. Each dialect is implemented a second time from its PROTOCOL.md, so that a
server can be checked. `DIALECTS` lists all of them.
"""

from conformance.dialects import arena, droidcon, nac4
from conformance.dialects.script import Dialect

DIALECTS: dict[str, Dialect] = {each.name: each for each in (nac4.DIALECT, arena.DIALECT, droidcon.DIALECT)}
