"""Addresses: HOST:PORT, and the IP addresses by which clients are known.

Pure. An IPv4 address in the form of an IPv6 one is the IPv4 address, everywhere.
"""

from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias

PREFIX = 64
"""Bits of an IPv6 address that clients are told apart by."""

IPAddress: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen, or to connect to."""

    host: str
    """A name or an IP address, one of IPv6 without brackets."""
    port: int
    """0 for any free one."""

    def __str__(self) -> str:
        """Return it as an option is written, with brackets around an IPv6 address."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def address_in(text: str, *, host: str | None = None, port: int | None = None) -> Address:
    """Return the address that is written as HOST:PORT, or [HOST]:PORT with an IPv6 address.

    PORT alone is at `host`, and HOST alone has `port`, where these are given. Raises ValueError.
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
    """Return an IP address without its zone, which may be any text. Raises ValueError."""
    return plain(ip_address(text.partition("%")[0]))


def plain(address: IPAddress) -> IPAddress:
    """Return the IPv4 address that an IPv6 one stands for; any other as it is."""
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def is_loopback(host: str) -> bool:
    """Whether a host, an IP address or a name, can be reached from its own machine only."""
    try:
        return ip_address_in(host).is_loopback
    except ValueError:
        return host.casefold() == "localhost"


@lru_cache(1024)
def origin_at(host: str) -> str:
    """Return what clients at `host`, an IP address, have in common: the address itself, or an IPv6 network.

    A client that has one address of an IPv6 network has all of them. Empty where `host` is.
    """
    if not host:
        return ""
    address = ip_address_in(host)
    if isinstance(address, IPv6Address):
        return str(IPv6Network((int(address), PREFIX), strict=False))
    return str(address)
