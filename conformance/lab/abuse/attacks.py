"""All attacks, in the order in which they are let loose, and the process of their clients.

A further attack is a function, and a line here.
"""

import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

import trio

from conformance.lab.abuse import play, wire
from conformance.lab.abuse.attackers import ELSEWHERE, Attack, Attacked
from conformance.lab.workers import Worker, reply, worker
from conformance.targets import Address

_ALL: Sequence[Attack] = (
    Attack("texts", 25, wire.texts),
    Attack("unread", 60, wire.unread, pause=1.0),
    Attack("frames", 30, wire.frames),
    Attack("fragments", 40, wire.fragments),
    Attack("junk", 16, wire.junk, pause=0.01),
    Attack("slow", 160, wire.slow),
    Attack("halves", 40, wire.halves),
    Attack("hellos", 40, wire.hellos),
    Attack("resets", 36, wire.resets, pause=0.05),
    Attack("files", 1_200, wire.files, pause=1.0, coming=3.0, may_log=True, is_alone=True),
    Attack("http2", 4, wire.http2),
    Attack("upgrades", 10, wire.upgrades),
    Attack("pages", 80, wire.pages, pause=0.05, reads=True),
    Attack("house", 200, play.house),
    Attack("impostors", 48, play.impostors),
    Attack("guesses", 30, play.guesses),
    Attack("flood", 64, play.flood),
    Attack("commands", 45, play.commands),
    Attack("maps", 12, play.maps),
    Attack("million", 24, play.million),
    Attack("storm", 40, play.storm, pause=0.02),
    Attack("names", 30, play.names, pause=0.05),
    Attack("long-names", 24, play.long_names),
)
ATTACKS: Mapping[str, Attack] = {attack.name: attack for attack in _ALL}
"""By name."""


def at_once(names: Sequence[str]) -> list[str]:
    """Return those of some attacks that leave room for others; all where none does."""
    return [name for name in names if not ATTACKS[name].is_alone] or [*names]


@asynccontextmanager
async def attacking(
    names: Sequence[str], addresses: Mapping[str, Address], seconds: float, core: int | None = None
) -> AsyncIterator[Worker]:
    """Run attackers of these kinds, on one core or on any, who begin with the block. Raises LoadError.

    The worker replies what they did, by attack, and what share of a core they used.
    """
    token = f"z{time.time_ns() // 1000 % 10**8}"
    async with worker(attack, [*names], addresses, seconds, core, token) as attackers:
        await attackers.receive()  # they are ready
        yield attackers


# In the process of attackers.


def attack(
    names: Sequence[str], addresses: Mapping[str, Address], seconds: float, core: int | None, token: str
) -> tuple[dict[str, Counter[str]], float]:
    """Attack, and return what was done.

    It gives way to whatever else its core has to do, the honest games above all, so that what these wait for
    is the server.
    """
    give_way(core)
    reply("ready")
    found = trio.run(_attack, [ATTACKS[name] for name in names], addresses, seconds, token)
    return found, time.process_time() / seconds


def give_way(core: int | None) -> None:
    """Run where the server does not, when nobody else wants to; without such a core as the lesser one."""
    if core is not None:
        os.sched_setaffinity(0, {core})
    if core is not None and hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    else:
        os.nice(5)


async def _attack(
    attacks: Sequence[Attack], addresses: Mapping[str, Address], seconds: float, token: str
) -> dict[str, Counter[str]]:
    """Let the attacks loose, all at once, for so many seconds."""
    with trio.socket.socket() as sock:
        try:
            await sock.bind((ELSEWHERE, 0))
            source: str | None = ELSEWHERE
        except OSError:
            source = None
    attacked = {each.name: Attacked(addresses, token + each.name, source) for each in attacks}
    with trio.move_on_after(seconds):
        async with trio.open_nursery() as nursery:
            for each in attacks:
                nursery.start_soon(attacked[each.name].suffer, each)
    return {name: each.counts for name, each in attacked.items()}
