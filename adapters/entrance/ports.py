"""The server's ports: one for each dialect, one for the page, and the one port for all of them.

Knows which function serves each port's clients, and which process accepts them. If the server takes neither
TLS nor PROXY headers, the web process accepts clients on the page's port. Otherwise this process accepts them
and passes them on. It also passes on requests for the page on the one port.
"""

import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, closing
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
from gateway.server.app import FrontEnd, addresses_of, adopt, open_port

Listeners: TypeAlias = Sequence[trio.SocketListener]
OpenSocket: TypeAlias = Callable[[trio.SocketStream], Socket]

ONE_PORT = "port"
"""The name of the front end of the one port for all dialects."""

logger = logging.getLogger("gateway.server")


@dataclass(frozen=True, slots=True)
class Ports:
    """The open sockets of all ports."""

    page: Listeners
    """The listeners of the page's own port."""
    shared: Listeners
    """The listeners of the one port."""
    preamble: Preamble
    metrics: Listeners
    own: Mapping[str, Listeners]
    """The listeners of dialects that have a port of their own, by the dialect's name."""
    to_page: WebHandoff | None
    """Hands clients of the page over to the web process; None if this process accepts no such clients."""
    websites: Websites
    """The websites whose pages may play."""

    @property
    def page_port(self) -> int | None:
        """The port at which browsers find the page; None without a page."""
        return port_of(self.page or (self.shared if self.to_page else ()))

    @property
    def for_web(self) -> Listeners:
        """The listeners on which the web process itself accepts clients."""
        return self.page if self.preamble.is_plain else ()

    @property
    def hosts(self) -> list[str]:
        """The addresses at which this process accepts clients of the page."""
        accepted = () if self.to_page is None else (*self.shared, *(() if self.for_web else self.page))
        return [each.socket.getsockname()[0] for each in accepted]

    def opened(self, dialects: Sequence[Dialect]) -> list[tuple[str, list[str]]]:
        """Return the addresses of the page and the dialects on the port that they share (`--port`).

        Each name comes with a list of addresses. The addresses of a websocket dialect end with its path.
        """
        addresses = addresses_of(self.shared)
        paths = {each.name: f"/{each.name}" if each.scheme else "" for each in dialects}
        found = [(name, [f"{each}{path}" for each in addresses]) for name, path in paths.items()]
        return [(PAGE, addresses), *found] if self.to_page else found

    def fronts(self, dialects: Sequence[Dialect]) -> list[tuple[str, str, str, str, int | None, bool]]:
        """Return the fields of a `Front` for each dialect. The page uses it to describe the dialect."""
        return [
            (each.name, each.short, each.mark, each.scheme, port_of(own or self.shared), own is None)
            for each in dialects
            for own in [self.own.get(each.name)]
        ]

    def front_ends(
        self, receive_all: Receive, open_socket: OpenSocket, admission: Admission
    ) -> list[FrontEnd]:
        """Return this process's front ends for these ports. `receive_all` serves the one port's clients."""

        def front_end(
            name: str, receive: Receive, silence: float, listeners: Listeners, *, stays: bool = False
        ) -> FrontEnd:
            entrance = Entrance(name, receive, open_socket, admission, self.preamble, silence=silence)
            paused = partial(admission.count, "limit_system", name)
            return FrontEnd(name, listeners, entrance.serve, paused, stays)

        shares = bool(self.shared and self.to_page)
        shared = [front_end(ONE_PORT, receive_all, SILENCE, self.shared, stays=shares)] if self.shared else []
        if self.to_page is None or not self.page or self.for_web:
            return shared
        page = front_end(PAGE, self.to_page.serve, admission.limits.request, self.page, stays=True)
        return [*shared, page]


@asynccontextmanager
async def opened_ports(options: ServerOptions, counts: Counter[tuple[str, str]]) -> AsyncIterator[Ports]:
    """Open all ports in the options until the block ends. Raises OSError if the system refuses one."""
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
    with ExitStack() as opened:

        def closed_at_the_end(listeners: Listeners) -> Listeners:
            for each in listeners:
                opened.callback(each.socket.close)
            return listeners

        page = closed_at_the_end(await _open_page(options))
        shared = closed_at_the_end([] if options.port is None else await _open(options.port, options))
        metrics: Listeners = []
        if options.metrics is not None:
            metrics = closed_at_the_end(await open_port(options.metrics.port, [options.metrics.host]))
        own = {}
        for name, port in options.ports.items():
            if name in options.sockets:
                own[name] = closed_at_the_end(adopt(options.sockets[name]))
            elif port is not None:
                own[name] = closed_at_the_end(await _open(port, options))
        to_page = None
        if (page and not preamble.is_plain) or (shared and not options.no_web):
            passing = opened.enter_context(closing(FdPassing()))
            to_page = WebHandoff(passing, counts, options.trusted_proxy, has_hsts=options.tls_only)
        yield Ports(page, shared, preamble, metrics, own, to_page, websites)


async def _open_page(options: ServerOptions) -> Listeners:
    """Open the page's port, if the options want a page; return its listeners.

    If the default port is in use, return none: the server then has no page. Raises OSError if the system
    refuses the port.
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
    """Log that the page's default port is in use. Call this after all other ports are open."""
    port = page_port(options)
    logger.warning(
        "the page is left out: port %d is in use; give it another with --web PORT, or start with --no-web",
        port,
        extra={"event": "page_left_out", "port": port},
    )


def port_of(listeners: Listeners) -> int | None:
    """Return the port of the first listener; None if there is none."""
    port: int | None = listeners[0].socket.getsockname()[1] if listeners else None
    return port
