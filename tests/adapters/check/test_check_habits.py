"""What the check makes of legal bots with habits of their own, and of bots that crash.

Bots and check are in one process, with sockets between them, so that the clock can run ahead.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from random import Random
from typing import TypeAlias

import pytest
import trio

from adapters.bot.bot import Bot, Server
from adapters.bot.screen import Screen, Totals
from adapters.check.bots import Bots
from adapters.check.options import CheckOptions
from adapters.check.report import Report, as_text, report_of
from adapters.check.serving import Check as Port
from adapters.client.dial import Endpoint
from adapters.client.dialect import Dialect
from adapters.client.rules import Topic
from adapters.client.talk import Asked, Entry
from adapters.dialects import DIALECTS
from adapters.droidcon.options import DroidconOptions

DROIDCON = next(each for each in DIALECTS if each.name == "droidcon")
RESULTS = ("YOU_WON", "YOU_LOST", "DRAW")


Act: TypeAlias = Callable[[str], Awaitable[None]]


class Check:
    """A check of Droidcon bots."""

    def __init__(self, nursery: trio.Nursery, port: int, checking: Port) -> None:
        self.nursery, self.port, self.checking = nursery, port, checking

    @property
    def bots(self) -> Bots:
        return self.checking.bots

    async def play_on(self, act: Act, over: trio.Event, rest: float = 0.0, name: str = "robot") -> None:
        """Play on a connection until the server hangs up, and hang up `rest` seconds after that.

        `act` is called with each line. Where it raises EOFError the bot hangs up.
        """
        async with await trio.open_tcp_stream("127.0.0.1", self.port) as stream:
            heights, unread = [0] * 7, b""
            await stream.send_all(f"NAME {name}\nJOIN lobby\n".encode())
            try:
                async for data in stream:
                    *lines, unread = (unread + data).split(b"\n")
                    for line in map(bytes.decode, lines):
                        await act(line)
                        if line == "NEW_GAME":
                            heights = [0] * 7
                        elif line.startswith("PUT ") and line != "PUT 7":
                            heights[int(line[4:])] += 1
                        elif line == "YOUR_MOVE":
                            column = min((heights[each], abs(3 - each), each) for each in range(7))[-1]
                            heights[column] += 1
                            await stream.send_all(b"PUT %d\n" % column)
                        elif line == "Error CHANNEL_IS_FULL":
                            raise EOFError
            except (EOFError, trio.BrokenResourceError):
                rest = 0.0
            over.set()
            await trio.sleep(rest)

    async def keep_coming(self, act: Act, rest: float = 0.0, *, at_once: bool = False) -> Report:
        """Play on one connection after another until the check is over; return what it says.

        A bot that comes `at_once` has another connection before it hangs up.
        """
        with trio.CancelScope() as scope:
            self.nursery.start_soon(self._end, scope)
            while True:
                over = trio.Event()
                if at_once:
                    self.nursery.start_soon(self.play_on, act, over, rest)
                    await over.wait()
                else:
                    await self.play_on(act, over, rest)
        return self.report()

    async def play_until_cut(self, act: Act) -> None:
        """Play on one connection after another until the check has cut one."""
        while not self.bots.absences:
            await self.play_on(act, trio.Event())

    async def _end(self, scope: trio.CancelScope) -> None:
        await self.bots.is_done.wait()
        scope.cancel()

    def report(self) -> Report:
        (checkup,) = self.checking.conclude()
        return report_of("any", self.bots.requirements.rules, checkup)


@pytest.fixture
async def check() -> AsyncIterator[Check]:
    async with checking() as check:
        yield check


@asynccontextmanager
async def checking(dialect: Dialect = DROIDCON) -> AsyncIterator[Check]:
    port = Port(dialect, CheckOptions(slow=1.0, wait=60.0, own=dialect.options()))
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, port.serve, listeners)
        yield Check(nursery, listeners[0].socket.getsockname()[1], port)
        nursery.cancel_scope.cancel()


async def nothing(line: str) -> None:
    await trio.lowlevel.checkpoint()


def slow_at(*lines: str, seconds: float, times: int) -> Act:
    """Think for so many seconds at these lines, so many times."""
    left = [seconds] * times

    async def act(line: str) -> None:
        if line in lines and left:
            await trio.sleep(left.pop())

    return act


def wrong(report: Report) -> set[Topic]:
    return {fault.topic for fault in report.checkup.faults if fault.is_grave}


async def test_bot_that_closes_its_old_socket_when_it_has_a_new_one_passes(check, autojump_clock):
    """As with makefile() in Python, of which the last one has to be closed, too."""
    report = await check.keep_coming(nothing, 1.0, at_once=True)
    assert (report.checkup.mixed, report.is_good) == ("", True)


@pytest.mark.parametrize("line", ["YOUR_MOVE", "NEW_GAME"])
async def test_bot_that_is_too_slow_hears_which_patience_would_do(check, autojump_clock, line):
    report = await check.keep_coming(slow_at(line, seconds=7.2, times=1000))
    assert (wrong(report), report.is_good) == (set(), False)
    slow = "too slow: it took up to 7.2 s to go on, and --patience is 5; --patience 15 would do"
    assert f"  {slow}" in list(as_text(report))


@pytest.mark.parametrize("rest", [6.0, 19.0])
async def test_bot_that_hangs_up_late_hears_which_patience_would_do(check, autojump_clock, rest):
    report = await check.keep_coming(nothing, rest)
    assert (wrong(report), report.is_good) == (set(), False)
    assert f"it took up to {rest} s to go on" in report.checkup.slow


async def test_bot_that_was_slow_twice_is_good_and_hears_of_it(check, autojump_clock):
    report = await check.keep_coming(slow_at("YOUR_MOVE", seconds=7.2, times=2))
    assert report.is_good
    assert "  slow: it took up to 7.2 s to go on, " in "\n".join(as_text(report))


async def test_bot_that_does_not_move_even_then_is_wrong_and_hears_what_to_try(check, autojump_clock):
    report = await check.keep_coming(slow_at("YOUR_MOVE", seconds=1000.0, times=1000))
    assert wrong(report) == {Topic.OPENING}
    first, *_ = report.checkup.faults
    hint = "if it takes longer than that, try --patience 60"
    assert first.words in (f"no move came within 20 s; {hint}", "no move came within 5 s")


async def test_game_begins_behind_the_result_of_the_one_before(check, autojump_clock):
    """A bot that waits for ever in its third game; what was said until then is shown."""
    results = 0

    async def act(line: str) -> None:
        nonlocal results
        results += line in RESULTS
        if line == "YOUR_MOVE" and results == 1:
            await trio.sleep(1000.0)

    report = await check.keep_coming(act)
    lines = [line.split(maxsplit=2)[1:] for line in report.checkup.faults[0].exchange]
    begins = next(index for index, (way, text) in enumerate(lines) if text.startswith("game 2: "))
    assert [way for way, _ in lines[begins - 1 : begins + 2]] == ["<-", "--", "<-"]
    assert lines[begins - 1][1] in RESULTS
    assert lines[begins + 1][1] == "NEW_GAME"


@pytest.mark.parametrize(
    ("how", "words", "seen"),
    [
        ("ended with status 1", ["Traceback", "KeyError: 3"], "ended with status 1: KeyError: 3"),
        ("was ended by SIGSEGV", [], "was ended by SIGSEGV"),
    ],
)
async def test_bot_whose_process_fails_as_it_hangs_up_has_crashed(check, autojump_clock, how, words, seen):
    moves = 0

    async def act(line: str) -> None:
        nonlocal moves
        moves += line == "YOUR_MOVE"
        if line == "YOUR_MOVE" and moves % 3 == 0:
            raise EOFError

    for _ in range(2):
        await check.play_on(act, trio.Event())
        await trio.sleep(0.2)
        check.bots.failed("./bot", how, words)
    faults = check.report().checkup.faults
    assert {each.seen for each in faults} == {f"it crashed before the game was over: its process {seen}"}
    assert check.bots.is_done.is_set()


async def test_process_that_fails_later_has_nothing_to_do_with_it(check, autojump_clock):
    async def act(line: str) -> None:
        if line == "YOUR_MOVE":
            raise EOFError

    for _ in range(2):
        await check.play_on(act, trio.Event())
        await trio.sleep(5.0)
        check.bots.failed("./bot", "ended with status 1", ["KeyError"])
    assert {each.seen for each in check.report().checkup.faults} == {"it hung up before the game was over"}


def bots_of(expected: int) -> Bots:
    return Bots(CheckOptions(bots=expected, own=DroidconOptions()), DROIDCON.requirements())


async def test_check_waits_until_it_is_known_how_a_bot_ended_that_has_just_hung_up(autojump_clock):
    bots, began = bots_of(1), trio.current_time()
    await bots.wait_for_crash()
    assert trio.current_time() == began
    bots.hung_up(lambda _: None)
    await bots.wait_for_crash()
    assert trio.current_time() > began


async def test_process_is_not_blamed_for_one_of_several_bots_that_hang_up(autojump_clock):
    bots, crashes = bots_of(2), list[str]()
    bots.hung_up(crashes.append)
    bots.failed("./bot", "ended with status 1", [])
    for _ in range(2):
        bots.hung_up(crashes.append)
    bots.failed("./bot", "ended with status 1", [])
    assert crashes == ["'./bot' ended with status 1"]


# A connection that is cut.


def remarks(report: Report) -> list[str]:
    assert report.is_good
    return [fault.seen for fault in report.checkup.faults if fault.topic is Topic.BACK]


async def test_bot_that_comes_back_after_its_connection_was_cut_goes_on_with_its_game(check, autojump_clock):
    report = await check.keep_coming(nothing)
    assert (report.checkup.back_after, remarks(report)) == (0.0, [])
    assert Topic.BACK in report.checkup.rights


class AnyColumn:
    """A player that needs no time."""

    def __init__(self) -> None:
        self._lot = Random(1)

    async def choose(self, asked: Asked) -> int:
        return self._lot.choice([column for column in range(7) if asked.board.has_room(column)])


@pytest.mark.parametrize(
    "dialect",
    [each for each in DIALECTS if Topic.BACK in each.requirements().rules],
    ids=lambda each: each.name,
)
async def test_c4bot_comes_back_and_goes_on_with_its_game(dialect, autojump_clock):
    async with checking(dialect) as check:
        entry = Entry(Endpoint("127.0.0.1", check.port), "ann")
        server = Server("here", partial(dialect.open_dialogue, entry), "ann")
        bot = Bot(server, AnyColumn(), Totals(), Screen(shows_games=False))
        check.nursery.start_soon(partial(bot.run, reconnect=True))
        await check.bots.is_done.wait()
        assert remarks(check.report()) == []
        assert check.report().checkup.back_after is not None


@pytest.mark.parametrize("comes_as", [None, "somebody"])
async def test_bot_that_does_not_come_back_is_remarked(check, autojump_clock, comes_as):
    await check.play_until_cut(nothing)
    if comes_as is not None:
        await check.play_on(nothing, trio.Event(), name=comes_as)
    await check.bots.is_done.wait()
    report = check.report()
    assert remarks(report) == ["it did not come back within 60 s"]
    (row,) = [each for each in report.rows if each.rule.clause == "8.3"]
    assert row.verdict.value == "remark"


async def test_bot_whose_process_has_ended_is_not_waited_for(check, autojump_clock):
    await check.play_until_cut(nothing)
    cut = trio.current_time()
    check.bots.failed("./bot", "ended with status 1", ["KeyError"])
    await check.bots.process_ended()
    await check.bots.is_done.wait()
    assert trio.current_time() == cut
    assert remarks(check.report()) == ["it did not come back: its process ended with status 1: KeyError"]


async def test_bot_that_comes_back_and_does_not_play_is_remarked(check, autojump_clock):
    async def brood(line: str) -> None:
        if line == "YOUR_MOVE":
            await trio.sleep(1000.0)

    await check.play_until_cut(nothing)
    await check.play_on(brood, trio.Event())
    await check.bots.is_done.wait()
    (words,) = remarks(check.report())
    assert words.startswith("it came back after 0.0 s, but no move came within 20 s")


async def test_bot_that_comes_back_and_leaves_again_is_remarked(check, autojump_clock):
    async def leave(line: str) -> None:
        if line == "YOUR_MOVE":
            raise EOFError

    await check.play_until_cut(nothing)
    await check.play_on(leave, trio.Event())
    await check.bots.is_done.wait()
    words = "it came back after 0.0 s, but it hung up before the game was over"
    assert remarks(check.report()) == [words]
