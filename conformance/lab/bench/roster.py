"""Who plays: the bots of a plan, in pairs, with names and tables that no other run has.

Knows all kinds of bots by name; does not connect.
"""

from collections.abc import Iterator
from itertools import cycle

from conformance.lab.bench.arena import Arena
from conformance.lab.bench.book import Book
from conformance.lab.bench.bots import Bot, Club
from conformance.lab.bench.droidcon import Droidcon
from conformance.lab.bench.echo import LineEcho, TextEcho
from conformance.lab.bench.nac4 import Nac4
from conformance.lab.bench.plan import TCP, WEBSOCKET, Couple, Plan
from conformance.lab.bench.script import Script, Ticket
from conformance.values import Encoding


def script_of(kind: str) -> Script:
    """Return what a kind of bot hears and answers. Raises KeyError."""
    scripts: dict[str, Script] = {
        "droidcon": Droidcon(),
        "nac4": Nac4(),
        "arena-json": Arena(Encoding.JSON),
        "arena-edn": Arena(Encoding.EDN),
        TCP: LineEcho(),
        WEBSOCKET: TextEcho(),
    }
    return scripts[kind]


def roster(plan: Plan, token: str, club: Club) -> Iterator[Bot]:
    """Yield all bots, pair by pair. `token` is of letters and digits, and in no other run."""
    books = {kind: Book(kind, script_of(kind)) for couple in plan.couples for kind in couple}
    for couple, number in zip(cycle(plan.couples), range(plan.pairs), strict=False):
        tickets = _tickets(couple, f"{token}n{number}", has_tables=plan.is_gateway)
        pair = [Bot(books[kind], ticket, club) for kind, ticket in zip(couple, tickets, strict=True)]
        pair[0].peer, pair[-1].peer = pair[-1], pair[0]
        yield from pair


def _tickets(couple: Couple, name: str, *, has_tables: bool) -> list[Ticket]:
    names = [name + letter for letter, _ in zip("ab", couple, strict=False)]
    return [
        Ticket(own, other, name, has_tables=has_tables)
        for own, other in zip(names, reversed(names), strict=True)
    ]
