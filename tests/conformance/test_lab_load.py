"""Processes of jobs, and that of timed bots: other servers, and servers that misbehave."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import trio
import trio_websocket
from runner_fakes import tcp_server, websocket_server
from worlds.server import EVERY_PORT, Served, served

from conformance.lab.load import COUPLES, Plan, Stretch, by_kind, played
from conformance.lab.workers import LoadError, run
from conformance.launch import running
from conformance.targets import Address


async def test_process_of_a_job_imports_nothing_from_the_current_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "attr.py").write_text("raise SystemExit('of the current folder')")  # which trio imports
    monkeypatch.chdir(tmp_path)
    assert await run(len, "abc") == 3


@pytest.fixture(scope="module")
def short_series() -> Iterator[Served]:
    with served(*EVERY_PORT, "--rounds", "1", "--games-per-pair", "0") as gateway:
        yield gateway


@pytest.mark.lab
@pytest.mark.parametrize("kind", ["droidcon", "nac4", "arena-json", "arena-edn"])
async def test_any_server_is_measured_as_its_dialect_has_it(kind: str, short_series: Served) -> None:
    """With as few rounds and no tables: bots come back, meet anyone, or wish for each other."""
    address = Address("127.0.0.1", short_series.port(kind.partition("-")[0]))
    for seconds in (0.2, 1.0, 10.0):  # until a game is over, on any machine
        with suppress(LoadError):
            report = await played(outside(kind, address, 3, seconds))
            if report.stretches[0].games > 0:
                break
    assert [counted.server for counted in report.stretches] == [None, None]
    assert all(counted.moves > 0 for counted in report.stretches)
    assert all(0 < counted.load_cpu < counted.seconds for counted in report.stretches)
    assert report.stretches[0].games > 0


def outside(kind: str, address: Address, pairs: int = 1, seconds: float = 0.2) -> Plan:
    stretches = [Stretch(seconds, None, 0.1), Stretch(seconds, 200, 0.1)]
    return Plan(COUPLES[kind], pairs, {kind: address}, stretches, is_gateway=False)


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


@pytest.mark.lab
async def test_process_that_is_not_there_ends_the_run() -> None:
    async with running(["--rounds", "1000"]) as server:
        plan = Plan(COUPLES["droidcon"], 1, by_kind(server), [Stretch(0.2)], pid=2**22 + 1)
        assert await complaint(plan) == f"there is no process {2**22 + 1}"
