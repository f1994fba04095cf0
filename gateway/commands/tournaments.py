"""The commands ``c4gateway tournament``: they write to the database, and a running server reads it.

Know options and the database. A server takes up a change within a second; without a server the change waits
for the next start.
"""

import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

from gateway.access.roster import read_roster
from gateway.access.tablefile import audited, user_name
from gateway.commands import tournament_files
from gateway.commands.roster import roster_command, with_roster
from gateway.commands.tournament_files import OnDatabase, OnTournament
from gateway.engines.catalogue import house_players
from gateway.game.text import aligned, json_text, printable
from gateway.options.description import Description
from gateway.options.kinds import FILE, Kind, count
from gateway.options.names import AUDIT
from gateway.options.table import Command, Parser, argument, flag, option, run
from gateway.options.terminal import exit_status, in_one_line, write_out
from gateway.store import StoreError, tournaments
from gateway.store.database import Database, open_to_read, open_to_write
from gateway.tournament.acts import ACTS, audit_words, decide
from gateway.tournament.formats import swiss_fault
from gateway.tournament.log import written
from gateway.tournament.report import described
from gateway.tournament.settings import EXAMPLE, parse
from gateway.tournament.tournament import Tournament
from gateway.tournament.words import in_words

_PLAYER = Kind(str, "PLAYER")
_LATEST = 20
"""How many pairings of a ladder are shown."""


def main(arguments: Sequence[str], dialects: Sequence[Description]) -> int:
    """Run one of the commands; return its exit status: 0, 1 after an error, or 130 after Ctrl-C."""
    parser = Parser("c4gateway tournament", "tournaments, which a running server plays")
    commands = {**COMMANDS, "roster": roster_command(dialects), **tournament_files.COMMANDS}
    try:
        return exit_status(lambda: write_out(run(parser, commands, arguments)), ValueError)
    except StoreError as error:
        hint = "; --db says which database" if isinstance(error.__cause__, FileNotFoundError) else ""
        print(f"c4gateway: error: {in_one_line(error)}{hint}", file=sys.stderr)
        return 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Act(OnTournament):
    """An act of the director. Its parameters are the fields of these names."""

    word: ClassVar[str] = ""
    """The name of the act."""
    help: ClassVar[str] = ""

    why: str = option("the reason, for the log", Kind(str, "TEXT"), "", default_text="")
    by: str | None = option(
        "who decides, for the log; by default the user who runs the command", Kind(str, "NAME")
    )
    audit: str = option("where to log the change", FILE, AUDIT)

    def run(self) -> Iterator[str]:
        parameters = {name: getattr(self, name) for name in ACTS[self.word].parameters}
        given = {name: str(value) for name, value in parameters.items() if value not in (None, "")}
        given |= {"by": self.by or user_name(), **({"why": self.why} if self.why else {})}
        with (
            closing(open_to_write(self.db, create=False)) as database,
            audited(self.audit, f"tournament {self.word}", *audit_words(self.word, self.name, given)),
        ):
            yield f"{printable(self._act(database, given))}\n"

    def _act(self, database: Database, given: Mapping[str, str]) -> str:
        """Add the entry of the act; return it in words. Raises StoreError and ValueError."""
        while True:
            tournament = self.read(database)
            entry, by, reason, pairings = decide(tournament, self.word, given, time.time(), house_players())
            key, texts = tournament.settings.key, [written(entry, by, reason)]
            with database.writing() as connection:
                if tournaments.append(connection, key, tournament.known, texts, pairings):
                    return in_words(entry, tournament)
            # Otherwise the server has added an entry or a game meanwhile.


@dataclass(frozen=True, slots=True, kw_only=True)
class _New(OnDatabase):
    help: ClassVar = "add the tournament that a file describes"

    file: str | None = option("a TOML file; --example prints one", FILE, is_positional=True)
    example: bool = flag("print a file with all keys, their meanings and defaults, and add nothing")
    roster: str | None = option("add the names and groups of this CSV file as the table roster", FILE)
    audit: str = option("where to log the change", FILE, AUDIT)

    def run(self) -> Iterator[str]:
        if self.example:
            yield EXAMPLE
            return
        if self.file is None:
            raise ValueError("give the file of the tournament; --example prints one")
        members = None if self.roster is None else read_roster(self.roster)
        try:
            text = Path(self.file).read_text(encoding="utf-8-sig")
            if members is not None:
                text = with_roster(text, members)
            settings = parse(text)
            fault = swiss_fault() if "swiss" in (settings.format, settings.then) else None
            missing = {*settings.house, settings.entry_test} - {"", *house_players()}
            if missing and fault is None:
                fault = f"the engine of {', '.join(sorted(missing))} is not installed"
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
class _List(OnDatabase):
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
class _Show(OnTournament):
    help: ClassVar = "the standings and pairings of one tournament"

    json: bool = flag("as JSON, as the API has it")

    def run(self) -> Iterator[str]:
        with closing(open_to_read(self.db)) as database:
            found = described(self.read(database), time.time())
        if self.json:
            yield json_text(found, indent=2) + "\n"
            return
        yield from _shown(found)


