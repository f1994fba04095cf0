"""The addresses of clients that connect through a proxy.

Pure. Knows the PROXY header, versions 1 and 2, which a proxy sends before a client's first byte, and the
header X-Forwarded-For of HTTP. Headers that a client may have written itself are not trusted: the PROXY
header is either required or not read, and of X-Forwarded-For only entries that trusted proxies added are
used.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from gateway.runtime.addresses import Network, ip_address_in, plain

LONGEST = 4096
"""The largest PROXY header, in bytes."""
MOST_HOPS = 32
"""The most entries of X-Forwarded-For that are read, from the right."""

_VERSION_1 = b"PROXY "
_LONGEST_LINE = 107
_VERSION_2 = b"\r\n\r\n\0\r\nQUIT\n"
_FIXED = 16
"""Bytes of a version 2 header before the addresses."""
_SIZES = {0x10: 4, 0x20: 16}
"""Bytes of an address, by address family in the header."""


@dataclass(frozen=True, slots=True)
class Proxied:
    """The contents of a PROXY header, and the bytes after it."""

    address: str | None
    """The client's address; None if the proxy connects on its own behalf or does not know the address."""
    rest: bytes
    """The bytes after the header."""


def header_in(data: bytes) -> Proxied | None:
    """Return the PROXY header at the start of `data`, None if more bytes are needed. Raises ValueError."""
    if data.startswith(_VERSION_2[: len(data)]):
        return _version_2(data) if len(data) >= _FIXED else None
    if data.startswith(_VERSION_1[: len(data)]):
        line, end, rest = data.partition(b"\r\n")
        if len(line) > _LONGEST_LINE - 2:
            raise ValueError("the PROXY header has no end")
        return _version_1(line, rest) if end else None
    raise ValueError("there is no PROXY header")


def begins_with_header(data: bytes) -> bool:
    """Whether `data` begins as a PROXY header does."""
    return data.startswith((_VERSION_1, _VERSION_2))


def client_behind(peer: str, forwarded: str, trusted: Sequence[Network]) -> str:
    """Return a client's address: `peer`, unless `peer` is a trusted proxy.

    If it is one, the address is the last hop that is not a trusted proxy. `forwarded` is the value of
    X-Forwarded-For, a list of hops. A hop that is not an address is ignored, with all hops to its left.
    """
    client, hops = peer, forwarded.rsplit(",", MOST_HOPS)[-MOST_HOPS:]
    while is_trusted(client, trusted) and hops:
        try:
            client = str(ip_address_in(_without_port(hops.pop().strip())))
        except ValueError:
            break
    return client


def is_trusted(peer: str, trusted: Sequence[Network]) -> bool:
    """Whether `peer`, an address or empty, is in one of these networks."""
    if not peer or not trusted:
        return False
    address = ip_address_in(peer)
    return any(address in network for network in trusted)


def _version_1(line: bytes, rest: bytes) -> Proxied:
    match line.decode("ascii", "replace").split(" "):
        case ["PROXY", "UNKNOWN", *_]:
            return Proxied(None, rest)
        case ["PROXY", "TCP4" | "TCP6" as family, source, _, _, _]:
            if ip_address(source).version == int(family[-1]):
                return Proxied(str(ip_address_in(source)), rest)
    raise ValueError("the PROXY header is not one of version 1")


def _version_2(data: bytes) -> Proxied | None:
    command, family, length = data[12], data[13], int.from_bytes(data[14:_FIXED])
    end = _FIXED + length
    if command not in (0x20, 0x21) or end > LONGEST:
        raise ValueError("the PROXY header is not one of version 2, or is too long")
    if len(data) < end:
        return None
    size = _SIZES.get(family & 0xF0)
    if command == 0x20 or size is None:  # the proxy's own connection, or a family without addresses
        return Proxied(None, data[end:])
    if length < 2 * size + 4:
        raise ValueError("the PROXY header is too short")
    return Proxied(str(plain(ip_address(data[_FIXED : _FIXED + size]))), data[end:])


def _without_port(hop: str) -> str:
    """Return a hop without its port. Some proxies write ``192.0.2.1:80`` or ``[2001:db8::1]:80``."""
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop
