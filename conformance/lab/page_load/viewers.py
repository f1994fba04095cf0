"""The process of the viewers: some watch the newest games, some one game each, and others come and go.

What they are to do comes in by stdin as a line of JSON; its end is theirs, and then what they saw goes out.
The process gives way to those who play, for in earnest viewers would be on other machines.
"""

import json
import os
import sys
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import trio

from conformance.lab.client import asked
from conformance.lab.jobs import LoadError, serve
from conformance.lab.page_load.sightings import Sightings
from conformance.targets import Address

NICENESS = 10
STARTING = 30.0
"""Seconds in which as many games as expected have to be on."""
LOOK = 0.2
AT_ONCE = 50
"""Visitors that are there at one time."""
EVENTS = "/api/live/events"


def work(words: Any) -> object:
    """Do what stdin says, to its end."""
    os.nice(NICENESS)
    job = {"watch": watch, "visit": visit}[words["job"]]
    return trio.run(job, Address(words["host"], words["port"]), words)


async def watch(web: Address, words: Any) -> object:
    """Watch until stdin ends; return what was seen. Raises LoadError, wrapped."""
    games = await games_of(web, words["games"])
    paths = [EVENTS] * words["viewers"]
    paths += [f"{EVENTS}?game={game}" for game, _ in zip(games, range(words["viewers"]), strict=False)]
    all_seen = [Sightings() for _ in paths]
    async with trio.open_nursery() as nursery:
        for path, seen in zip(paths, all_seen, strict=True):
            nursery.start_soon(view, web, path, seen)
        await _end_of_stdin()
        nursery.cancel_scope.cancel()
    return {
        "seen": [(*move, when) for seen in all_seen for move, when in seen.seen],
        "missed": sum(seen.missed for seen in all_seen),
        "again": sum(seen.snapshots - 1 for seen in all_seen),
    }


async def visit(web: Address, words: Any) -> object:
    """Let so many come, see a snapshot and go, some for all games, some for a player nobody else watches."""
    await games_of(web, words["games"])
    numbers = iter(range(words["visitors"]))
    async with trio.open_nursery() as nursery:
        for _ in range(AT_ONCE):
            nursery.start_soon(_come_and_go, web, numbers)
    return None


async def _come_and_go(web: Address, numbers: Iterator[int]) -> None:
    for number in numbers:
        path = EVENTS if number % 2 else f"{EVENTS}?player=nobody{number}"
        async with asked(web, path) as client:
            seen = Sightings()
            while not seen.snapshots:
                seen.line((await client.line()).decode(), 0.0)


async def view(web: Address, path: str, seen: Sightings) -> None:
    """Watch until cancelled. Raises HungUp."""
    async with asked(web, path) as client:
        while True:
            line = await client.line()
            seen.line(line.decode(), perf_counter())


async def games_of(web: Address, number: int) -> list[str]:
    """Wait until so many games are on; return the ids of the newest. Raises LoadError."""
    with trio.move_on_after(STARTING):
        while True:
            snapshot = await _snapshot(web)
            if snapshot["playing"] >= number:
                return [game["game"] for game in snapshot["games"]]
            await trio.sleep(LOOK)
    raise LoadError(f"there are not {number} games to watch within {STARTING:g} s")


async def _snapshot(web: Address) -> Any:
    async with asked(web, "/api/live?most=100") as client:
        return json.loads(await client.rest())


async def _end_of_stdin() -> None:
    async with trio.lowlevel.FdStream(os.dup(sys.stdin.fileno())) as stdin:
        async for _ in stdin:
            pass


if __name__ == "__main__":
    serve(work)
