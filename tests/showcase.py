"""A server as people find it: games of some days in the database, and games that are on, at any move.

Everything is drawn by lot from one seed. Players have different strengths, names from all over the world, and
the dialect that they always speak.
"""

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from game_records import game, numbered, packed, rows
from scripted_clients import KINDS, Client, connected
from worlds.server import Served

from gateway.game.board import COLUMNS, Board
from gateway.game.events import Reason, Spoken
from gateway.store import storing
from gateway.store.database import open_to_write
from gateway.store.evidence import recorded
from gateway.store.records import Enclosure, GameRecord, Participant

DAY = 86_400_000
"""Milliseconds."""
ILLEGAL_GAME = "33333225425415016323"
"""A game after which column 3 is full, and the second mover, whose turn it is, tries it all the same."""

PAUSE = 0.3
"""Seconds before each of its moves, where it is to look as if they were thought about."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A player of the showcase."""

    name: str
    kind: str
    skill: float
    """How often it looks at what it does, 0 to 1."""
    thinks: int
    """Milliseconds a move."""


HOSTILE = "<img src=x onerror=alert(1)>"
CAST = (
    Figure("negamax-9", "arena", 0.97, 61),
    Figure("alice", "nac4", 0.92, 34),
    Figure("BluePanda", "droidcon", 0.9, 10),
    Figure("kolumbus_v2_final", "nac4", 0.88, 25),
    Figure("dropout", "droidcon", 0.8, 46),
    Figure("lehrer-bot", "droidcon", 0.7, 12),
    Figure("Ωmega", "arena", 0.66, 120),
    Figure("bot مرحبا", "arena", 0.6, 812),
    Figure(HOSTILE, "arena", 0.45, 2),
    Figure("the-bot-that-was-written-in-one-night", "arena", 0.4, 5),
    Figure("tower-of-hanoi", "droidcon", 0.3, 2),
    Figure("zug-zwang", "arena", 0.1, 2),
)


def moves_of(lot: random.Random, skills: Sequence[float]) -> Board:
    """Return a game that two of these skills have played to its end."""
    board = Board()
    while not board.over:
        board = board.drop(_chosen(lot, board, skills[board.turn]))
    return board


def _chosen(lot: random.Random, board: Board, skill: float) -> int:
    columns = [column for column in range(COLUMNS) if board.has_room(column)]
    if lot.random() < skill:
        wins = [column for column in columns if board.drop(column).winner is not None]
        safe = [column for column in columns if not _is_won_next(board.drop(column))]
        columns = wins or safe or columns
    return lot.choices(columns, [1, 2, 3, 4, 3, 2, 1][: len(columns)])[0]


def _is_won_next(board: Board) -> bool:
    if board.over:
        return False
    return any(board.drop(column).winner is not None for column in range(COLUMNS) if board.has_room(column))


def history(lot: random.Random, number: int, days: int = 6) -> list[GameRecord]:
    """Return so many games of the last days, the oldest first."""
    now = time.time_ns() // 1_000_000
    began = sorted(now - lot.randrange(DAY * days) for _ in range(number))
    return numbered([_game(lot, at) for at in began])


def _game(lot: random.Random, began: int) -> GameRecord:
    first, second = lot.sample(CAST, 2)
    board = moves_of(lot, (first.skill, second.skill))
    thought = tuple(
        sum(1 + int(each.thinks * lot.expovariate(1)) for _ in board.moves[side::2])
        for side, each in enumerate((first, second))
    )
    moves, winner = "".join(map(str, board.moves)), board.winner
    reason = Reason.FULL if winner is None else Reason.FOUR
    if lot.random() < 0.12:
        moves = moves[: max(2, len(moves) // 2)]
        winner = 1 - len(moves) % 2
        reason = lot.choice([Reason.LEFT, Reason.LEFT, Reason.TIME, Reason.ILLEGAL])
    return game(
        began=began,
        ended=began + sum(thought),
        players=tuple(Participant(each.name, each.kind) for each in (first, second)),
        moves=moves,
        winner=winner,
        reason=reason,
        thought=thought,
    )


def lost_on_time(game_id: str, silence: float = 34.3) -> tuple[GameRecord, list[Enclosure]]:
    """Return a game of yesterday that dropout lost by so many seconds of silence, and its evidence."""
    names, moves = ("dropout", "alice"), "3342"
    both: list[list[Spoken]] = [[(0.0, "out", "NEW_GAME\n", None)] for _ in names]
    at = 0.0
    for number, column in enumerate(moves):
        mover, other = both[number % 2], both[1 - number % 2]
        mover.append((at, "out", "YOUR_MOVE\n", None))
        at += 2.6 if number == 2 else 0.04  # one pause that is worth a line, and did not lose
        mover.append((at, "in", f"PUT {column}\n", None))
        other.append((at, "out", f"PUT {column}\n", None))
    both[0] += [(at, "out", "YOUR_MOVE\n", 30.0), (at + silence, "out", "YOU_LOST\n", None)]
    both[1].append((at + silence, "out", "YOU_WON\n", None))
    began = time.time_ns() // 1_000_000 - DAY
    record = game(
        game=game_id,
        began=began,
        ended=began + round(1000 * (at + silence)),
        players=tuple(Participant(name, "droidcon") for name in names),
        moves=moves,
        winner=1,
        reason=Reason.TIME,
        thought=(round(1000 * silence) + 2_640, 80),
    )
    return record, [Enclosure(game_id, side, recorded(lines)) for side, lines in enumerate(both)]


def fill(where: Path, games: Sequence[GameRecord], evidence: Sequence[Enclosure] = ()) -> None:
    """Put games, and evidence of some of them, into a new database."""
    database = open_to_write(str(where))
    with database.writing() as connection:
        storing.store(connection, rows(games))
        storing.enclose(connection, packed(evidence))
    database.close()


class Match:
    """A game that is on, between two scripted clients at a table of their own."""

    def __init__(self, gateway: Served, table: str, pair: Sequence[Figure], moves: Sequence[int]) -> None:
        self.clients: list[Client] = [KINDS[each.kind](gateway, each.name, table) for each in pair]
        self.moves = moves
        self.made = 0

    @property
    def is_over(self) -> bool:
        return self.made == len(self.moves)

    def step(self) -> None:
        """Make the next move."""
        self.clients[self.made % 2].play(self.moves[self.made])
        self.made += 1


@contextmanager
def matches(gateway: Served, lot: random.Random, number: int) -> Iterator[list[Match]]:
    """So many games, each at some move of its middle, for as long as the block lasts."""
    with ExitStack() as stack:
        found = []
        taken: set[str] = set()
        for at in range(number):
            # A nac4 server knows a name once.
            pair = lot.sample([each for each in CAST if each.name not in {*taken, HOSTILE}], 2)
            taken |= {each.name for each in pair if each.kind == "nac4"}
            board = moves_of(lot, [each.skill for each in pair])
            match = Match(gateway, f"table-{at}", pair, board.moves)
            stack.enter_context(connected(*match.clients))
            found.append(match)
        for match in found:
            for _ in range(lot.randrange(2, max(3, len(match.moves) - 4))):
                match.step()
        yield found


def play_illegal(gateway: Served, *, paced: bool) -> None:
    """Let dropout lose to alice by a move into a full column."""
    first, second = KINDS["nac4"](gateway, "alice", "show"), KINDS["droidcon"](gateway, "dropout", "show")
    with connected(first, second):
        for number, digit in enumerate(ILLEGAL_GAME):
            if paced:
                time.sleep(PAUSE)
            (first, second)[number % 2].play(int(digit))
        first.finish()
        second.finish()
