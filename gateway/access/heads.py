"""What the head of a request by HTTP says: the host that it names, the website it is from, its length.

Pure. A client may write anything there, so it is read strictly. The rules it keeps:

- A server that only its own machine can reach answers to no foreign domain name. Otherwise a website could
  point its name at this machine, and its pages could read the answers (DNS rebinding).
- Pages of other websites open no websocket: they would play in the name of whoever looks at them.
- A body has one length. Where there are two, a proxy and this server may not see the same requests.
"""

import re
from collections.abc import Collection, Iterable
from ipaddress import ip_address

from gateway.access.addresses import address_in
from gateway.options.names import ALL_ORIGINS

NOT_KNOWN = "the server does not know this name; use localhost, or start it with --allow-origin http://NAME"
"""The answer to a request that names a foreign host."""
TWO_LENGTHS = "a request has Content-Length or Transfer-Encoding, not both"
"""The answer to a request with two lengths, status 400."""

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(:[0-9]{1,5})?")
_LENGTHS = {b"content-length", b"transfer-encoding"}
_THIS_MACHINE = "localhost"


def is_known(header: str, allowed: Collection[str]) -> bool:
    """Return whether the header ``Host`` may name a server that only its own machine can reach.

    No domain name does, but those of origins in `allowed`.
    """
    if not header:  # a browser always gives one
        return True
    host = host_in(header)
    if host is None:  # browsers take names for hosts that cannot be read here, such as ``a+b.example``
        return False
    return not is_domain(host) or host.lower() in {_host_of(origin) for origin in allowed}


def may_play(origin: str, hosts: Iterable[str], allowed: Collection[str]) -> bool:
    """Return whether a page of the website `origin` may open a websocket.

    Its host has to be one of `hosts`, by which the request names this server, or `allowed` has it. The port
    makes no difference, and localhost and all loopback addresses are one host.
    """
    if origin.lower() in allowed and origin != ALL_ORIGINS:
        return True
    host = _host_of(origin)
    named = {_plain(found) for each in hosts if (found := host_in(each)) is not None}
    return host is not None and _plain(host) in named


def has_two_lengths(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether a request says in two ways how long its body is (RFC 9112, 6.1); names in lower case."""
    return {name for name, _ in headers} >= _LENGTHS


def host_in(header: str) -> str | None:
    """Return the host without its port, an IPv6 address in brackets; None if it is not a host."""
    found = _HOST.fullmatch(header)
    return found[1] if found else None


def port_in(header: str) -> int | None:
    """Return the port; None if there is none, or it is not a host."""
    found = _HOST.fullmatch(header)
    return int(found[2][1:]) if found and found[2] else None


def is_domain(host: str) -> bool:
    """Whether the host is a domain name, whose owner decides to which address it leads.

    An address is not one, nor is a name without a dot or under ``localhost``.
    """
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        name = host.rstrip(".")
        return "." in name and not name.lower().endswith(".localhost")
    return False


def _host_of(origin: str) -> str | None:
    """Return the host of an origin, which libraries may write with a path; None if it has none."""
    return host_in(origin.partition("://")[2].partition("/")[0])


def _plain(host: str) -> str:
    """Return a host in one spelling, the same for all that always lead to this machine."""
    name = host.lower().rstrip(".")
    try:
        address = address_in(name.strip("[]"))
    except ValueError:
        return name
    return _THIS_MACHINE if address.is_loopback else str(address)
