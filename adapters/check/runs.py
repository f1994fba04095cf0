"""The processes of bots that a check starts, again and again until it is over.

Knows processes. Does not know what the bots do.
"""

import shlex
import subprocess
import sys
from collections.abc import Callable
from urllib.parse import urlsplit

import trio

_MOST = 100
"""Starts of one bot."""
_PAUSE = 0.2
"""Seconds until a bot is started again."""
_KEPT = 2000
"""Characters of a bot's stderr that are shown."""
_QUICK = 3
"""Starts one after the other that come to no connection before the bot is given up."""


async def keep_running(
    command: str, address: str, connections: Callable[[], int], is_done: trio.Event
) -> None:
    """Run a bot, again and again, until it is cancelled; `connections` says how many there have been.

    Sets `is_done` where the bot keeps ending without one. Raises OSError if there is no such program.
    """
    place = urlsplit(address if "//" in address else f"//{address}")
    host, port = place.hostname or "", str(place.port)
    words = [
        word.replace("{address}", address).replace("{host}", host).replace("{port}", port)
        for word in shlex.split(command)
    ]
    failures = 0
    for _ in range(_MOST):
        before = connections()
        done = await trio.run_process(words, stdout=subprocess.DEVNULL, capture_stderr=True, check=False)
        failures = failures + 1 if connections() == before else 0
        if failures == _QUICK:
            last = done.stderr.decode(errors="replace")[-_KEPT:]
            print(
                f"{command!r} ended without a connection, status {done.returncode}:\n{last}", file=sys.stderr
            )
            is_done.set()
            return
        await trio.sleep(_PAUSE)
