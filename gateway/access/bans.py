"""Banned names, addresses and networks, in a file beside the file of protected names.

Knows the file, and how to look up a name or an address. Does not know which players are connected
(`gateway.server.operating` disconnects them), or how a dialect words a refusal.
"""

import os
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any, TypeAlias

from gateway.access.tablefile import TableFile
from gateway.game.commands import LONGEST_NAME, folded
from gateway.game.text import is_visible
from gateway.runtime.addresses import PREFIX, Network

LONGEST_NOTES = 1000
_MAPPED = 96
"""The number of bits before the IPv4 address in an IPv4-mapped IPv6 address."""
_HEADER = "# Bans of c4gateway: `name` or `address`, which, notes, with tabs between them.\n"
_NAME, _ADDRESS = "name", "address"
"""The two kinds of lines in the file."""

Target: TypeAlias = str | Network
"""The target of a ban: a folded name, or a network, which may be a single address."""


@dataclass(slots=True)
class Bans:
    """Banned names and networks. The time for a lookup does not depend on their number."""

    names: set[str] = field(default_factory=set)
    """The names, folded."""
    networks: dict[tuple[int, int], set[int]] = field(default_factory=dict)
    """The prefixes of the banned networks, by IP version and prefix length."""

    def add(self, who: Target) -> None:
        """Ban a name or a network."""
        if isinstance(who, str):
            self.names.add(who)
        else:
            bits = int(who.network_address) >> (who.max_prefixlen - who.prefixlen)
            self.networks.setdefault((who.version, who.prefixlen), set()).add(bits)

    def clear(self) -> None:
        """Remove all bans, one at a time, so that other threads can run meanwhile."""
        every: list[set[Any]] = [self.names, *self.networks.values()]
        for entries in every:
            while entries:
                entries.pop()

    def hold(self, name: str, origin: str) -> bool:
        """Whether the folded name `name` or the address `origin` is banned. Both may be empty."""
        return name in self.names or (bool(self.networks and origin) and self._has(ip_network(origin)))

    def _has(self, origin: Network) -> bool:
        address = int(origin.network_address)
        return any(
            version == origin.version
            and length <= origin.prefixlen
            and address >> (origin.max_prefixlen - length) in prefixes
            for (version, length), prefixes in self.networks.items()
        )


def target(text: str) -> Target:
    """Return the network or address in `text`, otherwise the name. Raises ValueError if it is neither."""
    network = network_in(text)
    if network is not None:
        return network
    if not folded(text[: LONGEST_NAME + 1]) or len(text) > LONGEST_NAME or not text.isprintable():
        raise ValueError(f"not an address, a network or a name of up to {LONGEST_NAME} visible characters")
    return folded(text)


def words(who: Target) -> tuple[str, str]:
    """Return the first two fields of a ban's line in the file: its kind, and the name or address."""
    if isinstance(who, str):
        return _NAME, who
    return _ADDRESS, str(who.network_address if who.prefixlen == who.max_prefixlen else who)


def bans_of(text: str) -> Bans:
    """Return `Bans` with only the target in `text`. Raises ValueError as `target` does."""
    bans = Bans()
    bans.add(target(text))
    return bans


def network_in(text: str) -> Network | None:
    """Parse a network, such as 192.0.2.0/24, or an address. Returns None if `text` is neither.

    An IPv4-mapped IPv6 address counts as the IPv4 address, as it does for the addresses of clients.
    """
    try:
        network = ip_network(text, strict=False)
    except ValueError:
        return None
    mapped = network.network_address.ipv4_mapped if isinstance(network, IPv6Network) else None
    if mapped is not None and network.prefixlen >= _MAPPED:
        return IPv4Network((mapped, network.prefixlen - _MAPPED))
    if isinstance(network, IPv6Network) and network.prefixlen > PREFIX:  # one client has the whole /64
        return network.supernet(new_prefix=PREFIX)
    return network


def bans_file(players: str) -> TableFile[Target]:
    """Return the file of bans that belongs to a file of protected names. It need not exist."""
    return TableFile(f"{players}.bans", _HEADER, _parse, is_optional=True)


def _parse(line: str) -> Target:
    kind, who = [*line.split("\t"), ""][:2]
    banned = network_in(who) if kind == _ADDRESS else folded(who[:LONGEST_NAME]) if kind == _NAME else None
    if not banned:
        raise ValueError("not `name` or `address`, a tab, and which")
    return banned


def read_bans(table: TableFile[Target], old: Bans | None = None) -> Bans:
    """Return the bans in a file. `old` are the bans that were read from the file before.

    Raises OSError or ValueError. A missing file is a ValueError if `old` has bans; otherwise there are no
    bans.
    """
    if old not in (None, Bans()) and not os.path.exists(table.path):
        raise ValueError(f"{table.path} is gone, with all bans; if that is meant, make an empty file")
    bans = Bans()
    table.read(bans.add)
    return bans


def ban(table: TableFile[Target], who: Target, notes: str = "") -> bool:
    """Add a ban to a file; return False if it is already there. Raises OSError, ValueError."""
    if fault := fault_of_notes(notes):
        raise ValueError(fault)
    with table.locked() as file:
        if is_new := who not in file.rows():
            file.add("\t".join([*words(who), *([notes] if notes else [])]))
    return is_new


def fault_of_notes(notes: str) -> str | None:
    """Return why notes are not valid; None if they are."""
    if len(notes) > LONGEST_NOTES or notes != notes.strip() or not all(map(is_visible, notes)):
        return f"notes have at most {LONGEST_NOTES} visible characters, and no blanks around them"
    return None


def unban(table: TableFile[Target], who: Target) -> bool:
    """Remove a ban from a file; return False if it is not there. Raises OSError, ValueError."""
    with table.locked() as file:
        if was_there := who in file.rows():
            file.remove(who)
    return was_there
