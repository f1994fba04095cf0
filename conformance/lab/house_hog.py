"""`python -m conformance house-hog`: does a client with many wishes slow down another's game?

One client wishes for the slowest house player, over and over and at once, and plays every game that it gets.
Another one, at the same address and under a name of its own, plays a house player too; each move of that is
timed, from the client's `PUT` to the answer. A wish that is refused is in order, a slow move is not.
"""

from argparse import Namespace
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

import trio

from conformance.arguments import Parser
from conformance.lab import house
from conformance.lab.client import Client, connected
from conformance.lab.figures import percentile
from conformance.lab.house import SERIES, HouseGames, Refusal
from conformance.lab.jobs import LoadError
from conformance.launch import COMMAND, running

PLAYER = "aima10"
"""Whom the hog wishes for."""
LIMIT = 1000.0
"""Milliseconds within which every move has to come."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a run came to. Times are in milliseconds."""

    games: HouseGames
    refused: int
    times: Sequence[float]

    @property
    def good(self) -> bool:
        """Whether every move came in time."""
        return max(self.times) <= LIMIT

    def __str__(self) -> str:
        return (
            f"hog's games:     {self.games.on}\n"
            f"hog's refusals:  {self.refused}\n"
            f"hog's answers:   {self.games.answers}\n"
            f"moves measured:  {len(self.times)}\n"
            f"median:          {percentile(self.times, 50):.1f} ms\n"
            f"worst:           {max(self.times):.1f} ms (limit {LIMIT:g} ms)\n"
        )


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    parser = Parser.of("house-hog", __doc__)
    parser.count("--wishes", 200, "wishes of the hog")
    parser.seconds("--seconds", 20.0, "how long to measure")
    parser.add_argument(
        "--player", default="aimafast", metavar="NAME", help="whom the other client plays (aimafast)"
    )
    figures = trio.run(measure, parser.parse_args(argv))
    print(figures, end="")
    return 0 if figures.good else 1


async def measure(options: Namespace, command: Sequence[str] = COMMAND) -> Figures:
    """Return what a run with these options came to. Raises LoadError, ServerError, wrapped."""
    hog, measured = Hog(options.wishes), HouseGames()
    async with running(SERIES, command) as server, AsyncExitStack() as stack, trio.open_nursery() as nursery:

        async def client(name: str) -> Client:
            found = await stack.enter_async_context(connected(server.addresses["droidcon"]))
            await house.name(found, name)
            return found

        for _ in range(options.wishes):
            nursery.start_soon(hog.wish, await client("hog"))
        with trio.move_on_after(house.PATIENCE):
            await hog.answered.wait()
        if not hog.answered.is_set():
            raise LoadError(f"not all wishes for {PLAYER} were answered within {house.PATIENCE:g} s")
        other = await client("other")
        with trio.move_on_after(options.seconds):
            await measured.play(other, options.player)
        nursery.cancel_scope.cancel()
    if not measured.times:
        raise LoadError(f"{options.player} made no move within {options.seconds:g} s")
    return Figures(hog.games, hog.refused, [1000 * time for time in measured.times])


class Hog:
    """A client with many wishes."""

    def __init__(self, wishes: int) -> None:
        self.games = HouseGames(self._heard)
        self.refused = 0
        self.answered = trio.Event()
        """Set once each wish is granted or refused."""
        self._wishes = wishes

    async def wish(self, client: Client) -> None:
        """Wish, and play if that is granted. Raises LoadError."""
        try:
            await self.games.play(client, PLAYER)
        except Refusal:
            self.refused += 1
            self._heard()

    def _heard(self) -> None:
        if self.games.on + self.refused >= self._wishes:
            self.answered.set()
