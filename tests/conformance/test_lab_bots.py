"""A bot on a socket: what it counts, and what it does with what comes torn, late or not at all."""

import select
import socket
from collections.abc import Iterator
from time import perf_counter

import pytest

from conformance.dialects.script import DRAWN, OutOfStep, Phase, Wish
from conformance.lab.bots import Readings, script_of
from conformance.lab.load import MOVES, TimedBot, TimedLoop
from conformance.targets import Address

COLUMNS = tuple(map(int, DRAWN.moves))


class Alone(TimedLoop):
    """A loop that notes what it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.came_back = 0

    def come_back(self, bot: TimedBot) -> None:
        self.came_back += 1


def bot_at(port: int, loop: TimedLoop, name: str = "a") -> TimedBot:
    readings = Readings("droidcon", script_of("droidcon"))
    return TimedBot(readings, Wish(name, table="t"), Address("127.0.0.1", port), loop)


class Table:
    """A Droidcon bot, and the server's end of its connection."""

    def __init__(self) -> None:
        self.friends = Alone()
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


def test_bot_counts_as_still_from_when_it_has_connected() -> None:
    before = perf_counter()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        bot = bot_at(listener.getsockname()[1], Alone())
        bot.connect()
        bot.close()
    assert bot.sent_at >= before


def test_torn_message_is_read_when_it_is_whole_and_not_remembered(table: Table) -> None:
    table.tell(b"SUCC")
    table.tell(b"ESS\nSUCCESS\nNEW_GAME\nYOUR_")
    table.tell(b"MOVE\n")
    assert table.heard() == b"PUT %d\n" % COLUMNS[0]
    readings = table.bot.readings
    assert [readings.known(place) for place in (readings.script.start, table.bot.place)] == [{}, {}]


def test_chunk_is_remembered_for_all_of_the_kind(table: Table) -> None:
    table.tell(b"SUCCESS\n")
    assert list(table.bot.readings.known(table.bot.readings.script.start)) == [b"SUCCESS\n"]


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


def test_two_moves_of_one_player_are_an_interval_apart_too(table: Table) -> None:
    bot = paced(table, 1.0, 10.0)
    bot.due = 11.0
    bot.send_in_turn(b"move", 11.2, 1.0)
    assert bot.due == 12.0


def test_move_that_is_late_is_sent_at_once_and_its_pair_keeps_its_beat(table: Table) -> None:
    bot = paced(table, 1.0, 10.25)
    bot.send_in_turn(b"move", 11.75, 1.0)
    table.friends.turn(0.0)
    assert (table.heard(), bot.due) == (b"move", 11.25)


def test_turns_that_were_missed_are_not_made_up_for(table: Table) -> None:
    bot = paced(table, 1.0, 10.25)
    bot.send_in_turn(b"move", 15.75, 1.0)
    assert bot.due == 15.25


def test_hang_up_behind_a_series_is_no_error(table: Table) -> None:
    table.play_to_the_last_move()
    table.tell(b"PUT %d\nDRAW\n" % COLUMNS[-1])
    table.server.shutdown(socket.SHUT_WR)
    table.wait()
    assert table.friends.came_back == 1


def test_hang_up_before_the_first_game_is_an_error(table: Table) -> None:
    table.tell(b"SUCCESS\nSUCCESS\n")
    assert table.bot.place.phase is Phase.WAITING
    table.server.shutdown(socket.SHUT_WR)
    with pytest.raises(OutOfStep, match=r"droidcon bot a was hung up on .* waiting for a game"):
        table.wait()


def test_nothing_to_read_is_no_error(table: Table) -> None:
    table.bot.ready()
    assert table.bot.place == table.bot.readings.script.start


def test_server_that_does_not_read_is_an_error(table: Table) -> None:
    with pytest.raises(OutOfStep, match="stopped reading"):
        table.bot.say(bytes(100_000_000))


def peer_of(table: Table) -> TimedBot:
    """Return an opponent that is not connected, but sent its latest move at 0."""
    table.bot.peer = bot_at(1, table.friends, "b")
    table.bot.peer.sent_at = 0.0
    return table.bot.peer


def test_result_is_timed_from_the_last_move_though_its_sender_has_gone_on(table: Table) -> None:
    table.play_to_the_last_move()
    peer = peer_of(table)
    before = perf_counter()
    # It was told already, and has made the first move of the next game just now.
    peer.games, peer.closed_at, peer.sent_at = 1, before - 1000, before
    table.tell(b"PUT %d\nDRAW\n" % COLUMNS[-1])
    tally = table.friends.times
    assert 1000 < tally.results[0] == tally.lasts[0] < 1100


def test_result_is_timed_from_the_last_move_of_the_same_game(table: Table) -> None:
    table.play_to_the_last_move()
    peer = peer_of(table)
    peer.closed_at, peer.sent_at = 0.0, perf_counter() - 1000
    table.tell(b"PUT %d\nDRAW\n" % COLUMNS[-1])
    assert 1000 < table.friends.times.results[0] < 1100


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
