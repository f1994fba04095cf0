"""What makes a server a node of a cluster, where its options say so.

Knows the options and whom to call. It imports what a cluster needs only where there is one.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING, TypeAlias

from adapters.net.epoll import EpollReader
from gateway.hub.interfaces import HubForNodes
from gateway.matchmaking.matchmaker import Matchmaker
from gateway.matchmaking.standard import LobbyAndTables
from gateway.options.arguments import Options
from gateway.options.clustering import ClusterOptions

if TYPE_CHECKING:
    from adapters.cluster.node import ClusterNode

Joining: TypeAlias = "AbstractAsyncContextManager[ClusterNode | None]"

SHARED_RULES = (
    *("clock", "penalty", "idle", "rejoin", "rounds", "games-per-pair", "house-after"),
    *("registered-only",),
)
"""Options that have to be the same for all servers of a cluster."""


def matchmaker_of(
    together: ClusterOptions | None, run: int, standard: Callable[[], LobbyAndTables]
) -> Matchmaker:
    """Return what pairs the players of a server that is alone, or of a node, whose run has that number."""
    if together is None:
        return standard()
    from gateway.cluster.matchmaker import ClusterMatchmaker  # noqa: PLC0415  only nodes need it

    return ClusterMatchmaker(together.node, run, standard)


def joined(
    together: ClusterOptions | None, options: Options, run: int, hub: HubForNodes, epoll: EpollReader | None
) -> Joining:
    """Be a node of the cluster, if there is one, for as long as the block lasts. Raises OSError."""
    if together is None:
        return nullcontext()
    from adapters.cluster.service import joined  # noqa: PLC0415  as above

    rules = {name: float(getattr(options, name.replace("-", "_"))) for name in SHARED_RULES}
    return joined(together, rules, run, hub, epoll)
