r"""A database in which an older version made the tables, opened by today's server: nothing of it is lost.

The commit that last had version 1 is 2ed48ed. There this program made the two databases, run with a file and
with the URL of an empty PostgreSQL database. ``pg_dump --inserts --no-owner --no-comments`` wrote the second
as text; lines that begin with SET, SELECT, ``--`` or a backslash are left out, so is ``public.``. Both are
compressed with ``gzip -9n``. ``c4gateway export`` wrote version-1.jsonl of the first.

The commit that last had version 2 is 6143065. There the program below the first one made two databases of the
same games.

    import sys

    from gateway.game.events import Objection, Reason
    from gateway.store import ledger
    from gateway.store.database import open_to_write
    from gateway.store.records import Enclosure, GameRecord, Participant, Submission

    DRAW = "146660203633536103043506522512202545444111"
    PLAYERS = [
        Participant("alice", "nac4"),
        Participant("bob", "arena"),
        Participant("Zo\u00eb \U0001f642", "droidcon"),
        Participant("nul\0\N{SYMBOL FOR NULL}", "arena"),
        Participant("=1+1", "nac4"),
        Participant("aima", "house", house=True),
    ]
    ENDS = [
        ("0101010", 0, Reason.FOUR),
        ("60101010", 1, Reason.FOUR),
        (DRAW, None, Reason.FULL),
        ("33", 1, Reason.TIME),
        ("334", 0, Reason.LEFT),
        ("3", None, Reason.ABORTED),
        ("3344", 0, Reason.ILLEGAL),
        ("", None, Reason.STOPPED),
    ]
    SAID = (
        (5.0, "out", "genmove ...\r\n", 41.5),
        (5.012, "in", "playmove 9\r\n", Objection.OUTSIDE),
        (6.5, "in", "\x1b[2J", None),
        (7.0, "note", "", "hung up"),
    )


    def record(number: int) -> GameRecord:
        moves, winner, reason = ENDS[number % len(ENDS)]
        began = 1_790_000_000_000 + 1_000 * number
        return GameRecord(
            began=began,
            ended=began + 10 * len(moves) + number % 3,
            players=(PLAYERS[number % 5], PLAYERS[(number + 1 + number % 4) % 6]),
            moves=moves,
            winner=winner,
            reason=reason,
            thought=(7 * number, 11 * number),
            table=(None, "corner", "\0")[number % 3],
            series=number // 4,
            round=1 + number % 4,
            counted=reason not in (Reason.ABORTED, Reason.STOPPED),
        )


    database = open_to_write(sys.argv[1])
    for boot, numbers in ((2**62 + 1, range(20)), (7, range(20, 36))):
        with database.writing() as connection:
            submissions = [Submission(at, record(number)) for at, number in enumerate(numbers, 1)]
            ledger.store(connection, boot, submissions)
            sides = [(at, side) for at in range(1, len(numbers) + 1) for side in (0, 1) if at % 3 >= side]
            ledger.enclose(connection, boot, [Enclosure(at, side, SAID, 5.0, 0) for at, side in sides])
    database.close()

Version 2, where it differs:

    from gateway.store import storing
    from gateway.store.evidence import recorded
    from gateway.store.records import Enclosure, GameRecord, Participant

    SAID = ((0.0, ...), (0.012, ...), (1.5, ...), (2.0, ...))  # all times are 5 s less

    def record(number: int) -> GameRecord:
        ...
        return GameRecord(game=str(number + 1), ...)

    for numbers in (range(20), range(20, 36)):
        with database.writing() as connection:
            storing.store(connection, rows([record(number) for number in numbers]))
            ids = [*enumerate(map(record, numbers), 1)]
            sides = [(at, each.game, side) for at, each in ids for side in (0, 1) if at % 3 >= side]
            enclosures = [Enclosure(game, side, recorded(SAID)) for _, game, side in sides]
            storing.enclose(connection, packed(enclosures))

The commit that last had version 5 is 8ad410d. There the program of version 2 made two databases of the same
games. Empty lines of the text are left out, too.
"""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from game_records import game, rows
from sqlalchemy import Inspector, Row, insert, inspect, select
from store_world import recounted

from gateway.commands import stored_games as commands
from gateway.store import StoreError, storing, tournaments
from gateway.store.database import Database, open_to_read, open_to_write
from gateway.store.games import Filter, Page, evidence_of, page
from gateway.store.records import TournamentGame
from gateway.store.schema import exchanges, games, metadata
from gateway.store.totals import Ratings

DATA = Path(__file__).with_name("data")
RATINGS = 3
"""The first version that has ratings after each game."""
SHOWN = """\
game 18: bob beat Zo\u00eb \U0001f642 with four in a row
2026-09-21T14:13:37.000Z, 0.082 s, table \\x00, round 2

X  Zo\u00eb \U0001f642  droidcon  moved first   4 moves  thought 0.119 s
O  bob    arena     moved second  4 moves  thought 0.187 s

  . . . . . . .
  . . . . . . .
  O . . . . . .
  O X . . . . .
  O X . . . . .
  O X . . . . X
  0 1 2 3 4 5 6

moves 60101010
position 71212121 (columns from 1)

Zo\u00eb \U0001f642 -> said, <- heard, in milliseconds since the game began:
         0  <-  genmove ...
         0  --  41.500 s left
        12  ->  playmove 9
        12  --  refused: outside the board
      1500  ->  \\x1b[2J
      2000  --  hung up

bob: nothing is kept
"""


