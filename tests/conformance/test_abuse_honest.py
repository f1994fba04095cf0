"""Honest games that go on whatever happens: at servers that hang up, stand still, or say what is wrong."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import trio
from runner_fakes import tcp_server

from conformance.lab.abuse import honest
from conformance.lab.abuse.honest import Games, Undisturbed
from conformance.launch import running
from conformance.targets import Address

DROIDCON = [("droidcon", "droidcon")]


class Control:
    """The games of a test, and how they are told."""

    def __init__(self, write: int, capture: pytest.CaptureFixture[str]) -> None:
        self._write = write
        self._capture = capture

    def begin(self) -> None:
        os.write(self._write, b'"begin"\n')

    async def end(self) -> dict[str, Any]:
        """Return what is said at the end."""
        os.write(self._write, b'"end"\n')
        text = ""
        while not text.endswith("\n"):
            await trio.sleep(0.001)
            text += self._capture.readouterr().out
        told: dict[str, Any] = json.loads(text)
        return told


@asynccontextmanager
async def games(address: Address, pairs: int, capture: pytest.CaptureFixture[str]) -> AsyncIterator[Control]:
    """Let pairs play at a server, in a thread, until the block ends."""
    read, write = os.pipe()
    playing = Games({"droidcon": address}, pairs, DROIDCON, read)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.to_thread.run_sync, playing.play)
        try:
            yield Control(write, capture)
        finally:
            os.close(write)
    os.close(read)


def until_they_go() -> suppress:
    """Both of a pair hang up as soon as one of them is lost, the other without a good-bye."""
    return suppress(trio.BrokenResourceError)


async def lost(control: Control) -> list[str]:
    """Return what was lost, when something was."""
    told = await control.end()
    while not told["lost"]:
        await trio.sleep(0.01)
        told = await control.end()
    lost: list[str] = told["lost"]
    return lost


@pytest.mark.lab
async def test_moves_of_a_real_server_are_timed_and_nothing_is_lost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with (
        running(["--rounds", "9"]) as server,
        games(server.addresses["droidcon"], 2, capsys) as control,
    ):
        control.begin()
        await trio.sleep(0.5)
        told = await control.end()
    assert told["lost"] == []
    assert len(told["times"]) < 25
    assert told["times"] or told["left_out"] == 1
    assert all(0 < time < 10 for time in told["times"])


async def test_pair_that_is_hung_up_on_is_noted_once_and_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    names: list[bytes] = []

    async def handler(stream: trio.SocketStream) -> None:
        with until_they_go():
            names.append((await stream.receive_some()).partition(b"\n")[0])
            await stream.send_all(b"SUCCESS\n")

    async with tcp_server(handler) as address, games(address, 1, capsys) as control:
        first = await lost(control)
        control.begin()
        second = await lost(control)
    assert [len(first), len(second)] == [1, 1]
    assert "was hung up on" in first[0]
    assert {b"0a", b"1a"} <= {name.rpartition(b"x")[2] for name in names} <= {b"0a", b"0b", b"1a", b"1b", b""}


async def test_server_that_says_what_does_not_belong_costs_that_pair(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def handler(stream: trio.SocketStream) -> None:
        with until_they_go():
            await stream.receive_some()
            await stream.send_all(b"SUCCESS\nYOU_WON\n")
            await stream.receive_some()

    async with tcp_server(handler) as address, games(address, 1, capsys) as control:
        assert "was told 'YOU_WON'" in (await lost(control))[0]


async def test_game_that_stands_still_is_lost(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(honest, "STILL", 0.05)

    async def handler(stream: trio.SocketStream) -> None:
        with until_they_go():
            async for _ in stream:
                pass

    async with tcp_server(handler) as address, games(address, 1, capsys) as control:
        assert "no move was made for 0.05 s" in (await lost(control))[0]


async def test_move_that_is_not_answered_counts_as_long_as_it_has_waited(
    capsys: pytest.CaptureFixture[str],
) -> None:
    moved = trio.Event()

    async def handler(stream: trio.SocketStream) -> None:
        with until_they_go():
            name = await stream.receive_some()
            opens = b"a\n" in name
            await stream.send_all(b"SUCCESS\nSUCCESS\nNEW_GAME\n" + b"YOUR_MOVE\n" * opens)
            if opens:
                await stream.receive_some()
                moved.set()
            await stream.receive_some()

    async with tcp_server(handler) as address, games(address, 1, capsys) as control:
        await moved.wait()
        await trio.sleep(0.25)
        told = await control.end()
    assert len(told["times"]) >= 2
    assert 0.25 <= max(told["times"]) < 10


def test_times_are_left_out_where_the_host_took_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ended in that span, the one before it and the one after it, unless it is too long for that."""
    monkeypatch.setattr(honest, "BEAT", 10.0)
    monkeypatch.setattr(honest, "LOOK", 1.0)
    monkeypatch.setattr(honest, "perf_counter", lambda: 0.0)
    taken = iter([5.0, 5.0, 5.0, 5.0, 5.1, 5.1, 5.1, 5.1, 5.1])
    monkeypatch.setattr(honest, "stolen", lambda: next(taken))
    times: list[float] = []
    undisturbed = Undisturbed(times)
    for span in range(1, 9):
        times += [span, 10 + span]
        undisturbed.look(span - 0.5)  # it is not time yet
        undisturbed.look(span)
    assert times == [1, 11, 2, 12, 13, 14, 15, 6, 16, 7, 17, 8, 18]
    assert undisturbed.left_out == 3 / 16
    times.clear()
    undisturbed.clear()
    assert undisturbed.left_out == 0


def test_nothing_is_left_out_where_the_system_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(honest, "LOOK", 0.0)
    monkeypatch.setattr(honest, "stolen", lambda: None)
    times: list[float] = []
    undisturbed = Undisturbed(times)
    for span in range(5):
        times.append(span)
        undisturbed.look(honest.perf_counter())
    assert (times, undisturbed.left_out) == ([0, 1, 2, 3, 4], 0)
