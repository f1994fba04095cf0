"""Who plays whom next: tables take pairings, until all is played or no further game is needed."""

import trio

from adapters.match import bots
from adapters.match.engines import EngineTable
from adapters.match.match import Match
from adapters.match.wired import WireTable


async def run(match: Match, tables: int) -> None:
    """Play at so many tables at once. Raises OSError, perhaps wrapped."""
    async with trio.open_nursery() as serving:
        serving.start_soon(match.server.run)
        serving.start_soon(match.keep)
        async with trio.open_nursery() as playing:
            playing.start_soon(_play, match, tables)
            await match.enough.wait()
            playing.cancel_scope.cancel()
        serving.cancel_scope.cancel()  # only now: the tables' connections need it until they are closed
    if match.failure is not None:
        raise match.failure


async def _play(match: Match, tables: int) -> None:
    if not match.over():
        async with trio.open_nursery() as nursery:
            for number in range(tables):
                nursery.start_soon(_sit, match, number)
    match.enough.set()


async def _sit(match: Match, number: int) -> None:
    """Play at one table, a pairing after the other."""
    while (pairing := match.schedule.sit()) is not None:
        texts = [match.plan.players[each][1] for each in match.schedule.pairings[pairing]]
        kind = WireTable if any(map(bots.is_command, texts)) else EngineTable
        table = kind(match, number, pairing)
        await table.run()
        match.schedule.rise(pairing, table.unplayed)
