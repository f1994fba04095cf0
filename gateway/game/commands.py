"""The commands of players, and the names and places in them.

Commands are plain values. `to` is the number of the client's message; 0 if the message has no number. A
refusal has the same number, so that the connection knows which message was refused.
"""

import unicodedata
from dataclasses import dataclass
from typing import TypeAlias

from gateway.game.events import Objection
from gateway.game.text import only_visible
from gateway.game.values import value

HOUSE_PLAYERS = frozenset({"random", "aima", "aimafast", "aima10", "perfect"})
"""The names of the house players. No other player may have them."""
NO_HOUSE = "none"
"""The word for no house player in the lobby, not even for a player that needs one."""
LONGEST_NAME = 256
"""The longest name of a player, of a table or in a wish, in characters."""


@dataclass(frozen=True, slots=True)
class Wish:
    """The name of the only opponent that a player accepts."""

    name: str
    any_case: bool = False
    """Whether the case of `name` is ignored."""

    @property
    def is_for_house(self) -> bool:
        """Whether the wish is for a house player. Case is ignored."""
        return self.name.casefold() in HOUSE_PLAYERS

    def grants(self, name: str) -> bool:
        """Whether the wish is for a player called `name`."""
        if self.any_case or self.is_for_house:
            return name.casefold() == self.name.casefold()
        return name == self.name


@dataclass(frozen=True, slots=True)
class InLobby:
    """The open pool, where anyone may be paired with anyone."""

    wish: Wish | None = None


@dataclass(frozen=True, slots=True)
class AtTable:
    """A table of two seats, for players who agreed on its name."""

    name: str
    must_be_taken: bool = False
    """Whether the player enters only if somebody has a seat at the table already."""

    @property
    def key(self) -> str:
        """The casefolded name, by which tables are found."""
        return self.name.casefold()


Place: TypeAlias = InLobby | AtTable
LOBBY = InLobby()


def plain(name: str) -> str:
    """Return `name` in normal width (NFKC), without invisible characters and superfluous blanks.

    The caller must have checked that `name` is not too long.
    """
    return _seen(unicodedata.normalize("NFKC", name))


def folded(name: str) -> str:
    """Return the casefolded result of `plain`, which is the same for all spellings of a name.

    The caller must have checked that `name` is not too long.
    """
    return _seen(unicodedata.normalize("NFKC", name).casefold())


def _seen(text: str) -> str:
    return " ".join(filter(None, map(only_visible, text.split())))


def is_house_name(name: str) -> bool:
    """Whether `name` is a spelling of one of `HOUSE_PLAYERS`.

    The caller must have checked that `name` is not too long.
    """
    return folded(name) in HOUSE_PLAYERS


def is_too_long(name: str | None, place: Place) -> bool:
    """Whether a player's name, or the name of its table or wish, is longer than `LONGEST_NAME`."""
    wanted = place.name if isinstance(place, AtTable) else None if place.wish is None else place.wish.name
    return any(each is not None and len(each) > LONGEST_NAME for each in (name, wanted))


@dataclass(frozen=True, slots=True)
class Introduce:
    """Set the player's name for further games."""

    name: str | None
    """None if the player leaves its series and its place, and gives up its name. It stays connected."""
    counted: bool = True
    """Whether the player's games count in statistics."""
    to: int = 0


@dataclass(frozen=True, slots=True)
class Enter:
    """Ask for an opponent."""

    place: Place
    name: str | None = None
    """The player's name; None for the name that `Introduce` has set."""
    to: int = 0
    proven: bool = False
    """Whether the client has sent the token of that name."""
    waits: bool = True
    """Whether the player is ready for a game. If not, it takes only its name, or its earlier seat."""
    resumes: bool = True
    """Whether a player that comes back after its connection broke goes on with its game. If not, the game is
    played again."""


@value
class Play:
    """Drop a disc."""

    column: int | None
    """Any integer; None if the client sent something else."""
    to: int = 0


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask for the state of the game."""

    to: int = 0


@dataclass(frozen=True, slots=True)
class Nothing:
    """Ask for nothing, as by an empty line in a dialect that allows one."""

    to: int = 0


@dataclass(frozen=True, slots=True)
class Unfit:
    """A valid message of the dialect that asks for something that does not exist."""

    to: int = 0


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A text that is not a message of the dialect."""

    to: int = 0


@dataclass(frozen=True, slots=True)
class Denied:
    """Ask for a name that the player may not have. The hub refuses it after a pause."""

    objections: Objection
    pause: float = 0.0
    """Seconds until the refusal."""
    to: int = 0


@dataclass(frozen=True, slots=True)
class Leave:
    """Leave the server: the last command of a client."""

    is_broken: bool = False
    """Whether the connection broke, so that the player may come back with another one."""


Command: TypeAlias = Introduce | Enter | Play | Ask | Nothing | Unfit | Unreadable | Denied | Leave


def place_for(table: str | None, wish: Wish | None) -> Place:
    """Return the place for a player that named a table, an opponent, both or neither.

    If both are named, the table is used. Blanks around the name of a table are ignored. A blank name counts
    as none. The name ``lobby``, in capitals or not, means the lobby, without a wish.
    """
    name = "" if table is None else table.strip()
    if not name:
        return InLobby(wish)
    if name.casefold() == "lobby":
        return InLobby()
    return AtTable(name)
