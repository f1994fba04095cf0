"""Sockets that another program opened and handed over, as systemd does for a .socket unit.

Knows the protocol of sd_listen_fds(3): how many there are, from descriptor 3 on, for which process, and their
names. Does not know what they are for. The rule it keeps: a socket is used for what its name says, or, where
none has a name of ours, by its place in the order of the ports; anything doubtful is an error.
"""

import os
import socket
from collections.abc import Mapping, Sequence
from typing import TypeAlias

FIRST = 3
"""The first descriptor that may be handed over."""

Sockets: TypeAlias = Mapping[str, Sequence[int]]
"""Descriptors of listening sockets by the name of what they are for."""


def handed_over(names: Sequence[str], environment: Mapping[str, str] = os.environ) -> Sockets:
    """Return the sockets for `names`, of which each may have several, in the order of the ports.

    There are none where the environment names none, or another process. Raises ValueError where it cannot be
    told what one is for.
    """
    count = environment.get("LISTEN_FDS", "")
    if environment.get("LISTEN_PID") != str(os.getpid()) or not count.isdecimal():
        return {}
    sockets = range(FIRST, FIRST + int(count))
    given = environment.get("LISTEN_FDNAMES", "").split(":")
    known = [name for name in given if name in names]
    if not known:
        if len(sockets) > len(names):
            raise ValueError(f"{len(sockets)} sockets are handed over; without names {len(names)} at most")
        return {name: [number] for name, number in zip(names, sockets, strict=False)}
    if len(given) != len(sockets):
        raise ValueError(f"{len(sockets)} sockets are handed over, with {len(given)} names")
    if known != given:
        wrong = next(name for name in given if name not in names)
        raise ValueError(f"a socket that is handed over is called {wrong!r}, none of {', '.join(names)}")
    found: dict[str, list[int]] = {}
    for name, number in zip(given, sockets, strict=True):
        found.setdefault(name, []).append(number)
    return found


def adopted(number: int) -> socket.socket:
    """Return the socket of a descriptor. Raises OSError if that is not a TCP socket that listens."""
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
    """Return the addresses at which sockets listen that are still to be adopted. Raises OSError."""
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
