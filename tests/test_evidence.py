"""What is kept of a game is what its players said and heard, and shows why one of them lost.

Real sockets, a gateway in a process of its own, and clients that share no code with it and keep a record of
their own. What was said is sure to be stored when the gateway has stopped; so most games are played first,
each at a table of its own, and looked at afterwards.
"""

import json
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

import pytest
import websockets.exceptions
import websockets.sync.client
from worlds.server import EVERY_PORT, PATIENCE, Served, served

from gateway.__main__ import main
from gateway.commands import stored_games as commands
from gateway.store.database import open_to_read
from gateway.store.evidence import Exchange
from gateway.store.games import Filter, every, evidence_of

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
    """What was kept of the first game that was played at a table."""

    def __init__(self, where: Path, table: str | None = "t") -> None:
        self.where = str(where)
        database = open_to_read(self.where)
        record = next(each for each in every(database.reading, Filter()) if each.table == table)
        self.game = record.game
        with database.reading() as connection:
            self.exchanges = evidence_of(connection, record.game)
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
    """A gateway, and clients of it, who go to one table."""

    def __init__(self, gateway: Served, stack: ExitStack, table: str) -> None:
        self._gateway = gateway
        self._stack = stack
        self.table = table

    def line(self) -> Line:
        client = Line(self._gateway)
        self._stack.callback(client.close)
        return client

    def frames(self, dialect: str) -> Frames:
        url = self._gateway.url(dialect, f"/?table={self.table}")
        return Frames(self._stack.enter_context(websockets.sync.client.connect(url, proxy=None)))

    def lines(self) -> tuple[Line, Line]:
        """Return two clients that speak lines and are at the table; it is the first one's move."""
        ann, bob = self.line(), self.line()
        for name, client in (("ann", ann), ("bob", bob)):
            client.say(f"NAME {name}")
            client.say(f"JOIN {self.table}")
            heard_until(client, "SUCCESS")
            heard_until(client, "SUCCESS")
        heard_until(ann, "YOUR_MOVE")
        return ann, bob


@contextmanager
def serving(where: Path, *options: str) -> Iterator[Served]:
    """Run a gateway that keeps results there; at the end it is stopped, and has nothing to complain of."""
    with served(*EVERY_PORT, "--db", str(where), "--rounds", "1", *options) as running:
        yield running
        status, err = running.stop()
        assert status == 0
        assert "ERROR" not in err


@contextmanager
def playing(where: Path, *options: str) -> Iterator[Room]:
    """Run a gateway for one game, at table t."""
    with serving(where, *options) as running, ExitStack() as stack:
        yield Room(running, stack, "t")


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


def hear_all(*clients: Line) -> None:
    """Hear everything up to the end."""
    for client in clients:
        while client.hear():
            pass


# Games that are played one after the other, with one gateway.


def illegal_move(room: Room) -> tuple[Record, ...]:
    ann, bob = room.lines()
    ann.say("PUT 3")
    heard_until(bob, "YOUR_MOVE")
    bob.say("PUT 9")
    hear_all(ann, bob)
    return ann.record, bob.record


def refused_move(room: Room) -> tuple[Record, ...]:
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
    return ann.record, bob.record


def hanging_up(room: Room) -> tuple[Record, ...]:
    ann, bob = room.lines()
    ann.close()
    heard_until(bob, "YOU_WON")
    return ann.record, bob.record


def closing_a_websocket(room: Room) -> tuple[Record, ...]:
    ann, bob = room.frames("nac4"), room.line()
    ann.say("connect ann\r\n")
    ann.hear()
    for text in ("NAME bob", f"JOIN {room.table}"):
        bob.say(text)
        bob.hear()
    heard_until(ann, "newgame")
    ann.hear()
    ann.close()
    heard_until(bob, "YOU_WON")
    return ann.record, bob.record


def flood(room: Room) -> tuple[Record, ...]:
    ann, bob = room.lines()
    ann.flood()
    heard_until(bob, "YOU_WON")
    return ann.record, bob.record


def house_player(room: Room) -> tuple[Record, ...]:
    ann = room.line()
    for text in ("NAME ann", "JOIN @random"):
        ann.say(text)
    heard_until(ann, "NEW_GAME")
    ann.say("PUT 9")
    hear_all(ann)
    return (ann.record,)


Played: TypeAlias = Callable[[Room], tuple[Record, ...]]
GAMES: tuple[Played, ...] = (
    illegal_move,
    refused_move,
    hanging_up,
    closing_a_websocket,
    flood,
    house_player,
)


