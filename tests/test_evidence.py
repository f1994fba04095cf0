"""What is kept of a game is what its players said and heard, and shows why one of them lost.

Real sockets, a gateway in a process of its own, and clients that share no code with it and keep a record of
their own.
"""

import json
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
import websockets.exceptions
import websockets.sync.client
from served import EVERY_PORT, PATIENCE, Served, ran, served

from gateway.store import commands
from gateway.store.database import open_to_read
from gateway.store.evidence import Exchange
from gateway.store.games import Filter
from gateway.store.reader import Reader

Record = list[tuple[str, str]]


class Line:
    """A client that speaks lines."""

    def __init__(self, gateway: Served) -> None:
        self._sock = socket.create_connection(("127.0.0.1", gateway.port("droidcon")), timeout=PATIENCE)
        self._lines = self._sock.makefile("r")
        self.record: Record = []

    def say(self, text: str) -> None:
        self.record.append(("in", text))
        self._sock.sendall(f"{text}\n".encode())

    def flood(self) -> None:
        """Say more without an end of the line than anybody listens to."""
        with suppress(ConnectionError):  # hung up on before all of it was sent
            self._sock.sendall(b"x" * 100_000)

    def hear(self) -> str:
        """Return the next line; nothing at the end."""
        text = self._lines.readline().removesuffix("\n")
        if text:
            self.record.append(("out", text))
        return text

    def close(self) -> None:
        self._lines.close()
        self._sock.close()


class Frames:
    """A client that speaks texts over a websocket."""

    def __init__(self, websocket: websockets.sync.client.ClientConnection) -> None:
        self._websocket = websocket
        self.record: Record = []

    def say(self, text: str) -> None:
        self.record.append(("in", text))
        self._websocket.send(text)

    def hear(self) -> str:
        """Return the next text; nothing at the end."""
        try:
            text = str(self._websocket.recv(PATIENCE))
        except websockets.exceptions.ConnectionClosed:
            return ""
        self.record.append(("out", text))
        return text

    def close(self) -> None:
        self._websocket.close()


class Kept:
    """What was kept of the one game that was played."""

    def __init__(self, where: str) -> None:
        database = open_to_read(where)
        reader = Reader(database)
        record = next(reader.every(Filter()))
        self.game = record.game
        _, self.exchanges = reader.game(record.game)
        self.shown = "".join(commands.show(database, record.game))
        database.close()

    def side(self, number: int) -> Exchange:
        exchange = self.exchanges[number]
        assert exchange is not None
        return exchange

    def said(self, number: int) -> Record:
        """Return the texts of one side."""
        return [(line.direction, line.text) for line in self.side(number) if line.direction != "note"]

    def verdicts(self, number: int) -> dict[str, str]:
        """Return verdicts by text; a note's by nothing."""
        return {line.text: line.verdict for line in self.side(number) if line.verdict}


class Room:
    """A gateway, and clients of it."""

    def __init__(self, gateway: Served, stack: ExitStack) -> None:
        self._gateway = gateway
        self._stack = stack

    def line(self) -> Line:
        client = Line(self._gateway)
        self._stack.callback(client.close)
        return client

    def frames(self, dialect: str) -> Frames:
        url = self._gateway.url(dialect, "/?table=t")
        return Frames(self._stack.enter_context(websockets.sync.client.connect(url, proxy=None)))


@contextmanager
def playing(where: Path, *options: str) -> Iterator[Room]:
    """Run a gateway that keeps results there; at the end it is stopped, and has nothing to complain of."""
    with served(*EVERY_PORT, "--db", str(where), "--rounds", "1", *options) as running:
        with ExitStack() as stack:
            yield Room(running, stack)
        status, err = running.stop()
        assert status == 0
        assert "ERROR" not in err


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where there is no database yet."""
    return tmp_path / "results.db"


def from_the_start(record: Record, beginning: str) -> Record:
    """Return a client's record of its game, the only one, which begins with being told `beginning`."""
    index = next(n for n, (way, text) in enumerate(record) if way == "out" and text.startswith(beginning))
    return record[index:]


def heard_until(client: Line | Frames, beginning: str) -> str:
    while not (text := client.hear()).startswith(beginning):
        assert text, f"hung up on instead of {beginning}"
    return text


def test_game_lost_by_an_illegal_move(place: Path) -> None:
    with playing(place) as room:
        ann, bob = room.line(), room.line()
        for name, client in (("ann", ann), ("bob", bob)):
            client.say(f"NAME {name}")
            client.say("JOIN t")
            heard_until(client, "SUCCESS")
            heard_until(client, "SUCCESS")
        heard_until(ann, "YOUR_MOVE")
        ann.say("PUT 3")
        heard_until(bob, "YOUR_MOVE")
        bob.say("PUT 9")
        for client in (ann, bob):
            while client.hear():
                pass
    kept = Kept(str(place))
    for number, client in enumerate((ann, bob)):
        assert kept.said(number) == from_the_start(client.record, "NEW_GAME")
    assert kept.verdicts(0) == {"": "won: the opponent's move was illegal"}
    assert kept.verdicts(1) == {"PUT 9": "refused: outside the board", "": "lost by an illegal move"}
    assert re.search(r"\n +(\d+)  ->  PUT 9\n +\1  --  refused: outside the board\n", kept.shown)
    assert ran("show", kept.game, "--db", str(place)) == (0, kept.shown, "")


