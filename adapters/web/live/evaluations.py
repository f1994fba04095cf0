"""Who is winning the games that are on, with perfect play.

Knows positions as a whole, and never what a column is worth, which would help a player. Does not know HTTP.
Nothing is solved unless somebody asks for a game, and each position is solved once.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import trio

from adapters.web.live.state import Game
from gateway.game.board import boards_of
from gateway.game.evaluation import Evaluation, evaluation, evaluation_of_end, turned
from gateway.game.facts import GameStarted
from gateway.game.ids import GameId

KEPT = 500
"""The most games whose evaluations are remembered."""
AT_ONCE = 4
"""The most games that are solved at once. Requests for further games get only what is known already."""
PATIENCE = 2.0
"""Seconds after which a request gets what is known until then."""


class SecretError(Exception):
    """It is kept from everybody who is winning this game. The text says who wants that."""


class _Known:
    """What is known of one game."""

    def __init__(self) -> None:
        self.found: dict[int, Evaluation] = {}
        """The evaluations, by the number of moves before them."""
        self.turn = trio.Lock()
        self.is_secret: bool | None = None
        """Whether nobody may know who is winning; None if it was not looked up."""


class Evaluations:
    """Evaluates games that are on."""

    def __init__(
        self,
        work: Callable[[str], Awaitable[int | None]],
        asking: Callable[[], AbstractContextManager[None]],
        is_secret: Callable[[GameStarted], Awaitable[bool]],
        *,
        is_possible: bool = True,
    ) -> None:
        """`work` scores a position as a whole, as `Solver.value` does, within a block of `asking`.

        `is_secret` returns whether the tournament that a game belongs to keeps it secret who is winning.
        `is_possible` is whether the solver is installed.
        """
        self.is_possible = is_possible
        self._work = work
        self._asking = asking
        self._is_secret = is_secret
        self._games: OrderedDict[GameId, _Known] = OrderedDict()
        self._solving = 0

    async def of(self, game: Game) -> Sequence[Evaluation | None]:
        """Return the evaluations of a game, from the start to the latest move; None if one is not known yet.

        Raises SecretError, and what `work` raises.
        """
        if await self.hides(game):
            raise SecretError("this tournament does not show who is winning a game that is on")
        known = self._known(game)
        moves, until = game.moves, trio.current_time() + PATIENCE
        wanted = range(len(moves) + 1)
        is_whole = all(number in known.found for number in wanted)
        if not is_whole and (known.turn.locked() or self._solving < AT_ONCE):
            async with known.turn:
                self._solving += 1
                try:
                    with self._asking():
                        await self._find(moves, until, known.found)
                finally:
                    self._solving -= 1
        return [known.found.get(number) for number in wanted]

    async def hides(self, game: Game) -> bool:
        """Whether nobody may know who is winning a game that is on."""
        known = self._known(game)
        if known.is_secret is None:
            known.is_secret = await self._is_secret(game.started)
        return known.is_secret

    def _known(self, game: Game) -> _Known:
        known = self._games.setdefault(game.id, _Known())
        self._games.move_to_end(game.id)
        if len(self._games) > KEPT:
            self._games.popitem(last=False)
        return known

    async def _find(self, moves: str, until: float, found: dict[int, Evaluation]) -> None:
        """Evaluate the positions that are not known, the latest first, until it is `until`."""
        for number, board in reversed([*enumerate(boards_of(moves))]):
            if number in found:
                continue
            if board.over:
                found[number] = evaluation_of_end(board)
                continue
            if trio.current_time() >= until:
                return
            if (score := await self._work(moves[:number])) is None:
                return
            found[number] = evaluation(score, number)


def as_object(found: Sequence[Evaluation | None]) -> dict[str, Any]:
    """Return the evaluations of a game that is on as plain values for JSON."""
    return {
        "moves": len(found) - 1,
        "evaluations": [None if each is None else {"winner": each.winner, "at": each.at} for each in found],
        "turned": [{"move": each.move, "was": each.was, "became": each.became} for each in turned(found)],
    }
