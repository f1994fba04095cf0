"""Notifications to a service manager such as systemd that the server is ready, reloads, stops, or is alive.

Knows the protocol of sd_notify(3), which sends lines in a datagram to a socket that the environment names.
Sending never blocks or fails. Nothing is sent if the environment names no socket.
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
"""The beginning of a worker's message that the operator asks for a drain. The number of seconds follows.

Service managers ignore this message.
"""
SPARE = 30.0
"""The number of seconds after the last game in which last messages are sent and last results are stored."""


def notify(state: str, environment: Mapping[str, str] = os.environ) -> None:
    """Send a state to the service manager. Each line of a state is an assignment."""
    address = environment.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, suppress(OSError):
        sender.setblocking(False)
        sender.sendto(state.encode(), address.replace("@", "\0", 1) if address[0] == "@" else address)


def reloading() -> str:
    """Return the state of a server that begins to reload. At the end of the reload it sends `READY`."""
    return f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}"


def stopping(seconds: float) -> str:
    """Return the state of a server that stops when its games are over, or after `seconds`."""
    return f"STOPPING=1\nEXTEND_TIMEOUT_USEC={round((seconds + SPARE) * 1e6)}"


def watchdog(environment: Mapping[str, str] = os.environ) -> float | None:
    """Return the watchdog period in seconds; None if the service manager does not watch this process."""
    period = environment.get("WATCHDOG_USEC", "")
    if not period.isdecimal() or environment.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    return max(int(period), 1000) / 1e6


async def keep_alive(environment: Mapping[str, str] = os.environ) -> None:
    """Send `ALIVE` twice in each watchdog period, for ever. Return at once if there is no watchdog."""
    period = watchdog(environment)
    while period is not None:
        notify(ALIVE, environment)
        await trio.sleep(period / 2)
