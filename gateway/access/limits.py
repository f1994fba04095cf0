"""How many connections one address and all addresses together may have.

Pure: the time comes in as an argument, and an address is a string whose clients count together
(`addresses.origin_at`). Does not know sockets, nor what a client is told.

An address that connects too fast is slowed first, and refused only when it would have to wait for longer than
`PATIENCE`. No default holds back this machine's own clients: tests, measurements, and a reverse proxy that
nobody trusts, behind which everybody has its address. What is remembered of addresses that have left is
bounded.
"""

from dataclasses import dataclass
from enum import Enum
from math import inf

from gateway.options.names import CONNECTS, PER_ADDRESS

BURST = 2.0
"""Seconds. The connections that an address may open in this time may also come at once."""
PATIENCE = 5.0
"""Seconds that a connection waits, at most, because its address connects too fast."""
REMEMBERED = 65_536
"""Addresses of which it is remembered how fast they connect. With many more, some are not held back."""


class Refusal(Enum):
    """Why a connection is not let in: the option that says so."""

    CONNECTIONS = "max-connections"
    ADDRESS = "max-per-address"
    CONNECTS = "connects-per-second"

    @property
    def text(self) -> str:
        """What to tell the client, a sentence in ASCII."""
        return _TEXTS[self]


_TEXTS = {
    Refusal.CONNECTIONS: "The server is full. Try again later.",
    Refusal.ADDRESS: "Too many connections from your address are open. Close one first.",
    Refusal.CONNECTS: "Your address connects too often. Try again in some seconds.",
}


LIMITS = frozenset((*(each.value for each in Refusal), "system"))
"""The limits on connections: the options, and the system's own."""


@dataclass(frozen=True, slots=True)
class AddressLimits:
    """What one address may have."""

    connections: float = inf
    connects: float = inf
    """A second."""


class ConnectionCounts:
    """How many are open, by address. Each connection that `enter` lets in is to `leave`."""

    def __init__(
        self, most: float = inf, others: AddressLimits | None = None, local: AddressLimits | None = None
    ):
        """All addresses together may have `most` connections, and each has its limits.

        `local` holds for this machine's own addresses, `others` for all others.
        """
        self._most = most
        self._others = others or AddressLimits()
        self._local = local or AddressLimits()
        self._open: dict[str, int] = {}
        self._total = 0
        self._connects = _Connects()

    def enter(self, origin: str, now: float) -> Refusal | float:
        """Let a connection in, or say why not.

        Return how many seconds it has to wait, up to `PATIENCE`; it is inside while it waits. A client
        without an origin has no limits by address.
        """
        if self._total >= self._most:
            return Refusal.CONNECTIONS
        entry = self._count(origin, now)
        if not isinstance(entry, Refusal):
            self._total += 1
        return entry

    def move(self, origin: str, to: str, now: float) -> Refusal | float:
        """Count a connection that is inside elsewhere than at `origin`, or say why not, as `enter` does.

        One that is refused still counts at `origin`.
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
        """Let a connection out."""
        self._total -= 1
        self._forget(origin)

    def _forget(self, origin: str) -> None:
        self._open[origin] -= 1
        if not self._open[origin]:
            del self._open[origin]


class _Connects:
    """How fast addresses connect.

    Each address has a time. A connect puts it 1 / `rate` seconds later, from now at least; how far it lies
    ahead says how fast the address connects. A time that has passed says nothing, so an address is forgotten
    after as long as its time can lie ahead, or twice that.
    """

    def __init__(self) -> None:
        self._ahead: dict[str, float] = {}
        self._older: dict[str, float] = {}
        self._since = -inf

    def wait(self, origin: str, rate: float, now: float) -> float:
        """Note a connect; return how long it has to wait. One that waits for too long is not noted."""
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
    """Whether clients with that origin are on this machine."""
    return origin.startswith("127.") or origin == "::/64"


def limited_connections(most: int, per_address: int | None, connects: int | None) -> ConnectionCounts:
    """Return connections with the limits of the options: 0 is no limit, None the usual one.

    A limit by address that somebody asked for holds for this machine's own addresses, too.
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
