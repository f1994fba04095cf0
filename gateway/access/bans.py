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
from typing import TYPE_CHECKING, Any, Protocol

from gateway.access.addresses import PREFIX, Network
from gateway.access.linefile import entries, locked, rewrite
from gateway.game.commands import LONGEST_NAME, Command, Leave, folded
from gateway.game.text import is_visible

if TYPE_CHECKING:
    from gateway.hub.seats import Seat
    from gateway.runtime.files import InLoop

OPTION = "--players"
"""The option beside whose file the bans are."""
HEADER = "# Bans of c4gateway: `name` or `address`, which, notes, with tabs between them.\n"
LONGEST_NOTES = 1000
NAME, ADDRESS = "name", "address"
"""What a line of the file is about."""
AT_ONCE = 5
"""Players whom one turn of the event loop looks at after a reload."""
_MAPPED = 96
"""Bits of an IPv6 address before the IPv4 address that it stands for."""


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


def bans_of(text: str) -> Bans:
    """Return a ban of nobody but whom `text` names. Raises ValueError, as `target`."""
    bans, (kind, who) = Bans(), target(text)
    network = network_in(who)
    if kind == NAME or network is None:
        bans.names.add(who)
    else:
        bans.add(network)
    return bans


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
    if isinstance(network, IPv6Network) and network.prefixlen > PREFIX:  # who has one of these has all
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


def ban(file: str, who: tuple[str, str], notes: str = "") -> bool:
    """Add a ban to a file; return False if it is there already. Raises OSError, ValueError."""
    if fault := fault_of_notes(notes):
        raise ValueError(fault)
    line = "\t".join([*who, *([notes] if notes else [])])
    with locked(file) as path:
        if who in banned(path):
            return False
        rewrite(path, HEADER, lambda lines: [*lines, f"{line}\n"])
    return True


def fault_of_notes(notes: str) -> str | None:
    """Return why notes cannot stand in a file; None if they can."""
    if len(notes) > LONGEST_NOTES or notes != notes.strip() or not all(map(is_visible, notes)):
        return f"notes have at most {LONGEST_NOTES} visible characters, and no blanks around them"
    return None


def unban(file: str, who: tuple[str, str]) -> bool:
    """Take a ban out of a file; return False if it is not there. Raises OSError, ValueError."""
    with locked(file) as path:
        if who not in banned(path):
            return False
        rewrite(path, HEADER, lambda lines: [line for line in lines if _target(line) != who])
    return True


def banned(file: str) -> set[tuple[str, str] | None]:
    """Return what the lines of a file ban. Raises OSError, ValueError."""
    read_bans(file)
    try:
        with open(file, encoding="utf-8-sig") as lines:
            return {_target(line) for line in lines}
    except FileNotFoundError:
        return set()


def _target(line: str) -> tuple[str, str] | None:
    """Return whom a line of a file that could be read bans; None for a comment."""
    kind, _, rest = line.rstrip("\n").partition("\t")
    who = rest.partition("\t")[0]
    return None if line.startswith("#") or not who else (kind, target(who)[1])


def hang_up(hub: HubForBans, bans: Bans, clock: Callable[[], float], in_loop: "InLoop") -> int:
    """Hang up on all who are here and banned; they leave their games. Return how many. For a thread.

    A player of another node who is here for a series counts there.
    """
    seats, count = in_loop(hub.seats), 0
    for start in range(0, len(seats), AT_ONCE):
        count += in_loop(partial(_hang_up, hub, bans, seats[start : start + AT_ONCE], clock))
    return count


def is_meant(bans: Bans, seat: "Seat") -> bool:
    """Whether a player is banned by its address, its name, or the one that it has asked for."""
    return any(bans.hold(folded(name), seat.origin) for name in seat.names)


def _hang_up(hub: HubForBans, bans: Bans, seats: "Sequence[Seat]", clock: Callable[[], float]) -> int:
    found = [seat for seat in seats if not seat.manners.house and not seat.is_gone and is_meant(bans, seat)]
    for seat in found:
        hub.submit(seat, Leave(), clock())
    return sum(not seat.is_remote for seat in found)
