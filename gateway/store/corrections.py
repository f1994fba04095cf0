"""An operator's corrections of stored games: excluding a game from statistics, renaming a player.

Knows the tables. No game is removed. Each correction is one transaction, which also computes the totals and
ratings that depend on it.
"""

from sqlalchemy import select, update

from gateway.game.commands import LONGEST_NAME, is_house_name
from gateway.game.ids import GameId
from gateway.game.text import is_visible, printable, quoted
from gateway.store import StoreError, storing
from gateway.store.database import Database
from gateway.store.names import unknown
from gateway.store.schema import games, players
from gateway.store.totals import Ratings


def void(database: Database, game: GameId) -> str:
    """Exclude a game from totals and ratings; return the text for the operator.

    All totals and ratings are computed again, which takes 30 s for a million games. Other writers wait
    meanwhile. Raises StoreError if the game does not exist or is already excluded.
    """
    with database.writing() as connection:
        counted = connection.scalar(select(games.c.counted).where(games.c.game == game))
        if not counted:
            raise StoreError(
                f"game {game} " + ("is not stored" if counted is None else "counts no more already")
            )
        without_ratings = dict.fromkeys(Ratings._fields)
        connection.execute(update(games).where(games.c.game == game).values(counted=False, **without_ratings))
        storing.recount(connection)
    return f"game {game} is kept and counts no more; totals and ratings are computed again\n"


def rename(database: Database, old: str, new: str) -> str:
    """Rename a player in all its games; return the text for the operator.

    Raises StoreError if no player has the old name, if another player has the new name, or if the new name is
    not valid.
    """
    fault = _fault(new)
    if fault is not None:
        raise StoreError(f"{quoted(new)}: {fault}")
    with database.writing() as connection:
        house = connection.scalar(select(players.c.house).where(players.c.name == old))
        if house is None:
            raise unknown(connection, old)
        if house:
            raise StoreError(f"{quoted(old)} is one of the server's own players")
        if connection.scalar(select(players.c.id).where(players.c.name == new)) is not None:
            taken = f"{quoted(new)} has stored games of its own, and two players cannot be made one"
            raise StoreError(f"{taken}; take another name, or rename {quoted(new)} first")
        connection.execute(update(players).where(players.c.name == old).values(name=new))
    return (
        f"{printable(old)} is called {printable(new)} in all stored games\n"
        f"a bot that is connected as {printable(old)} comes back under that name with its next game, until it"
        " sends the new one; games under two names cannot be put together\n"
    )


def _fault(name: str) -> str | None:
    """Return the reason for which a name is not valid for a player; None if the name is valid."""
    if not name.strip() or len(name) > LONGEST_NAME or not all(map(is_visible, name)):
        return f"not a name of up to {LONGEST_NAME} visible characters"
    return "this is a name of the server's own players" if is_house_name(name) else None
