"""The ports, and above all those that no dialect has for itself: the page's, and the one for everything.

Knows what serves their clients, and which process accepts them. The web's process accepts on the page's port,
unless clients may come by TLS or by way of a proxy: then this process does, and passes them on, as it does
with those who ask for the page on the one port.
"""

import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import trio

from adapters.client.dialect import Dialect
from adapters.entrance.admission import Admission
from adapters.entrance.entrance import Entrance
from adapters.entrance.handshake import Websites
from adapters.entrance.one_port import Receive
from adapters.entrance.preamble import SILENCE, Preamble
from adapters.entrance.web_handoff import WebHandoff
from adapters.net.fd_passing import FdPassing
from adapters.net.socket import Socket
from gateway.access.certificates import Certificate
from gateway.options.server import PAGE, ServerOptions, page_port
from gateway.runtime.listening import PortInUseError
from gateway.server.app import (
    FrontEnd,
    Listening,
    addresses_of,
    adopt,
    listen,
    open_port,
)

Listeners: TypeAlias = Sequence[trio.SocketListener]
OpenSocket: TypeAlias = Callable[[trio.SocketStream], Socket]

ONE_PORT = "port"
"""The name of the one port's front end."""

logger = logging.getLogger("gateway.server")


@dataclass(frozen=True, slots=True)
class Ports:
    """The open sockets of these ports."""

    page: Listeners
    """The page's own."""
    shared: Listeners
    """The one port's."""
    preamble: Preamble
    to_page: WebHandoff | None
    """The way to the page, for clients that this process accepts; None without a page, or without them."""
    websites: Websites
    """Whose pages may play."""

    @property
    def page_port(self) -> int | None:
        """The port at which browsers find the page."""
        return port_of(self.page or (self.shared if self.to_page else ()))

    @property
    def for_web(self) -> Listeners:
        """What the web's process listens to itself."""
        return self.page if self.preamble.is_plain else ()

    @property
    def hosts(self) -> list[str]:
        """The addresses at which this process accepts clients of the page."""
        accepted = () if self.to_page is None else (*self.shared, *(() if self.for_web else self.page))
        return [each.socket.getsockname()[0] for each in accepted]

    def opened(self, dialects: Sequence[Dialect]) -> list[tuple[str, list[str]]]:
        """Return what is where on the one port: each address with the path of a dialect."""
        addresses = addresses_of(self.shared)
        paths = {each.name: f"/{each.name}" if each.scheme else "" for each in dialects}
        found = [(name, [f"{each}{path}" for each in addresses]) for name, path in paths.items()]
        return [(PAGE, addresses), *found] if self.to_page else found

    def fronts(
        self, dialects: Sequence[Dialect], own: Sequence[Listening]
    ) -> list[tuple[str, str, str, str, int | None, bool]]:
        """Return the dialects for the page, as the fields of its `Front`; `own` are their own ports."""
        ports = {each.front_end.name: port_of(each.listeners) for each in own}
        shared = port_of(self.shared)
        return [
            (each.name, each.short, each.mark, each.scheme, ports.get(each.name, shared), is_shared)
            for each in dialects
            for is_shared in [each.name not in ports]
        ]

    def listening(
        self, receive_all: Receive, open_socket: OpenSocket, admission: Admission
    ) -> list[Listening]:
        """Return what this process accepts clients for; `receive_all` serves those of the one port."""

        def found(
            name: str, receive: Receive, silence: float, listeners: Listeners, *, stays: bool = False
        ) -> Listening:
            entrance = Entrance(name, receive, open_socket, admission, self.preamble, silence=silence)
            paused = partial(admission.count, "limit_system", name)
            front_end = FrontEnd(name, port_of(listeners) or 0, entrance.serve, paused, stays)
            return Listening(front_end, [*listeners])

        shares = bool(self.shared and self.to_page)
        shared = [found(ONE_PORT, receive_all, SILENCE, self.shared, stays=shares)] if self.shared else []
        if self.to_page is None or not self.page or self.for_web:
            return shared
        page = found(PAGE, self.to_page.serve, admission.limits.request, self.page, stays=True)
        return [*shared, page]


@asynccontextmanager
async def opened_ports(options: ServerOptions, counts: Counter[tuple[str, str]]) -> AsyncIterator[Ports]:
    """Open the page's port and the one port, if they are wanted. Raises OSError."""
    certificate = None
    if options.tls_cert is not None:
        certificate = await trio.to_thread.run_sync(Certificate, options.tls_cert, options.tls_key)
    preamble = Preamble(
        certificate,
        counts,
        tls_only=options.tls_only,
        proxied=options.proxy_protocol,
        trusted=options.trusted_proxy,
    )
    websites = Websites(options.allow_origin, counts)
    page = await _open_page(options)
    shared = [] if options.port is None else await _open(options.port, options)
    if not (page and not preamble.is_plain) and not (shared and not options.no_web):
        yield Ports(page, shared, preamble, None, websites)
        return
    with closing(FdPassing()) as passing:
        to_page = WebHandoff(passing, counts, options.trusted_proxy, has_hsts=options.tls_only)
        yield Ports(page, shared, preamble, to_page, websites)


async def _open_page(options: ServerOptions) -> Listeners:
    """Open the page's port if it is wanted. If the usual port is in use, go without the page.

    Raises OSError if the system refuses the port.
    """
    if PAGE in options.sockets:
        return adopt(options.sockets[PAGE])
    port = page_port(options)
    try:
        return [] if port is None else await _open(port, options)
    except PortInUseError:
        if options.web is not None:
            raise
        return []


async def _open(port: int, options: ServerOptions) -> Listeners:
    return await open_port(port, options.host, shared=options.share_ports)


def say_that_there_is_no_page(options: ServerOptions) -> None:
    """Log that the page's usual port is in use, once all other ports are open."""
    port = page_port(options)
    logger.warning(
        "the page is left out: port %d is in use; give it another with --web PORT, or start with --no-web",
        port,
        extra={"event": "page_left_out", "port": port},
    )


async def open_metrics(options: ServerOptions) -> Listeners:
    """Open the port for metrics if they are wanted. Raises OSError if the system refuses it."""
    return [] if options.metrics is None else await open_port(options.metrics.port, [options.metrics.host])


async def listening_of(front_end: FrontEnd, options: ServerOptions) -> Listening:
    """Open the port of a front end, unless sockets for it were handed over. Raises OSError."""
    if front_end.name in options.sockets:
        return Listening(front_end, adopt(options.sockets[front_end.name]))
    return await listen(front_end, options.host, shared=options.share_ports)


def port_of(listeners: Listeners) -> int | None:
    """Return the port of the first listener, if there is one."""
    port: int | None = listeners[0].socket.getsockname()[1] if listeners else None
    return port
