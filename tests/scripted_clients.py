"""Scripted clients of the three dialects, on real sockets, that make a move when the test says so."""

import json
import socket
import struct
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from urllib.parse import quote

import websockets.sync.client
from worlds.server import PATIENCE, Served

Record = list[tuple[str, str]]
"""What a client said (`in`) and heard (`out`), as the server has it."""


class Client(ABC):
    """A player. Its socket is there while the `connected` block lasts."""

    dialect: str

    def __init__(self, gateway: Served, name: str, table: str | None = None) -> None:
        self.gateway = gateway
        self.name = name
        self.table = table
        self.record: Record = []

    @abstractmethod
    def enter(self) -> None:
        """Connect, say the name, and ask for a game."""

    @abstractmethod
    def say(self, text: str) -> None:
        """Send one message."""

    @abstractmethod
    def hear(self) -> str:
        """Return the next message."""

    @abstractmethod
    def asks(self, heard: str) -> bool:
        """Return whether the message asks for a move of this player."""

    @abstractmethod
    def ends(self, heard: str) -> bool:
        """Return whether the message tells of a game's end."""

    @abstractmethod
    def move(self, column: int) -> str:
        """Return the message that makes a move."""

    @abstractmethod
    def leave(self) -> None:
        """Hang up."""

    def play(self, column: int) -> None:
        """Wait until a move is asked for, and make this one."""
        while not self.asks(self.hear()):
            pass
        self.say(self.move(column))

    def finish(self) -> None:
        """Wait until the game is over."""
        while not self.ends(self.hear()):
            pass


class DroidconClient(Client):
    """Lines over TCP."""

    dialect = "droidcon"

    def enter(self) -> None:
        address = ("127.0.0.1", self.gateway.port(self.dialect))
        self._socket = socket.create_connection(address, timeout=PATIENCE)
        if self.gateway.tls is not None:
            self._socket = self.gateway.tls.wrap_socket(self._socket, server_hostname="127.0.0.1")
        self._lines = self._socket.makefile("r", encoding="utf-8", newline="\n")
        self.say(f"NAME {self.name}")
        assert self.hear() == "SUCCESS"
        self.say(f"JOIN {self.table or 'lobby'}")
        assert self.hear() == "SUCCESS"

    def say(self, text: str) -> None:
        self.record.append(("in", text))
        self._socket.sendall(f"{text}\n".encode())

    def hear(self) -> str:
        line = self._lines.readline()
        assert line, f"{self.name} was hung up on"
        self.record.append(("out", line.rstrip("\n")))
        return line.rstrip("\n")

    def rest(self) -> str:
        """Return all that comes until the server hangs up."""
        lines = [*self._lines]
        self.record += [("out", line.rstrip("\n")) for line in lines]
        return "".join(lines)

    def asks(self, heard: str) -> bool:
        return heard == "YOUR_MOVE"

    def ends(self, heard: str) -> bool:
        return heard in {"YOU_WON", "YOU_LOST", "DRAW"}

    def move(self, column: int) -> str:
        return f"PUT {column}"

    def leave(self) -> None:
        self._lines.close()
        self._socket.close()

    def reset(self) -> None:
        """Reset the connection: what is sent to the client from now on is lost."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.leave()


class WebsocketClient(Client):
    """Messages over a websocket."""

    def __init__(self, gateway: Served, name: str, table: str | None = None) -> None:
        super().__init__(gateway, name, table)
        self._life = ExitStack()

    def enter(self) -> None:
        target = "/" if self.table is None else f"/?table={quote(self.table, safe='')}"
        url = self.gateway.url(self.dialect, target)
        # It answers pings by itself, also while the test does something else.
        connection = websockets.sync.client.connect(
            url, open_timeout=PATIENCE, proxy=None, compression=None, ssl=self.gateway.tls
        )
        self._websocket = self._life.enter_context(connection)
        self.say(self.greeting())
        assert self._websocket.ping().wait(PATIENCE), (
            "the server reads nothing"
        )  # now it has read the greeting

    @abstractmethod
    def greeting(self) -> str:
        """Return the first message."""

    def say(self, text: str) -> None:
        self.record.append(("in", text))
        self._websocket.send(text)

    def hear(self) -> str:
        text = str(self._websocket.recv(PATIENCE))
        self.record.append(("out", text))
        return text

    def leave(self) -> None:
        self._life.close()


class Nac4Client(WebsocketClient):
    dialect = "nac4"

    def greeting(self) -> str:
        return f"connect {self.name}\r\n"

    def asks(self, heard: str) -> bool:
        return heard.startswith("genmove")

    def ends(self, heard: str) -> bool:
        return heard.startswith("endgame")

    def move(self, column: int) -> str:
        return f"playmove {column}\r\n"


class ArenaClient(WebsocketClient):
    dialect = "arena"

    def greeting(self) -> str:
        return json.dumps({"type": "start", "id": self.name})

    def asks(self, heard: str) -> bool:
        state = json.loads(heard)
        return state["type"] == "state" and state["turn"] == state["you"]

    def ends(self, heard: str) -> bool:
        return json.loads(heard)["type"] in {"end", "disconnected"}

    def move(self, column: int) -> str:
        return json.dumps({"type": "move", "move": column})


KINDS: dict[str, type[Client]] = {each.dialect: each for each in (Nac4Client, ArenaClient, DroidconClient)}


@contextmanager
def connected(*clients: Client) -> Iterator[tuple[Client, ...]]:
    """Let clients enter, one after the other: at a table the first of them moves first."""
    with ExitStack() as stack:
        for client in clients:
            client.enter()
            stack.callback(client.leave)
        yield clients


def play(first: Client, second: Client, moves: Sequence[int]) -> None:
    """Make these moves."""
    for number, column in enumerate(moves):
        (first, second)[number % 2].play(column)


def play_out(first: Client, second: Client, moves: Sequence[int]) -> None:
    """Play a game to its end."""
    play(first, second, moves)
    for client in (first, second):
        client.finish()
