"""The hosts that clients name: what stands in the header Host.

Pure. Anybody may write anything there, so it is read strictly before it becomes a part of a URL.
"""

import re
from ipaddress import ip_address

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(:[0-9]{1,5})?")


def host_in(header: str) -> str | None:
    """Return the host without its port, an IPv6 address in brackets; None where it is not a host."""
    found = _HOST.fullmatch(header)
    return found[1] if found else None


def is_domain(host: str) -> bool:
    """Whether somebody else may say to which address a host leads, as for all names with a dot in them.

    Not so for an address, nor for a name of this machine or of its network, such as ``localhost``.
    """
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        name = host.rstrip(".")
        return "." in name and not name.lower().endswith(".localhost")
    return False
