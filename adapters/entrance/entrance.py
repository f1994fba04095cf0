"""Serves accepted connections: serves each admitted client, and sends others the reason for a refusal."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import trio

from adapters.client.boundary import contained
from adapters.entrance.admission import Admission, NotLetIn
from adapters.entrance.one_port import Receive
from adapters.entrance.preamble import SILENCE, Preamble
from adapters.net.socket import Socket
from gateway.access.heads import try_later


@dataclass(frozen=True, slots=True)
class Entrance:
    """One way into a server: a port, with the parts that all ports share."""

    name: str
    """The name of the front end, for the log and the counts."""
    receive: Receive
    open_socket: Callable[[trio.SocketStream], Socket]
    """Takes the socket out of a stream."""
    admission: Admission
    preamble: Preamble
    refusal: bytes = b""
    """The bytes sent to a refused client. If they are empty, an HTTP answer gives the reason."""
    silence: float = SILENCE
    """Seconds that a client has for its first byte, if the port takes TLS."""

    async def serve(self, stream: trio.SocketStream) -> None:
        """Serve a connection until it is closed. Raises nothing."""
        sock = self.open_socket(stream)
        try:
            await contained(self.name, partial(self._let_in, sock))
        finally:
            sock.close()

    async def _let_in(self, sock: Socket) -> None:
        has_passed = False
        try:
            async with self.admission.admit(self.name, sock.address) as entry:
                has_passed = await self.preamble.passed(sock, entry, self.silence)
                if has_passed:
                    await self.receive(sock, entry)
                else:
                    await sock.linger()
        except NotLetIn as refusal:
            has_hsts = self.preamble.tls_only and sock.is_secure
            words = self.refusal or try_later(503, str(refusal), hsts=has_hsts)
            say = partial(self.preamble.refuse, sock, words, has_passed=has_passed)
            await self.admission.say_why(sock.origin, say)
