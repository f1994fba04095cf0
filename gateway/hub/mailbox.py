"""Where a player's events go, as the hub sees it: a socket's end, a player of the house, or one elsewhere."""

from typing import Protocol

from gateway.game.events import Event


class Mailbox(Protocol):
    """Where a player's events go."""

    @property
    def is_reachable(self) -> bool:
        """Whether nothing says that the player has vanished. Asked before each series: MUST be cheap."""

    def deliver(self, event: Event) -> None:
        """Queue an event. MUST NOT block, MUST keep order, MUST NOT call the hub."""

    def resume(self) -> None:
        """Submit commands again, after `submit` has returned True. MUST NOT block, MUST NOT call the hub."""

    def probe(self) -> None:
        """Begin to find out whether the player has vanished.

        Later the hub's `alive` is called, or `Leave` submitted. MUST NOT block, MUST NOT call the hub.
        """

    async def settle(self) -> None:
        """Return when all that the player had sent before the call has been submitted.

        For the timekeeper, before a flag falls; the hub itself never calls it.
        """


class Nowhere:
    """The mailbox of a player who is gone. Drops whatever comes."""

    is_reachable = False

    def deliver(self, event: Event) -> None:
        """Drop an event."""

    def resume(self) -> None:
        """Do nothing."""

    def probe(self) -> None:
        """Do nothing."""

    async def settle(self) -> None:
        """Return at once."""