@pytest.fixture(params=[1, 2, 5])
def version(request: pytest.FixtureRequest) -> int:
    """A version that there was."""
    number: int = request.param
    return number


@pytest.fixture
def old(where: str, version: int) -> str:
    """Where there is a database of that version."""
    if where.startswith("postgresql"):
        made_new = open_to_write(where)
        with made_new.engine.begin() as connection:
            metadata.drop_all(connection)
            dump = gzip.decompress((DATA / f"version-{version}.sql.gz").read_bytes()).decode()
            for statement in dump.split(";\n"):
                connection.exec_driver_sql(statement)
        made_new.close()
    else:
        Path(where).write_bytes(gzip.decompress((DATA / f"version-{version}.db.gz").read_bytes()))
    return where


def tables(database: Database) -> dict[str, object]:
    """Return all that the database itself says of its tables."""

    def described(found: Inspector, table: str) -> object:
        columns = {each["name"]: (str(each["type"]), each["nullable"]) for each in found.get_columns(table)}
        keys = [
            (each["constrained_columns"], each["referred_table"]) for each in found.get_foreign_keys(table)
        ]
        indexes = {(each["name"], *each["column_names"]) for each in found.get_indexes(table)}
        unique = sorted(each["column_names"] for each in found.get_unique_constraints(table))
        return columns, sorted(keys), indexes, unique, found.get_pk_constraint(table)["constrained_columns"]

    with database.reading() as connection:
        found = inspect(connection)
        return {table: described(found, table) for table in found.get_table_names()}


def test_games_of_before_are_found_under_their_numbers_and_all_is_as_it_was(old: str) -> None:
    database = open_to_write(old)
    before = [json.loads(line) for line in (DATA / "version-1.jsonl").read_text().splitlines()]
    exported = [json.loads(line) for line in commands.export(database, "jsonl", Filter())]
    assert [each.pop("position") for each in exported][17] == "71212121"
    assert exported == [each | {"id": str(each["id"])} for each in before]
    assert len(exported) == 36
    assert "".join(commands.show(database, "18")) == SHOWN
    with database.reading() as connection:
        evidence = [evidence_of(connection, each["id"]) for each in exported]
    assert sum(side is not None for both in evidence for side in both) == 61
    with database.reading() as connection:
        assert storing.totals_kept(connection) == recounted(connection)
    with database.writing() as connection:
        storing.store(connection, rows([game(game="00000-00000a")]))
        found = page(connection, Filter(), Page(after="35", newest_first=False))
    assert [each.game for each in found] == ["36", "00000-00000a"]
    database.close()


def test_tables_that_were_migrated_are_those_of_a_new_database(old: str, tmp_path: Path) -> None:
    migrated = open_to_write(old)
    found = tables(migrated)
    with migrated.writing() as connection:
        metadata.drop_all(connection)
        metadata.create_all(connection)
    assert found == tables(migrated)
    migrated.close()


def test_games_of_before_get_their_ratings_by_a_recount(old: str, version: int, tmp_path: Path) -> None:
    migrated, new = open_to_write(old), open_to_write(str(tmp_path / "new.db"))
    [*_] = commands.add(new, (line.encode() for line in commands.export(migrated, "jsonl", Filter())))
    if version < RATINGS:
        assert ratings(migrated) != ratings(new)
        assert [*commands.recount(migrated)][1].startswith("ratings after each game: 28 games had none")
    assert ratings(migrated) == ratings(new)
    assert len([*commands.recount(migrated)]) == 1
    migrated.close()
    new.close()


def ratings(database: Database) -> Sequence[Row[Any]]:
    with database.reading() as connection:
        return connection.execute(
            select(*(games.c[name] for name in Ratings._fields)).order_by(games.c.id)
        ).all()


def test_old_database_is_not_read_before_a_server_has_migrated_it(old: str, version: int) -> None:
    with pytest.raises(StoreError, match=f"has the older version {version}; start the server with it once"):
        open_to_read(old)
    open_to_write(old).close()
    open_to_read(old).close()


def test_migrated_database_takes_a_tournament_and_its_games(old: str) -> None:
    database = open_to_write(old)
    with database.writing() as connection:
        tournaments.create(connection, "corner", "")
        storing.store(connection, rows([game(game="100", table="Corner", scheduled=TournamentGame(0, 1))]))
        [news] = tournaments.news(connection, {})
    assert [each.game for each in news.games] == ["100"]  # earlier games at this table are not among them
    database.close()


def test_evidence_still_belongs_to_a_game(old: str) -> None:
    database = open_to_write(old)
    with pytest.raises(StoreError), database.writing() as connection:
        connection.execute(insert(exchanges).values(game=99, side=0, body=b""))
    if database.engine.dialect.name == "sqlite":
        with database.reading() as connection:
            assert connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []
            assert connection.exec_driver_sql("PRAGMA integrity_check").scalar_one() == "ok"
    database.close()
