"""A bot on a socket: what it counts, and what it does with what comes torn, late or not at all."""

import select
import socket
from collections.abc import Iterator
from time import perf_counter

import pytest

from conformance.dialects.script import DRAWN, OutOfStep, Wish
from conformance.lab.bots import BotError, Readings, script_of
from conformance.lab.load import MOVES, TimedBot, TimedLoop
from conformance.targets import Address

COLUMNS = tuple(map(int, DRAWN.moves))


def bot_at(port: int, loop: TimedLoop, name: str = "a") -> TimedBot:
    readings = Readings("droidcon", script_of("droidcon"))
    return TimedBot(readings, Wish(name, table="t"), Address("127.0.0.1", port), loop)


class Table:
    """A Droidcon bot, and the server's end of its connection."""

    def __init__(self) -> None:
        self.friends = TimedLoop()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.bot = bot_at(listener.getsockname()[1], self.friends)
            self.number = self.bot.connect()
            self.server, _ = listener.accept()
        self.server.settimeout(5)
        assert select.select([], [self.number], [], 5)[1]
        assert self.bot.push()
        assert self.heard() == b"NAME a\nJOIN t\n"

    def tell(self, data: bytes) -> None:
        self.server.sendall(data)
        self.wait()

    def wait(self) -> None:
        assert select.select([self.number], [], [], 5)[0]
        self.bot.ready()

    def heard(self) -> bytes:
        return self.server.recv(4096)

    def play_to_the_last_move(self) -> None:
        """The bot opens; the last move but one is its own."""
        self.tell(b"SUCCESS\nSUCCESS\nNEW_GAME\nYOUR_MOVE\n")
        for discs in range(1, MOVES - 1, 2):
            assert self.heard() == b"PUT %d\n" % COLUMNS[discs - 1]
            self.tell(b"PUT %d\nYOUR_MOVE\n" % COLUMNS[discs])
        assert self.heard() == b"PUT %d\n" % COLUMNS[MOVES - 2]


def counted(table: Table) -> tuple[int, int, int]:
    """Return how many moves but the last, last moves, and results were counted."""
    tally = table.friends.times
    return len(tally.moves), len(tally.lasts), len(tally.results)


@pytest.fixture
def table() -> Iterator[Table]:
    found = Table()
    with found.server:
        yield found
        found.bot.close()


