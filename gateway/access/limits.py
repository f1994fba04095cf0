"""Limits on open connections, for each address and in total, and on how often an address connects.

Pure: the time comes in as an argument. An address is a string, the same for all clients that are counted
together (`addresses.origin_at`). Does not know sockets or dialects.
"""

from dataclasses import dataclass
from enum import Enum
from math import inf

from gateway.options.names import CONNECTS, PER_ADDRESS

BURST = 2.0
"""In seconds. Connections that an address's rate allows in this time may all be opened at once."""
PATIENCE = 5.0
"""The longest wait of a connection, in seconds. A connection of an address that connects too fast waits. If
it would have to wait longer than this, it is refused."""
REMEMBERED = 65_536
"""The number of addresses whose rate is remembered. If many more addresses connect, some of them are not
limited."""


class Refusal(Enum):
    """Why a connection is refused. The value is the option that sets the limit."""

    CONNECTIONS = "max-connections"
    ADDRESS = "max-per-address"
    CONNECTS = "connects-per-second"

    @property
    def text(self) -> str:
        """The sentence for the client, in ASCII."""
        return _TEXTS[self]


_TEXTS = {
    Refusal.CONNECTIONS: "The server is full. Try again later.",
    Refusal.ADDRESS: "Too many connections from your address are open. Close one first.",
    Refusal.CONNECTS: "Your address connects too often. Try again in some seconds.",
}


LIMITS = frozenset((*(each.value for each in Refusal), "system"))
"""Names of all limits on connections: the options, and ``system`` for the operating system's own."""


@dataclass(frozen=True, slots=True)
class AddressLimits:
    """The limits of one address."""

    connections: float = inf
    """The most connections that may be open at once."""
    connects: float = inf
    """The most connections that may be opened per second."""


class ConnectionCounts:
    """Counts open connections by address. Call `leave` once for each connection that `enter` admits."""

    def __init__(
        self, most: float = inf, others: AddressLimits | None = None, local: AddressLimits | None = None
    ):
        """Limit all addresses together to `most` connections.

        `local` are the limits of each of this machine's own addresses. `others` are the limits of any other
        address.
        """
        self._most = most
        self._others = others or AddressLimits()
        self._local = local or AddressLimits()
        self._open: dict[str, int] = {}
        self._total = 0
        self._connects = _Connects()

    def enter(self, origin: str, now: float) -> Refusal | float:
        """Admit a connection and return the seconds it has to wait, up to `PATIENCE`; or return the refusal.

        A connection counts while it waits. A client without an origin has no limits by address.
        """
        if self._total >= self._most:
            return Refusal.CONNECTIONS
        entry = self._count(origin, now)
        if not isinstance(entry, Refusal):
            self._total += 1
        return entry

    def move(self, origin: str, to: str, now: float) -> Refusal | float:
        """Count an open connection at the address `to` in place of `origin`. Returns the same as `enter`.

        If the connection is refused, it still counts at `origin`.
        """
        entry = self._count(to, now)
        if not isinstance(entry, Refusal):
            self._forget(origin)
        return entry

    def _count(self, origin: str, now: float) -> Refusal | float:
        limits = self._limits_at(origin)
        open_now = self._open.get(origin, 0)
        if open_now >= limits.connections:
            return Refusal.ADDRESS
        wait = self._connects.wait(origin, limits.connects, now)
        if wait > PATIENCE:
            return Refusal.CONNECTS
        self._open[origin] = open_now + 1
        return wait

    def _limits_at(self, origin: str) -> AddressLimits:
        if not origin:
            return AddressLimits()
        return self._local if is_local(origin) else self._others

    def leave(self, origin: str) -> None:
        """Stop counting a connection."""
        self._total -= 1
        self._forget(origin)

    def _forget(self, origin: str) -> None:
        self._open[origin] -= 1
        if not self._open[origin]:
            del self._open[origin]


class _Connects:
    """Limits how fast addresses connect, by the generic cell rate algorithm.

    A time is stored for each address. A connection sets it to the later of now and the stored time, plus 1 /
    `rate` seconds. The further the time is in the future, the longer the next connection waits. A time in the
    past has no effect. The addresses are therefore kept in two dictionaries, and the older dictionary is
    dropped from time to time.
    """

    def __init__(self) -> None:
        self._ahead: dict[str, float] = {}
        self._older: dict[str, float] = {}
        self._since = -inf

    def wait(self, origin: str, rate: float, now: float) -> float:
        """Return how many seconds a connection has to wait; count it if that is at most `PATIENCE`."""
        if rate == inf:
            return 0.0
        if now > self._since + BURST + PATIENCE or len(self._ahead) >= REMEMBERED:
            self._ahead, self._older, self._since = {}, self._ahead, now
        ahead = max(now, self._ahead.get(origin, self._older.get(origin, now))) + 1 / rate
        wait = max(0.0, ahead - BURST - now)
        if wait <= PATIENCE:
            self._ahead[origin] = ahead
        return wait


def is_local(origin: str) -> bool:
    """Whether clients with this origin are on this machine."""
    return origin.startswith("127.") or origin == "::/64"


def limited_connections(most: int, per_address: int | None, connects: int | None) -> ConnectionCounts:
    """Return counts with the limits of the options. 0 means no limit, None means the default.

    A limit by address that the operator sets applies to this machine's own addresses, too. The default limits
    do not apply to them, because tests, measurements and a reverse proxy that is not trusted use these
    addresses. All clients of such a proxy have the proxy's address.
    """
    others = AddressLimits(
        _limit(PER_ADDRESS if per_address is None else per_address),
        _limit(CONNECTS if connects is None else connects),
    )
    return ConnectionCounts(
        _limit(most), others, AddressLimits(_limit(per_address or 0), _limit(connects or 0))
    )


def _limit(option: int) -> float:
    return option or inf
