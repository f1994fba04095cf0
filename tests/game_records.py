"""Records of games, for tests of what is done with them."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

import trio

from gateway.game.board import Side
from gateway.game.events import Reason
from gateway.game.ids import GameId
from gateway.store.evidence import stored as kept
from gateway.store.records import Enclosure, GameRecord, Participant, Row

FOUR = "0101010"
DRAW = "146660203633536103043506522512202545444111"
BEGAN = 1_700_000_000_000


def game(first: str = "alice", second: str = "bob", **about: object) -> GameRecord:
    """Return a game that the first mover won, but for what is said of it."""
    usual: dict[str, object] = {
        "game": "1",
        "began": BEGAN,
        "ended": BEGAN + 1_500,
        "players": (Participant(first, "nac4"), Participant(second, "arena")),
        "moves": FOUR,
        "winner": 0,
        "reason": Reason.FOUR,
        "thought": (120, 340),
    }
    return GameRecord(**(usual | about))  # type: ignore[arg-type]


def drawn(first: str = "alice", second: str = "bob", **about: object) -> GameRecord:
    """Return a game that nobody won."""
    return game(first, second, **({"moves": DRAW, "winner": None, "reason": Reason.FULL} | about))


def numbered(records: Iterable[GameRecord], start: int = 1) -> list[GameRecord]:
    """Return the games with a number each, counted from `start`, for their id."""
    return [replace(record, game=str(number)) for number, record in enumerate(records, start)]


def rows(records: Iterable[GameRecord]) -> list[Row]:
    """Return games as they are stored."""
    return [record.row() for record in records]


def packed(evidence: Iterable[Enclosure]) -> list[tuple[Side, bytes, GameId]]:
    """Return evidence as it is stored."""
    return [(each.side, kept(each.exchange), each.game) for each in evidence]


class Storing(Protocol):
    """Whatever knows which games are stored."""

    def when_stored(self, game: GameId, then: Callable[[], object]) -> None: ...


async def stored(games: Storing, game: GameId) -> None:
    """Wait until a game is stored, or not worth waiting for."""
    over = trio.Event()
    games.when_stored(game, over.set)
    if not over.is_set():
        await over.wait()
