"""Addresses, as clients are known by them.

Pure. An IPv4 address in the form of an IPv6 one is the IPv4 address, everywhere.
"""

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias

PREFIX = 64
"""Bits of an IPv6 address that clients are told apart by."""

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network


def address_in(text: str) -> Address:
    """Return an address without its zone, which may be any text. Raises ValueError."""
    return plain(ip_address(text.partition("%")[0]))


def plain(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 one stands for; any other as it is."""
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def is_loopback(host: str) -> bool:
    """Whether a host, an address or a name, can be reached from its own machine only."""
    try:
        return address_in(host).is_loopback
    except ValueError:
        return host.casefold() == "localhost"


@lru_cache(1024)
def origin_at(host: str) -> str:
    """Return what clients at `host`, an address, have in common: the address itself, or an IPv6 network.

    A client that has one address of an IPv6 network has all of them. Empty where `host` is.
    """
    if not host:
        return ""
    address = address_in(host)
    if isinstance(address, IPv6Address):
        return str(IPv6Network((int(address), PREFIX), strict=False))
    return str(address)
