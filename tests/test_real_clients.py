"""A gateway of its own process, and clients that share no code with it: of three libraries, and the lab's."""

import json
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import trio
import websocket as websocket_client
import websockets.exceptions
import websockets.sync.client
from scripted_clients import DroidconClient, Nac4Client, connected, play_out
from worlds.server import EVERY_PORT, PATIENCE, Served, everything, served

from conformance.lab.servers import gateway as one_gateway
from conformance.lab.servers import until
from conformance.lab.survive.lobby import possible_pairs
from conformance.lab.survive.players import COUPLES, LENGTH, Load

SECOND_WINS = (3, 4, 3, 4, 3, 4, 0, 4)


@pytest.fixture(scope="module")
def gateway() -> Iterator[Served]:
    with served(*EVERY_PORT, "--rounds", "1") as running:
        yield running
        status, err = running.stop()
        assert status == 0
        assert "ERROR" not in err


@contextmanager
def websocket(url: str) -> Iterator[websocket_client.WebSocket]:
    """Give a connection of the websocket-client library."""
    client = websocket_client.create_connection(url, timeout=PATIENCE)
    try:
        yield client
        client.close()
    finally:
        client.shutdown()  # where the server closed first, `close` leaves the socket open


def test_three_client_libraries_play_each_other(gateway: Served) -> None:
    ann = Nac4Client(gateway, "ann", "three")
    with connected(ann):
        with connected(DroidconClient(gateway, "bob", "three")) as (bob,):
            play_out(ann, bob, SECOND_WINS)
            assert bob.rest() == ""
        with websocket(gateway.url("arena", "/?table=three")) as cid:
            cid.send(json.dumps({"type": "start", "id": "cid"}))
            state = json.loads(cid.recv())
            assert (state["type"], state["turn"], state["you"]) == ("state", 1, 2)
            cid.send("{:type :state_request}")
            assert json.loads(cid.recv()) == state
        ann.finish()
    assert ann.record[-1][1].endswith(" R PlayR Disconnected\r\n")


def test_refusal_arrives_before_the_close_frame(gateway: Served) -> None:
    with websockets.sync.client.connect(gateway.url("nac4"), open_timeout=PATIENCE, proxy=None) as bot:
        bot.send("hello\r\n")
        assert str(bot.recv(PATIENCE)).startswith("not-connected ")
        with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
            bot.recv(PATIENCE)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1002
    with websocket(gateway.url("nac4")) as client:
        client.send("hello\r\n")
        assert client.recv().startswith("not-connected ")
        opcode, data = client.recv_data(control_frame=True)
        assert opcode == websocket_client.ABNF.OPCODE_CLOSE
        assert data[:2] == (1002).to_bytes(2)


async def test_every_dialect_plays_with_every_other_one_through_one_port() -> None:
    command = [sys.executable, "-W", "error", "-m", "gateway", "--no-web", "--db", "none"]
    async with one_gateway(["--port", "0", "--rounds", str(LENGTH), "--house", "none"], command) as server:
        assert len({(address.host, address.port) for address in server.addresses.values()}) == 1
        load = Load("one", "1", [server])

        def met() -> set[tuple[str, str]]:
            """Return the dialects of those who have finished a game, the first mover's first."""
            dialects = {player.wish.name: player.dialect for player in load.players}
            results = [result for player in load.players for result in player.results]
            return {(dialects[each.first], dialects[each.second]) for each in results}

        async with trio.open_nursery() as nursery:
            nursery.start_soon(load.run, len(COUPLES))
            await until(lambda: met() >= {*possible_pairs()}, PATIENCE)
            load.is_over = True
    assert met() == {*possible_pairs()}
    assert (load.troubles, load.stuck) == ([], [])


def test_hang_up_does_not_destroy_its_last_words(gateway: Served) -> None:
    with socket.create_connection(("127.0.0.1", gateway.port("droidcon")), timeout=PATIENCE) as bot:
        bot.sendall(b"NAME ann\nJOIN last-words\nPUT 3\n" + b"PUT 3\n" * 50_000)
        assert everything(bot) == b"SUCCESS\nSUCCESS\nError NOT_YOUR_TURN\nYOU_LOST\n"
