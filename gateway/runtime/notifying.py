"""What a service manager such as systemd is told: that the server is ready, reloads, stops, and is alive.

Knows the protocol of sd_notify(3): a datagram of lines to a socket that the environment names. The rule it
keeps: it never blocks and never fails, and where no manager asked for it, nothing is sent.
"""

import os
import socket
import time
from collections.abc import Mapping
from contextlib import suppress

import trio

READY = "READY=1"
ALIVE = "WATCHDOG=1"
DRAINS = "X_C4GATEWAY_DRAIN="
"""What a worker says when its operator has asked for a drain, with the seconds; managers ignore it."""
SPARE = 30.0
"""Seconds for all that follows on the end of the games: the last words, the last results."""


def notify(state: str, environment: Mapping[str, str] = os.environ) -> None:
    """Tell the service manager of a state, one assignment a line."""
    address = environment.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, suppress(OSError):
        sender.setblocking(False)
        sender.sendto(state.encode(), address.replace("@", "\0", 1) if address[0] == "@" else address)


def reloading() -> str:
    """Return the state of a server that begins to reload; `READY` ends it."""
    return f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}"


def stopping(seconds: float) -> str:
    """Return the state of a server that stops, and lets the games that are on be played for `seconds`."""
    return f"STOPPING=1\nEXTEND_TIMEOUT_USEC={round((seconds + SPARE) * 1e6)}"


def watchdog(environment: Mapping[str, str] = os.environ) -> float | None:
    """Return the seconds after which the manager takes a silent process for dead; None if it never does."""
    period = environment.get("WATCHDOG_USEC", "")
    if not period.isdecimal() or environment.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    return max(int(period), 1000) / 1e6


async def keep_alive(environment: Mapping[str, str] = os.environ) -> None:
    """Tell the manager that the event loop runs, twice as often as it asks for; return if it does not ask."""
    period = watchdog(environment)
    while period is not None:
        notify(ALIVE, environment)
        await trio.sleep(period / 2)
