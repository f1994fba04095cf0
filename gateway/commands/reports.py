"""The commands on a store, such as ``c4gateway standings``, ``export`` and ``void``.

Knows their options and standard output. Does not know what is in a store, nor how it looks on a terminal. A
server may go on writing to the database meanwhile; ``import``, ``recount`` and ``void`` keep it waiting.
"""

import argparse
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from gateway.access.linefile import audited
from gateway.game.ids import GameId
from gateway.options.arguments import Parser, in_one_line, number, write_out
from gateway.options.command_names import AUDIT, DATABASE, TYPED_PASSWORD, database, masked
from gateway.options.settings import variable
from gateway.store import StoreError, commands, corrections, standings
from gateway.store.comparing import LOBBY, ORDERS, Choice
from gateway.store.database import Database, open_to_read, open_to_write
from gateway.store.games import Filter
from gateway.store.reader import understood
from gateway.store.records import REASONS, from_moment, typed_id

_SINCE = "at this time or later: 2026-11-21T14:00+01:00 (UTC if it has no zone), or 90m, 2h, 3d ago"


def main(arguments: Sequence[str]) -> int:
    """Run one of the commands; return its exit status.

    That is 0, 1 where the system refused something, and 130 after Ctrl-C.
    """
    options = _options(arguments)
    try:
        write_out(options.text(options))
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


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of a command, whose database may be named in the environment."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        if options.db is None:
            options.db = database(os.environ.get(variable("db"), DATABASE))
        elif masked(options.db) != options.db:
            parser.error(TYPED_PASSWORD)
    except argparse.ArgumentTypeError as error:
        parser.error(f"{variable('db')}: {error}")
    return options


def _parser() -> Parser:
    parser = Parser(prog="c4gateway", allow_abbrev=False)
    words = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, text, add in (
        ("standings", "who stands where", _add_standings),
        ("grades", "ranks, points, and how many games each player lost in which way", _add_grades),
        ("games", "the newest games, of all players or of one", _add_games),
        ("show", "one game, and what was said in it", _add_show),
        ("export", "games, for other programs", _add_export),
        ("import", "store the games of an export here too", _add_import),
        ("backup", "copy an SQLite database to a new file, also while a server writes to it", _add_backup),
        ("recount", "compute all totals and ratings again from the games", _add_recount),
        ("void", "let a game count no more; it is kept", _add_void),
        ("rename", "give a player another name in all stored games", _add_rename),
    ):
        command = words.add_parser(name, help=text, description=text, allow_abbrev=False)
        command.add_argument("--db", type=database, metavar="FILE|URL", help=f"which database ({DATABASE})")
        add(command)
    return parser


def _add_standings(parser: argparse.ArgumentParser) -> None:
    _add_choice(parser, "rating")
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--json", dest="form", action="store_const", const="json", help="as JSON")
    forms.add_argument("--csv", dest="form", action="store_const", const="csv", help="as CSV")
    parser.add_argument("--cross", action="store_true", help="and what each scored against each; not as CSV")
    parser.set_defaults(text=_reading(_standings))


def _standings(database: Database, given: argparse.Namespace) -> Iterator[str]:
    if given.cross and given.form == "csv":
        raise StoreError("--cross is a second table, which CSV has no room for; leave out one of the two")
    return standings.standings(database, _wanted(given), cross=given.cross)


def _add_grades(parser: argparse.ArgumentParser) -> None:
    _add_choice(parser, "points")
    parser.add_argument("--csv", dest="form", action="store_const", const="csv", help="as CSV")
    parser.set_defaults(text=_reading(lambda database, given: standings.grades(database, _wanted(given))))


def _add_choice(parser: argparse.ArgumentParser, order: str) -> None:
    """Add the options that choose games and players, and how these are sorted: by `order` if not given."""
    parser.add_argument("--sort", choices=ORDERS, default=order, help=f"the order ({order})")
    parser.add_argument("--since", type=_moment, metavar="TIME", help=f"in games that ended {_SINCE}")
    parser.add_argument(
        "--table", type=_name, metavar="NAME", help=f"in games at this table, or in the {LOBBY}"
    )
    parser.add_argument(
        "--least", type=number(int, 1, 10**9), default=1, metavar="N", help="players with N games or more (1)"
    )
    parser.set_defaults(form="text")


def _wanted(given: argparse.Namespace) -> standings.Wanted:
    return standings.Wanted(Choice(given.since, given.table), given.least, given.sort, given.form)


def _add_games(parser: argparse.ArgumentParser) -> None:
    _add_filter(parser)
    parser.add_argument("--lost", action="store_true", help="of these, games that the player lost")
    parser.add_argument(
        "--limit", type=number(int, 1, 10**6), default=20, metavar="N", help="the newest N of them (20)"
    )
    parser.add_argument("--json", action="store_true", help="as JSON, one game a line")
    parser.set_defaults(
        text=_reading(
            lambda database, given: commands.list_games(
                database, _filter(given), given.limit, as_json=given.json
            )
        )
    )


