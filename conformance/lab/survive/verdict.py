"""Compare the results that clients received with the stored games, as the gateway's commands show them.

In some dialects a result does not say whether the game was won on the board or because the opponent left. A
result in such a dialect matches a stored game with either ending. A game that was lost with its server has no
winner.
"""

import json
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import trio

from conformance.dialects.script import LEFT, Game
from conformance.lab.report import Row, counted, some
from conformance.lab.survive.players import VAGUE, Course, Player, Result
from conformance.lab.workers import LoadError

_COMMAND = (sys.executable, "-m", "gateway")
# The stored games, as the gateway's commands show them.


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
    """Return the problems that the gateway's `recount` and SQLite find in a database. Raises LoadError."""
    found = []
    if not (recount := "; ".join(await _run("recount", "--db", place))).endswith(": as kept"):
        found.append(recount)
    if Path(place).is_file() and (state := integrity(place)) != "ok":  # noqa: ASYNC240  once
        found.append(state)
    return found


def integrity(place: str) -> str:
    """Return the result of SQLite's integrity check of a file: `ok`, or the problems."""
    try:
        with closing(sqlite3.connect(place)) as connection:
            return "; ".join(str(row[0]) for row in connection.execute("PRAGMA integrity_check"))
    except sqlite3.Error as error:
        return str(error)


async def _run(*words: str) -> list[str]:
    """Run a command of the gateway; return the lines that it prints. Raises LoadError."""
    done = await trio.run_process([*_COMMAND, *words], capture_stdout=True, capture_stderr=True, check=False)
    if done.returncode != 0:
        raise LoadError(f"{words[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode().splitlines()


ABORTED, STOPPED = "aborted", "stopped"
ENDED_EARLY = (LEFT, STOPPED, ABORTED)
"""The reasons, in an export, of games that ended before a result on the board."""
LATE = "time"
MISSING, TWICE, DIFFERENT = "told and not stored", "stored twice", "told differently"
STRANGE, LATE_LOSS = "stored and not played", "lost on time"
_TROUBLES = (MISSING, TWICE, DIFFERENT, STRANGE, LATE_LOSS)


@dataclass(slots=True)
class Verdict:
    """The result of the comparison."""

    told: int = 0
    """Results that players received."""
    cut_off: int = 0
    """Players that received a message that their opponent left."""
    stored: int = 0
    may_be_cut: bool = True
    """Whether games may end before the players have finished them."""
    troubles: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in _TROUBLES})
    """Descriptions of problems, by kind."""


def judge(courses: Iterable[Course], stored: Sequence[Result], *, may_be_cut: bool) -> Verdict:
    """Compare courses with stored games. `may_be_cut`: whether a server may have ended games early."""
    times, by_table = Counter(stored), {course.table: course for course in courses}
    verdict = Verdict(stored=len(times), may_be_cut=may_be_cut)
    for result, count in times.items():
        if count > 1 and result.game.moves:
            verdict.troubles[TWICE].append(str(result))
        if result.game.reason == LATE:
            verdict.troubles[LATE_LOSS].append(str(result))
        elif not _was_played(result, by_table.get(result.first[:-1]), may_be_cut=may_be_cut):
            verdict.troubles[STRANGE].append(str(result))
    left = {result for result in times if result.game.reason == LEFT}
    by_names: dict[frozenset[str], list[Result]] = {}
    for result in times:
        by_names.setdefault(frozenset((result.first, result.second)), []).append(result)
    for course in by_table.values():
        own = by_names.get(frozenset(player.wish.name for player in course.players), [])
        for player in course.players:
            _compare(verdict, course, player, own, left)
    return verdict


def _was_played(result: Result, course: Course | None, *, may_be_cut: bool) -> bool:
    """Return whether the two players played this game. If `may_be_cut`, it may lack its last moves."""
    if course is None or {result.first, result.second} != {each.wish.name for each in course.players}:
        return False
    if result.game in course.games:
        return True
    return (
        may_be_cut
        and result.game.reason in ENDED_EARLY
        and any(game.moves.startswith(result.game.moves) for game in course.games)
    )


def _compare(
    verdict: Verdict, course: Course, player: Player, stored: Sequence[Result], left: set[Result]
) -> None:
    """Compare one player's results. `stored`: all games of the pair. `left`: all games that a player left."""
    verdict.told += len(player.results)
    for result in player.results:
        # A node may be lost at the moment at which the opponent leaves. In arena both are the same message.
        stopped = replace(result, game=replace(result.game, winner=0, reason=STOPPED))
        is_stopped = player.may_be_stopped and result.game.reason == LEFT and stopped in stored
        if result not in stored and not (
            (player.dialect in VAGUE and _was_left(result, left)) or (verdict.may_be_cut and is_stopped)
        ):
            known = "; ".join(map(str, stored)) or "nothing"
            verdict.troubles[MISSING].append(f"{player}: {result}; stored: {known}")
    if not player.is_cut_off:
        return
    verdict.cut_off += 1
    game = course.games[len(player.results)]
    if game.reason != LEFT and any(each.game == game for each in stored):
        verdict.troubles[DIFFERENT].append(f"{player} was told that its opponent left in {game}")
    elif player.winner is not None and not any(
        each.game.reason in ENDED_EARLY
        # Not every dialect can say that a game has no winner, as an aborted game is stored.
        and (each.game.winner == player.winner or (player.wins_aborted and each.game.reason == ABORTED))
        and game.moves.startswith(each.game.moves)
        for each in stored
    ):
        verdict.troubles[DIFFERENT].append(
            f"{player} was told that {player.winner} won {game} by the other's leaving"
        )


def _was_left(result: Result, left: set[Result]) -> bool:
    """Return whether one of `left`, the stored games that a player left, is the game of `result`.

    The stored game may lack up to two of the last moves.
    """
    moves, sides = result.game.moves, (result.first, result.second)
    known = {moves[: len(moves) - missing] for missing in range(3)}
    return any((each.first, each.second) == sides and each.game.moves in known for each in left)


def rows_of(verdict: Verdict, troubles: Mapping[str, Sequence[str]]) -> tuple[list[Row], list[str]]:
    """Return the figures of a verdict and of other troubles, and lines about the problems."""
    kinds = {**verdict.troubles, **troubles}
    rows = [
        counted("all", "results told", verdict.told),
        counted("all", "told that the opponent left", verdict.cut_off, None if verdict.may_be_cut else 0),
        counted("all", "games stored", verdict.stored),
        *(counted("all", kind, len(lines), 0) for kind, lines in kinds.items()),
    ]
    return rows, [line for kind, lines in kinds.items() for line in some(kind, lines)]
