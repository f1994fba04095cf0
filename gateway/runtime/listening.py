"""Listening sockets that systemd passes or processes share, and the addresses at which they are reached.

Knows the system's calls and systemd's protocol; does not know the purpose of a port.
"""

import errno
import fcntl
import ipaddress
import os
import socket
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

# Sockets that another program opened and passed to this one by the protocol sd_listen_fds(3). systemd does so
# for a .socket unit.

FIRST = 3
"""The first file descriptor that the protocol uses."""

Sockets: TypeAlias = Mapping[str, Sequence[int]]
"""The file descriptors of listening sockets, by the name of their port."""


def handed_over(names: Sequence[str], environment: Mapping[str, str] = os.environ) -> Sockets:
    """Return the sockets that were passed to this process, by the names of their ports.

    `names` has the names of all ports, in order. A socket belongs to the port that has the socket's name. If
    no socket has the name of a port, the first socket belongs to the first port, and so on. Raises ValueError
    if the port of a socket is not clear. The result is empty if no sockets were passed to this process.
    """
    count = environment.get("LISTEN_FDS", "")
    if environment.get("LISTEN_PID") != str(os.getpid()) or not count.isdecimal():
        return {}
    sockets = range(FIRST, FIRST + int(count))
    given_names = environment.get("LISTEN_FDNAMES", "").split(":")
    known = [name for name in given_names if name in names]
    if not known:
        if len(sockets) > len(names):
            raise ValueError(f"{len(sockets)} sockets are handed over; without names {len(names)} at most")
        return {name: [number] for name, number in zip(names, sockets, strict=False)}
    if len(given_names) != len(sockets):
        raise ValueError(f"{len(sockets)} sockets are handed over, with {len(given_names)} names")
    if known != given_names:
        wrong = next(name for name in given_names if name not in names)
        raise ValueError(f"a socket that is handed over is called {wrong!r}, none of {', '.join(names)}")
    sockets_of: dict[str, list[int]] = {}
    for name, number in zip(given_names, sockets, strict=True):
        sockets_of.setdefault(name, []).append(number)
    return sockets_of


def adopted(number: int) -> socket.socket:
    """Return the socket of a descriptor. Raises OSError if it is not a listening TCP socket."""
    try:
        os.set_inheritable(number, False)
        adoptive = socket.socket(fileno=number)
    except OSError as error:
        raise OSError(f"descriptor {number} is not a socket: {error.strerror}") from error
    if adoptive.family not in (socket.AF_INET, socket.AF_INET6) or not _listens(adoptive):
        adoptive.close()
        raise OSError(f"descriptor {number} is not a TCP socket that listens")
    return adoptive


def hosts_of(sockets: Sockets) -> list[str]:
    """Return the IP addresses at which these sockets listen. The sockets stay open. Raises OSError."""
    hosts = []
    for number in (number for several in sockets.values() for number in several):
        adoptive = adopted(number)
        hosts.append(adoptive.getsockname()[0])
        adoptive.detach()
    return hosts


def _listens(adoptive: socket.socket) -> bool:
    if adoptive.type != socket.SOCK_STREAM:
        return False
    return bool(adoptive.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))


# Ports that several processes of one machine share with SO_REUSEPORT. The system distributes the connections
# to a port over all sockets that listen there.


class PortInUseError(OSError):
    """Another program listens on a port."""

    def __init__(self, text: str, port: int = 0) -> None:
        super().__init__(text)
        self.port = port


def cannot_listen(host: str, port: int, error: OSError | UnicodeError) -> OSError:
    """Return the exception for a port that the system refuses. It is PortInUseError if the port is in use."""
    if isinstance(error, UnicodeError):
        return OSError(f"cannot listen on {host}, port {port}: not a host name")
    cause = (error.strerror or str(error)).rpartition(": ")[2]
    text = f"cannot listen on {host}, port {port}: {cause}"
    return PortInUseError(text, port) if error.errno == errno.EADDRINUSE else OSError(text)


def bound(port: int, host: str, *, shared: bool, backlog: int | None = None) -> list[socket.socket]:
    """Return sockets bound to a port at all addresses of a host. Port 0 means any free port.

    The sockets listen if a `backlog` is given. With `shared`, other processes may bind the port, too. Raises
    OSError or UnicodeError.
    """
    if not host:
        raise OSError(errno.EADDRNOTAVAIL, "not a host name")
    places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    with ExitStack() as opened:
        sockets = []
        for family, kind, protocol, _, address in places:
            sock = opened.enter_context(socket.socket(family, kind, protocol))
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if shared:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            if family == socket.AF_INET6:
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sock.bind((address[0], port, *address[2:]))
            if backlog is not None:
                sock.listen(backlog)
            port = sock.getsockname()[1]
            sockets.append(sock)
        opened.pop_all()
    return sockets


