"""Hosts in the header ``Host``.

Pure. A client may write anything there, so it is read strictly before it becomes a part of a URL.
"""

import re
from ipaddress import ip_address

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(:[0-9]{1,5})?")


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
