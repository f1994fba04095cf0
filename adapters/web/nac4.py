"""The three JSON documents of the nac4 server, with its keys (adapters/nac4/PROTOCOL.md 8).

Stored games and totals in, plain values out. Times are in seconds.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from adapters.cells import Cells
from adapters.web.answers import Answer
from adapters.web.query import MOST, limit
from gateway.game.board import ROWS, Board
from gateway.store.games import Filter, Page
from gateway.store.records import GameRecord
from gateway.store.statistics import Meeting, Standing

Rows: TypeAlias = list[dict[str, str | float]]

_PAIRS = 10_000
_STATUS = ("Tie", "WinR", "WinY")
_CELLS = Cells(b".RY")


def results(games: Iterable[GameRecord]) -> Rows:
    """Return ``/api/results``; the first mover is red (PROTOCOL.md 8)."""
    return [_result(game) for game in games]


def users(standings: Iterable[Standing]) -> Rows:
    """Return ``/api/users-vg``, by name (PROTOCOL.md 8)."""
    return [_user(standing) for standing in sorted(standings, key=lambda standing: standing.name)]


def pairs(meetings: Sequence[Meeting]) -> Rows:
    """Return ``/api/games-vg``, by name: either order of all who met (PROTOCOL.md 8)."""
    games = {(meeting.second, meeting.first): 0 for meeting in meetings}
    games |= {(meeting.first, meeting.second): meeting.games for meeting in meetings}
    return [
        {"gNbGames": number, "gUserR": red, "gUserY": yellow}
        for (red, yellow), number in sorted(games.items())
    ]


def _result(record: GameRecord) -> dict[str, str | float]:
    return {
        "_rBoard": _rows(record.board()),
        "_rStatus": _STATUS[record.result],
        "_rTimeR": record.thought[0] / 1000,
        "_rTimeY": record.thought[1] / 1000,
        "_rUserR": record.players[0].name,
        "_rUserY": record.players[1].name,
    }


def _rows(board: Board) -> str:
    """Return the cells by row, the lowest first (PROTOCOL.md 2.1); `Cells` gives them by column."""
    cells = _CELLS.of(board).decode()
    return "".join(cells[row::ROWS] for row in range(ROWS))


def _user(standing: Standing) -> dict[str, str | float]:
    total, seconds = standing.record.total, standing.record.thought / 1000
    return {
        "uAvgTime": round(seconds / total.games, 6) if total.games else 0,
        "uGames": total.games,
        "uLoses": total.lost,
        "uTies": total.drawn,
        "uTime": seconds,
        "uUser": standing.name,
        "uWins": total.won,
    }


DOCUMENTS: Mapping[str, tuple[Answer, tuple[str, ...]]] = {
    "/api/results": (
        lambda reader, given: results(reader.page(Filter(counted=True), Page(limit=limit(given, MOST)))),
        ("limit",),
    ),
    "/api/users-vg": (lambda reader, _: users(reader.standings(MOST)[0]), ()),
    "/api/games-vg": (lambda reader, _: pairs(reader.meetings(_PAIRS)), ()),
}
"""The answer at each path, and the parameters that it takes."""
