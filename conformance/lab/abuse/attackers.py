"""The process that attackers live in: who, where and for how long comes in by stdin, what they did goes out.

It gives way to whatever else its core has to do, the honest games above all, so that what these wait for is
the server. It ends when its time is over.
"""

import json
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

import trio

from conformance.lab.abuse.attacks import ATTACKS
from conformance.lab.abuse.ground import ELSEWHERE, Ground
from conformance.lab.jobs import many_files


def main() -> None:
    """Attack, and say what was done."""
    words = json.loads(sys.stdin.readline())
    for name in words["names"]:
        ATTACKS[name].prepare()
    give_way(words["core"])
    print('"ready"', flush=True)
    with many_files():
        grounds = trio.run(attack, words)
    counts = {name: dict(ground.counts) for name, ground in grounds.items()}
    print(json.dumps({"counts": counts, "cpu": time.process_time()}))


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


def order(names: Sequence[str], ports: dict[str, int], seconds: float, core: int | None, token: str) -> bytes:
    """Return what to send to such a process."""
    words = {"names": list(names), "ports": ports, "seconds": seconds, "core": core, "token": token}
    return json.dumps(words).encode() + b"\n"


if __name__ == "__main__":
    main()
