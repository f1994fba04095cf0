"""Receives clients after the preamble: on a dialect's own port, or on the one port for all dialects.

Finds a client's dialect by the first bytes, the path of a request, or the first message on a websocket. Knows
only the properties that a `Dialect` declares. The bytes that were read are passed on to the dialect.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import trio

from adapters.client.accepted import Accepted, Serve, first_texts, hang_up
from adapters.client.contract import Farewell
from adapters.client.dialect import Dialect
from adapters.client.framing import Lines
from adapters.entrance.admission import Admitted
from adapters.entrance.handshake import HttpPort, accept_websocket
from adapters.entrance.preamble import SILENCE
from adapters.net.socket import BROKEN, Socket
from gateway.access.heads import is_http

Receive: TypeAlias = Callable[[Socket, Admitted], Awaitable[None]]
"""Serves a client from its first message on. Raises NotLetIn if its address has reached a limit."""
Front: TypeAlias = tuple[Dialect, Serve]

TEXT = "This is a Connect-Four gateway. This port takes:\n"


async def receive_lines(serve: Serve, sock: Socket, entry: Admitted) -> None:
    """Serve a client that sends lines."""
    await entry.move_to(sock.origin)  # HTTP proxies do not send lines, so the address is final
    await serve(Accepted(sock, Lines(), entry.limits))


async def receive_request(serve: Serve, http: HttpPort, sock: Socket, entry: Admitted) -> None:
    """Serve a client that asks for a websocket; answer any other request."""
    client = await accept_websocket(sock, entry, http)
    if client is not None:
        await serve(client)


def receiving(dialect: Dialect, serve: Serve, http: HttpPort) -> Receive:
    """Return the function that serves a dialect's clients on a port of its own."""
    if dialect.scheme:
        return partial(receive_request, serve, replace(http, text=dialect.answer))
    return partial(receive_lines, serve)


@dataclass(frozen=True, slots=True)
class OnePort:
    """Serves the clients of all dialects. At most one of these dialects may use lines.

    The path of a request selects a websocket's dialect. If the path is not that of a dialect, the first
    message decides: the dialect is the one whose `begins` accepts the message, else one without `begins`.
    """

    fronts: Sequence[Front]
    http: HttpPort

    @classmethod
    def of(cls, fronts: Sequence[Front], http: HttpPort) -> "OnePort":
        """Return a port whose answer to a plain HTTP request lists all dialects."""
        by_websocket = [f"{each.title}, at {_path(each)}" for each, _ in fronts if each.scheme]
        names = by_websocket + [each.title for each, _ in fronts if not each.scheme]
        return cls(fronts, replace(http, text=TEXT + "".join(f"- {name}\n" for name in names)))

    async def receive(self, sock: Socket, entry: Admitted) -> None:
        """Serve a client from its first byte on."""
        lines = next((serve for each, serve in self.fronts if not each.scheme), None)
        if lines is None:
            await receive_request(self._serve_websocket, self.http, sock, entry)
            return
        begins_http = None
        try:
            with trio.move_on_after(SILENCE):
                begins_http = await _begins_with_http(sock)
        except BROKEN:
            return
        if begins_http is None:
            await sock.linger()
        elif begins_http:
            await receive_request(self._serve_websocket, self.http, sock, entry)
        else:
            await receive_lines(lines, sock, entry)

    async def _serve_websocket(self, client: Accepted) -> None:
        path = client.target.partition("?")[0].rstrip("/")
        serve = next((serve for each, serve in self.fronts if each.scheme and path == _path(each)), None)
        if serve is None:
            serve = await self._by_first_message(client)
        if serve is not None:
            await serve(client)

    async def _by_first_message(self, client: Accepted) -> Serve | None:
        """Return the function that serves the dialect of a client's first message.

        If no message comes, hang up and return None.
        """
        try:
            with trio.move_on_after(SILENCE) as patience:
                client.texts = await first_texts(client.socket, client.framing)
        except BROKEN:
            return None
        if not client.texts:
            late = patience.cancelled_caught
            farewell = Farewell(1002, "no message came") if late else Farewell()
            await hang_up(client.socket, client.framing, farewell)
            return None
        by_websocket = [(each, serve) for each, serve in self.fronts if each.scheme]
        claimed = (serve for each, serve in by_websocket if each.begins and each.begins(client.texts[0]))
        others = (serve for each, serve in by_websocket if not each.begins)
        return next(claimed, None) or next(others, by_websocket[0][1])


async def _begins_with_http(sock: Socket) -> bool:
    """Return whether the client begins with an HTTP request. The bytes read for this are pushed back."""
    data = b""
    while (found := is_http(data)) is None and (more := await sock.receive_some()):
        data += more
    sock.push_back(data)
    return bool(found)


def _path(dialect: Dialect) -> str:
    return f"/{dialect.name}"
