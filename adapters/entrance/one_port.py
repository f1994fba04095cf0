"""Receives clients after the preamble: on a dialect's own port, or on the one port for all dialects.

Finds a client's dialect by the first bytes, the path of a request, or the first message. Knows only the
properties that a `Dialect` declares. The bytes that were read are passed on to the dialect.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import trio

from adapters.client.accepted import Accepted, Serve, first_texts, hang_up, texts_of
from adapters.client.contract import Farewell, Flooded
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
    """Serves the clients of all dialects.

    The path of a request selects a websocket's dialect. If the path is not that of a dialect, the first
    message decides: the dialect is the last whose `begins` accepts the message, else one without `begins`.
    Without a request the first line decides in the same way, if several dialects use lines.
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
        by_lines = [(each, serve) for each, serve in self.fronts if not each.scheme]
        if not by_lines:
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
        elif len(by_lines) == 1:
            await receive_lines(by_lines[0][1], sock, entry)
        else:
            await entry.move_to(sock.origin)  # an address with too many clients need not wait for its line
            try:
                line = await _first_line(sock)
            except BROKEN:
                return
            await receive_lines(_claimed(by_lines, line), sock, entry)

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
        return _claimed(by_websocket, client.texts[0])


def _claimed(fronts: Sequence[Front], text: str) -> Serve:
    """Return the function that serves the dialect to which a first message belongs.

    If several dialects accept the message, it is the last of them: who adds a dialect knows those before it,
    and may single out some of their messages.
    """
    claimed = (serve for each, serve in reversed(fronts) if each.begins and each.begins(text))
    others = (serve for each, serve in fronts if not each.begins)
    return next(claimed, None) or next(others, fronts[0][1])


async def _begins_with_http(sock: Socket) -> bool:
    """Return whether the client begins with an HTTP request. The bytes read for this are pushed back."""
    data = b""
    while (found := is_http(data)) is None and (more := await sock.receive_some()):
        data += more
    sock.push_back(data)
    return bool(found)


async def _first_line(sock: Socket) -> str:
    """Return a client's first line. The bytes read for this are pushed back.

    The line is empty if it does not end within `SILENCE`, or is too long. Raises the exceptions of `Socket`.
    """
    framing, data, lines = Lines(), b"", list[str]()
    try:
        with trio.move_on_after(SILENCE):
            while not lines and not framing.ended:
                more = await sock.receive_some()
                data += more
                lines = texts_of(sock, framing, more)
    except Flooded:
        pass
    sock.push_back(data)
    return lines[0] if lines else ""


def _path(dialect: Dialect) -> str:
    return f"/{dialect.name}"
