"""Addresses of the form HOST:PORT, and the IP addresses of clients.

All functions are pure. An IPv4-mapped IPv6 address always counts as the IPv4 address.
"""

from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias

PREFIX = 64
"""The number of bits of an IPv6 address that identify a client."""

IPAddress: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class Address:
    """An address to listen at or to connect to."""

    host: str
    """A name or an IP address. An IPv6 address has no brackets."""
    port: int
    """The port number; 0 means any free port."""

    def __str__(self) -> str:
        """Return HOST:PORT, with brackets around an IPv6 address."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def address_in(text: str, *, host: str | None = None, port: int | None = None) -> Address:
    """Parse HOST:PORT, or [HOST]:PORT with an IPv6 address. Raises ValueError.

    The text may be only a port if a default `host` is given, and only a host if a default `port` is given.
    """
    name, colon, digits = text.rpartition(":")
    if host is not None and text.isdecimal():
        name, digits = host, text.lstrip("0") or "0"
        if len(digits) > 5 or int(digits) > 65_535:
            raise ValueError(f"{text!r} is not a whole number from 0 to 65535")
    elif port is not None and (not colon or text.endswith("]")):
        name, digits = text, str(port)
    is_ipv6 = name.startswith("[") and name.endswith("]")
    name = name[1:-1] if is_ipv6 else name
    is_host = name.isprintable() and (":" in name) == is_ipv6 and not {*name} & {*" []/@"}
    is_port = digits.isascii() and digits.isdecimal() and len(digits) <= 5 and int(digits) <= 65_535
    if not (name and is_host and is_port):
        alone = [*(["a port"] if host is not None else []), *(["HOST"] if port is not None else [])]
        raise ValueError(f"{text!r} is not {', '.join([*alone, 'HOST:PORT'])} or [HOST]:PORT")
    return Address(name, int(digits))


def ip_address_in(text: str) -> IPAddress:
    """Parse an IP address, without its zone. Raises ValueError."""
    return plain(ip_address(text.partition("%")[0]))


def plain(address: IPAddress) -> IPAddress:
    """Return the IPv4 address for an IPv4-mapped IPv6 address; return any other address unchanged."""
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def is_loopback(host: str) -> bool:
    """Whether `host`, an IP address or a name, is a loopback address or ``localhost``."""
    try:
        return ip_address_in(host).is_loopback
    except ValueError:
        return host.casefold() == "localhost"


@lru_cache(1024)
def origin_at(host: str) -> str:
    """Return the origin of the client at `host`: its IPv4 address, or the /64 network of its IPv6 address.

    One client may use all addresses of a /64 network. The result is empty if `host` is empty.
    """
    if not host:
        return ""
    address = ip_address_in(host)
    if isinstance(address, IPv6Address):
        return str(IPv6Network((int(address), PREFIX), strict=False))
    return str(address)
