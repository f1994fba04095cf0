"""Checks the admin token of API requests, and carries out the operator's requests.

The answer to a wrong token is delayed. The delay depends on the client's address, so a client that guesses
tokens does not delay clients at other addresses. Every change is written to the audit log before it is made.
"""

import hmac
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import trio
from starlette.exceptions import HTTPException
from starlette.requests import Request

from gateway.access.proxies import client_behind
from gateway.access.tablefile import audited
from gateway.access.tokens import FIRST_PAUSE, Pauses
from gateway.game.text import printable
from gateway.runtime.addresses import Network, origin_at
from gateway.server.acts import DIRECTOR, TOURNAMENT, WHO, Parameters
from gateway.store.records import Cleared
from gateway.tournament.acts import audit_words

WAITING = 8
"""The most requests with a wrong token from one address that wait for their answers. While so many wait, all
further requests from that address are refused at once."""

T = TypeVar("T")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Admin:
    """The operator's token, and the acts that it allows."""

    token: str
    """A client that sends it is the operator. Never empty."""
    clear_all: Callable[[trio.Event], Awaitable[Cleared]]
    """Removes all results, unless the event is set first. Raises StoreError if it removed nothing."""
    act: Callable[[str, Parameters], Awaitable[Mapping[str, str]]]
    """Carries out an act; returns the outcome on each node, as JSON. Raises NotDoneError."""
    audit: str
    """The file in which changes are logged."""
    trusted: Sequence[Network] = ()
    """The networks of proxies whose header ``X-Forwarded-For`` is trusted."""
    refused: Callable[[], None] = lambda: None
    """Called at each request without the right token."""
    _pauses: Pauses = field(default_factory=Pauses)
    _waiting: Counter[str] = field(default_factory=Counter)
    """For each address, the number of requests with a wrong token that wait for their answers."""

    async def admit(self, request: Request) -> str:
        """Return the client's address if the request has the right token.

        Otherwise raises HTTPException: with status 403 after a pause, or with 429 at once if `WAITING`
        requests with wrong tokens from the address already wait.
        """
        origin = self._origin_of(request)
        if self._waiting[origin] >= WAITING:  # otherwise thousands of requests at once would avoid the pause
            self.refused()
            raise HTTPException(429, "too many wrong tokens from your address; try again in some seconds")
        shown = request.headers.get("authorization", "").encode()
        if hmac.compare_digest(shown, f"Bearer {self.token}".encode()):
            self._pauses.right(origin, "")
            self._forget(origin)
            return origin
        self.refused()
        pause = self._pauses.wrong(origin, "", trio.current_time())
        if pause == FIRST_PAUSE:
            logger.warning(
                "a request for the operator was refused: the admin token is missing or wrong, from %s",
                origin or "an unknown address",
                extra={"event": "admin_refused", "origin": origin},
            )
        self._waiting[origin] += 1
        try:
            await trio.sleep(pause)
        finally:
            self._waiting[origin] -= 1
            self._forget(origin)
        raise HTTPException(403, "this needs the admin token")

    async def clear(self, given_up: trio.Event, origin: str) -> Cleared:
        """Remove all results for a client at `origin`, unless `given_up` is set first.

        Raises StoreError, or OSError if the audit log cannot be written; then nothing was removed.
        """
        removed = await self._recorded(("clear", origin), lambda: self.clear_all(given_up))
        logger.warning(
            "all results were cleared for the admin, at %s",
            origin or "an unknown address",
            extra={"event": "admin_cleared", "origin": origin},
        )
        return removed

    async def carry_out(self, what: str, about: Parameters, origin: str) -> Mapping[str, str]:
        """Carry out an act for a client at `origin`; return the outcome on each node, as JSON.

        Raises NotDoneError, or OSError if the audit log cannot be written; then nothing was done.
        """
        if what in (WHO, DIRECTOR):
            return await self.act(what, about)
        words = [what, origin, *about.values()]
        if what == TOURNAMENT:
            words = [f"tournament {about['act']}", origin, *audit_words(about["act"], about["name"], about)]
        found = await self._recorded(words, lambda: self.act(what, about))
        logger.info(
            "%s for the admin, at %s",
            printable(" ".join((words[0], *words[2:]))),
            origin or "an unknown address",
            extra={"event": "admin_acted", "act": what, "origin": origin},
        )
        return found

    async def _recorded(self, words: Sequence[str], do: Callable[[], Awaitable[T]]) -> T:
        """Write a line to the audit log, then run `do` and return its result.

        Raises OSError if the line cannot be written.
        """

        def recorded() -> T:
            with audited(self.audit, *words, user="admin"):
                return trio.from_thread.run(do)

        return await trio.to_thread.run_sync(recorded)

    def _forget(self, origin: str) -> None:
        if not self._waiting[origin]:
            del self._waiting[origin]

    def _origin_of(self, request: Request) -> str:
        peer = "" if request.client is None else request.client.host
        forwarded = ",".join(request.headers.getlist("x-forwarded-for"))
        return origin_at(client_behind(peer, forwarded, self.trusted))
