"""Attackers among themselves: bounded in number and bytes, back after a hang-up, and all of them at work."""

from contextlib import suppress

import pytest
import trio
from runner_fakes import tcp_server

from adapters.client.framing import usual_frames
from conformance.lab.abuse import ground as grounds
from conformance.lab.abuse.attackers import attack
from conformance.lab.abuse.attacks import ATTACKS
from conformance.lab.abuse.breaking import FRAMES
from conformance.lab.abuse.browsing import RapidResets
from conformance.lab.abuse.ground import Attack, Ground, drained
from conformance.lab.client import Client, HungUp
from conformance.targets import Address

FRONT_ENDS = ("arena", "nac4", "droidcon", "web")


def ground_at(address: Address) -> Ground:
    return Ground(dict.fromkeys(FRONT_ENDS, address.port), "z")


class Greeting(Attack):
    """Says one word and waits to be hung up on."""

    name = "greeting"
    what = "says hello"
    clients = 3
    pause = 0.0

    async def live(self, ground: Ground, number: int) -> None:
        async with ground.connected("droidcon") as client, drained(client):
            await client.say(b"hello\n")
            await trio.sleep_forever()


async def test_clients_that_are_hung_up_on_come_back_and_are_never_more() -> None:
    now, most, lives = 0, 0, 0
    enough = trio.Event()

    async def handler(stream: trio.SocketStream) -> None:
        nonlocal now, most, lives
        now, lives = now + 1, lives + 1
        most = max(most, now)
        await stream.receive_some()
        now -= 1
        if lives > 10:
            enough.set()

    async with tcp_server(handler) as address, trio.open_nursery() as nursery:
        ground = ground_at(address)
        nursery.start_soon(Greeting().run, ground)
        await enough.wait()
        nursery.cancel_scope.cancel()
    assert most <= Greeting.clients
    assert ground.counts["connections"] >= lives
    assert ground.counts["hung up"] >= lives - Greeting.clients


async def test_attack_falls_silent_after_so_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grounds, "MOST_BYTES", 10)

    async def swallow(stream: trio.SocketStream) -> None:
        async for _ in stream:
            pass

    async with tcp_server(swallow) as address:
        ground = ground_at(address)
        async with ground.connected("droidcon") as client:
            with trio.move_on_after(0.05) as limit:
                while True:
                    await client.say(b"x" * 6)
    assert limit.cancelled_caught
    assert ground.counts["bytes"] == 12


async def test_server_that_is_not_there_hangs_up() -> None:
    async with tcp_server(trio.aclose_forcefully) as address:
        pass
    with pytest.raises(HungUp):
        async with ground_at(address).connected("nac4"):
            pass


async def test_handshake_that_is_refused_hangs_up() -> None:
    async def refuse(stream: trio.SocketStream) -> None:
        await stream.receive_some()
        await stream.send_all(b"HTTP/1.1 404 Not Found\r\n\r\n")

    async with tcp_server(refuse) as address:
        with pytest.raises(HungUp):
            async with ground_at(address).websocket("nac4"):
                pass


async def test_rapid_resets_are_whole_frames_of_http2() -> None:
    heard = b""
    enough = trio.Event()

    async def listen(stream: trio.SocketStream) -> None:
        nonlocal heard
        data = b""
        while len(data) < 2_000:
            data += await stream.receive_some()
        heard = data
        enough.set()
        await stream.receive_some()

    async with tcp_server(listen) as address, trio.open_nursery() as nursery:
        nursery.start_soon(RapidResets().run, ground_at(address))
        await enough.wait()
        nursery.cancel_scope.cancel()
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    assert heard.startswith(preface)
    kinds, at = [], len(preface)
    while len(heard) >= at + 9:
        kinds.append((heard[at + 3], int.from_bytes(heard[at + 5 : at + 9])))
        at += 9 + int.from_bytes(heard[at : at + 3])
    assert kinds[:5] == [(4, 0), (1, 1), (3, 1), (1, 3), (3, 3)]


@pytest.mark.parametrize("answer", [b"", b"SUCCESS\nNEW_GAME\nYOUR_MOVE\nPUT 3\nError X\n"])
async def test_all_attackers_live_on_whatever_is_said_to_them(answer: bytes) -> None:
    """One server hangs up at once, the other says what only one dialect understands."""

    async def handler(stream: trio.SocketStream) -> None:
        with suppress(trio.BrokenResourceError):
            if answer:
                await stream.receive_some()
                await stream.send_all(answer)

    async with tcp_server(handler) as address, trio.open_nursery() as nursery:
        places = {name: ground_at(address) for name in ATTACKS}
        for name, ground in places.items():
            ATTACKS[name].prepare()
            nursery.start_soon(ATTACKS[name].run, ground)
        while not all(ground.counts["connections"] for ground in places.values()):  # noqa: ASYNC110
            await trio.sleep(0.001)
        nursery.cancel_scope.cancel()


async def test_attack_ends_in_time_and_says_what_was_done() -> None:
    async with tcp_server(trio.aclose_forcefully) as address:
        ports = dict.fromkeys(FRONT_ENDS, address.port)
        found = await attack({"names": ["storm"], "ports": ports, "token": "z", "seconds": 0.05})
    assert {*found} == {"storm"}


@pytest.mark.parametrize("data", FRAMES)
def test_no_broken_frame_is_taken_for_a_usual_one(data: bytes) -> None:
    assert usual_frames(data) == ([], b"", data)


def test_attacks_are_told_apart_by_name_and_say_what_they_do() -> None:
    assert all(name == attack.name and attack.what for name, attack in ATTACKS.items())
    assert all(attack.clients <= 1_200 for attack in ATTACKS.values())


async def test_reader_is_told_when_the_stream_ends() -> None:
    async with tcp_server(trio.aclose_forcefully) as address:
        stream = await trio.open_tcp_stream(address.host, address.port)
        with pytest.raises(HungUp):
            await Client(stream).drain()
        await stream.aclose()