def test_game_lost_on_time(place: Path) -> None:
    with playing(place, "--idle", "0.3") as room:
        ann, bob = room.frames("arena"), room.frames("arena")
        for name, client in (("ann", ann), ("bob", bob)):
            client.say(json.dumps({"type": "start", "id": name}))
            client.say('{"type": "state_request"}')
            client.hear()
        for client in (ann, bob):
            heard_until(client, '{"type":"end"')
    kept = Kept(str(place))
    for number, client in enumerate((ann, bob)):
        beginning = from_the_start(client.record, '{"type":"state"')
        assert [each for each in kept.said(number) if each[0] == "out"] == beginning
    assert kept.verdicts(0) == {"": "lost on time"}
    assert kept.verdicts(1) == {"": "won: the opponent's time was up"}
    assert kept.side(0)[-1].at in range(300, 3000)
    assert re.search(r"\n +\d+  --  lost on time\n", kept.shown)


def test_game_with_a_refused_move(place: Path) -> None:
    with playing(place) as room:
        ann, bob = room.frames("nac4"), room.frames("nac4")
        for name, client in (("ann", ann), ("bob", bob)):
            client.say(f"connect {name}\r\n")
            client.hear()
        for move in range(7):
            client, column = ((ann, 0), (bob, 1))[move % 2]
            heard_until(client, "genmove")
            if move == 2:
                client.say("playmove 9\r\n")
                heard_until(client, "genmove")
            client.say(f"playmove {column}\r\n")
        for client in (ann, bob):
            heard_until(client, "endgame")
    kept = Kept(str(place))
    for number, client in enumerate((ann, bob)):
        assert kept.said(number) == from_the_start(client.record, "newgame")
    assert kept.verdicts(0)["playmove 9\r\n"] == "refused: outside the board"
    clocks = [float(line.verdict.split()[0]) for line in kept.side(0) if line.text.startswith("genmove")]
    assert clocks[0] == 42.0
    assert clocks == sorted(clocks, reverse=True)
    assert clocks[1] - clocks[2] >= 1.0
    assert re.search(r"\n +(\d+)  ->  playmove 9\n +\1  --  refused: outside the board\n", kept.shown)


@pytest.mark.parametrize("dialect", ["droidcon", "nac4"])
def test_client_that_hangs_up(place: Path, dialect: str) -> None:
    with playing(place) as room:
        ann, bob = room.line() if dialect == "droidcon" else room.frames(dialect), room.line()
        for text in ("NAME ann", "JOIN t") if isinstance(ann, Line) else ("connect ann\r\n",):
            ann.say(text)
            ann.hear()
        for text in ("NAME bob", "JOIN t"):
            bob.say(text)
            bob.hear()
        heard_until(ann, "NEW_GAME" if dialect == "droidcon" else "newgame")
        ann.hear()
        ann.close()
        heard_until(bob, "YOU_WON")
    kept = Kept(str(place))
    notes = [line.verdict for line in kept.side(0) if line.direction == "note"]
    assert notes == ["hung up", "aborted: this player left before both had moved"]
    assert kept.verdicts(1)[""] == "aborted: the opponent left before both had moved"
    assert kept.said(1) == from_the_start(bob.record, "NEW_GAME")
    assert kept.shown.index("--  hung up\n") < kept.shown.index("--  aborted: this player")


def test_client_that_floods(place: Path) -> None:
    with playing(place) as room:
        ann, bob = room.line(), room.line()
        for name, client in (("ann", ann), ("bob", bob)):
            client.say(f"NAME {name}\nJOIN t")
            heard_until(client, "SUCCESS")
            heard_until(client, "SUCCESS")
        heard_until(ann, "YOUR_MOVE")
        ann.flood()
        heard_until(bob, "YOU_WON")
    kept = Kept(str(place))
    notes = [line.verdict for line in kept.side(0) if line.direction == "note"]
    assert notes == [
        "sent too much without an end of the message",
        "aborted: this player left before both had moved",
    ]


def test_player_of_the_server_s_own_has_no_wire(place: Path) -> None:
    with playing(place) as room:
        ann = room.line()
        for text in ("NAME ann", "JOIN @random"):
            ann.say(text)
        heard_until(ann, "NEW_GAME")
        ann.say("PUT 9")
        while ann.hear():
            pass
        ann.close()
    kept = Kept(str(place))
    assert sorted(exchange is None for exchange in kept.exchanges) == [False, True]
    assert "random: one of the server's own players, without a connection\n" in kept.shown


def test_with_nothing_to_be_kept_nothing_is(place: Path) -> None:
    with playing(place, "--keep-wire", "0") as room:
        ann, bob = room.line(), room.line()
        for client in (ann, bob):
            client.say("NAME ann")
            client.say("JOIN t")
            heard_until(client, "SUCCESS")
            heard_until(client, "SUCCESS")
        heard_until(ann, "YOUR_MOVE")
        ann.say("PUT 9")
        while bob.hear():
            pass
    kept = Kept(str(place))
    assert kept.exchanges == (None, None)
    assert kept.shown.count("nothing is kept") == 2
