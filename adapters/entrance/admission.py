"""Who may come in: a client is counted when it comes, and once more when its address is known better.

Knows the limits and the log; does not know dialects. A client that is refused costs little: of many at once
only some hear why.
"""

import logging
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf

import trio

from adapters.client.rate_limit import UNLIMITED, ClientLimits
from gateway.access.limits import ConnectionCounts, Refusal, is_local, limited_connections
from gateway.access.proxies import is_trusted
from gateway.options.server import ServerOptions
from gateway.runtime.addresses import Network, origin_at
from gateway.runtime.throttle import Throttle

MOST_TOLD = 32
"""Clients that hear at once why they are not let in; each has a second for it. Others are hung up on."""
RESERVED = 4
"""As many more, on this machine: `c4gateway health` asks from there."""

logger = logging.getLogger(__name__)


class NotLetIn(Exception):
    """Raised when a limit refuses a client. The text is the sentence to send."""


@dataclass(slots=True)
class Admitted:
    """A client that counts as one of the connections."""

    admission: "Admission"
    name: str
    """The front end that it came to."""
    origin: str
    """The address at which it is counted; empty while that is not known, and no limits by address hold."""
    limits: ClientLimits
    """What is held against the client itself."""
    is_counted: bool = True

    async def move_to(self, origin: str) -> None:
        """Count the client where it turns out to be, at once or after a while. Raises NotLetIn."""
        if origin != self.origin:
            verdict = self.admission.connections.move(self.origin, origin, trio.current_time())
            wait = self.admission.wait_for(self.name, origin, verdict)
            self.origin = origin
            await trio.sleep(wait)

    def leave(self) -> None:
        """Count the client no more."""
        if self.is_counted:
            self.is_counted = False
            self.admission.connections.leave(self.origin)


@dataclass(slots=True)
class Admission:
    """The limits of a process, for all its ports."""

    connections: ConnectionCounts
    counts: Counter[tuple[str, str]]
    """How often a limit was reached, by ``limit_`` with its option, and by front end.

    The system's own, at which accepting pauses, is ``limit_system``.
    """
    limits: ClientLimits = UNLIMITED
    trusted: Sequence[Network] = ()
    """Proxies, which say by HTTP where a client is."""
    proxied: bool = False
    """Whether each connection begins with a PROXY header, which says so."""
    _being_told: int = 0
    _log: Throttle = field(default_factory=Throttle)
    """Passes each limit, by option, when it is to be logged."""

    @asynccontextmanager
    async def admit(self, name: str, address: str) -> AsyncIterator[Admitted]:
        """Admit a client from an address to a front end, at once or after a while, until the block ends.

        Raises NotLetIn, as the block may.
        """
        is_known = not self.proxied and not is_trusted(address, self.trusted)
        origin = origin_at(address) if is_known else ""
        wait = self.wait_for(name, origin, self.connections.enter(origin, trio.current_time()))
        entry = Admitted(self, name, origin, replace(self.limits, reached=partial(self.reached, name)))
        try:
            if wait:
                await trio.sleep(wait)
            yield entry
        finally:
            entry.leave()

    def wait_for(self, name: str, origin: str, verdict: Refusal | float) -> float:
        """Return for how many seconds a client has to wait. Raises NotLetIn."""
        if isinstance(verdict, Refusal):
            self.reached(name, verdict.value, origin)
            raise NotLetIn(verdict.text)
        if verdict:
            self.reached(name, Refusal.CONNECTS.value, origin)
        return verdict

    async def say_why(self, origin: str, say: Callable[[], Awaitable[None]]) -> None:
        """Tell a client from `origin` why it is not let in, unless many are told at the moment."""
        if self._being_told < MOST_TOLD + (RESERVED if is_local(origin) else 0):
            self._being_told += 1
            try:
                await say()
            finally:
                self._being_told -= 1

    def count(self, what: str, name: str) -> None:
        """Count that something came about at a front end."""
        self.counts[what, name] += 1

    def reached(self, name: str, option: str, origin: str) -> None:
        """Count that a client reached a limit, and log that once in a while."""
        self.count(f"limit_{option}", name)
        if self._log.passes(trio.current_time(), option):
            logger.info(
                "a client reached the limit --%s: %s, from %s",
                option,
                name,
                origin or "nowhere",
                extra={"event": "limit_reached", "limit": option, "front_end": name, "address": origin},
            )


def admission(options: ServerOptions, counts: Counter[tuple[str, str]]) -> Admission:
    """Return the limits of the bots' ports, as the server's options say."""
    connections = limited_connections(
        options.max_connections, options.max_per_address, options.connects_per_second
    )
    limits = ClientLimits(
        options.messages_per_second or inf,
        options.message_burst if options.messages_per_second else sys.maxsize,
        options.request_seconds or UNLIMITED.request,
    )
    return Admission(
        connections, counts, limits, trusted=options.trusted_proxy, proxied=options.proxy_protocol
    )


def without_limits() -> Admission:
    """Return the admission of a private server, where everybody may come in."""
    return Admission(ConnectionCounts(), Counter())