def _add_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("game", type=_game, nargs="?", metavar="GAME", help="its id")
    parser.add_argument("--last", action="store_true", help="the newest game, instead of an id")
    parser.add_argument("--player", type=_name, metavar="NAME", help="with --last: of this player")
    parser.add_argument("--lost", action="store_true", help="with --last: that the player lost")
    parser.add_argument("--moves", action="store_true", help="draw the board move by move, too")
    parser.set_defaults(text=_reading(_show))


def _show(database: Database, given: argparse.Namespace) -> Iterator[str]:
    if (given.game is None) != given.last or (given.game and (given.player or given.lost)):
        raise StoreError("give the id of a game; or --last, perhaps with --player NAME")
    game = given.game or commands.latest(database, _of_player(given))
    yield from commands.show(database, game)
    if given.moves:
        yield from commands.move_by_move(database, game)


def _of_player(given: argparse.Namespace) -> Filter:
    if given.lost and given.player is None:
        raise StoreError("--lost needs --player NAME")
    return Filter(player=given.player, lost=given.lost)


def _add_export(parser: argparse.ArgumentParser) -> None:
    formats = sorted(commands.FORMATS)
    parser.add_argument(
        "--format",
        choices=formats,
        default="jsonl",
        help="which format (jsonl). Moves are columns 0 to 6, a digit each; only what is called position has"
        " columns from 1",
    )
    _add_filter(parser)
    parser.set_defaults(text=_export, lost=False)


def _add_filter(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--player", type=_name, metavar="NAME", help="games of this player")
    parser.add_argument("--opponent", type=_name, metavar="NAME", help="of these, games against this one")
    parser.add_argument("--since", type=_moment, metavar="TIME", help=f"that ended {_SINCE}")
    parser.add_argument("--until", type=_moment, metavar="TIME", help="that ended before this time")
    parser.add_argument("--reason", choices=sorted(REASONS), help="that ended in this way")


def _add_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="what export --format jsonl wrote, or a journal")
    parser.set_defaults(text=_import)


def _add_backup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="where the copy is to be; no such file may be there yet")
    parser.set_defaults(text=lambda given: commands.backup(given.db, given.file))


def _add_recount(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(text=_recount)


def _add_void(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("game", type=_game, metavar="GAME", help="its id")
    _add_correction(parser, lambda database, given: corrections.void(database, given.game), ["game"])


def _add_rename(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("old", type=_name, metavar="OLD", help="the name in stored games, letter by letter")
    parser.add_argument("new", metavar="NEW", help="a name that no stored game has")
    _add_correction(
        parser, lambda database, given: corrections.rename(database, given.old, given.new), ["old", "new"]
    )


_Text: TypeAlias = Callable[[Database, argparse.Namespace], Iterator[str]]


def _reading(text: _Text) -> Callable[[argparse.Namespace], Iterator[str]]:
    return lambda given: _with(open_to_read(given.db), text, given)


def _with(database: Database, text: _Text, given: argparse.Namespace) -> Iterator[str]:
    try:
        with understood():
            yield from text(database, given)
    finally:
        database.close()


def _export(given: argparse.Namespace) -> Iterator[str]:
    wanted = _filter(given)
    yield from _reading(lambda database, _: commands.export(database, given.format, wanted))(given)


def _filter(given: argparse.Namespace) -> Filter:
    """Return which games are asked for. Raises StoreError where the options contradict each other."""
    of_player = _of_player(given)
    try:
        return replace(
            of_player,
            opponent=given.opponent,
            since=given.since,
            until=given.until,
            reason=None if given.reason is None else REASONS[given.reason],
        )
    except ValueError as error:
        raise StoreError(str(error)) from error


def _import(given: argparse.Namespace) -> Iterator[str]:
    with open(given.file, "rb") as lines:
        yield from _with(open_to_write(given.db), lambda database, _: commands.add(database, lines), given)


def _recount(given: argparse.Namespace) -> Iterator[str]:
    database = open_to_write(given.db, create=False)
    yield from _with(database, lambda database, _: commands.recount(database), given)


def _add_correction(
    parser: argparse.ArgumentParser,
    correct: Callable[[Database, argparse.Namespace], str],
    about: Sequence[str],
) -> None:
    """Let a command correct stored games, and log that with the values of the options `about`."""
    parser.add_argument("--audit", default=AUDIT, metavar="FILE", help=f"where to log the change ({AUDIT})")
    word = parser.prog.rpartition(" ")[2]

    def corrected(given: argparse.Namespace) -> Iterator[str]:
        database = open_to_write(given.db, create=False)
        try:
            with understood(), audited(given.audit, word, *(getattr(given, each) for each in about)):
                text = correct(database, given)
        finally:
            database.close()
        yield text

    parser.set_defaults(text=corrected)


def _name(text: str) -> str:
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise argparse.ArgumentTypeError(f"{text!r} is not UTF-8, as names are")
    return text


def _game(text: str) -> GameId:
    try:
        return typed_id(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not the id of a game") from error


def _moment(text: str) -> int:
    try:
        return from_moment(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time such as 2026-11-21, 2026-11-21T12:00+01:00 or 90m (minutes ago)"
        ) from error
