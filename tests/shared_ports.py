"""What the tests of shared ports and of TLS have in common: gateways, and clients of them."""

import http.client
import socket
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

import certificates
import websocket as websocket_client
from worlds.server import PATIENCE, Served, begun, everything

from adapters.dialects import DIALECTS

MOVES = (3, 0, 3, 0, 3, 0, 3)
"""The first mover wins."""


@contextmanager
def on_one_port(*options: str, tls: certificates.Files | None = None) -> Iterator[Served]:
    """A gateway on one port; where `tls` is given it takes that, too, and so do the test's clients."""
    more = () if tls is None else tls.options
    command = [sys.executable, "-W", "error", "-m", "gateway", "--db", "none", "--port", "0", *more, *options]
    with begun(command, 1 + len(DIALECTS)) as gateway:
        gateway.tls = None if tls is None else tls.client()
        yield gateway


def stopped(gateway: Served) -> str:
    """Stop a gateway, which must not have had any trouble; return its log."""
    status, err = gateway.stop()
    assert status == 0
    assert "ERROR" not in err
    assert "Traceback" not in err
    return err


def dialled(gateway: Served, name: str = "droidcon") -> socket.socket:
    """Connect, with TLS if that is what clients use."""
    sock = socket.create_connection(("127.0.0.1", gateway.port(name)), PATIENCE)
    return sock if gateway.tls is None else gateway.tls.wrap_socket(sock, server_hostname="127.0.0.1")


@contextmanager
def asked(
    gateway: Served, path: str, headers: dict[str, str] | None = None
) -> Iterator[http.client.HTTPResponse]:
    """Ask for a page; give the answer, which may still be on its way."""
    where = ("127.0.0.1", gateway.port("page"))
    connection: http.client.HTTPConnection = (
        http.client.HTTPConnection(*where, timeout=PATIENCE)
        if gateway.tls is None
        else http.client.HTTPSConnection(*where, timeout=PATIENCE, context=gateway.tls)
    )
    with closing(connection):
        connection.request("GET", path, headers=headers or {})
        with connection.getresponse() as answer:
            yield answer


def got(gateway: Served, path: str, headers: dict[str, str] | None = None) -> tuple[int, str, str]:
    """Return status, policy and text of a page."""
    with asked(gateway, path, headers) as answer:
        return answer.status, answer.getheader("Content-Security-Policy") or "", answer.read().decode()


def opened(gateway: Served, target: str, **more: object) -> websocket_client.WebSocket:
    """Open a websocket with a client that shares no code with the gateway."""
    scheme = "ws" if gateway.tls is None else "wss"
    url = f"{scheme}://127.0.0.1:{gateway.port('nac4')}{target}"
    return websocket_client.create_connection(
        url, timeout=PATIENCE, sslopt={"context": gateway.tls} if gateway.tls else None, **more
    )


def got_from(port: int, path: str = "/", before: bytes = b"") -> str:
    """Ask without TLS; return all of the answer."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as sock:
        request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        sock.sendall(before + request.encode())
        return everything(sock).decode()