def test_every_move_of_the_opponent_is_counted_with_its_time(table: Table) -> None:
    table.play_to_the_last_move()
    assert len(table.friends.times.moves) == MOVES // 2 - 1
    assert min(table.friends.times.moves) >= 0
    table.tell(b"PUT %d\nDRAW\n" % COLUMNS[-1])
    assert counted(table) == (MOVES // 2 - 1, 1, 1)


def test_last_move_and_first_of_the_next_game_count_for_two(table: Table) -> None:
    table.play_to_the_last_move()
    table.friends.times.clear()
    table.tell(b"PUT %d\nDRAW\nNEW_GAME\nPUT %d\nYOUR_MOVE\n" % (COLUMNS[-1], COLUMNS[0]))
    assert counted(table) == (1, 1, 1)
    assert table.heard() == b"PUT %d\n" % COLUMNS[1]


def test_torn_message_is_read_when_it_is_whole_and_not_remembered(table: Table) -> None:
    table.tell(b"SUCC")
    table.tell(b"ESS\nSUCCESS\nNEW_GAME\nYOUR_")
    table.tell(b"MOVE\n")
    assert table.heard() == b"PUT %d\n" % COLUMNS[0]
    readings = table.bot.readings
    assert [readings.known(place) for place in (readings.script.start, table.bot.place)] == [{}, {}]
    whole = Table()
    whole.tell(b"SUCCESS\n")
    assert list(whole.bot.readings.known(whole.bot.readings.script.start)) == [b"SUCCESS\n"]
    whole.server.close()
    whole.bot.close()


def test_known_chunk_behind_a_torn_message_is_read_as_its_end(table: Table) -> None:
    readings = table.bot.readings
    turn, _ = readings.read(readings.script.start, b"SUCCESS\n", "other")
    readings.remember(readings.script.start, b"SUCCESS\n", turn)
    table.tell(b"SUC")
    with pytest.raises(OutOfStep, match="'SUCSUCCESS'"):
        table.tell(b"SUCCESS\n")


# Pace.


def paced(table: Table, interval: float, due: float) -> TimedBot:
    """Let the bot move in turns; its opponent's latest move was due at that time."""
    table.friends.interval = interval
    peer_of(table).due = due
    return table.bot


def test_paced_move_waits_until_it_is_due(table: Table) -> None:
    bot = paced(table, 1000.0, perf_counter())
    table.tell(b"SUCCESS\nSUCCESS\nNEW_GAME\nYOUR_MOVE\n")
    table.friends.turn(0.0)
    table.server.settimeout(0)
    with pytest.raises(BlockingIOError):
        table.heard()
    table.friends.hurry()
    table.server.settimeout(5)
    assert table.heard() == b"PUT %d\n" % COLUMNS[0]
    assert bot.due == bot.peer.due + 1000.0


@pytest.mark.parametrize(
    ("is_first", "what"),
    [(True, "was hung up on .* waiting for a game"), (False, "was hung up on between two games")],
)
def test_hang_up_is_an_error(is_first: bool, what: str, table: Table) -> None:
    if is_first:
        table.tell(b"SUCCESS\nSUCCESS\n")
    else:
        table.play_to_the_last_move()
        table.tell(b"PUT %d\nDRAW\n" % COLUMNS[-1])
    table.server.shutdown(socket.SHUT_WR)
    with pytest.raises(BotError, match=f"droidcon bot a {what}"):
        table.wait()


@pytest.mark.parametrize(
    ("own", "peers", "now", "due"),
    [
        (11.0, 10.0, 11.2, 12.0),  # two moves of one player are an interval apart too
        (0.0, 10.25, 11.75, 11.25),  # a move that is late keeps the beat of its pair
        (0.0, 10.25, 15.75, 15.25),  # turns that were missed are not made up for
    ],
)
def test_move_is_due_an_interval_after_the_latest_of_its_pair(
    own: float, peers: float, now: float, due: float, table: Table
) -> None:
    bot = paced(table, 1.0, peers)
    bot.due = own
    bot.send_in_turn(b"move", now, 1.0)
    assert bot.due == due


@pytest.mark.parametrize(
    ("games", "closed", "sent"),
    [(1, -1000, 0), (0, -9000, -1000)],
    ids=["its sender has gone on to the next game", "its sender waits for the result"],
)
def test_result_is_timed_from_the_last_move(games: int, closed: int, sent: int, table: Table) -> None:
    table.play_to_the_last_move()
    peer, now = peer_of(table), perf_counter()
    peer.games, peer.closed_at, peer.sent_at = games, now + closed, now + sent
    table.tell(b"PUT %d\nDRAW\n" % COLUMNS[-1])
    times = table.friends.times
    assert 1000 < times.results[0] == times.lasts[0] < 1100


def test_server_that_does_not_read_is_an_error(table: Table) -> None:
    with pytest.raises(OutOfStep, match="stopped reading"):
        table.bot.say(bytes(100_000_000))


def peer_of(table: Table) -> TimedBot:
    """Return an opponent that is not connected, but sent its latest move at 0."""
    table.bot.peer = bot_at(1, table.friends, "b")
    table.bot.peer.sent_at = 0.0
    return table.bot.peer


def test_last_move_that_comes_before_its_result_is_counted_once(table: Table) -> None:
    table.play_to_the_last_move()
    others = len(table.friends.times.moves)
    table.tell(b"PUT %d\n" % COLUMNS[-1])
    assert counted(table) == (others, 1, 0)
    table.tell(b"DRAW\n")
    assert counted(table) == (others, 1, 1)
    assert table.friends.times.results[0] > table.friends.times.lasts[0]


def test_result_is_timed_from_the_own_last_move_by_whoever_made_it(table: Table) -> None:
    table.tell(b"SUCCESS\nSUCCESS\nNEW_GAME\n")
    for discs in range(0, MOVES, 2):
        table.tell(b"PUT %d\nYOUR_MOVE\n" % COLUMNS[discs])
        assert table.heard() == b"PUT %d\n" % COLUMNS[discs + 1]
    assert counted(table) == (MOVES // 2, 0, 0)  # to have answered with the last is not to have heard of it
    table.bot.sent_at -= 1000
    table.tell(b"DRAW\nNEW_GAME\nYOUR_MOVE\n")
    assert counted(table) == (MOVES // 2, 0, 1)
    assert 1000 < table.friends.times.results[0] < 1100
    assert table.bot.closed_at < table.bot.sent_at - 900
