"""What a service manager is told, heard at a socket of its kind."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
import trio.testing

from gateway.runtime.notifying import ALIVE, READY, keep_alive, notify, reloading, stopping


@pytest.fixture(params=["file", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[socket.socket, str]]:
    """Give a socket that listens for states, and the address of it as the environment has it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        name = str(tmp_path / "notify")
        try:
            listening.bind(name if request.param == "file" else f"\0{name}")
        except OSError:
            pytest.skip("abstract sockets are Linux's")
        listening.setblocking(False)
        yield listening, name if request.param == "file" else f"@{name}"


def heard(listening: socket.socket) -> list[str]:
    states = []
    while True:
        try:
            states.append(listening.recv(1024).decode())
        except BlockingIOError:
            return states


def test_manager_hears_a_state_in_one_datagram(manager: tuple[socket.socket, str]) -> None:
    listening, address = manager
    notify(READY, {"NOTIFY_SOCKET": address})
    notify(stopping(12.5), {"NOTIFY_SOCKET": address})
    assert heard(listening) == ["READY=1", "STOPPING=1\nEXTEND_TIMEOUT_USEC=42500000"]


def test_reload_says_when_it_began() -> None:
    first, second = reloading().splitlines()
    assert first == "RELOADING=1"
    name, _, moment = second.partition("=")
    assert name == "MONOTONIC_USEC"
    assert int(moment) > 0


@pytest.mark.parametrize("address", ["", "/nowhere/at/all", "vsock:2:1234", "@nobody listens here"])
def test_manager_that_is_not_there_costs_nothing(address: str) -> None:
    notify(READY, {"NOTIFY_SOCKET": address})
    notify(READY, {})


def test_manager_that_takes_nothing_does_not_hold_up_the_server(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as deaf:
        deaf.bind(str(tmp_path / "notify"))
        for _ in range(10_000):
            notify(READY, {"NOTIFY_SOCKET": str(tmp_path / "notify")})


@pytest.mark.parametrize("whose", [{}, {"WATCHDOG_PID": str(os.getpid())}])
async def test_watchdog_hears_twice_as_often_as_it_asks_for(
    whose: dict[str, str], tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.setblocking(False)
        asked = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "4000000", **whose}
        with trio.move_on_after(5):
            await keep_alive(asked)
        assert heard(listening) == [ALIVE] * 3


@pytest.mark.parametrize(
    "environment",
    [{}, {"WATCHDOG_USEC": ""}, {"WATCHDOG_USEC": "x"}, {"WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"}],
)
async def test_without_a_watchdog_there_is_nothing_to_do(environment: dict[str, str]) -> None:
    await keep_alive(environment)
