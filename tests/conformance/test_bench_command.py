"""The benchmark as a command: one short run, other servers, and servers that misbehave."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import trio
import trio.lowlevel
import trio_websocket
from runner_fakes import tcp_server, websocket_server
from worlds.server import EVERY_PORT, Served, served

from conformance.__main__ import main
from conformance.lab.jobs import LoadError, as_words
from conformance.lab.plan import COUPLES, Plan, Stretch, played
from conformance.launch import running
from conformance.targets import Address

SHORT = [Stretch(0.2, 0.1), Stretch(0.2, 0.1, 200)]


@pytest.mark.lab
def test_small_run_measures_all_that_is_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("conformance.lab.bench.command.FLOOR_CONNECTIONS", 8)
    report = tmp_path / "bench.json"
    words = ["--pairs", "4", "--seconds", "0.2", "--rate", "200", "--only", "mix"]
    status = main(["bench", *words, "--json", str(report)])
    told = capsys.readouterr()
    assert "conformance:" not in told.err
    data = json.loads(report.read_text())
    assert [found["kind"] for found in data["kinds"]] == ["mix"]
    for found in data["kinds"]:
        assert found["saturated"]["moves_per_second"] > 0
        assert 0 < found["saturated"]["p50_ms"] <= found["saturated"]["p99_ms"]
        assert 0 < found["paced"]["moves_per_second"] < 400
        assert found["connections"] == 8
    assert {name: len(speeds) for name, speeds in data["floors"].items()} == {"tcp": 2, "websocket": 2}
    assert max(map(len, told.out.splitlines())) <= 110
    # How fast it is here is no matter of this test, only whether the status tells.
    assert status == int(any(found["missed"] for found in data["kinds"]))


@pytest.fixture(scope="module")
def short_series() -> Iterator[Served]:
    with served(*EVERY_PORT, "--rounds", "1", "--games-per-pair", "0") as gateway:
        yield gateway


@pytest.mark.lab
@pytest.mark.parametrize("word", ["droidcon", "nac4", "arena", "arena-edn"])
async def test_any_server_is_measured_as_its_dialect_has_it(word: str, short_series: Served) -> None:
    """With as few rounds and no tables: bots come back, meet anyone, or wish for each other."""
    kind = "arena-json" if word == "arena" else word
    address = Address("127.0.0.1", short_series.port(word.partition("-")[0]))
    for seconds in (0.2, 1.0, 10.0):  # until a game is over, on any machine
        with suppress(LoadError):
            report = await played(outside(kind, address, 3, seconds))
            if report.stretches[0].games > 0:
                break
    assert [counted.server_cpu for counted in report.stretches] == [None, None]
    assert all(counted.moves > 0 for counted in report.stretches)
    assert report.stretches[0].games > 0


def outside(kind: str, address: Address, pairs: int, seconds: float = 0.2) -> Plan:
    addresses = as_words({kind: address})
    stretches = [Stretch(seconds, 0.1), Stretch(seconds, 0.1, 200)]
    return Plan(COUPLES[kind], pairs, addresses, stretches, is_gateway=False)


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


async def test_server_that_says_what_does_not_belong_ends_the_run() -> None:
    async def handler(stream: trio.SocketStream) -> None:
        with until_they_go():
            await stream.receive_some()
            await stream.send_all(b"SUCCESS\nSUCCESS\nNEW_GAME\nYOUR_MOVE\n")
            await stream.receive_some()
            await stream.send_all(b"PUT 4\nYOUR_MOVE\nPUT 0\n")
            await trio.sleep_forever()

    async with tcp_server(handler) as address:
        said = await complaint(outside("droidcon", address, 1))
    assert said.startswith("droidcon bot x")
    assert said.endswith("was told 'PUT 0' when it was in a game with 3 discs")


async def test_server_that_hangs_up_in_a_game_ends_the_run() -> None:
    async def handler(stream: trio.SocketStream) -> None:
        with until_they_go():
            await stream.receive_some()
            await stream.send_all(b"SUCCESS\nSUCCESS\nNEW_GAME\nYOUR_MOVE\n")
            await stream.receive_some()

    async with tcp_server(handler) as address:
        said = await complaint(outside("droidcon", address, 1))
    assert said.endswith("was hung up on when it was in a game with 1 discs")


async def test_websocket_that_is_closed_ends_the_run() -> None:
    async def handler(websocket: trio_websocket.WebSocketConnection) -> None:
        with until_they_go():
            await websocket.get_message()
            await websocket.aclose(1008, "no room")

    async with websocket_server(handler) as address:
        said = await complaint(outside("arena-json", address, 1))
    assert said.endswith("closed the websocket: 1008 no room")


async def test_server_that_is_not_there_ends_the_run() -> None:
    async with tcp_server(trio.aclose_forcefully) as address:
        pass
    assert "cannot connect" in await complaint(outside("droidcon", address, 1))


async def test_server_that_refuses_websockets_ends_the_run() -> None:
    async def handler(stream: trio.SocketStream) -> None:
        with until_they_go():
            await stream.receive_some()
            await stream.send_all(b"HTTP/1.1 404 Not Found\r\n\r\n")

    async with tcp_server(handler) as address:
        assert "404 Not Found" in await complaint(outside("nac4", address, 1))


@pytest.mark.lab
async def test_process_that_is_not_there_ends_the_run() -> None:
    async with running(["--rounds", "1000"]) as server:
        addresses = as_words({"droidcon": server.addresses["droidcon"]})
        plan = Plan(COUPLES["droidcon"], 1, addresses, SHORT, pid=2**22 + 1)
        assert await complaint(plan) == f"there is no process {2**22 + 1}"


@pytest.mark.parametrize(
    "words",
    [
        ["--pairs", "0"],
        ["--only", "chess"],
        ["--pid", "1"],
        ["--against", "chess", "127.0.0.1:1"],
        ["--against", "nac4", "nowhere"],
        ["--against", "nac4", "127.0.0.1:1", "--only", "nac4"],
        ["more"],
    ],
)
def test_bad_usage_is_status_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *words]) == 2
    assert capsys.readouterr().err.endswith("(--help tells more)\n")


def test_server_that_cannot_be_reached_is_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--against", "droidcon", "127.0.0.1:1", "--seconds", "0.1"]) == 1
    assert "cannot connect" in capsys.readouterr().err