@contextmanager
def reserved(wanted: Mapping[str, int], hosts: Sequence[str]) -> Iterator[dict[str, int]]:
    """Reserve ports at all hosts during the block, for processes that share them; 0 means any free port.

    Yields the port numbers. Raises PortInUseError if a port is in use, and OSError if the system refuses it.

    Each port is first bound without SO_REUSEPORT, because this fails if another socket listens there. Then
    the option is set, so that processes of the same user can bind the port. The reserving socket never
    listens, so it gets no connections.
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


# The addresses at which other machines reach this one. They are shown if the server listens at all addresses.

_GET_FLAGS, _GET_ADDRESS = (0x8913, 0x8915) if sys.platform == "linux" else (0xC0206911, 0xC0206921)
"""SIOCGIFFLAGS and SIOCGIFADDR on Linux or macOS. In the result, the value follows the name, at byte 16."""
_LOOPBACK, _RUNNING = 0x8, 0x40
_IPV6 = Path("/proc/net/if_inet6")
_GLOBAL = "00"
_PASSING = 0x01 | 0x08 | 0x20 | 0x40
"""The flags of addresses that are temporary, duplicate, deprecated or tentative."""
_VIRTUAL = ("docker", "br-", "veth", "virbr", "cni", "podman", "lxc", "vmnet", "vboxnet")
"""The prefixes of the names of interfaces to containers and virtual machines."""
_ELSEWHERE = "192.0.2.1", "2001:db8::1"
"""Addresses that are reserved for documentation. The default route leads to them."""


def reachable(address: str, own: Sequence[str]) -> list[str]:
    """Return the addresses at which other machines reach a server that listens at `address`.

    `own` has this machine's IP addresses. For ``0.0.0.0:PORT`` the result has all IPv4 addresses in `own`,
    for ``[::]:PORT`` all IPv6 addresses, each with the port. If `own` has none of them, and for any other
    `address`, the result is only `address`. Text after the port is kept.
    """
    host, port = address.partition("]:" if address.startswith("[") else ":")[::2]
    if host not in ("0.0.0.0", "[::"):
        return [address]
    alike = [each for each in own if (":" in each) == (":" in host)]
    return [f"[{each}]:{port}" if ":" in each else f"{each}:{port}" for each in alike] or [address]


def address_towards(host: str, port: int) -> str:
    """Return the address that this machine uses towards `host`. Raises OSError."""
    family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind) as probe:
        probe.connect(address)  # UDP, so no packet is sent
        return str(probe.getsockname()[0])


def own_addresses() -> list[str]:
    """Return the addresses at which other machines reach this one. Those of the default route come first.

    Sends no packet. Finds one IPv4 address of each interface, and on Linux also its IPv6 addresses.
    """
    return [*dict.fromkeys(filter(_is_for_others, [*_default_route(), *_ipv4(), *_ipv6()]))]


def in_table(table: str) -> Iterator[str]:
    """Yield the global, permanent addresses in Linux's table of IPv6 addresses. Skips virtual interfaces."""
    for line in table.splitlines():
        digits, _, _, scope, flags, name = line.split()
        if scope == _GLOBAL and not int(flags, 16) & _PASSING and not name.startswith(_VIRTUAL):
            yield str(ipaddress.IPv6Address(bytes.fromhex(digits)))


def _default_route() -> Iterator[str]:
    for address in _ELSEWHERE:
        with suppress(OSError):
            yield address_towards(address, 9)


def _ipv4() -> Iterator[str]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for _, name in socket.if_nameindex():
            request = struct.pack("16s24x", name.encode())
            with suppress(OSError):  # the interface has no IPv4 address
                [flags] = struct.unpack_from("H", fcntl.ioctl(asking, _GET_FLAGS, request), 16)
                if flags & _RUNNING and not flags & _LOOPBACK and not name.startswith(_VIRTUAL):
                    yield socket.inet_ntoa(fcntl.ioctl(asking, _GET_ADDRESS, request)[20:24])


def _ipv6() -> Iterable[str]:
    with suppress(OSError):
        return in_table(_IPV6.read_text())
    return ()


def _is_for_others(address: str) -> bool:
    ip = ipaddress.ip_address(address)
    return not (ip.is_loopback or ip.is_link_local or ip.is_unspecified)
