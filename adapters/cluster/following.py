"""What is on on other nodes, and what they hear of this one: it passes over the links while somebody follows.

Knows trio, and the two ends in `gateway.cluster.watching`. The rule it keeps: a mistake in what is shown
costs those who watch, and no player anything.
"""

import logging
from collections.abc import Callable, Iterable

import trio

from gateway.cluster.watching import Telling, Watching
from gateway.hub.interfaces import HubForSubscribers

logger = logging.getLogger("gateway.cluster")


class Following:
    """Both ends of what passes between this node and others."""

    def __init__(
        self,
        hub: HubForSubscribers,
        send: Callable[[str, bytes], None],
        nodes: Callable[[], Iterable[str]],
    ) -> None:
        """`send` puts a frame on its way to a node; `nodes` returns those that can be sent to."""
        self.watching = Watching(send, nodes, _say)
        self._telling = Telling(hub, send, self._wake)
        self._woken = trio.Event()

    def receive(self, node: str, frame: bytes) -> None:
        """Take in what another node asks for or tells. Raises ValueError."""
        if frame[:1] in b"wt":
            self._telling.receive(node, frame)
        else:
            self.watching.receive(node, frame)

    def lost(self, node: str) -> None:
        """Show nothing more to a node, and nothing of it."""
        self._telling.lost(node)
        self.watching.lost(node)

    async def run(self) -> None:
        """Tell those who watch, until cancelled."""
        while True:
            await self._woken.wait()
            self._woken = trio.Event()
            try:
                while self._telling.tell(trio.current_time()):
                    await trio.lowlevel.checkpoint()
            except Exception:
                logger.exception("other nodes cannot be told what is on", extra={"event": "telling_failed"})
                self._telling.close()

    def _wake(self) -> None:
        self._woken.set()


def _say(node: str, why: str) -> None:
    about = {"event": "facts_refused", "other": node, "error": why}
    logger.warning("what node %s tells of its games is not shown: %s", node, why, extra=about)
