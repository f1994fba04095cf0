"""A gateway of its own process, and clients that share no code with it."""

import http.client
import json
import socket
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager

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


def reset(sock: socket.socket) -> None:
    """Close a socket in the way that sends a reset."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


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


def test_plain_get_on_a_websocket_port_says_what_to_connect_with(gateway: Served) -> None:
    with nac4(gateway, "/") as bot:
        for dialect, word in (("nac4", "connect NAME"), ("arena", '"start"')):
            page = http.client.HTTPConnection("127.0.0.1", gateway.port(dialect), timeout=PATIENCE)
            with closing(page):
                page.request("GET", "/")
                answer = page.getresponse()
                text = answer.read().decode()
            assert answer.status == 200
            assert answer.getheader("Content-Type") == "text/plain; charset=utf-8"
            assert word in text
            assert "websocket" in text
        bot.send("connect x\r\n")
        assert bot.recv(PATIENCE) == "connected hello x\r\n"


def test_ping_of_a_client_is_answered(gateway: Served) -> None:
    with nac4(gateway, "/") as bot:
        assert bot.ping().wait(PATIENCE)


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


def test_message_over_64_kib_is_closed_with_1009(gateway: Served) -> None:
    for size in (65_537, 1_000_000):
        with nac4(gateway, "/") as bot:
            bot.send("x" * size)
            with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
                bot.recv(PATIENCE)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1009


def test_line_split_at_every_byte_is_heard(gateway: Served) -> None:
    with Line(gateway) as bot:
        bot.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in b"NAME ann\r\n":
            bot.say(bytes([byte]))
        bot.hear("SUCCESS")


def test_a_thousand_lines_in_one_packet_are_all_answered(gateway: Served) -> None:
    with Line(gateway) as bot:
        bot.say("x\n" * 1000)
        bot.hear(*["Error INVALID_COMMAND"] * 1000)


def test_megabyte_without_a_newline_is_refused_with_an_error(gateway: Served) -> None:
    with Line(gateway) as bot:
        bot.say(b"x" * 1_000_000)
        bot.hear("Error INVALID_COMMAND")
        bot.hear_end()


def test_bytes_that_are_no_utf8_are_no_reason_to_hang_up(gateway: Served) -> None:
    with Line(gateway) as bot:
        bot.say(b"\xc3\x28\xfe\n\xff\xf4\xff\xfd\x06NAME ann\n")
        bot.hear("Error INVALID_COMMAND", "SUCCESS")


def test_end_of_input_is_leaving_after_everything_before_it(gateway: Served) -> None:
    with Line(gateway) as bot:
        bot.say("NAME ann\nhello\nJOIN end-of-input\nPUT x")
        bot.sock.shutdown(socket.SHUT_WR)
        bot.hear("SUCCESS", "Error INVALID_COMMAND", "SUCCESS", "Error WRONG_COLUMN_FORMAT", "YOU_LOST")
        bot.hear_end()


def test_hang_up_does_not_destroy_its_last_words(gateway: Served) -> None:
    with Line(gateway) as bot:
        bot.say("NAME ann\nJOIN last-words\nPUT 3\n" + "PUT 3\n" * 50_000)
        bot.hear("SUCCESS", "SUCCESS", "Error NOT_YOUR_TURN", "YOU_LOST")
        bot.hear_end()


def test_reset_is_leaving_in_every_dialect(gateway: Served) -> None:
    for dialect in ("nac4", "arena", "droidcon"):
        with Line(gateway) as bob:
            bob.say(f"NAME bob\nJOIN reset-{dialect}\n")
            bob.hear("SUCCESS", "SUCCESS")
            if dialect == "droidcon":
                line = Line(gateway)
                line.say(f"NAME ann\nJOIN reset-{dialect}\n")
                sock = line.sock
            else:
                client = websocket_client.create_connection(
                    gateway.url(dialect, f"/?table=reset-{dialect}"), timeout=PATIENCE
                )
                client.send("connect ann\r\n" if dialect == "nac4" else '{"type": "start", "id": "ann"}')
                sock = client.sock
            bob.hear("NEW_GAME", "YOUR_MOVE")
            reset(sock)
            bob.hear("YOU_WON")


def test_pings_that_cross_our_good_bye_are_no_error(gateway: Served) -> None:
    with websocket(gateway.url("nac4")) as ann:
        ann.send("hello\r\n")
        for _ in range(3):
            ann.ping("are you there")
        assert ann.recv().startswith("not-connected")
        assert ann.recv_data() == (websocket_client.ABNF.OPCODE_CLOSE, b"\x03\xeaconnect expected")
