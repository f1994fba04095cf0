"""The addresses by which other machines reach this one, for what listens at all of its addresses.

Asks the system and sends nothing. Of IPv4 it finds one address of each interface, of IPv6, on Linux only,
those that last: an address that works within a link alone is of no use in a URL.
"""

import fcntl
import ipaddress
import socket
import struct
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

_GET_FLAGS, _GET_ADDRESS = (0x8913, 0x8915) if sys.platform == "linux" else (0xC0206911, 0xC0206921)
"""SIOCGIFFLAGS and SIOCGIFADDR, on Linux or macOS. Both answer behind the interface's name of 16 bytes."""
_LOOPBACK, _RUNNING = 0x8, 0x40
_IPV6 = Path("/proc/net/if_inet6")
_GLOBAL = "00"
_PASSING = 0x01 | 0x08 | 0x20 | 0x40
"""Flags of addresses that are temporary, a duplicate, deprecated or tentative."""
_VIRTUAL = ("docker", "br-", "veth", "virbr", "cni", "podman", "lxc", "vmnet", "vboxnet")
"""How interfaces begin that lead to containers and virtual machines of this machine."""
_ELSEWHERE = (socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")
"""Addresses for documentation: the system would send to them by way of the default route."""


def reachable(address: str, own: Sequence[str]) -> list[str]:
    """Return where to reach what listens at ``0.0.0.0:PORT`` or ``[::]:PORT``, with what follows the port.

    `own` are this machine's addresses. If none is of the kind, and for any other address, it is that itself.
    """
    host, port = address.partition("]:" if address.startswith("[") else ":")[::2]
    if host not in ("0.0.0.0", "[::"):
        return [address]
    found = [f"[{each}]:{port}" if ":" in each else f"{each}:{port}" for each in own]
    return [each for each in found if each.startswith("[") == address.startswith("[")] or [address]


def own_addresses() -> list[str]:
    """Return the addresses of this machine, those of the default route first."""
    found = [*_default_route(), *_ipv4(), *_ipv6()]
    return [*dict.fromkeys(filter(_is_for_others, found))]


def in_table(table: str) -> Iterator[str]:
    """Return the addresses in Linux's table of those of IPv6, as far as they are of use for others."""
    for line in table.splitlines():
        digits, _, _, scope, flags, name = line.split()
        if scope == _GLOBAL and not int(flags, 16) & _PASSING and not name.startswith(_VIRTUAL):
            yield str(ipaddress.IPv6Address(bytes.fromhex(digits)))


def _default_route() -> Iterator[str]:
    for family, address in _ELSEWHERE:
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))  # of UDP, so that no packet leaves
            yield probe.getsockname()[0]


def _ipv4() -> Iterator[str]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for _, name in socket.if_nameindex():
            request = struct.pack("16s24x", name.encode())
            with suppress(OSError):  # it has none
                [flags] = struct.unpack_from("H", fcntl.ioctl(asking, _GET_FLAGS, request), 16)
                if flags & _RUNNING and not flags & _LOOPBACK and not name.startswith(_VIRTUAL):
                    yield socket.inet_ntoa(fcntl.ioctl(asking, _GET_ADDRESS, request)[20:24])


def _ipv6() -> Iterable[str]:
    with suppress(OSError):
        return in_table(_IPV6.read_text())
    return ()


def _is_for_others(address: str) -> bool:
    found = ipaddress.ip_address(address)
    return not (found.is_loopback or found.is_link_local or found.is_unspecified)
