"""Perfect play: the result of each column, in every position of a stored game and of side lines of it.

Knows the solver's time limit, and who is served first. Does not know HTTP or the database. What somebody
asks for is solved before games that nobody asked for. One request is served at a time. Many may ask for the
same positions at once, such as the viewers of a game that has just ended, but at most `WAITING` for others. A
position that was not solved in time is tried again at the next request for it.
"""

from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any

import trio

from gateway.game.board import COLUMNS
from gateway.game.evaluation import Scores, last_move, result
from gateway.store.analyses import analysis_of, packed
from gateway.store.records import GameRecord, Solved

LIMIT = 25.0
"""The most seconds for one request, with its wait. On an idle processor a game takes about three seconds."""
WAITING = 3
"""The most different requests that wait while another one is served."""
KEPT = 10_000
"""The most positions whose results are remembered. They take about 5 MB."""


class BusyError(Exception):
    """Too many requests wait already."""


class Perfect:
    """Solves positions, the latest of a game first.

    Late positions are solved fastest, and their results help to solve the earlier ones.
    """

    def __init__(
        self,
        work: Callable[[str], Awaitable[Scores | None]],
        keep: Callable[[Solved], Awaitable[object]] | None = None,
    ) -> None:
        """`work` scores a position, as `Solver.scores` does; `keep` stores the scores of a whole game."""
        self._work = work
        self._keep = keep
        self._turn = trio.Lock()
        self._known: OrderedDict[str, Scores] = OrderedDict()
        """The scores of positions, by the columns that lead there."""
        self._requests = Counter[tuple[str, ...]]()
        """How many requests there are for the same positions, until they are answered."""
        self._asking = 0
        self._quiet = trio.Event()

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Let `analyse` wait during the block, because somebody waits for the solver."""
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1
            if not self._asking:
                self._quiet.set()
                self._quiet = trio.Event()

    async def game(self, record: GameRecord) -> list[Scores | None]:
        """Return the scores of each position in which a move was due; None for a position not solved in time.

        Raises BusyError, and what `work` raises.
        """
        wanted = positions_of(record)
        scores = await self.positions(wanted)
        if tuple(wanted) not in self._requests:  # the last of those who asked for it at once
            await self._store(record, scores)
        return scores

    async def positions(self, wanted: Sequence[str]) -> list[Scores | None]:
        """Return the scores of positions, given by the columns that lead there; None as for `game`.

        Raises BusyError, and what `work` raises.
        """
        found = {columns: self._known[columns] for columns in wanted if columns in self._known}
        for columns in found:
            self._known.move_to_end(columns)
        if len(found) < len(wanted):
            with self._place_for(wanted), self.asking(), trio.move_on_after(LIMIT):
                async with self._turn:
                    for columns in reversed(wanted):
                        if (scores := await self._solve(columns)) is None:
                            break
                        found[columns] = scores
        return [found.get(columns) for columns in wanted]

    @contextmanager
    def _place_for(self, wanted: Sequence[str]) -> Iterator[None]:
        """Count a request for these positions during the block. Raises BusyError if too many others wait."""
        key = tuple(wanted)
        if key not in self._requests and len(self._requests) > WAITING:
            raise BusyError
        self._requests[key] += 1
        try:
            yield
        finally:
            self._requests[key] -= 1
            if not self._requests[key]:
                del self._requests[key]

    async def analyse(self, record: GameRecord) -> bool:
        """Solve a game while nobody asks for another, and store the scores; return False if that failed.

        Between two positions it pauses for as long as the position took, to spare the processor.
        """
        found = list[Scores | None]()
        for columns in reversed(positions_of(record)):
            while self._asking:
                await self._quiet.wait()
            began = trio.current_time()
            if (scores := await self._solve(columns)) is None:
                return False
            found.append(scores)
            await trio.sleep(trio.current_time() - began)
        await self._store(record, found[::-1])
        return True

    async def _store(self, record: GameRecord, found: Sequence[Scores | None]) -> None:
        """Store the scores of a game, if all are known."""
        scores = [each for each in found if each is not None]
        if self._keep is not None and len(scores) == len(found):
            await self._keep(Solved(record.game, record.moves, packed(scores)))

    async def _solve(self, columns: str) -> Scores | None:
        """Return the scores of a position; None if the solver fails."""
        scores = self._known.get(columns)  # another request may have found them meanwhile
        if scores is None:
            scores = await self._work(columns)
        if scores is not None:
            self._known[columns] = scores
            self._known.move_to_end(columns)
            if len(self._known) > KEPT:
                self._known.popitem(last=False)
        return scores


def positions_of(record: GameRecord) -> Sequence[str]:
    """Return the positions of a game in which a move was due, as the columns that lead there."""
    return [record.moves[:number] for number in range(len(record.moves) + (not record.board().over))]


def as_object(
    moves: str,
    found: Sequence[Scores | None],
    near: Set[int] = frozenset(),
    secret: Set[int] = frozenset(),
) -> dict[str, Any]:
    """Return the positions of a game as plain values for JSON.

    `near` are the numbers of moves after which a game that is on is near the position, so the worth of its
    columns is left out. `secret` are those of them for which it is left out, too, who wins the position.
    """
    analysis = analysis_of(moves, None, found)
    return {
        "positions": [
            None if number in near else worths(scores, number) for number, scores in enumerate(found)
        ],
        "evaluations": [
            None if each is None or number in secret else {"winner": each.winner, "at": each.at}
            for number, each in enumerate(analysis.evaluations)
        ],
        "withheld": sorted(near),
        "turned": [
            {
                "move": each.move,
                "was": each.was,
                "became": each.became,
                "better": [] if each.move - 1 in near else each.better,
            }
            for each in analysis.turned
            if secret.isdisjoint((each.move - 1, each.move))
        ],
    }


def worths(scores: Scores | None, moves: int) -> list[dict[str, Any] | None] | None:
    """Return the worth of each column after `moves` moves as plain values for JSON; None for a full column.

    Returns None if the scores are not known.
    """
    if scores is None:
        return None
    return [
        {"result": result(scores[column]), "at": last_move(scores[column], moves)}
        if column in scores
        else None
        for column in range(COLUMNS)
    ]
