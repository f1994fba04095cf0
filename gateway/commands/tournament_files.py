"""The commands ``c4gateway tournament grades`` and ``export``: a tournament as files, from the database.

Know options and the database.
"""

import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import ClassVar

from gateway.game.text import json_text, plural, quoted
from gateway.options.kinds import FILE, Kind, count, one_of
from gateway.options.names import DATABASE
from gateway.options.table import Command, argument, option
from gateway.options.urls import database, password_of_database
from gateway.store import tournaments
from gateway.store.database import Database, open_to_read
from gateway.store.tournament_files import FORMATS, grades_sheet, placed, rounds
from gateway.tournament.grades import grades
from gateway.tournament.report import described
from gateway.tournament.tournament import Tournament

_JSON = "json"
_URL = Kind(database, "FILE|URL", fault_if_typed=password_of_database)
_NAME = Kind(str, "NAME")


@dataclass(frozen=True, slots=True, kw_only=True)
class OnDatabase:
    """The option for the database."""

    db: str = option("which database", _URL, DATABASE, is_in_environment=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class OnTournament(OnDatabase):
    """The name of a tournament."""

    name: str = argument("case makes no difference", _NAME)

    def read(self, database: Database) -> Tournament:
        """Return the tournament. Raises StoreError if there is none of this name, or it cannot be read."""
        with database.reading() as connection:
            return tournaments.named(connection, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grades(OnTournament):
    help: ClassVar = "points, faults and results of each player and each name of the roster, as CSV"

    reference: str | None = option(
        "count the games against this player extra; by default that of the entry test, or the first of house",
        _NAME,
    )

    def run(self) -> Iterator[str]:
        with closing(open_to_read(self.db)) as database:
            tournament = self.read(database)
        yield from grades_sheet(
            grades(described(tournament, time.time()), tournament.settings, self.reference)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Export(OnTournament):
    help: ClassVar = "the games by round, as PGN, JSON lines or CSV; or the whole report, as JSON"

    format: str = option("pgn, jsonl, csv or json, which is the report", one_of(*FORMATS, _JSON), "pgn")
    round: int | None = option("only this round", count(1))
    stage: int | None = option("only this stage", count(1, 2))
    output: str | None = option("write a new file instead of standard output", FILE, aliases=("-o",))

    def run(self) -> Iterator[str]:
        if self.format == _JSON and (self.round is not None or self.stage is not None):
            raise ValueError(
                "the report is whole: --round and --stage choose games, as PGN, JSON lines or CSV"
            )
        with closing(open_to_read(self.db)) as database:
            report = described(self.read(database), time.time())
            latest = rounds(report, self.stage)
            if self.round is not None and self.round > latest:
                raise ValueError(f"{quoted(report['name'])} has {plural(latest, 'round')} so far")
            if self.format == _JSON:
                texts: Iterable[str] = [json_text(report, indent=2) + "\n"]
            else:
                texts = FORMATS[self.format](report, placed(database.reading, report, self.round, self.stage))
            if self.output is None:
                yield from texts
                return
            with open(self.output, "x", encoding="utf-8", errors="surrogatepass", newline="") as file:
                file.writelines(texts)
        print(f"{os.path.abspath(self.output)} is written", file=sys.stderr)


COMMANDS: Mapping[str, type[Command[[], Iterator[str]]]] = {"grades": _Grades, "export": _Export}
