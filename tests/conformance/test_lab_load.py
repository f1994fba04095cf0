"""Processes of jobs, and that of timed bots at servers that misbehave."""

import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import trio
import trio_websocket
from runner_fakes import tcp_server, websocket_server

from conformance.lab.load import COUPLES, Plan, Stretch, played
from conformance.lab.workers import LoadError, run
from conformance.targets import Address


async def test_process_of_a_job_imports_nothing_from_the_current_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "attr.py").write_text("raise SystemExit('of the current folder')")  # which trio imports
    monkeypatch.chdir(tmp_path)
    assert await run(len, "abc") == 3


def outside(kind: str, address: Address) -> Plan:
    return Plan(COUPLES[kind], 1, {kind: address}, [Stretch(0.2, None, 0.1)], os.getpid())


async def complaint(plan: Plan) -> str:
    """Return why a plan cannot be carried out."""
    with pytest.raises(LoadError) as caught:
        await played(plan)
    return str(caught.value)


@contextmanager
def until_they_go() -> Iterator[None]:
    """The bots go as soon as one of them complains, the others without a good-bye."""
    with suppress(trio.BrokenResourceError, trio_websocket.ConnectionClosed):
        yield


async def says_too_much(stream: trio.SocketStream) -> None:
    await stream.receive_some()
    await stream.send_all(b"SUCCESS\nSUCCESS\nNEW_GAME\nYOUR_MOVE\n")
    await stream.receive_some()
    await stream.send_all(b"PUT 4\nYOUR_MOVE\nPUT 0\n")
    await trio.sleep_forever()


async def hangs_up(stream: trio.SocketStream) -> None:
    await stream.receive_some()
    await stream.send_all(b"SUCCESS\nSUCCESS\nNEW_GAME\nYOUR_MOVE\n")
    await stream.receive_some()


async def refuses(stream: trio.SocketStream) -> None:
    await stream.receive_some()
    await stream.send_all(b"HTTP/1.1 404 Not Found\r\n\r\n")


@pytest.mark.parametrize(
    ("kind", "server", "said"),
    [
        ("droidcon", says_too_much, "was told 'PUT 0' when it was in a game with 3 discs"),
        ("droidcon", hangs_up, "was hung up on when it was in a game with 1 discs"),
        ("nac4", refuses, "404 Not Found"),
    ],
)
async def test_server_that_misbehaves_ends_the_run(
    kind: str, server: Callable[[trio.SocketStream], Awaitable[None]], said: str
) -> None:
    async def handler(stream: trio.SocketStream) -> None:
        with until_they_go():
            await server(stream)

    async with tcp_server(handler) as address:
        found = await complaint(outside(kind, address))
    assert found.startswith(f"{kind} bot x")
    assert said in found


async def test_websocket_that_is_closed_ends_the_run() -> None:
    async def handler(websocket: trio_websocket.WebSocketConnection) -> None:
        with until_they_go():
            await websocket.get_message()
            await websocket.aclose(1008, "no room")

    async with websocket_server(handler) as address:
        assert (await complaint(outside("arena-json", address))).endswith(
            "closed the websocket: 1008 no room"
        )


async def test_server_that_is_not_there_ends_the_run() -> None:
    async with tcp_server(trio.aclose_forcefully) as address:
        pass
    assert "cannot connect" in await complaint(outside("droidcon", address))
