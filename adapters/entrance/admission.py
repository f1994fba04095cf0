"""Letting clients in.

A client that is not let in hears a last word, in its dialect, and is hung up on. Knows the limits, the wire
and the log; does not know dialects, nor how many may come in. The rules it keeps:

- A client that was refused costs little. At most its first bytes are read, and of many at once only some hear
  the word. One that begins with TLS gets an alert, and no handshake.
- One that comes by way of a proxy counts at no address until the proxy has said where it is.
"""

import argparse
import logging
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from typing import TypeVar

import trio

from adapters.client.dialect import Serve
from adapters.net.http import TLS, by_http, with_hsts
from adapters.net.pacing import UNLIMITED, ClientLimits, NotLetIn
from adapters.net.sockets import origin_at
from adapters.net.wire import Wire
from gateway.access.limits import Doors, Refusal, doors, is_local
from gateway.access.proxies import Network, begins_with_header, is_trusted
from gateway.runtime.throttle import Throttle

PARTING = 32
"""Clients that hear at once why they are not let in; each has a second for it. Others are hung up on."""
RESERVED = 4
"""As many more, on this machine: `c4gateway health` asks from there."""
FIRST_BYTES = 1.0
"""Seconds in which such a client shows whether it begins with TLS, where it may."""
LOG_PERIOD = 60.0
"""Seconds before the same limit is logged again."""

_ACCESS_DENIED = b"\x15\x03\x03\0\2\2\x31"
"""A fatal alert of TLS (RFC 8446, 6.2), in a record of its own."""

T = TypeVar("T")
"""A client: a wire, or a stream of the page's."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Visit:
    """A client of a front end, and where it counts; at no address it has no limits by address."""

    name: str
    origin: str
    counts: bool = True
    """Whether it is still one of the clients that are inside."""


@dataclass(slots=True)
class Admission:
    """The limits of a process, for all its ports."""

    doors: Doors
    counts: Counter[tuple[str, str]]
    """How often a limit was reached, by ``limit_`` with its option, and by front end.

    The system's own, at which accepting pauses, is ``limit_system``.
    """
    limits: ClientLimits = UNLIMITED
    trusted: Sequence[Network] = ()
    """Proxies, which say by HTTP where a client is."""
    proxied: bool = False
    """Whether each connection begins with a PROXY header, which says so."""
    takes_tls: bool = False
    noted: Callable[[], None] = lambda: None
    """Is called when something was counted."""
    _parting: int = 0
    _log: Throttle = field(default_factory=lambda: Throttle(LOG_PERIOD))
    """Passes each limit, by option, when it is to be logged."""

    def guard(self, name: str, refusal: bytes, serve: Serve) -> Serve:
        """Return what serves a client of a front end if it may come in.

        One that may not is told `refusal`, or why not by HTTP if that is empty.
        """
        limits = replace(self.limits, reached=partial(self._reached, name))

        async def part(wire: Wire, text: str) -> None:
            with suppress(trio.BrokenResourceError):
                word = refusal or by_http("503 Service Unavailable", text)
                if wire.only_tls and not refusal:
                    word = with_hsts(word)
                wire.write(await _by_tls(wire, word) if self.takes_tls else word)
                await wire.linger()

        def guarded(wire: Wire) -> Awaitable[None]:
            visit = self.visit(name, wire.address)
            wire.limits, wire.count_at = limits, partial(self._move, visit)
            return self.let_in(visit, wire, serve, part)

        return guarded

    def visit(self, name: str, address: str) -> Visit:
        """Return where a client counts that comes from an address to a front end."""
        is_known = not self.proxied and not is_trusted(address, self.trusted)
        return Visit(name, origin_at(address) if is_known else "")

    def count(self, what: str, name: str) -> None:
        """Count that something came about at a front end."""
        self.counts[what, name] += 1
        self.noted()

    async def let_in(
        self,
        visit: Visit,
        client: T,
        serve: Callable[[T], Awaitable[None]],
        part: Callable[[T, str], Awaitable[None]],
    ) -> None:
        """Serve a client, now or after a while, or tell it in a sentence why not."""
        try:
            await self._serve(visit, partial(serve, client))
        except NotLetIn as refusal:
            if self._parting < PARTING + (RESERVED if is_local(visit.origin) else 0):
                await self._refuse(part(client, str(refusal)))

    async def _serve(self, visit: Visit, serve: Callable[[], Awaitable[None]]) -> None:
        wait = self._wait(visit, visit.origin, self.doors.enter(visit.origin, trio.current_time()))
        try:
            if wait:
                await trio.sleep(wait)
            await serve()
        finally:
            self._let_out(visit)

    def _let_out(self, visit: Visit) -> None:
        if visit.counts:
            visit.counts = False
            self.doors.leave(visit.origin)

    async def _move(self, visit: Visit, origin: str | None) -> None:
        """Count a client where it turns out to be, or no more. Raises NotLetIn."""
        if origin is None:
            self._let_out(visit)
        elif origin != visit.origin:
            entry = self.doors.move(visit.origin, origin, trio.current_time())
            wait, visit.origin = self._wait(visit, origin, entry), origin
            await trio.sleep(wait)

    def _wait(self, visit: Visit, origin: str, entry: Refusal | float) -> float:
        """Return for how many seconds a client has to wait. Raises NotLetIn."""
        if isinstance(entry, Refusal):
            self._reached(visit.name, entry.value, origin)
            raise NotLetIn(entry.text)
        if entry:
            self._reached(visit.name, Refusal.CONNECTS.value, origin)
        return entry

    async def _refuse(self, parting: Awaitable[None]) -> None:
        self._parting += 1
        try:
            await parting
        finally:
            self._parting -= 1

    def _reached(self, name: str, option: str, origin: str) -> None:
        """Count that a client reached a limit, and say so once in a while."""
        self.count(f"limit_{option}", name)
        if self._log.passes(trio.current_time(), option):
            logger.info(
                "a client reached the limit --%s: %s, from %s",
                option,
                name,
                origin or "nowhere",
                extra={"event": "limit_reached", "limit": option, "front_end": name, "address": origin},
            )


async def _by_tls(wire: Wire, word: bytes) -> bytes:
    """Return the last word for a client that may use TLS."""
    data = b""
    if not wire.is_secure:
        with trio.move_on_after(FIRST_BYTES):
            data = await wire.receive_some()
    if begins_with_header(data):  # nobody knows what comes after it
        return b""
    return _ACCESS_DENIED if data.startswith(TLS) else word


def admission(options: argparse.Namespace, counts: Counter[tuple[str, str]]) -> Admission:
    """Return the limits of the bots' ports, as the server's options say."""
    inside = doors(options.max_connections, options.max_per_address, options.connects_per_second)
    limits = ClientLimits(
        options.messages_per_second or inf,
        options.message_burst if options.messages_per_second else sys.maxsize,
        options.request_seconds or UNLIMITED.request,
    )
    return Admission(
        inside,
        counts,
        limits,
        trusted=options.trusted_proxy,
        proxied=options.proxy_protocol,
        takes_tls=options.tls_cert is not None,
    )
