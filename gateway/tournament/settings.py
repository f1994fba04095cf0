"""The settings of a tournament: a TOML file, its keys, and what makes it invalid.

Pure. The text of the file is stored as it is, so that its author finds it again.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gateway.game.commands import HOUSE_PLAYERS, LONGEST_NAME, folded, is_house_name
from gateway.game.text import did_you_mean, is_visible, quoted
from gateway.tournament.formats import fault_of
from gateway.tournament.standings import TIE_BREAKS

FORMATS = ("round-robin", "gauntlet", "swiss", "knockout", "ladder")
SECOND = ("knockout", "swiss", "round-robin")
"""The formats of a second stage."""
MOST_GROUPS = 32
DRAW = "draw"
"""The word for a draw in acts of the director. No player of a tournament has this name."""
ROSTER = "roster"
"""The value of `Settings.groups` for the groups of the roster."""
MOST_PLAYERS = 128
"""The most players of a tournament."""
MOST_PAIRINGS = 10_000
"""The most pairings of a round robin."""
_EARLIEST, _LATEST = 946_684_800, 253_370_764_799  # from the year 2000 to 9998
MOST_GAMES = 1_000
"""The most games of a pairing."""
LONGEST = 16_384
"""The longest file, in characters."""

T = TypeVar("T")

EXAMPLE = """\
# A tournament for `c4gateway tournament new FILE`. Bots enter by sitting down at the table of this name:
# by ?table=cup in the URL, by "table": "cup", or by JOIN cup, depending on their protocol.
name = "cup"

# round-robin: each two meet. gauntlet: the first player meets each other. swiss: players with about the same
# score meet. knockout: who loses a pairing is out. ladder: near neighbours meet, until the director ends it.
format = "round-robin"

# It begins when so many players are here; or at a time; or, without both, with c4gateway tournament start.
players = 4
# start = 2026-11-28T10:00:00+01:00

games = 2               # of each pairing; even, since the first move is swapped after each game
cycles = 1              # round-robin and gauntlet: how often each two meet
# rounds = 7            # swiss: by default as many as a knockout of these players has
extra = 2               # knockout: how many times a drawn pairing is played again, before time decides
rest = 30               # ladder: seconds between two pairings of a player
break = 0               # swiss: seconds between two rounds; also between two stages

# groups = 4            # round-robin: only players of a group meet; "roster" for the groups of the roster
# then = "knockout"     # a second stage of another format, seeded by the first one; nobody enters it late
# advance = 2           # how many players of each group (without groups: of all) play in it; 0 is all

house = []              # players of the server that take part, such as "aima" and "random"
expected = []           # names that take part from the beginning, also if they are not here
# entry-test = "random" # who enters first plays two games against this player of the server, without a fault
late = true             # whether players may enter after the beginning
seeds = "rating"        # or a list of names, the strongest first

boards = 0              # how many pairings are played at the same time; 0 is no limit
walkover = 30           # seconds after which a player that is not here loses its pairing
grace = 30              # seconds for which a player whose connection broke in a game may come back to it
faults = 3              # after so many faults in a row a player is withdrawn, until it comes back
rated = true            # whether the games count in standings and ratings of the server
live-evaluation = true  # whether the page says who is winning a game that is on, if it has a solver
tie-breaks = ["game-points", "direct", "buchholz", "sonneborn-berger", "faults"]