class Evening:
    """Games that were played, what their players said and heard, and what was kept."""

    def __init__(self, where: Path) -> None:
        self._where = where
        with serving(where) as running:
            self._records: dict[Played, tuple[Record, ...]] = {
                play: self._play(running, play) for play in GAMES
            }

    def _play(self, running: Served, play: Played) -> tuple[Record, ...]:
        with ExitStack() as stack:
            return play(Room(running, stack, play.__name__))

    def records(self, play: Played) -> tuple[Record, ...]:
        return self._records[play]

    def kept(self, play: Played) -> Kept:
        return Kept(self._where, None if play is house_player else play.__name__)


@pytest.fixture(scope="module")
def evening(tmp_path_factory: pytest.TempPathFactory) -> Evening:
    return Evening(tmp_path_factory.mktemp("evening") / "results.db")


def test_game_lost_by_an_illegal_move(evening: Evening, capsys: pytest.CaptureFixture[str]) -> None:
    kept = evening.kept(illegal_move)
    for number, record in enumerate(evening.records(illegal_move)):
        assert kept.said(number) == from_the_start(record, "NEW_GAME")
    assert kept.verdicts(0) == {"": "won: the opponent's move was illegal"}
    assert kept.verdicts(1) == {"PUT 9": "refused: outside the board", "": "lost by an illegal move"}
    assert re.search(r"\n +(\d+)  ->  PUT 9\n +\1  --  refused: outside the board\n", kept.shown)
    assert main(["show", kept.game, "--db", kept.where]) == 0
    assert capsys.readouterr() == (kept.shown, "")


def test_game_lost_on_time(place: Path) -> None:
    with playing(place, "--idle", "1") as room:
        ann, bob = room.frames("arena"), room.frames("arena")
        for name, client in (("ann", ann), ("bob", bob)):
            client.say(json.dumps({"type": "start", "id": name}))
            client.say('{"type": "state_request"}')
            client.hear()
        for client in (ann, bob):
            heard_until(client, '{"type":"end"')
    kept = Kept(place)
    for number, client in enumerate((ann, bob)):
        beginning = from_the_start(client.record, '{"type":"state"')
        assert [each for each in kept.said(number) if each[0] == "out"] == beginning
    assert kept.verdicts(0) == {"": "lost on time"}
    assert kept.verdicts(1) == {"": "won: the opponent's time was up"}
    assert kept.side(0)[-1].at in range(1000, 10_000)
    assert re.search(r"\n +\d+  --  lost on time\n", kept.shown)


def test_game_with_a_refused_move(evening: Evening) -> None:
    kept = evening.kept(refused_move)
    for number, record in enumerate(evening.records(refused_move)):
        assert kept.said(number) == from_the_start(record, "newgame")
    assert kept.verdicts(0)["playmove 9\r\n"] == "refused: outside the board"
    clocks = [float(line.verdict.split()[0]) for line in kept.side(0) if line.text.startswith("genmove")]
    assert clocks[0] == 42.0
    assert clocks == sorted(clocks, reverse=True)
    assert clocks[1] - clocks[2] >= 1.0
    assert re.search(r"\n +(\d+)  ->  playmove 9\n +\1  --  refused: outside the board\n", kept.shown)


@pytest.mark.parametrize("play", [hanging_up, closing_a_websocket])
def test_client_that_hangs_up(evening: Evening, play: Played) -> None:
    kept = evening.kept(play)
    _, bob = evening.records(play)
    notes = [line.verdict for line in kept.side(0) if line.direction == "note"]
    assert notes == ["hung up", "aborted: this player left before both had moved"]
    assert kept.verdicts(1)[""] == "aborted: the opponent left before both had moved"
    assert kept.said(1) == from_the_start(bob, "NEW_GAME")
    assert kept.shown.index("--  hung up\n") < kept.shown.index("--  aborted: this player")


def test_client_that_floods(evening: Evening) -> None:
    kept = evening.kept(flood)
    notes = [line.verdict for line in kept.side(0) if line.direction == "note"]
    assert notes == [
        "sent too much without an end of the message",
        "aborted: this player left before both had moved",
    ]


def test_player_of_the_server_s_own_has_no_wire(evening: Evening) -> None:
    kept = evening.kept(house_player)
    assert sorted(exchange is None for exchange in kept.exchanges) == [False, True]
    assert "random: one of the server's own players, without a connection\n" in kept.shown


def test_with_nothing_to_be_kept_nothing_is(place: Path) -> None:
    with playing(place, "--keep-wire", "0") as room:
        ann, bob = room.lines()
        ann.say("PUT 9")
        hear_all(bob)
    kept = Kept(place)
    assert kept.exchanges == (None, None)
    assert kept.shown.count("nothing is kept") == 2
