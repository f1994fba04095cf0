"""The games to play, never the same twice between two players, and what is stored of them.

So names and moves say which game is meant, and whoever plays can tell at every message whether it belongs
there.
"""

import json
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random

import trio

from conformance.boards import COLUMNS
from conformance.dialects.script import DRAWN, LEFT, Game
from conformance.lab.workers import LoadError

LENGTH = 4
"""Games in a course."""
_COMMAND = (sys.executable, "-m", "gateway")


@dataclass(frozen=True, slots=True)
class Result:
    """A game with the names of those who played it, the first mover's first."""

    first: str
    second: str
    game: Game

    def __str__(self) -> str:
        won = {0: "nobody won", 1: f"{self.first} won", 2: f"{self.second} won"}
        who = won.get(self.game.winner, f"{self.game.winner} won")
        return f"{self.first} - {self.second}: {self.game.moves}, {who}, {self.game.reason}"


def course(seed: str, *, is_left: bool) -> tuple[Game, ...]:
    """Return the games that two players play one after the other, the same ones for the same seed.

    The last one may end with somebody's leaving; with `is_left` it always does.
    """
    lot = Random(seed)
    kinds = _LAST[:1] if is_left else _LAST
    games: list[Game] = []
    while len(games) < LENGTH:
        kind = lot.choice(kinds if len(games) == LENGTH - 1 else _KINDS)
        game = kind(lot)
        if game not in games:
            games.append(game)
    return tuple(games)


def _won_by_first(lot: Random) -> Game:
    """Four in one column; three discs of the other beside it are no line."""
    own, *others = lot.sample(range(COLUMNS), COLUMNS)
    moves = [own, lot.choice(others), own, lot.choice(others), own, lot.choice(others), own]
    return Game(_text(moves), 1, "four")


def _won_by_second(lot: Random) -> Game:
    """The same for the second; the first's four discs are in two or three columns, two of them in one."""
    own, twice, other, *more = lot.sample(range(COLUMNS), COLUMNS)
    moves = [twice, own, twice, own, other, own, lot.choice([twice, other, *more]), own]
    return Game(_text(moves), 2, "four")


def _drawn(lot: Random) -> Game:
    """All 42 moves, or their mirror image."""
    moves = [int(digit) for digit in DRAWN.moves]
    return Game(_text(moves if lot.random() < 0.5 else [COLUMNS - 1 - move for move in moves]), 0, "full")


def _left(lot: Random) -> Game:
    """Broken off when both have moved at least once, and nobody can have won."""
    moves = [lot.randrange(COLUMNS) for _ in range(lot.randint(2, 6))]
    return Game(_text(moves), 2 if len(moves) % 2 == 0 else 1, LEFT)


def _text(moves: list[int]) -> str:
    return "".join(map(str, moves))


_Kind = Callable[[Random], Game]
_KINDS: Sequence[_Kind] = (*[_won_by_first] * 4, *[_won_by_second] * 4, _drawn)
_LAST: Sequence[_Kind] = (*[_left] * len(_KINDS), *_KINDS)


# What is stored, as the owner of the database sees it: through the gateway's commands.


async def stored_in(place: str, token: str) -> list[Result]:
    """Return all games of players whose names begin with `token`. Raises LoadError."""
    found = []
    for line in await _run("export", "--format", "jsonl", "--db", place):
        game = json.loads(line)
        first, second = (player["name"] for player in game["players"])
        if first.startswith(token):
            found.append(Result(first, second, Game(game["moves"], game["winner"], game["reason"])))
    return found


async def complaints_about(place: str) -> list[str]:
    """Return what is wrong with a database: by the server's own recount, and by SQLite. Raises LoadError."""
    found = []
    if not (recount := "; ".join(await _run("recount", "--db", place))).endswith(": as kept"):
        found.append(recount)
    if Path(place).is_file() and (state := integrity(place)) != "ok":  # noqa: ASYNC240  once
        found.append(state)
    return found


def integrity(place: str) -> str:
    """Return what SQLite says of its file: `ok`, or what is wrong."""
    try:
        with closing(sqlite3.connect(place)) as connection:
            return "; ".join(str(row[0]) for row in connection.execute("PRAGMA integrity_check"))
    except sqlite3.Error as error:
        return str(error)


async def _run(*words: str) -> list[str]:
    """Return the lines that a command of the gateway prints. Raises LoadError."""
    done = await trio.run_process([*_COMMAND, *words], capture_stdout=True, capture_stderr=True, check=False)
    if done.returncode != 0:
        raise LoadError(f"{words[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode().splitlines()
