"""Letting clients in.

A client that is not let in hears a last word, in its dialect, and is hung up on. Knows the limits, the wire
and the log; does not know dialects, nor how many may come in. The rule it keeps: a client that was refused
costs little. It is not read, and of many at once only some hear the word.
"""

import argparse
import logging
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from typing import TypeVar

import trio

from adapters.by_http import by_http
from adapters.dialect import Serve
from adapters.pacing import UNLIMITED, ClientLimits
from adapters.wire import Wire
from gateway.server.limits import Doors, Refusal, doors
from gateway.throttle import Throttle

PARTING = 32
"""Clients that hear at once why they are not let in; each has a second for it. Others are hung up on."""
LOG_PERIOD = 60.0
"""Seconds before the same limit is logged again."""

T = TypeVar("T")
"""A client: a wire, or a stream of the page's."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Admission:
    """The limits of a process, for all its ports."""

    doors: Doors
    counts: Counter[tuple[str, str]]
    """How often a limit was reached, by ``limit_`` with its option, and by front end.

    The system's own, at which accepting pauses, is ``limit_system``.
    """
    limits: ClientLimits = UNLIMITED
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
                wire.write(refusal or by_http("503 Service Unavailable", text))
                await wire.linger()

        def guarded(wire: Wire) -> Awaitable[None]:
            wire.limits = limits
            return self.let_in(name, wire.origin, wire, serve, part)

        return guarded

    def count(self, what: str, name: str) -> None:
        """Count that something came about at a front end."""
        self.counts[what, name] += 1

    async def let_in(
        self,
        name: str,
        origin: str,
        client: T,
        serve: Callable[[T], Awaitable[None]],
        part: Callable[[T, str], Awaitable[None]],
    ) -> None:
        """Serve a client, now or after a while, or tell it in a sentence why not."""
        entry = self.doors.enter(origin, trio.current_time())
        if isinstance(entry, Refusal):
            self._reached(name, entry.value, origin)
            if self._parting < PARTING:
                await self._refuse(part(client, entry.text))
            return
        try:
            if entry:
                self._reached(name, Refusal.CONNECTS.value, origin)
                await trio.sleep(entry)
            await serve(client)
        finally:
            self.doors.leave(origin)

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


def admission(options: argparse.Namespace, counts: Counter[tuple[str, str]]) -> Admission:
    """Return the limits of the bots' ports, as the server's options say."""
    inside = doors(options.max_connections, options.max_per_address, options.connects_per_second)
    limits = ClientLimits(
        options.messages_per_second or inf,
        options.message_burst if options.messages_per_second else sys.maxsize,
        options.request_seconds or UNLIMITED.request,
    )
    return Admission(inside, counts, limits)
