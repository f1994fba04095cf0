"""One port for everything: all dialects, and the page.

Knows how to tell by the first bytes, by a request's path, and by a websocket's first message where a client
wants to go. Knows of dialects only what they declare. The rule it keeps: it reads no more than it needs, and
whoever serves the client reads all of it again, unchanged.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import trio

from adapters.client.contract import Farewell
from adapters.client.dialect import Dialect, Front, Serve
from adapters.client.transports import received
from adapters.client.upgrade import Endpoint, PassOn, Websites, serve_websocket
from adapters.client.websocket import WebSocketTransport
from adapters.entrance.preamble import SILENCE
from adapters.net.http import is_http
from adapters.net.wire import Wire
from gateway.access.proxies import Network

TEXT = "This is a Connect-Four gateway. This port takes:\n"


def by_first_bytes(lines: Serve, http: Serve) -> Serve:
    """Return what serves a client with `http` if it begins with a request, and with `lines` otherwise."""
    return partial(_serve, lines, http)


async def _serve(lines: Serve, http: Serve, wire: Wire) -> None:
    serve = None
    try:
        with trio.move_on_after(SILENCE):
            serve = http if await _begins_with_http(wire) else lines
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        return
    await (serve or Wire.linger)(wire)


async def _begins_with_http(wire: Wire) -> bool:
    """Whether the client begins with a request. What it begins with is read again."""
    data = b""
    while (found := is_http(data)) is None and (more := await wire.receive_some()):
        data += more
    wire.push_back(data)
    return bool(found)


def serving(front: Front, trusted: Sequence[Network], websites: Websites) -> Serve:
    """Return what serves a dialect's clients on a port of its own, also behind `trusted` proxies.

    In a browser, pages of these `websites` may be clients.
    """
    if isinstance(front, Endpoint):
        return partial(serve_websocket, endpoint=replace(front, trusted=trusted, websites=websites))
    return partial(_serve_lines, front)


async def _serve_lines(serve: Serve, wire: Wire) -> None:
    await wire.count_at(wire.origin)  # no proxy for HTTP writes lines
    await serve(wire)


def sharing(
    fronts: Sequence[tuple[Dialect, Front]],
    trusted: Sequence[Network],
    pass_on: PassOn | None,
    is_closed: Callable[[], bool],
    websites: Websites,
) -> Serve:
    """Return what serves the clients of all dialects on one port, of which one at most has lines.

    Requests for no websocket go to `pass_on`, or are answered with a short text without it. Nobody gets a
    websocket any more once it `is_closed`, and of pages only those of `websites`.
    """
    by_websocket = [(each, front) for each, front in fronts if isinstance(front, Endpoint)]
    lines = [partial(_serve_lines, front) for _, front in fronts if not isinstance(front, Endpoint)]
    places = [f"{each.title}, at {_path(each)}" for each, _ in by_websocket]
    places += [each.title for each, front in fronts if not isinstance(front, Endpoint)]
    text = TEXT + "".join(f"- {each}\n" for each in places)
    endpoint = Endpoint(Shared(by_websocket).talk, text, None, trusted, pass_on, is_closed, websites)
    http = partial(serve_websocket, endpoint=endpoint)
    return by_first_bytes(lines[0], http) if lines else http


def _path(dialect: Dialect) -> str:
    return f"/{dialect.name}"


@dataclass(frozen=True, slots=True)
class Shared:
    """The dialects that come by websocket, each with what serves it."""

    fronts: Sequence[tuple[Dialect, Endpoint]]
    """At most one of them does not say how a first message begins: it gets what nobody else claims."""

    async def talk(self, transport: WebSocketTransport, target: str) -> None:
        """Serve a client by the path that it asked for, or by its first message."""
        path = target.partition("?")[0].rstrip("/")
        named = (endpoint for each, endpoint in self.fronts if path == _path(each))
        endpoint = next(named, None) or await self._chosen(transport)
        if endpoint is not None:
            await endpoint.talk(transport, target)

    async def _chosen(self, transport: WebSocketTransport) -> Endpoint | None:
        """Return what serves a client by its first message; None if it says nothing, and is hung up on."""
        texts: list[str] = []
        with trio.move_on_after(SILENCE) as waiting:
            texts = await received(transport)
        if not texts:
            late = waiting.cancelled_caught
            await transport.close(Farewell(1002, "no message came") if late else Farewell())
            return None
        transport.push_back(texts)
        claimed = (endpoint for each, endpoint in self.fronts if each.begins and each.begins(texts[0]))
        others = (endpoint for each, endpoint in self.fronts if not each.begins)
        return next(claimed, None) or next(others, self.fronts[0][1])
