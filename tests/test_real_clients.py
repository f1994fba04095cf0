"""A gateway of its own process, and clients that share no code with it."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import websocket as websocket_client
import websockets.exceptions
import websockets.sync.client
from worlds.server import EVERY_PORT, PATIENCE, Served, served


@pytest.fixture(scope="module")
def gateway() -> Iterator[Served]:
    with served(*EVERY_PORT, "--rounds", "1") as running:
        yield running
        status, err = running.stop()
        assert status == 0
        assert "ERROR" not in err


class Line:
    """A bare socket that speaks lines."""

    def __init__(self, gateway: Served) -> None:
        address = ("127.0.0.1", gateway.port("droidcon"))
        self.sock = socket.create_connection(address, timeout=PATIENCE)
        self._data = b""

    def __enter__(self) -> "Line":
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()

    def say(self, text: str | bytes) -> None:
        self.sock.sendall(text if isinstance(text, bytes) else text.encode())

    def hear(self, *lines: str) -> None:
        """Check that just these lines come next."""
        for line in lines:
            while b"\n" not in self._data:
                chunk = self.sock.recv(4096)
                assert chunk, f"hung up on instead of {line}"
                self._data += chunk
            heard, _, self._data = self._data.partition(b"\n")
            assert heard.decode() == line

    def hear_end(self) -> None:
        assert self._data == b""
        assert self.sock.recv(4096) == b""


def nac4(gateway: Served, target: str) -> websockets.sync.client.ClientConnection:
    return websockets.sync.client.connect(
        gateway.url("nac4", target), open_timeout=PATIENCE, proxy=None, compression=None
    )


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
    with nac4(gateway, "/?table=three") as ann, Line(gateway) as bob:
        ann.send("connect ann\r\n")
        assert ann.recv(PATIENCE) == "connected hello ann\r\n"
        bob.say("NAME bob\nJOIN three\n")
        bob.hear("SUCCESS", "SUCCESS", "NEW_GAME")
        assert ann.recv(PATIENCE) == "newgame ann bob\r\n"
        for _ in range(3):
            assert str(ann.recv(PATIENCE)).startswith("genmove ")
            ann.send("playmove 3\r\n")
            bob.hear("PUT 3", "YOUR_MOVE")
            bob.say("PUT 4\r\n")
        ann.recv(PATIENCE)
        ann.send("playmove 3\r\n")
        bob.hear("PUT 3", "YOU_LOST")
        bob.hear_end()
        assert str(ann.recv(PATIENCE)).endswith(" R WinR Ok\r\n")
        with websocket(gateway.url("arena", "/?table=three")) as cid:
            cid.send(json.dumps({"type": "start", "id": "cid"}))
            state = json.loads(cid.recv())
            assert (state["type"], state["turn"], state["you"]) == ("state", 1, 2)
            assert ann.recv(PATIENCE) == "newgame ann cid\r\n"
            assert str(ann.recv(PATIENCE)).startswith("genmove ")
            cid.send("{:type :state_request}")
            assert json.loads(cid.recv()) == state
        assert str(ann.recv(PATIENCE)).endswith(" R PlayR Disconnected\r\n")


@pytest.mark.parametrize("library", ["websockets", "websocket-client"])
def test_refusal_arrives_before_the_close_frame(gateway: Served, library: str) -> None:
    if library == "websockets":
        with nac4(gateway, "/") as bot:
            bot.send("hello\r\n")
            assert str(bot.recv(PATIENCE)).startswith("not-connected ")
            with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
                bot.recv(PATIENCE)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1002
        return
    with websocket(gateway.url("nac4")) as client:
        client.send("hello\r\n")
        assert client.recv().startswith("not-connected ")
        opcode, data = client.recv_data(control_frame=True)
        assert opcode == websocket_client.ABNF.OPCODE_CLOSE
        assert data[:2] == (1002).to_bytes(2)


def test_hang_up_does_not_destroy_its_last_words(gateway: Served) -> None:
    with Line(gateway) as bot:
        bot.say("NAME ann\nJOIN last-words\nPUT 3\n" + "PUT 3\n" * 50_000)
        bot.hear("SUCCESS", "SUCCESS", "Error NOT_YOUR_TURN", "YOU_LOST")
        bot.hear_end()
