"""The process that attackers live in: who, where and for how long comes in by stdin, what they did goes out.

It gives way to whatever else its core has to do, the honest games above all, so that what these wait for is
the server. It ends when its time is over.
"""

import os
import time
from typing import Any

import trio

from conformance.lab.abuse.attacks import ATTACKS
from conformance.lab.abuse.ground import ELSEWHERE, Ground
from conformance.lab.jobs import serve


def work(words: Any) -> object:
    """Attack, and say what was done."""
    for name in words["names"]:
        ATTACKS[name].prepare()
    give_way(words["core"])
    print('"ready"', flush=True)
    grounds = trio.run(attack, words)
    return {"counts": {name: ground.counts for name, ground in grounds.items()}, "cpu": time.process_time()}


def give_way(core: int | None) -> None:
    """Run where the server does not, when nobody else wants to; without such a core as the lesser one."""
    if core is not None:
        os.sched_setaffinity(0, {core})
    if core is not None and hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    else:
        os.nice(5)


async def attack(words: Any) -> dict[str, Ground]:
    """Let the attacks loose, all at once, for so many seconds."""
    source = await elsewhere()
    grounds = {name: Ground(words["ports"], f"{words['token']}{name}", source) for name in words["names"]}
    with trio.move_on_after(words["seconds"]):
        async with trio.open_nursery() as nursery:
            for name, ground in grounds.items():
                nursery.start_soon(ATTACKS[name].run, ground)
    return grounds


async def elsewhere() -> str | None:
    """Return an address other than the honest clients', if the system has one."""
    with trio.socket.socket() as sock:
        try:
            await sock.bind((ELSEWHERE, 0))
        except OSError:
            return None
    return ELSEWHERE


if __name__ == "__main__":
    serve(work)
