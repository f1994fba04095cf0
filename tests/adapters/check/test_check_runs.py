"""The bots that a check starts: their commands, what it says of those that do not come, and their end."""

import pytest
import trio

from adapters.check.bots import Bots
from adapters.check.options import CheckOptions, command
from adapters.check.runs import keep_running
from adapters.droidcon.check import REQUIREMENTS
from adapters.droidcon.options import DroidconOptions

ADDRESS = "127.0.0.1:9"


@pytest.fixture
def bots() -> Bots:
    return Bots(CheckOptions(own=DroidconOptions()), REQUIREMENTS)


@pytest.mark.parametrize("text", ["", " ", "''", "python 'bot.py"])
def test_command_that_starts_nothing_is_a_wrong_option(text):
    with pytest.raises(ValueError):
        command(text)


async def test_bot_that_keeps_ending_is_given_up_and_shown_with_what_it_said_last(bots, capsys):
    await keep_running(r"""sh -c 'printf "a\033[31mb\nlast words\n" >&2; exit 3'""", ADDRESS, bots)
    assert (bots.is_done.is_set(), bots.failures) == (True, {})
    first, *rest = capsys.readouterr().err.splitlines()
    assert first.endswith("ended with status 3, without a connection:")
    assert rest == [r"a\x1b[31mb", "last words"]


async def test_bot_that_fails_once_it_has_connected_is_told_with_its_words(bots, tmp_path):
    """The bot ends well at first, which is no failure."""
    bot = f"sh -c 'sleep 0.1; mkdir {tmp_path}/bot && exit; echo oops >&2; exit 3'"
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(keep_running, bot, ADDRESS, bots)
            while not bots.failures:
                bots.connections += 1
                await trio.sleep(0.01)
            nursery.cancel_scope.cancel()
    assert [*bots.failures] == [(f"{bot!r} ended with status 3", "oops")]


@pytest.mark.parametrize("connections", [0, 1])
async def test_bot_that_does_not_connect_is_told_of_while_it_runs(connections, bots, autojump_clock, capsys):
    bots.connections = connections
    with trio.move_on_after(30):
        await keep_running("sleep 1000", ADDRESS, bots)
    told = f"'sleep 1000' has not connected to {ADDRESS} after 10 s, and has said nothing\n"
    assert capsys.readouterr().err == ("" if connections else told)


@pytest.mark.parametrize("expected", [1, 2])
async def test_process_that_has_ended_is_not_started_again_while_a_bot_is_away(expected, autojump_clock):
    """Otherwise it would be taken for the bot that comes back."""
    bots = Bots(CheckOptions(bots=expected, own=DroidconOptions()), REQUIREMENTS)
    absence = trio.Event()
    bots.absences.add(absence)
    began = trio.current_time()
    async with trio.open_nursery() as nursery:

        async def end_absence() -> None:
            with trio.move_on_after(5.0):
                await absence.wait()
            bots.absences.discard(absence)
            absence.set()

        nursery.start_soon(end_absence)
        await bots.process_ended()
    assert trio.current_time() == began + (0.0 if expected == 1 else 5.0)
