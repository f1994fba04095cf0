"""Ports that several processes of one machine share.

Knows sockets, addresses, and SO_REUSEPORT, by which the system spreads the connections to a port over all
sockets that listen there. The rule it keeps: whoever shares a port means to. A port is reserved by a socket
that is bound as usual, which fails while anybody listens there, and only then lets others of the same user
in; that socket itself never listens, and so gets no connection.
"""

import errno
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager


class PortInUseError(OSError):
    """Another program listens on a port."""


def cannot_listen(host: str, port: int, error: OSError | UnicodeError) -> OSError:
    """Return what to raise where the system refuses a port: a PortInUseError where it is in use."""
    in_use = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
    return (PortInUseError if in_use else OSError)(f"cannot listen on {host}, port {port}: {_cause(error)}")


def bound(port: int, host: str, *, shared: bool) -> list[socket.socket]:
    """Return sockets at all addresses of a host, bound to a port, 0 for any free one. They do not listen.

    Those that are `shared` may have others beside them. Raises OSError, UnicodeError.
    """
    if not host:
        raise OSError(errno.EADDRNOTAVAIL, "not a host name")
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    with ExitStack() as opened:
        sockets = []
        for family, kind, protocol, _, address in found:
            sock = opened.enter_context(socket.socket(family, kind, protocol))
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if shared:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            if family == socket.AF_INET6:
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sock.bind((address[0], port, *address[2:]))
            port = sock.getsockname()[1]
            sockets.append(sock)
        opened.pop_all()
    return sockets


@contextmanager
def reserved(wanted: Mapping[str, int], hosts: Sequence[str]) -> Iterator[dict[str, int]]:
    """Keep ports, 0 for any free ones, at all hosts, for processes that share them; give their numbers.

    Raises OSError where the system refuses one, PortInUseError where somebody listens there.
    """
    with ExitStack() as opened:
        numbers = {}
        for name, port in wanted.items():
            number = port
            for host in hosts:
                try:
                    sockets = bound(number, host, shared=False)
                except (OSError, UnicodeError) as error:
                    raise cannot_listen(host, number, error) from error
                for sock in sockets:
                    opened.enter_context(sock)
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                    number = sock.getsockname()[1]
            numbers[name] = number
        yield numbers


def _cause(error: OSError | UnicodeError) -> str:
    if isinstance(error, UnicodeError):
        return "not a host name"
    return (error.strerror or str(error)).rpartition(": ")[2]
