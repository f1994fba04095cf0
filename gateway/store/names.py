"""Queries for players by name: those that contain a text, the most active ones, the opponents of one.

Knows the tables. Reads all players, of which there are far fewer than games.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, ScalarSelect, func, or_, select, union_all

from gateway.game.text import did_you_mean, quoted
from gateway.store import StoreError
from gateway.store.schema import players, spelled, tallies

_GAMES = players.c.opened + players.c.replied


@dataclass(frozen=True, slots=True)
class Named:
    """A player that has finished a game."""

    name: str
    kind: str
    """The player's dialect in its last game."""
    games: int
    """The number of its games that count."""


def number_of(name: str) -> ScalarSelect[int]:
    """Return a subquery for the number of a player; NULL if there is no player of this name."""
    return select(players.c.id).where(players.c.name == name).scalar_subquery()


def unknown(connection: Connection, name: str) -> StoreError:
    """Return the error for a name that no stored game has. It suggests similar names."""
    suggested = did_you_mean(name, most_active(connection))
    return StoreError(f"no stored game has a player called {quoted(name)}{suggested}")


def containing(connection: Connection, text: str, limit: int) -> list[Named]:
    """Return up to `limit` players whose names contain a text, in upper or lower case.

    The name that is the text comes first, then those that differ only in case, then names that begin with the
    text; the most active players come first in each group.
    """
    # A database may ignore the case of ASCII letters only.
    cases = {text, text.lower(), text.upper(), text.title()}
    begins = or_(*(players.c.name.istartswith(each, autoescape=True) for each in cases))
    contains = or_(*(players.c.name.icontains(each, autoescape=True) for each in cases))
    exactly = players.c.name == text, func.lower(players.c.name) == spelled(text.lower())
    order = (*(each.desc() for each in (*exactly, begins)), _GAMES.desc(), players.c.name)
    query = select(players.c.name, players.c.kind, _GAMES).where(contains)
    return [Named(*row) for row in connection.execute(query.order_by(*order).limit(limit))]


def known(connection: Connection, names: Sequence[str]) -> list[str]:
    """Return those of the names whose players have finished a game."""
    return [*connection.scalars(select(players.c.name).where(players.c.name.in_(names)))]


def most_active(connection: Connection, limit: int | None = None) -> list[str]:
    """Return the names of the players with the most games that count."""
    query = select(players.c.name).order_by(_GAMES.desc(), players.c.name).limit(limit)
    return [*connection.scalars(query)]


def opponents(connection: Connection, name: str, limit: int) -> list[str]:
    """Return the names of a player's opponents, the most frequent first."""
    number = number_of(name)
    sides = ((tallies.c.first, tallies.c.second), (tallies.c.second, tallies.c.first))
    met = union_all(
        *(select(other.label("met"), tallies.c.games).where(own == number) for own, other in sides)
    ).subquery()
    query = (
        select(players.c.name)
        .join(met, players.c.id == met.c.met)
        .group_by(players.c.name)
        .order_by(func.sum(met.c.games).desc(), players.c.name)
    )
    return [*connection.scalars(query.limit(limit))]
