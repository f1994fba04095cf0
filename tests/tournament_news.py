"""Tournaments made by hand: their logs, and the games that belong to them."""

from collections.abc import Sequence
from dataclasses import replace

from game_records import game, numbered, rows

from gateway.game.board import Side, other
from gateway.game.events import Reason
from gateway.store import storing, tournaments
from gateway.store.database import Database
from gateway.store.records import GameRecord, Participant, TournamentGame
from gateway.tournament.log import (
    Begun,
    Ended,
    Entered,
    Entry,
    Forfeited,
    Known,
    Paired,
    Withdrawn,
    written,
)
from gateway.tournament.settings import parse

NAMES = ("ann", "bob", "cat", "dan")


def begun(names: Sequence[str] = NAMES) -> list[Entry]:
    """Return the entries of a tournament that these players have begun, the strongest first."""
    return [*map(Entered, names), Begun([*range(len(names))])]


def played(
    pairing: int,
    number: int,
    names: tuple[str, str],
    winner: Side | None = 0,
    reason: Reason = Reason.FOUR,
    fault: str | None = None,
) -> GameRecord:
    """Return a game of a pairing of two players; `names` has the first mover first."""
    culprit = None if fault is None or winner is None else other(winner)
    return game(
        players=(Participant(names[0], "nac4"), Participant(names[1], "arena")),
        winner=winner,
        reason=reason,
        counted=reason is not Reason.STOPPED,
        scheduled=TournamentGame(pairing, number, culprit, fault),
    )


SWISS: list[Entry] = [
    *begun((*NAMES, "eve")),
    Paired([(0, 1, 1), (2, 3, 1), (4, None, 1)]),
    Forfeited(1, [1], [3]),
    Withdrawn(3, "3 faults in a row", may_return=True),
    Paired([(0, 4, 2), (2, 1, 2)]),
]
"""Five players in the second of three rounds. eve had a bye; dan did not come to a game, and is withdrawn."""
SWISS_GAMES = (
    played(0, 0, ("ann", "bob")),
    played(0, 1, ("bob", "ann"), 1, Reason.ILLEGAL, "illegal"),
    played(1, 0, ("cat", "dan"), None, Reason.STOPPED),
    played(1, 0, ("cat", "dan"), None, Reason.FULL),
    played(3, 0, ("ann", "eve")),
)
"""The server stopped a game of cat and dan, so it was played again."""
KNOCKOUT: list[Entry] = [
    *begun(NAMES[:3]),
    Paired([(0, None, 1), (1, 2, 1)]),
    Paired([(0, 1, 2)]),
    Ended(),
]
"""Three players, of whom ann had a bye in the first round and won the final."""
KNOCKOUT_GAMES = (
    played(1, 0, ("bob", "cat")),
    played(1, 1, ("cat", "bob"), 1),
    played(2, 0, ("ann", "bob")),
    played(2, 1, ("bob", "ann"), 1),
)


def add(
    database: Database, settings: str, entries: Sequence[Entry] = (), games: Sequence[GameRecord] = ()
) -> None:
    """Store a tournament with its log and its games."""
    name = parse(settings).name
    with database.writing() as connection:
        tournaments.create(connection, name.casefold(), settings)
        if entries:
            tournaments.append(connection, name.casefold(), Known(), [*map(written, entries)])
        there = connection.exec_driver_sql("SELECT count(*) FROM games").scalar_one()
        placed = [replace(each, table=name) for each in games]
        storing.store(connection, rows(numbered(placed, there + 1)))
