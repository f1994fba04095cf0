"""Games to store, made up or drawn by lot, and which kinds of database there are to store them in."""

import os
from collections.abc import Sequence
from pathlib import Path

from game_records import numbered, rows
from hypothesis import strategies as st
from sqlalchemy import Connection

from gateway.game.board import COLUMNS, Board, Side
from gateway.game.events import Reason, Spoken
from gateway.game.ids import RUNS, GameId, game_ids
from gateway.game.results import WITHOUT_RESULT
from gateway.store import storing
from gateway.store.database import Database
from gateway.store.evidence import recorded
from gateway.store.records import Enclosure, GameRecord, Participant
from gateway.store.totals import Totals

POSTGRES = os.environ.get("C4TEST_POSTGRES")
"""The URL of a database to test with, if there is one."""
KINDS = ["sqlite", "postgresql"] if POSTGRES else ["sqlite"]


def keep(database: Database, records: Sequence[GameRecord], start: int = 1) -> None:
    """Store games, numbered from `start`, in one transaction."""
    with database.writing() as connection:
        storing.store(connection, rows(numbered(records, start)))


def keep_only(database: Database, records: Sequence[GameRecord]) -> None:
    """Store games in place of all that are stored."""
    with database.writing() as connection:
        storing.clear(connection)
        storing.store(connection, rows(numbered(records)))


def recounted(connection: Connection) -> Totals:
    """Return the totals, computed from the stored games alone."""
    totals = Totals()
    for _ in storing.replay(connection, totals):
        pass
    return totals


def child_environment() -> dict[str, str]:
    """Return what a process needs that imports what the tests here import."""
    return os.environ | {"PYTHONPATH": os.pathsep.join([os.getcwd(), str(Path(__file__).parents[2])])}


def enclosure(number: int, side: Side = 0, *said: Spoken) -> Enclosure:
    """Return evidence of one side of a game, which began at 0.0."""
    return Enclosure(str(number), side, recorded(said))


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8) | st.sampled_from("abc")
TABLES = st.none() | NAMES
TIMES = st.integers(0, 2**45)
IDS: st.SearchStrategy[GameId] = st.integers(1, 2**63 - 1).map(str) | st.integers(0, RUNS - 1).map(
    lambda run: next(game_ids(run))
)


@st.composite
def records(
    draw: st.DrawFn, names: st.SearchStrategy[str] = NAMES, tables: st.SearchStrategy[str | None] = TABLES
) -> GameRecord:
    """Draw any game there can be."""
    board = Board()
    for lot in draw(st.lists(st.integers(0, 6), max_size=42)):
        columns = [column for column in range(COLUMNS) if board.has_room(column)]
        if board.over:
            break
        board = board.drop(columns[lot % len(columns)])
    first, second = draw(names), draw(names)
    kinds = st.sampled_from(["nac4", "arena", "droidcon", "house"])
    if board.winner is not None:
        winner, reason = board.winner, Reason.FOUR
    elif board.over:
        winner, reason = None, Reason.FULL
    else:
        endings = [(w, r) for w in (0, 1) for r in (Reason.TIME, Reason.LEFT, Reason.ILLEGAL)]
        winner, reason = draw(st.sampled_from([*endings, (None, Reason.ABORTED), (None, Reason.STOPPED)]))
    return GameRecord(
        game=draw(IDS),
        began=draw(TIMES),
        ended=draw(TIMES),
        players=(
            Participant(first, draw(kinds), draw(st.booleans())),
            Participant(second, draw(kinds), draw(st.booleans())),
        ),
        moves="".join(map(str, board.moves)),
        winner=winner,
        reason=reason,
        thought=(draw(TIMES), draw(TIMES)),
        table=draw(tables),
        series=draw(st.integers(0, 2**40)),
        round=draw(st.integers(1, 1000)),
        counted=draw(st.booleans()) and reason not in WITHOUT_RESULT,
    )