def _shown(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield a tournament as text, from its JSON object."""
    yield f"{printable(found['name'])}: {found['format']}, {found['state']}\n"
    if found["missing"]:
        yield f"Not here yet: {', '.join(map(printable, found['missing']))}\n"
    if not found["standings"]:
        yield "Nobody has entered yet.\n"
        return
    current = found["stages"][found["stage"] - 1]
    tables = [(f"Group {each['name']}", each["standings"]) for each in current["groups"]]
    for title, rows in tables or [("", found["standings"])]:
        yield f"\n{printable(title)}:\n" if title else ""
        yield from _standings(rows)
    stage = found["stage"]
    pairings = [each for each in found["pairings"] if each["stage"] == stage]
    waiting = [each["round"] for each in pairings if each["state"] == "waiting"]
    shown = min(waiting, default=found["round"])  # the round that is played, or the last one
    lines = []
    for each in pairings:
        if each["round"] == shown:
            points = " : ".join(f"{points:g}" for points in each["points"])
            lines.append((str(each["number"]), *map(printable, each["players"]), points, each["state"]))
    byes = [
        ("", printable(each["player"]), "", "", "bye")
        for each in found["byes"]
        if (each["stage"], each["round"]) == (stage, shown)
    ]
    if lines or byes:
        is_ladder = found["format"] == "ladder"  # which has no rounds, and no end
        yield "\nThe latest pairings:\n\n" if is_ladder else f"\nRound {shown}:\n\n"
        yield aligned([*lines[-_LATEST if is_ladder else 0 :], *byes], left=(1, 2, 3, 4))


def _standings(standings: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield standings as a table."""
    breaks = [*standings[0]["tie_breaks"]]
    rows = []
    for row in standings:
        values = [f"{row['tie_breaks'][each]:g}" for each in breaks]
        counts = (str(row[each]) for each in ("won", "drawn", "lost"))
        note = "" if row["withdrawn"] is None else f"withdrawn: {printable(row['withdrawn'])}"
        rows.append((str(row["rank"]), printable(row["name"]), f"{row['points']:g}", *values, *counts, note))
    yield "\n" + aligned([("", "player", "points", *breaks, "won", "drawn", "lost", ""), *rows], left=(1,))


_PARAMETERS: Mapping[str, Callable[[], object]] = {
    "player": lambda: argument("letter by letter", _PLAYER),
    "other": lambda: argument("letter by letter", Kind(str, "OTHER")),
    "house": lambda: argument("the player of the server that it plays", Kind(str, "HOUSE")),
    "game": lambda: argument("its id, or PAIRING.GAME, such as 12.2", Kind(str, "GAME")),
    "to": lambda: argument("who wins; draw for a draw", Kind(str, "PLAYER|draw")),
    "pairs": lambda: argument(
        "'alice - bob, carol - dave, erin'; a single name is a bye", Kind(str, "PAIRS")
    ),
    "text": lambda: argument("one line; an empty one ends it", Kind(str, "TEXT")),
    "number": lambda: option("the number of the act in the log, so that no other one is undone", count(1)),
}
"""The options for the parameters of acts."""


def _command_of(word: str) -> type[_Act]:
    """Return the command for an act."""
    parameters = [(name, Any, _PARAMETERS[name]()) for name in ACTS[word].parameters]
    about = {"word": word, "help": ACTS[word].help}
    return make_dataclass(
        f"_{word.title()}", parameters, bases=(_Act,), namespace=about, frozen=True, slots=True, kw_only=True
    )


COMMANDS: Mapping[str, type[Command[[], Iterator[str]]]] = {
    "new": _New,
    "list": _List,
    "show": _Show,
    **{word: _command_of(word) for word in ACTS},
}