# [roster]              # with it, only these names may enter, each with its group, which may be empty
# alice = "10a"         # c4gateway tournament new cup.toml --roster class.csv adds it from a file
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a tournament. Keys in the file have hyphens instead of underscores."""

    name: str
    format: str
    """One of `FORMATS`."""
    players: int | None = None
    """The tournament begins when so many players are here: 2 to `MOST_PLAYERS`."""
    start: float | None = None
    """When the tournament begins, in Unix time. At most one of `players` and `start` is given."""
    games: int = 2
    """The number of games of each pairing; even, 2 to `MOST_GAMES`."""
    cycles: int = 1
    """How often each two meet in a round robin or gauntlet, 1 to 100."""
    rounds: int | None = None
    """The number of Swiss rounds, 1 to `MOST_PLAYERS`; None for as many as a knockout would have."""
    extra: int = 2
    """How many further pairings a drawn pairing of a knockout gets, 0 to 100."""
    rest: float = 30.0
    """Seconds between two pairings of a player of a ladder, 0 to 86,400."""
    break_: float = 0.0
    """Seconds between two Swiss rounds and between two stages, 0 to 86,400."""
    groups: int | str = 0
    """The number of groups, 2 to `MOST_GROUPS`, or `ROSTER`; 0 without groups."""
    then: str = ""
    """The format of the second stage, one of `SECOND`; empty without one."""
    advance: int = 0
    """How many players of each group play in the second stage; 0 for all."""
    house: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    entry_test: str = ""
    """The house player that everybody has to play before entering; empty without a test."""
    roster: Mapping[str, str] = field(default_factory=dict)
    """The names that may enter, and the group of each; empty if every name may."""
    late: bool = True
    seeds: tuple[str, ...] | None = None
    """The names in the order of their strength; None for the order by rating."""
    boards: int = 0
    walkover: float = 30.0
    """Seconds, 1 to 86,400."""
    grace: float = 30.0
    """Seconds for which a seat is kept during a game for a player whose connection broke, 0 to 3,600."""
    faults: int = 3
    rated: bool = True
    live_evaluation: bool = True
    """Whether viewers may know who is winning a game that is on."""
    tie_breaks: tuple[str, ...] = tuple(TIE_BREAKS)

    @property
    def most_players(self) -> int:
        """The most players that the tournament can have, 2 to `MOST_PLAYERS`."""
        if "round-robin" in (self.format, self.then):
            return min(MOST_PLAYERS, int((2 * MOST_PAIRINGS / self.cycles) ** 0.5))
        return MOST_PLAYERS

    @property
    def key(self) -> str:
        """The casefolded name: that of the table, and the one by which tournaments are found."""
        return self.name.casefold()


def parse(text: str) -> Settings:
    """Return the settings of a file. Raises ValueError, with one line that names the key."""
    if len(text) > LONGEST:
        raise ValueError(f"the file has more than {LONGEST} characters")
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(str(error)) from error
    except RecursionError as error:
        raise ValueError("arrays or tables are nested too deeply") from error
    for key in given:
        if key not in _READERS:
            raise ValueError(f"there is no key {quoted(key)}{did_you_mean(key, _READERS)}")
    for key in ("name", "format"):
        if key not in given:
            raise ValueError(f"the key {key} is missing; c4gateway tournament new --example shows a file")
    values = dict[str, Any]()
    for key, value in given.items():
        try:
            values["break_" if key == "break" else key.replace("-", "_")] = _READERS[key](value)
        except ValueError as error:
            raise ValueError(f"{key}: {error}") from error
    settings = Settings(**values)
    _check(settings)
    return settings


def _check(settings: Settings) -> None:
    """Raise ValueError if the values do not fit together."""
    if settings.players is not None and settings.start is not None:
        raise ValueError("players and start exclude each other: give one of them")
    if settings.rounds is not None and "swiss" not in (settings.format, settings.then):
        raise ValueError(f"rounds: a {settings.format} has no rounds that can be chosen; only swiss has")
    if settings.groups and settings.format != "round-robin":
        raise ValueError(f"groups: a {settings.format} has no groups; only round-robin has")
    if settings.groups == ROSTER and not (settings.roster and all(settings.roster.values())):
        raise ValueError('groups: "roster" needs a roster in which each name has a group')
    if settings.groups == ROSTER and len({*settings.roster.values()}) > MOST_GROUPS:
        raise ValueError(f"groups: the roster has more than {MOST_GROUPS} groups")
    if settings.then and settings.format not in ("round-robin", "swiss"):
        raise ValueError(f"then: a {settings.format} has no second stage; only round-robin and swiss have")
    if settings.advance == 1 and not settings.groups:
        raise ValueError("advance: one player cannot play a second stage")
    if settings.advance and not settings.then:
        raise ValueError("advance: there is no second stage; the key then gives its format")
    outside = [name for name in settings.expected if settings.roster and name not in settings.roster]
    if outside:
        raise ValueError(f"expected: {quoted(outside[0])} is not in the roster")
    if settings.players is None:
        return  # more players than those in the file may enter before the beginning
    if settings.players > settings.most_players:
        raise ValueError(f"players: with {settings.cycles} cycles {settings.most_players} at most")
    named = len(settings.house) + len(settings.expected)
    if named > settings.players:
        raise ValueError(f"players: {named} players are named in the file, more than {settings.players}")
    if (fault := fault_of(settings.format, settings.players, settings.rounds)) is not None:
        raise ValueError(fault)


def _name(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or value != value.strip():
        raise ValueError("not a name: it has to be a text in quotes, without blanks around it")
    if len(value) > LONGEST_NAME or not all(map(is_visible, value)):
        raise ValueError(f"not a name of up to {LONGEST_NAME} visible characters")
    return value


def _table(value: object) -> str:
    name = _name(value)
    if name.casefold() == "lobby":
        raise ValueError("the table called lobby is the lobby; choose another name")
    if name.startswith("@") or name in (".", ".."):
        raise ValueError(f"{quoted(name)} cannot be the name of a table; choose another name")
    return name


def _whole(least: int, most: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        if type(value) is not int or not least <= value <= most:
            raise ValueError(f"{value!r} is not a whole number from {least} to {most}")
        return value

    return read


def _even(value: object) -> int:
    number = _whole(2, MOST_GAMES)(value)
    if number % 2:
        raise ValueError(f"{number} is odd; it has to be even, since the first move is swapped each game")
    return number


def _seconds(least: int, most: int) -> Callable[[object], float]:
    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise ValueError(f"{value!r} is not a number of seconds from {least} to {most}")
        return float(value)

    return read


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} is neither true nor false")
    return value


def _moment(value: Any) -> float:
    if getattr(value, "tzinfo", None) is None:  # of the values of TOML, only a time with a zone has one
        raise ValueError("not a time with a zone, such as 2026-11-28T10:00:00+01:00, without quotes")
    moment: float = value.timestamp()
    if not _EARLIEST <= moment <= _LATEST:
        raise ValueError("not a time from the year 2000 to 9998")
    return moment


def _one_of(choices: Sequence[str]) -> Callable[[object], str]:
    def read(value: object) -> str:
        if not isinstance(value, str) or value not in choices:
            hint = did_you_mean(value, choices) if isinstance(value, str) else ""
            raise ValueError(f"{value!r} is none of {', '.join(choices)}{hint}")
        return value

    return read


def _list_of(read: Callable[[object], str]) -> Callable[[object], tuple[str, ...]]:
    def read_all(value: object) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise ValueError('not a list of texts, such as ["one", "two"]')
        if len(value) > MOST_PLAYERS:
            raise ValueError(f"more than {MOST_PLAYERS}")
        found = tuple(map(read, value))
        for each in found:
            if found.count(each) > 1:
                raise ValueError(f"{quoted(each)} is there twice")
        return found

    return read_all


def _player(value: object) -> str:
    name = _name(value)
    if name.casefold() == DRAW:
        raise ValueError(f"{quoted(name)} is the word for a draw, and cannot be the name of a player")
    if is_house_name(name):
        raise ValueError(f"{quoted(name)} is a player of the server, which belongs in the key house")
    return name


def _house(value: object) -> str:
    return _one_of(sorted(HOUSE_PLAYERS))(value)


def _groups(value: object) -> int | str:
    return ROSTER if value == ROSTER else _whole(2, MOST_GROUPS)(value)


def _roster(value: object) -> Mapping[str, str]:
    if not isinstance(value, dict):
        raise ValueError('not a table of names and groups, such as alice = "10a"')
    if len(value) > MOST_PLAYERS:
        raise ValueError(f"more than {MOST_PLAYERS} names")
    groups, known = dict[str, str](), dict[str, str]()
    for name, group in value.items():
        same = known.setdefault(folded(name), name)
        if same != name:
            raise ValueError(f"{quoted(same)} and {quoted(name)} are the same name")
        groups[_player(name)] = "" if group == "" else _name(group)
    return groups


def _seeds(value: object) -> tuple[str, ...] | None:
    return None if value == "rating" else _list_of(_name)(value)


_READERS: Mapping[str, Callable[[object], Any]] = {
    "name": _table,
    "format": _one_of(FORMATS),
    "players": _whole(2, MOST_PLAYERS),
    "start": _moment,
    "games": _even,
    "cycles": _whole(1, 100),
    "rounds": _whole(1, MOST_PLAYERS),
    "extra": _whole(0, 100),
    "rest": _seconds(0, 86_400),
    "break": _seconds(0, 86_400),
    "groups": _groups,
    "then": _one_of(SECOND),
    "advance": _whole(0, MOST_PLAYERS),
    "house": _list_of(_house),
    "expected": _list_of(_player),
    "entry-test": _house,
    "roster": _roster,
    "late": _truth,
    "seeds": _seeds,
    "boards": _whole(0, 10_000),
    "walkover": _seconds(1, 86_400),
    "grace": _seconds(0, 3_600),
    "faults": _whole(1, 1_000),
    "rated": _truth,
    "live-evaluation": _truth,
    "tie-breaks": _list_of(_one_of([*TIE_BREAKS])),
}
