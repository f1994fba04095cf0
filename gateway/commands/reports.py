"""The commands on a database, such as ``c4gateway standings``, ``export`` and ``void``.

Knows the options of the commands and standard output; does not know the contents of the database or the
layout of texts. A server may write to the database meanwhile; only ``import``, ``recount`` and ``void`` make
it wait.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from gateway.access.tablefile import audited
from gateway.commands import standings, stored_games
from gateway.game.ids import GameId
from gateway.options.kinds import FILE, Kind, count, one_of
from gateway.options.names import AUDIT, DATABASE
from gateway.options.table import Command, Parser, argument, flag, option, run
from gateway.options.terminal import exit_status, in_one_line, write_out
from gateway.options.urls import database, password_of_database
from gateway.store import StoreError, corrections
from gateway.store.database import Database, open_to_read, open_to_write
from gateway.store.formats import FORMATS
from gateway.store.games import LOBBY, Filter
from gateway.store.records import REASONS, from_moment, typed_id
from gateway.store.statistics import ORDERS, Choice

_SINCE = (
    "at this time or later: 2026-11-21T14:00+01:00 (UTC if it has no zone), or 90m, 2h, 3d ago,"
    " or today, yesterday, week"
)


def main(arguments: Sequence[str]) -> int:
    """Run one of the commands; return its exit status: 0, 1 after an error, or 130 after Ctrl-C."""
    try:
        return exit_status(lambda: write_out(run(Parser("c4gateway"), COMMANDS, arguments)))
    except stored_games.RefusedError as error:
        words = str(error).splitlines()
    except StoreError as error:
        hint = "; --db says which database" if isinstance(error.__cause__, FileNotFoundError) else ""
        words = [f"{in_one_line(error)}{hint}"]
    for line in words:
        print(f"c4gateway: error: {line}", file=sys.stderr)
    return 1


# The kinds of option values. Each function parses a value, and raises ValueError.


def _name(text: str) -> str:
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError(f"{text!r} is not UTF-8, as names are")
    return text


def _game(text: str) -> GameId:
    try:
        return typed_id(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is not the id of a game") from error


def _moment(text: str) -> int:
    try:
        return from_moment(text)
    except ValueError as error:
        raise ValueError(
            f"{text!r} is not a time such as 2026-11-21, 2026-11-21T12:00+01:00 or 90m (minutes ago)"
        ) from error


_URL = Kind(database, "FILE|URL", fault_if_typed=password_of_database)
_GAME, _NAME, _TIME = Kind(_game, "GAME"), Kind(_name, "NAME"), Kind(_moment, "TIME")

# Options that several commands share.


@dataclass(frozen=True, slots=True, kw_only=True)
class _OnDatabase:
    db: str = option("which database", _URL, DATABASE, is_in_environment=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranked(_OnDatabase):
    """The options that choose games and players, and their order."""

    sort: str = option("the order", one_of(*ORDERS), "rating")
    since: int | None = option(f"in games that ended {_SINCE}", _TIME)
    table: str | None = option(f"in games at this table, or in the {LOBBY}", _NAME)
    least: int = option("players with N games or more", count(1), 1)

    def wanted(self, form: standings.Form) -> standings.Wanted:
        return standings.Wanted(Choice(self.since, self.table), self.least, self.sort, form)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Filtered(_OnDatabase):
    """The options that filter games."""

    player: str | None = option("games of this player", _NAME)
    opponent: str | None = option("of these, games against this one", _NAME)
    since: int | None = option(f"that ended {_SINCE}", _TIME)
    until: int | None = option("that ended before this time", _TIME)
    reason: str | None = option("that ended in this way", one_of(*sorted(REASONS)))

    def filter(self, *, lost: bool) -> Filter:
        """Return the options as a `Filter`. Raises StoreError if an option needs another, missing option."""
        reason = None if self.reason is None else REASONS[self.reason]
        try:
            return replace(
                _of_player(self.player, lost=lost),
                opponent=self.opponent,
                since=self.since,
                until=self.until,
                reason=reason,
            )
        except ValueError as error:
            raise StoreError(str(error)) from error


def _of_player(player: str | None, *, lost: bool) -> Filter:
    if lost and player is None:
        raise StoreError("--lost needs --player NAME")
    return Filter(player=player, result="lost" if lost else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Correction(_OnDatabase):
    audit: str = option("where to log the change", FILE, AUDIT)

    def corrected(self, *words: str, correct: Callable[[Database], str]) -> Iterator[str]:
        """Call `correct` with the database, write `words` to the audit log, and yield the call's result."""
        with closing(open_to_write(self.db, create=False)) as database, audited(self.audit, *words):
            text = correct(database)
        yield text


