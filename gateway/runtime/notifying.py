"""Notifications to a service manager such as systemd: the server is ready, reloads, stops, is alive.

Knows the protocol of sd_notify(3): a datagram of lines to a socket that the environment names. Sending never
blocks or fails, and nothing is sent if the environment names no socket.
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
"""A worker sends this with the seconds when the operator asks for a drain. Service managers ignore it."""
SPARE = 30.0
"""Seconds allowed after the last game: last messages to clients, last results."""


def notify(state: str, environment: Mapping[str, str] = os.environ) -> None:
    """Send a state, one assignment a line, to the service manager."""
    address = environment.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, suppress(OSError):
        sender.setblocking(False)
        sender.sendto(state.encode(), address.replace("@", "\0", 1) if address[0] == "@" else address)


def reloading() -> str:
    """Return the state of a server that begins to reload. `READY` marks the end of the reload."""
    return f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}"


def stopping(seconds: float) -> str:
    """Return the state of a server that stops when its games are over, after `seconds` at the latest."""
    return f"STOPPING=1\nEXTEND_TIMEOUT_USEC={round((seconds + SPARE) * 1e6)}"


def watchdog(environment: Mapping[str, str] = os.environ) -> float | None:
    """Return the watchdog period in seconds; None if the manager has no watchdog for this process."""
    period = environment.get("WATCHDOG_USEC", "")
    if not period.isdecimal() or environment.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    return max(int(period), 1000) / 1e6


async def keep_alive(environment: Mapping[str, str] = os.environ) -> None:
    """Send `ALIVE` twice in each watchdog period; return if there is no watchdog."""
    period = watchdog(environment)
    while period is not None:
        notify(ALIVE, environment)
        await trio.sleep(period / 2)
