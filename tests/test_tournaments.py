"""Tournaments at a real server, with bots of all dialects: they end, and lose nothing when it is killed."""

import random
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio
from worlds.server import EVERY_PORT, Served, begun

from adapters.client.dial import Endpoint
from conformance.lab.survive.directors import recount
from conformance.lab.survive.tournaments import NAME, Stored, bots_of, lost
from gateway.tournament.report import described
from gateway.tournament.settings import FORMATS

LIMIT = 60
"""Seconds within which a tournament has to end."""


class Host:
    """A server that can be killed and started again, with a database that stays."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.gateway: Served

    @contextmanager
    def up(self) -> Iterator[None]:
        """Run the server while the block lasts, then kill it."""
        command = [sys.executable, "-W", "error", "-m", "gateway", "--no-web", "--db", self.place]
        with begun([*command, *EVERY_PORT], addresses=3) as self.gateway:
            yield
            self.gateway.process.send_signal(signal.SIGKILL)
            self.gateway.end()

    def address(self, dialect: str) -> Endpoint:
        """Return where the server listens now."""
        return Endpoint("127.0.0.1", self.gateway.port(dialect))


async def until(is_so: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    while not is_so():  # noqa: ASYNC110  the database wakes nobody
        await trio.sleep(0.05)


@pytest.mark.parametrize(
    "format",
    [
        pytest.param(each, marks=pytest.mark.operation if each != "knockout" else ())
        for each in FORMATS
        if each != "ladder"  # which has no end
    ],
)
async def test_tournament_of_all_dialects_ends_and_loses_nothing_when_its_server_is_killed(
    format: str, tmp_path: Path
) -> None:
    host = Host(str(tmp_path / "games.db"))
    stored = Stored.added(
        host.place, f'name = "{NAME}"\nformat = "{format}"\nplayers = 4\nhouse = ["random"]\n'
    )
    bots = bots_of(3, host.address, random.Random(format))
    with trio.fail_after(LIMIT):
        async with trio.open_nursery() as nursery:
            with host.up():
                for bot in bots:
                    nursery.start_soon(bot.run)
                await until(lambda: bool(stored.look().known.row))
            before = len(stored.seen)
            with host.up():
                await until(lambda: stored.look().ended is not None)
            nursery.cancel_scope.cancel()
    tournament = stored.look()
    assert len(stored.seen) >= before
    assert stored.otherwise == []
    counted = recount(stored.news(), tournament.settings.games)
    assert (counted.twice, counted.differences(described(tournament, 0.0))) == ([], [])
    assert lost(bots, stored.games()) == []
    assert all(bot.told for bot in bots)
    assert {each.name for each in tournament.entrants} == {*(bot.name for bot in bots), "random"}
    assert tournament.standings()[0].rank == 1