# The commands.


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standings(_Ranked):
    help: ClassVar = "who stands where"

    json: bool = flag("as JSON", exclusive_group="form")
    csv: bool = flag("as CSV", exclusive_group="form")
    cross: bool = flag("and what each scored against each; not as CSV")

    def run(self) -> Iterator[str]:
        form: standings.Form = "json" if self.json else "csv" if self.csv else "text"
        with closing(open_to_read(self.db)) as database:
            if self.cross and self.csv:
                raise StoreError(
                    "--cross is a second table, which CSV has no room for; leave out one of the two"
                )
            yield from standings.standings(database, self.wanted(form), cross=self.cross)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grades(_Ranked):
    help: ClassVar = "ranks, points, and how many games each player lost in which way"

    sort: str = option("the order", one_of(*ORDERS), "points")
    csv: bool = flag("as CSV")

    def run(self) -> Iterator[str]:
        with closing(open_to_read(self.db)) as database:
            yield from standings.grades(database, self.wanted("csv" if self.csv else "text"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Games(_Filtered):
    help: ClassVar = "the newest games, of all players or of one"

    lost: bool = flag("of these, games that the player lost")
    limit: int = option("the newest N of them", count(1, 10**6), 20)
    json: bool = flag("as JSON, one game a line")

    def run(self) -> Iterator[str]:
        with closing(open_to_read(self.db)) as database:
            wanted = self.filter(lost=self.lost)
            yield from stored_games.list_games(database, wanted, self.limit, as_json=self.json)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Show(_OnDatabase):
    help: ClassVar = "one game, and what was said in it"

    game: GameId | None = option("its id", _GAME, is_positional=True)
    last: bool = flag("the newest game, instead of an id")
    player: str | None = option("with --last: of this player", _NAME)
    lost: bool = flag("with --last: that the player lost")
    moves: bool = flag("draw the board move by move, too")

    def run(self) -> Iterator[str]:
        with closing(open_to_read(self.db)) as database:
            if (self.game is None) != self.last or (self.game and (self.player or self.lost)):
                raise StoreError("give the id of a game; or --last, perhaps with --player NAME")
            game = self.game or stored_games.latest(database, _of_player(self.player, lost=self.lost))
            yield from stored_games.show(database, game)
            if self.moves:
                yield from stored_games.move_by_move(database, game)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Export(_Filtered):
    help: ClassVar = "games, for other programs"

    format: str = option(
        "which format (jsonl). Moves are columns 0 to 6, a digit each; only what is called position has"
        " columns from 1",
        one_of(*sorted(FORMATS)),
        "jsonl",
        default_text="",
    )

    def run(self) -> Iterator[str]:
        wanted = self.filter(lost=False)  # first, to report errors in options before a missing database
        with closing(open_to_read(self.db)) as database:
            yield from stored_games.export(database, self.format, wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Import(_OnDatabase):
    help: ClassVar = "store the games of an export here too"

    file: str = argument("what export --format jsonl wrote, or a journal", FILE)

    def run(self) -> Iterator[str]:
        with open(self.file, "rb") as lines, closing(open_to_write(self.db)) as database:
            yield from stored_games.add(database, lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Backup(_OnDatabase):
    help: ClassVar = "copy an SQLite database to a new file, also while a server writes to it"

    file: str = argument("where the copy is to be; no such file may be there yet", FILE)

    def run(self) -> Iterator[str]:
        return stored_games.backup(self.db, self.file)


class _Recount(_OnDatabase):
    help: ClassVar = "compute all totals and ratings again from the games"

    def run(self) -> Iterator[str]:
        with closing(open_to_write(self.db, create=False)) as database:
            yield from stored_games.recount(database)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Void(_Correction):
    help: ClassVar = "let a game count no more; it is kept"

    game: GameId = argument("its id", _GAME)

    def run(self) -> Iterator[str]:
        return self.corrected("void", self.game, correct=partial(corrections.void, game=self.game))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rename(_Correction):
    help: ClassVar = "give a player another name in all stored games"

    old: str = argument("the name in stored games, letter by letter", Kind(_name, "OLD"))
    new: str = argument("a name that no stored game has", Kind(str, "NEW"))

    def run(self) -> Iterator[str]:
        rename = partial(corrections.rename, old=self.old, new=self.new)
        return self.corrected("rename", self.old, self.new, correct=rename)


COMMANDS: Mapping[str, type[Command[[], Iterator[str]]]] = {
    "standings": _Standings,
    "grades": _Grades,
    "games": _Games,
    "show": _Show,
    "export": _Export,
    "import": _Import,
    "backup": _Backup,
    "recount": _Recount,
    "void": _Void,
    "rename": _Rename,
}
