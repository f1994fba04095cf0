"""The commands on a store, such as ``c4gateway standings``, ``export`` and ``void``.

Knows their options and standard output. Does not know what is in a store, nor how it looks on a terminal. A
server may go on writing to the database meanwhile; ``import``, ``recount`` and ``void`` keep it waiting.
"""

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from gateway.access.tablefile import audited
from gateway.commands import standings
from gateway.commands import stored_games as commands
from gateway.game.ids import GameId
from gateway.options.names import AUDIT, DATABASE
from gateway.options.readers import number
from gateway.options.table import Command, Parser, flag, option, run
from gateway.options.terminal import in_one_line, write_out
from gateway.options.urls import database, password_of_database
from gateway.store import StoreError, corrections
from gateway.store.database import Database, open_to_read, open_to_write
from gateway.store.formats import FORMATS
from gateway.store.games import Filter
from gateway.store.records import REASONS, from_moment, typed_id
from gateway.store.statistics import LOBBY, ORDERS, Choice

_SINCE = "at this time or later: 2026-11-21T14:00+01:00 (UTC if it has no zone), or 90m, 2h, 3d ago"


def main(arguments: Sequence[str]) -> int:
    """Run one of the commands; return its exit status.

    That is 0, 1 where the system refused something, and 130 after Ctrl-C.
    """
    try:
        write_out(run(Parser("c4gateway"), COMMANDS, arguments))
    except commands.RefusedError as error:
        for line in str(error).splitlines():
            print(f"c4gateway: error: {line}", file=sys.stderr)
        return 1
    except (StoreError, OSError) as error:
        hint = "; --db says which database" if isinstance(error.__cause__, FileNotFoundError) else ""
        print(f"c4gateway: error: {in_one_line(error)}{hint}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return 0


# What reads a value. All of these raise ValueError.


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


# The options of each command.


@dataclass(frozen=True, slots=True, kw_only=True)
class _OnDatabase:
    db: str = option(
        "which database",
        "FILE|URL",
        database,
        DATABASE,
        is_in_environment=True,
        fault_if_typed=password_of_database,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranked(_OnDatabase):
    """Which games and players are counted, and in which order."""

    sort: str = option("the order", default="rating", choices=tuple(ORDERS))
    since: int | None = option(f"in games that ended {_SINCE}", "TIME", _moment)
    table: str | None = option(f"in games at this table, or in the {LOBBY}", "NAME", _name)
    least: int = option("players with N games or more", "N", number(int, 1, 10**9), 1)

    def wanted(self, form: standings.Form) -> standings.Wanted:
        return standings.Wanted(Choice(self.since, self.table), self.least, self.sort, form)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standings(_Ranked):
    json: bool = flag("as JSON", exclusive_group="form")
    csv: bool = flag("as CSV", exclusive_group="form")
    cross: bool = flag("and what each scored against each; not as CSV")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grades(_Ranked):
    sort: str = option("the order", default="points", choices=tuple(ORDERS))
    csv: bool = flag("as CSV")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Filtered(_OnDatabase):
    """Which games are asked for."""

    player: str | None = option("games of this player", "NAME", _name)
    opponent: str | None = option("of these, games against this one", "NAME", _name)
    since: int | None = option(f"that ended {_SINCE}", "TIME", _moment)
    until: int | None = option("that ended before this time", "TIME", _moment)
    reason: str | None = option("that ended in this way", choices=tuple(sorted(REASONS)))

    def filter(self, *, lost: bool) -> Filter:
        """Return the same as the store has it. Raises StoreError where options contradict each other."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Games(_Filtered):
    lost: bool = flag("of these, games that the player lost")
    limit: int = option("the newest N of them", "N", number(int, 1, 10**6), 20)
    json: bool = flag("as JSON, one game a line")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Show(_OnDatabase):
    game: GameId | None = option("its id", "GAME", _game, is_positional=True)
    last: bool = flag("the newest game, instead of an id")
    player: str | None = option("with --last: of this player", "NAME", _name)
    lost: bool = flag("with --last: that the player lost")
    moves: bool = flag("draw the board move by move, too")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Export(_Filtered):
    format: str = option(
        "which format (jsonl). Moves are columns 0 to 6, a digit each; only what is called position has"
        " columns from 1",
        default="jsonl",
        default_text="",
        choices=tuple(sorted(FORMATS)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Import(_OnDatabase):
    file: str = option(
        "what export --format jsonl wrote, or a journal", "FILE", is_positional=True, is_required=True
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Backup(_OnDatabase):
    file: str = option(
        "where the copy is to be; no such file may be there yet", "FILE", is_positional=True, is_required=True
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Correction(_OnDatabase):
    audit: str = option("where to log the change", "FILE", default=AUDIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Void(_Correction):
    game: GameId = option("its id", "GAME", _game, is_positional=True, is_required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rename(_Correction):
    old: str = option(
        "the name in stored games, letter by letter", "OLD", _name, is_positional=True, is_required=True
    )
    new: str = option("a name that no stored game has", "NEW", is_positional=True, is_required=True)


# What each command does.

_O = TypeVar("_O", bound=_OnDatabase)


def _of_player(player: str | None, *, lost: bool) -> Filter:
    if lost and player is None:
        raise StoreError("--lost needs --player NAME")
    return Filter(player=player, lost=lost)


def _reading(text: Callable[[Database, _O], Iterator[str]]) -> Callable[[_O], Iterator[str]]:
    def printed(given: _O) -> Iterator[str]:
        with closing(open_to_read(given.db)) as database:
            yield from text(database, given)

    return printed


def _standings(database: Database, given: _Standings) -> Iterator[str]:
    if given.cross and given.csv:
        raise StoreError("--cross is a second table, which CSV has no room for; leave out one of the two")
    form: standings.Form = "json" if given.json else "csv" if given.csv else "text"
    return standings.standings(database, given.wanted(form), cross=given.cross)


def _grades(database: Database, given: _Grades) -> Iterator[str]:
    return standings.grades(database, given.wanted("csv" if given.csv else "text"))


def _games(database: Database, given: _Games) -> Iterator[str]:
    return commands.list_games(database, given.filter(lost=given.lost), given.limit, as_json=given.json)


def _show(database: Database, given: _Show) -> Iterator[str]:
    if (given.game is None) != given.last or (given.game and (given.player or given.lost)):
        raise StoreError("give the id of a game; or --last, perhaps with --player NAME")
    game = given.game or commands.latest(database, _of_player(given.player, lost=given.lost))
    yield from commands.show(database, game)
    if given.moves:
        yield from commands.move_by_move(database, game)


def _export(given: _Export) -> Iterator[str]:
    wanted = given.filter(lost=False)  # before the database is opened, which may be missing
    with closing(open_to_read(given.db)) as database:
        yield from commands.export(database, given.format, wanted)


def _import(given: _Import) -> Iterator[str]:
    with open(given.file, "rb") as lines, closing(open_to_write(given.db)) as database:
        yield from commands.add(database, lines)


def _recount(given: _OnDatabase) -> Iterator[str]:
    with closing(open_to_write(given.db, create=False)) as database:
        yield from commands.recount(database)


def _corrected(given: _Correction, *words: str, correct: Callable[[Database], str]) -> Iterator[str]:
    """Correct stored games, and log that with the words."""
    with closing(open_to_write(given.db, create=False)) as database, audited(given.audit, *words):
        text = correct(database)
    yield text


def _void(given: _Void) -> Iterator[str]:
    return _corrected(given, "void", given.game, correct=partial(corrections.void, game=given.game))


def _rename(given: _Rename) -> Iterator[str]:
    rename = partial(corrections.rename, old=given.old, new=given.new)
    return _corrected(given, "rename", given.old, given.new, correct=rename)


COMMANDS: Sequence[Command[Any, [], Iterator[str]]] = (
    Command("standings", "who stands where", _Standings, _reading(_standings)),
    Command(
        "grades",
        "ranks, points, and how many games each player lost in which way",
        _Grades,
        _reading(_grades),
    ),
    Command("games", "the newest games, of all players or of one", _Games, _reading(_games)),
    Command("show", "one game, and what was said in it", _Show, _reading(_show)),
    Command("export", "games, for other programs", _Export, _export),
    Command("import", "store the games of an export here too", _Import, _import),
    Command(
        "backup",
        "copy an SQLite database to a new file, also while a server writes to it",
        _Backup,
        lambda given: commands.backup(given.db, given.file),
    ),
    Command("recount", "compute all totals and ratings again from the games", _OnDatabase, _recount),
    Command("void", "let a game count no more; it is kept", _Void, _void),
    Command("rename", "give a player another name in all stored games", _Rename, _rename),
)
