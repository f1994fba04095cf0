"""The bots that a check starts: their commands, what it says of those that do not come, and their end."""

import math
import os

import pytest
import trio

from adapters.check import runs
from adapters.check.runs import command, keep_running


class Desk:
    """Counts connections; with each look there may be one more."""

    def __init__(self, connections=0, more=0):
        self.count, self.more = connections, more
        self.has_given_up, self.failures = False, []

    def connections(self):
        self.count += self.more
        return self.count

    def give_up(self):
        self.has_given_up = True

    def failed(self, command, how, words):
        self.failures.append((command, how, words))


@pytest.mark.parametrize("text", ["", " ", "''", "python 'bot.py"])
def test_command_that_starts_nothing_is_a_wrong_option(text):
    with pytest.raises(ValueError):
        command(text)


async def test_bot_that_keeps_ending_is_given_up_and_shown_with_what_it_said_last(
    autojump_clock, capsys, monkeypatch
):
    monkeypatch.setattr(runs, "_NOTICE", math.inf)  # the clock runs ahead of a process
    said, desk = r"""sh -c 'printf "a\033[31mb\nlast words\n" >&2; exit 3'""", Desk()
    await keep_running(said, "127.0.0.1:9", desk)
    assert (desk.has_given_up, desk.failures) == (True, [])
    first, *rest = capsys.readouterr().err.splitlines()
    assert first.endswith("ended with status 3, without a connection:")
    assert rest == [r"a\x1b[31mb", "last words"]


@pytest.mark.parametrize(("status", "times"), [(3, 2), (0, 0)])
async def test_bot_that_fails_once_it_has_connected_is_told_with_its_words(
    status, times, autojump_clock, monkeypatch
):
    monkeypatch.setattr(runs, "_MOST", 2)
    monkeypatch.setattr(runs, "_NOTICE", math.inf)
    desk, bot = Desk(more=1), f"sh -c 'echo oops >&2; exit {status}'"
    await keep_running(bot, "127.0.0.1:9", desk)
    assert desk.failures == [(bot, "ended with status 3", ["oops"])] * times


@pytest.mark.parametrize(
    ("said", "told"),
    [(b"one\nwhere?\n", [":", "one", "where?"]), (b"", [", and has said nothing"])],
)
async def test_bot_that_goes_elsewhere_is_told_with_its_words(autojump_clock, capsys, tmp_path, said, told):
    log = tmp_path / "stderr"
    log.write_bytes(said)
    await runs._remind("'bot' has not connected", lambda: 0, log)
    assert capsys.readouterr().err.splitlines() == [f"'bot' has not connected after 10 s{told[0]}", *told[1:]]


async def test_bot_that_says_nothing_is_told_of_while_it_runs(autojump_clock, capsys):
    with trio.move_on_after(30):
        await keep_running("sleep 1000", "127.0.0.1:9", Desk())
    told = "'sleep 1000' has not connected to 127.0.0.1:9 after 10 s, and has said nothing\n"
    assert capsys.readouterr().err == told


async def test_bot_that_has_connected_is_not_told_of(autojump_clock, capsys):
    with trio.move_on_after(30):
        await keep_running("sleep 1000", "127.0.0.1:9", Desk(connections=1))
    assert capsys.readouterr().err == ""


async def test_bot_ends_with_all_that_it_has_started(tmp_path):
    """The pipe ends when nobody has it open any more."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    async with trio.open_nursery() as nursery:
        bot = f"sh -c 'sh -c \"echo on; sleep 1000; true\" > {fifo}; true'"
        nursery.start_soon(keep_running, bot, "127.0.0.1:9", Desk())
        async with await trio.open_file(fifo) as pipe:
            assert await pipe.readline() == "on\n"
            nursery.cancel_scope.cancel()
            with trio.fail_after(30, shield=True):
                assert await pipe.read() == ""
