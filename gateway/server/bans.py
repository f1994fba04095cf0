"""Who is not let in any more: names, addresses and networks, in a file beside that of the protected names.

Knows the file, and how a name or an address is found in it. Does not know what a client is told. A client is
looked up when it gives a name, while others wait for their moves, so the search takes the same time however
many are banned: a look for the name, and one for each length of a network's prefix.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from gateway.game.commands import LONGEST_NAME, Command, Leave, folded
from gateway.server.linefile import entries

if TYPE_CHECKING:
    from gateway.hub.seat import Seat
    from gateway.server.reloading import InLoop

OPTION = "--players"
"""The option beside whose file the bans are."""
NAME, ADDRESS = "name", "address"
"""What a line of the file is about."""
PREFIX = 64
"""Bits of an IPv6 address that clients are told apart by: a ban of fewer addresses is one of this network."""
AT_ONCE = 20
"""Players whom one turn of the event loop looks at after a reload."""
_MAPPED = 96
"""Bits of an IPv6 address before the IPv4 address that it stands for."""

Network: TypeAlias = IPv4Network | IPv6Network


class HubForBans(Protocol):
    """What is needed to hang up on players who are here."""

    def seats(self) -> "tuple[Seat, ...]":
        """Return the seats of all players who are here."""

    def submit(self, seat: "Seat", command: Command, now: float) -> bool:
        """Carry out a command that arrived at `now`."""


@dataclass(slots=True)
class Bans:
    """Names and networks that are banned."""

    names: set[str] = field(default_factory=set)
    """Folded."""
    networks: dict[tuple[int, int], set[int]] = field(default_factory=dict)
    """The first bits of the banned addresses, by the version of IP and how many bits these are."""

    def add(self, network: Network) -> None:
        """Ban a network."""
        bits = int(network.network_address) >> (network.max_prefixlen - network.prefixlen)
        self.networks.setdefault((network.version, network.prefixlen), set()).add(bits)

    def let_go(self) -> None:
        """Ban nobody any more. A thread that does it lets others run between any two entries."""
        every: list[set[Any]] = [self.names, *self.networks.values()]
        for found in every:
            while found:
                found.pop()

    def hold(self, name: str, origin: str) -> bool:
        """Whether a client is banned: its folded name, empty if it has none, or its address."""
        return name in self.names or (bool(self.networks and origin) and self._has(ip_network(origin)))

    def _has(self, origin: Network) -> bool:
        address = int(origin.network_address)
        return any(
            version == origin.version
            and length <= origin.prefixlen
            and address >> (origin.max_prefixlen - length) in found
            for (version, length), found in self.networks.items()
        )


def target(text: str) -> tuple[str, str]:
    """Return what `text` names, as a line of the file begins: an address or a network, else a name.

    Raises ValueError where it is neither.
    """
    network = network_in(text)
    if network is not None:
        single = network.prefixlen == network.max_prefixlen
        return ADDRESS, str(network.network_address if single else network)
    if not folded(text[: LONGEST_NAME + 1]) or len(text) > LONGEST_NAME or not text.isprintable():
        raise ValueError(f"not an address, a network or a name of up to {LONGEST_NAME} visible characters")
    return NAME, folded(text)


def network_in(text: str) -> Network | None:
    """Return the network that `text` is, such as 192.0.2.0/24 or an address; None if it is none.

    An IPv4 address in the form of an IPv6 one is the IPv4 address, as it is where clients are told apart.
    """
    try:
        network = ip_network(text, strict=False)
    except ValueError:
        return None
    mapped = network.network_address.ipv4_mapped if isinstance(network, IPv6Network) else None
    if mapped is not None and network.prefixlen >= _MAPPED:
        return IPv4Network((mapped, network.prefixlen - _MAPPED))
    if isinstance(network, IPv6Network) and network.prefixlen > PREFIX:
        return network.supernet(new_prefix=PREFIX)
    return network


def read_bans(file: str) -> Bans:
    """Return the bans in a file, none where there is no file. Raises OSError, ValueError."""
    bans = Bans()
    with suppress(FileNotFoundError):
        for where, line in entries(file, OPTION):
            kind, who = [*line.split("\t"), ""][:2]
            network = network_in(who) if kind == ADDRESS else None
            if network is not None:
                bans.add(network)
            elif kind == NAME and folded(who[:LONGEST_NAME]):
                bans.names.add(folded(who[:LONGEST_NAME]))
            else:
                raise ValueError(f"{where}: not `name` or `address`, a tab, and which")
    return bans


def reread_bans(file: str, old: Bans) -> Bans:
    """Return the bans in a file that had `old`. Raises as `read_bans`, also where it is gone with them."""
    if old != Bans() and not os.path.exists(file):
        raise ValueError(f"{file} is gone, with all bans; if that is meant, make an empty file")
    return read_bans(file)


def hang_up(hub: HubForBans, bans: Bans, clock: Callable[[], float], in_loop: "InLoop") -> None:
    """Hang up on all who are here and banned; they leave their games. For a thread."""
    seats = in_loop(hub.seats)
    for start in range(0, len(seats), AT_ONCE):
        in_loop(partial(_hang_up, hub, bans, seats[start : start + AT_ONCE], clock))


def _hang_up(hub: HubForBans, bans: Bans, seats: "Sequence[Seat]", clock: Callable[[], float]) -> None:
    for seat in seats:
        if not seat.manners.house and bans.hold(folded(seat.name or ""), seat.origin):
            hub.submit(seat, Leave(), clock())
