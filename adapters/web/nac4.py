"""Three JSON documents of results, with the keys of the original nac4 server (adapters/nac4/PROTOCOL.md 9).

Makes them from stored games and totals. Times are in seconds.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeAlias

from adapters.client.board_marks import BoardMarks
from adapters.web.answers import Answer
from adapters.web.query import MOST, Given, limit
from gateway.game.board import ROWS, Board
from gateway.store.database import Reading
from gateway.store.games import Filter, Page, page
from gateway.store.records import GameRecord
from gateway.store.statistics import Meeting, Standing, standings

Rows: TypeAlias = list[dict[str, str | float]]

_PIECE = 500
"""Entries in one piece of ``/api/games-vg``: 40 KB."""
_STATUS = ("Tie", "WinR", "WinY")
_CELLS = BoardMarks(b".RY")


def results(games: Iterable[GameRecord]) -> Rows:
    """Return ``/api/results``; the first mover is red (PROTOCOL.md 9)."""
    return [
        {
            "_rBoard": _rows(game.board()),
            "_rStatus": _STATUS[game.result],
            "_rTimeR": game.thought[0] / 1000,
            "_rTimeY": game.thought[1] / 1000,
            "_rUserR": game.players[0].name,
            "_rUserY": game.players[1].name,
        }
        for game in games
    ]


def users(found: Iterable[Standing]) -> Rows:
    """Return ``/api/users-vg``, by name (PROTOCOL.md 9)."""
    rows = Rows()
    for standing in sorted(found, key=lambda standing: standing.name):
        total, seconds = standing.record.total, standing.record.thought / 1000
        rows.append(
            {
                "uAvgTime": round(seconds / total.games, 6) if total.games else 0,
                "uGames": total.games,
                "uLoses": total.lost,
                "uTies": total.drawn,
                "uTime": seconds,
                "uUser": standing.name,
                "uWins": total.won,
            }
        )
    return rows


def pairs(meetings: Iterable[Meeting]) -> Iterator[str]:
    """Yield ``/api/games-vg`` in pieces. It has one entry for each of `meetings`, in the same order."""
    rows = (
        json.dumps({"gNbGames": each.games, "gUserR": each.first, "gUserY": each.second}) for each in meetings
    )
    start = "["
    while some := [*islice(rows, _PIECE)]:
        yield start + ", ".join(some)
        start = ", "
    yield "[]" if start == "[" else "]"


def _rows(board: Board) -> str:
    """Return the cells row by row, the lowest row first (PROTOCOL.md 2.1)."""
    cells = _CELLS.of(board).decode()
    return "".join(cells[row::ROWS] for row in range(ROWS))


def _results(reading: Reading, given: Given) -> Rows:
    part = Page(limit=limit(given, MOST))
    with reading() as connection:
        return results(page(connection, Filter(counted=True), part))


def _users(reading: Reading, given: Given) -> Rows:
    with reading() as connection:
        found, _ = standings(connection, limit=MOST)
    return users(row.standing for row in found)


DOCUMENTS: Mapping[str, tuple[Answer, tuple[str, ...]]] = {
    "/api/results": (_results, ("limit",)),
    "/api/users-vg": (_users, ()),
}
"""For each path: the function that makes its document in one piece, and the names of its parameters."""
