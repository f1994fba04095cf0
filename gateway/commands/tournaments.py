"""The commands ``c4gateway tournament``: they write to the database, and a running server reads it.

Know options and the database. A server takes up a change within a second; without a server the change waits
for the next start.
"""

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

from gateway.access.tablefile import audited
from gateway.game.text import aligned, did_you_mean, json_text, plural, printable, quoted
from gateway.options.kinds import FILE, Kind
from gateway.options.names import AUDIT, DATABASE
from gateway.options.table import Command, Parser, argument, flag, option, run
from gateway.options.terminal import exit_status, in_one_line, write_out
from gateway.options.urls import database, password_of_database
from gateway.store import StoreError, tournaments
from gateway.store.database import Database, open_to_read, open_to_write
from gateway.tournament.formats import swiss_fault
from gateway.tournament.log import Ended, Entry, Paused, Resumed, StartRequested, Withdrawn, written
from gateway.tournament.report import described
from gateway.tournament.settings import EXAMPLE, parse
from gateway.tournament.tournament import Tournament

_NAME = Kind(str, "NAME")
_URL = Kind(database, "FILE|URL", fault_if_typed=password_of_database)


def main(arguments: Sequence[str]) -> int:
    """Run one of the commands; return its exit status: 0, 1 after an error, or 130 after Ctrl-C."""
    parser = Parser("c4gateway tournament", "tournaments, which a running server plays")
    try:
        return exit_status(lambda: write_out(run(parser, COMMANDS, arguments)), ValueError)
    except StoreError as error:
        hint = "; --db says which database" if isinstance(error.__cause__, FileNotFoundError) else ""
        print(f"c4gateway: error: {in_one_line(error)}{hint}", file=sys.stderr)
        return 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _OnDatabase:
    db: str = option("which database", _URL, DATABASE, is_in_environment=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _OnTournament(_OnDatabase):
    name: str = argument("case makes no difference", _NAME)

    def read(self, database: Database) -> Tournament:
        """Return the tournament. Raises StoreError if there is none of this name, or it cannot be read."""
        with database.reading() as connection:
            return tournaments.named(connection, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Act(_OnTournament):
    """A command that adds an entry to the log of a tournament."""

    audit: str = option("where to log the change", FILE, AUDIT)

    def act(self, word: str, entry_of: Callable[[Tournament], Entry], *details: str) -> None:
        """Add the entry that `entry_of` returns, and a line with `word` and `details` to the audit log.

        Raises StoreError, ValueError and OSError.
        """
        with (
            closing(open_to_write(self.db, create=False)) as database,
            audited(self.audit, f"tournament {word}", self.name, *details),
        ):
            while True:
                tournament = self.read(database)
                if tournament.ended is not None:
                    raise ValueError(f"the tournament {quoted(tournament.settings.name)} is over")
                entry, known = written(entry_of(tournament)), tournament.known
                with database.writing() as connection:
                    if tournaments.append(connection, tournament.settings.key, known, [entry]):
                        return  # otherwise the server has added an entry meanwhile


@dataclass(frozen=True, slots=True, kw_only=True)
class _New(_OnDatabase):
    help: ClassVar = "add the tournament that a file describes"

    file: str | None = option("a TOML file; --example prints one", FILE, is_positional=True)
    example: bool = flag("print a file with all keys, their meanings and defaults, and add nothing")
    audit: str = option("where to log the change", FILE, AUDIT)

    def run(self) -> Iterator[str]:
        if self.example:
            yield EXAMPLE
            return
        if self.file is None:
            raise ValueError("give the file of the tournament; --example prints one")
        try:
            text = Path(self.file).read_text(encoding="utf-8")
            settings = parse(text)
            fault = swiss_fault() if settings.format == "swiss" else None
            if fault is not None:
                raise ValueError(fault)
        except ValueError as error:
            raise ValueError(f"{self.file}: {in_one_line(error)}") from error
        with (
            closing(open_to_write(self.db)) as database,
            audited(self.audit, "tournament new", settings.name),
            database.writing() as connection,
        ):
            tournaments.create(connection, settings.key, text)
        table, word, in_url = (printable(form(settings.name)) for form in (str, shlex.quote, quote))
        yield f"the tournament {table} is open\n"
        yield f"bots enter at its table: JOIN {table}, ?table={in_url}, or c4bot --table {word}\n"
        if settings.players is not None:
            yield f"it begins when {settings.players} players are here\n"
        elif settings.start is None:
            yield f"c4gateway tournament start {word} begins it\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class _List(_OnDatabase):
    help: ClassVar = "all tournaments"

    def run(self) -> Iterator[str]:
        with closing(open_to_read(self.db)) as database, database.reading() as connection:
            found = tournaments.without_games(connection)
        rows = []
        for news in found:
            try:
                each = Tournament.of(news)
            except ValueError:  # perhaps a newer version wrote it
                rows.append((printable(news.key), "", "unreadable", ""))
                continue
            name, state = printable(each.settings.name), each.state
            rows.append((name, each.settings.format, state, str(len(each.entrants))))
        yield aligned([("tournament", "format", "state", "players"), *rows], left=(0, 1, 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Show(_OnTournament):
    help: ClassVar = "the standings and pairings of one tournament"

    json: bool = flag("as JSON, as the API has it")

    def run(self) -> Iterator[str]:
        with closing(open_to_read(self.db)) as database:
            found = described(self.read(database))
        if self.json:
            yield json_text(found, indent=2) + "\n"
            return
        yield from _shown(found)


def _shown(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield a tournament as text, from its JSON object."""
    yield f"{printable(found['name'])}: {found['format']}, {found['state']}\n"
    if not found["standings"]:
        yield "Nobody has entered yet.\n"
        return
    breaks = [*found["standings"][0]["tie_breaks"]]
    rows = []
    for row in found["standings"]:
        values = [f"{row['tie_breaks'][each]:g}" for each in breaks]
        counts = (str(row[each]) for each in ("won", "drawn", "lost"))
        note = "" if row["withdrawn"] is None else f"withdrawn: {printable(row['withdrawn'])}"
        rows.append((str(row["rank"]), printable(row["name"]), f"{row['points']:g}", *values, *counts, note))
    yield "\n" + aligned([("", "player", "points", *breaks, "won", "drawn", "lost", ""), *rows], left=(1,))
    waiting = [each["round"] for each in found["pairings"] if each["state"] == "waiting"]
    shown = min(waiting, default=found["round"])  # the round that is played, or the last one
    lines = []
    for each in found["pairings"]:
        if each["round"] == shown:
            points = " : ".join(f"{points:g}" for points in each["points"])
            lines.append((str(each["number"]), *map(printable, each["players"]), points, each["state"]))
    byes = [
        ("", printable(each["player"]), "", "", "bye") for each in found["byes"] if each["round"] == shown
    ]
    if lines or byes:
        yield f"\nRound {shown}:\n\n"
        yield aligned([*lines, *byes], left=(1, 2, 3, 4))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start(_Act):
    help: ClassVar = "begin it now, with the players that have entered"

    def run(self) -> Iterator[str]:
        def entry(tournament: Tournament) -> Entry:
            fault = tournament.fault_of_start()
            if fault is not None and tournament.begun_at is None:
                fault = f"{fault}; {plural(len(tournament.entrants), 'player')} entered so far"
            if fault is not None:
                raise ValueError(fault)
            return StartRequested()

        self.act("start", entry)
        yield f"{printable(self.name)} begins\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pause(_Act):
    help: ClassVar = "begin no further games; those that are on are finished, at most two of each pairing"

    def run(self) -> Iterator[str]:
        def entry(tournament: Tournament) -> Entry:
            if tournament.is_paused:
                raise ValueError(f"{quoted(self.name)} is paused already")
            return Paused()

        self.act("pause", entry)
        yield f"{printable(self.name)} is paused; c4gateway tournament resume ends that\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Resume(_Act):
    help: ClassVar = "go on after a pause"

    def run(self) -> Iterator[str]:
        def entry(tournament: Tournament) -> Entry:
            if not tournament.is_paused:
                raise ValueError(f"{quoted(self.name)} is not paused")
            return Resumed()

        self.act("resume", entry)
        yield f"{printable(self.name)} goes on\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Withdraw(_Act):
    help: ClassVar = "take a player out, for good; its games that are on are finished, at most two"

    player: str = argument("letter by letter", Kind(str, "PLAYER"))

    def run(self) -> Iterator[str]:
        def entry(tournament: Tournament) -> Entry:
            number = tournament.number_of(self.player)
            if number is None:
                similar = did_you_mean(self.player, [each.name for each in tournament.entrants])
                raise ValueError(f"{quoted(self.player)} takes no part in {quoted(self.name)}{similar}")
            withdrawn = tournament.entrants[number].withdrawn
            if withdrawn is not None and not withdrawn.may_return:
                raise ValueError(f"{quoted(self.player)} is withdrawn already")
            return Withdrawn(number, "by the organiser")

        self.act("withdraw", entry, self.player)
        yield f"{printable(self.player)} is withdrawn\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class _End(_Act):
    help: ClassVar = "end it early; games that are on are finished, at most two of each pairing, and count"

    def run(self) -> Iterator[str]:
        self.act("end", lambda _: Ended(by_organiser=True))
        yield f"{printable(self.name)} is over\n"


COMMANDS: Mapping[str, type[Command[[], Iterator[str]]]] = {
    "new": _New,
    "list": _List,
    "show": _Show,
    "start": _Start,
    "pause": _Pause,
    "resume": _Resume,
    "withdraw": _Withdraw,
    "end": _End,
}
