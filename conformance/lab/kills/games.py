"""The games to play: short, known beforehand, and never the same twice between two players; and a verdict.

So names and moves say which game is meant, and whoever plays can tell at every message whether it belongs
there. What clients were told is compared with what is stored: games that nobody was told of may be stored or
not; of the others each has to be there once. Pure; does not know dialects.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from conformance.boards import COLUMNS
from conformance.dialects.script import DRAWN, LEFT, Game

LENGTH = 4
"""Games in a course."""


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
_KINDS: tuple[_Kind, ...] = (*[_won_by_first] * 4, *[_won_by_second] * 4, _drawn)
_LAST: tuple[_Kind, ...] = (*[_left] * len(_KINDS), *_KINDS)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a run. Games are meant by all numbers."""

    told: int
    """That at least one of the two players was told the result of."""
    stored: int
    untold: int
    """Stored, and nobody was told."""
    missing: Sequence[Result]
    """Told of, and not stored as they were told."""
    twice: Sequence[Result]
    strange: Sequence[Result]
    """Stored, but never played."""

    @property
    def is_good(self) -> bool:
        """Whether what was told is stored, once, and nothing else but games that were played."""
        return not (self.missing or self.twice or self.strange)


def judge(told: Iterable[Result], stored: Sequence[Result], played: Mapping[str, Sequence[Game]]) -> Verdict:
    """Compare. `played` has the games that were to be played, by what both players' names begin with."""
    known, times = set(told), Counter(stored)
    return Verdict(
        told=len(known),
        stored=len(times),
        untold=len(times.keys() - known),
        missing=sorted(known - times.keys(), key=str),
        twice=[result for result, count in times.items() if count > 1],
        strange=[result for result in times if not _was_played(result, played)],
    )


def _was_played(result: Result, played: Mapping[str, Sequence[Game]]) -> bool:
    table = result.first[:-1]
    names = {result.first, result.second}
    return names == {table + "a", table + "b"} and result.game in played.get(table, ())
