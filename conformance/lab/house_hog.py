"""`python -m conformance house-hog`: does a client with many wishes slow down another's game?

One client wishes for the slowest house player, over and over and at once, and plays every game that it gets.
Another one, at the same address and under a name of its own, plays a house player too; each move of that is
timed, from the client's `PUT` to the answer. A wish that is refused is in order, a slow move is not.
"""

from argparse import Namespace
from collections.abc import Sequence

import trio

from conformance.arguments import Parser
from conformance.lab import house
from conformance.lab.client import Client
from conformance.lab.figures import Row, finished, percentile
from conformance.lab.house import HouseGames, Refusal
from conformance.lab.jobs import LoadError
from conformance.launch import COMMAND

PLAYER = "aima10"
"""Whom the hog wishes for."""
LIMIT = 1000.0
"""Milliseconds within which every move has to come."""


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    parser = Parser.of("house-hog", __doc__)
    parser.count("--wishes", 200, "wishes of the hog")
    parser.seconds("--seconds", 20.0, "how long to measure")
    parser.add_argument(
        "--player", default="aimafast", metavar="NAME", help="whom the other client plays (aimafast)"
    )
    parser.report()
    options = parser.parse_args(argv)
    return finished(trio.run(measure, options), options)


async def measure(options: Namespace, command: Sequence[str] = COMMAND) -> list[Row]:
    """Return what a run with these options came to. Raises LoadError, ServerError, wrapped."""
    hog, measured = Hog(options.wishes), HouseGames()
    async with house.visited(command) as (come, nursery):
        for _ in range(options.wishes):
            nursery.start_soon(hog.wish, await come("hog"))
        with trio.move_on_after(house.PATIENCE):
            await hog.answered.wait()
        if not hog.answered.is_set():
            raise LoadError(f"not all wishes for {PLAYER} were answered within {house.PATIENCE:g} s")
        other = await come("other")
        with trio.move_on_after(options.seconds):
            await measured.play(other, options.player)
    if not measured.times:
        raise LoadError(f"{options.player} made no move within {options.seconds:g} s")
    return rows(hog, [1000 * time for time in measured.times])


def rows(hog: "Hog", times: Sequence[float]) -> list[Row]:
    """Return the figures; `times` are the other client's, in milliseconds."""
    return [
        Row("hog", "games", hog.games.on, "", form="d"),
        Row("hog", "refusals", hog.refused, "", form="d"),
        Row("hog", "answers", hog.games.answers, "", form="d"),
        Row("moves", "measured", len(times), "", form="d"),
        Row("moves", "median", percentile(times, 50), "ms", form=".1f"),
        Row("moves", "worst", max(times), "ms", LIMIT, form=".1f"),
    ]


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
