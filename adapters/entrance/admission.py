"""Admits clients, within limits.

A client is counted when it connects. If a proxy later gives the client's address, the client is counted for
that address instead. Refusals must cost little, so if many clients are refused at once, only some get the
reason. Knows the limits and the log. Does not know dialects.
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
"""The most clients that are sent the reason for a refusal at the same time. Each has a second to receive it.
The connections of further clients are closed without a reason."""
RESERVED = 4
"""The number of additional clients that get the reason if they connect from this machine, as `c4gateway
health` does."""

logger = logging.getLogger(__name__)


class NotLetIn(Exception):
    """Raised when a limit refuses a client. The exception's text is the sentence to send to the client."""


@dataclass(slots=True)
class Admitted:
    """An admitted client, which counts as one of the connections."""

    admission: "Admission"
    name: str
    """The name of its front end."""
    origin: str
    """The address for which the client is counted. While it is empty, no limit by address applies."""
    limits: ClientLimits
    """The limits on the client's messages and requests."""
    is_counted: bool = True

    async def move_to(self, origin: str) -> None:
        """Count the client for another address, and wait as long as the limits require. Raises NotLetIn."""
        if origin != self.origin:
            verdict = self.admission.connections.move(self.origin, origin, trio.current_time())
            wait = self.admission.wait_for(self.name, origin, verdict)
            self.origin = origin
            await trio.sleep(wait)

    def leave(self) -> None:
        """Stop counting the client."""
        if self.is_counted:
            self.is_counted = False
            self.admission.connections.leave(self.origin)


@dataclass(slots=True)
class Admission:
    """The limits of a process, for all its ports."""

    connections: ConnectionCounts
    counts: Counter[tuple[str, str]]
    """How often each limit was reached. A key is a pair: ``limit_`` with the limit's option, and a front end.

    ``limit_system`` counts the system's own limit. When it is reached, the server pauses accepting."""
    limits: ClientLimits = UNLIMITED
    trusted: Sequence[Network] = ()
    """Proxies that are trusted to give the client's address in a header."""
    proxied: bool = False
    """Whether each connection begins with a PROXY header, which gives the client's address."""
    _explaining: int = 0
    _log: Throttle = field(default_factory=Throttle)
    """Limits how often the log reports each limit, by option."""

    @asynccontextmanager
    async def admit(self, name: str, address: str) -> AsyncIterator[Admitted]:
        """Count a client until the block ends. The block begins after the wait that the limits require.

        Raises NotLetIn if a limit refuses the client. The block may also raise it.
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
        """Return the seconds that a client has to wait. Raises NotLetIn if the client is refused."""
        if isinstance(verdict, Refusal):
            self.reached(name, verdict.value, origin)
            raise NotLetIn(verdict.text)
        if verdict:
            self.reached(name, Refusal.CONNECTS.value, origin)
        return verdict

    async def say_why(self, origin: str, say: Callable[[], Awaitable[None]]) -> None:
        """Call `say`, which sends the reason for a refusal to a client from `origin`.

        Do nothing if too many clients are being sent a reason.
        """
        if self._explaining < MOST_TOLD + (RESERVED if is_local(origin) else 0):
            self._explaining += 1
            try:
                await say()
            finally:
                self._explaining -= 1

    def count(self, what: str, name: str) -> None:
        """Count an event at a front end."""
        self.counts[what, name] += 1

    def reached(self, name: str, option: str, origin: str) -> None:
        """Count that a client reached a limit, and log it from time to time."""
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
    """Return the admission with the limits in the server's options."""
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
    """Return the admission of a private server, which has no limits."""
    return Admission(ConnectionCounts(), Counter())
