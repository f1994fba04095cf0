"""What people see while a match goes on."""

import io
from collections.abc import Awaitable, Callable

import pytest
import trio

from adapters.match.screen import PERIOD, SELDOM, Screen


class Terminal(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


def tables_of(tables: list[list[str]]) -> Callable[[], Awaitable[list[str]]]:
    async def next_one() -> list[str]:
        return tables.pop(0)

    return next_one


async def shown(screen: Screen, seconds: float) -> None:
    with trio.move_on_after(seconds):
        await screen.run()


async def test_table_is_cleared_and_drawn_anew(autojump_clock: trio.testing.MockClock) -> None:
    out = Terminal()
    tables = [["one", "two"], ["three"]]
    await shown(Screen(tables_of(tables), str, out), 2.5 * PERIOD)
    first, second, rest = out.getvalue().split("\x1b[J")
    assert "one" in first
    assert first.endswith("\x1b[2F")
    assert "three" in second
    assert second.endswith("\x1b[1F")
    assert rest == ""


async def test_line_that_stays_is_above_the_table(autojump_clock: trio.testing.MockClock) -> None:
    out = Terminal()
    screen = Screen(tables_of([["table"]]), str, out)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(screen.run)
        await trio.sleep(1.5 * PERIOD)
        screen.tell("a: ended with status 1")
        nursery.cancel_scope.cancel()
    _, last, rest = out.getvalue().split("\x1b[J")
    line, table, end = last.split("\n")
    assert line.endswith("a: ended with status 1")
    assert "table" in table
    assert end == "\x1b[1F"
    assert rest == ""


async def test_table_that_is_longer_than_the_screen_is_shown_in_part(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: trio.testing.MockClock
) -> None:
    monkeypatch.setenv("LINES", "7")
    out = Terminal()
    await shown(Screen(tables_of([[f"row {each}" for each in range(20)]]), str, out), 1.5 * PERIOD)
    assert [word for word in ("row 2", "row 3", "...", "row 18", "row 19") if word in out.getvalue()] == [
        *("row 2", "...", "row 18", "row 19"),
    ]
    assert out.getvalue().endswith("\x1b[6F\x1b[J")


async def test_elsewhere_there_is_a_line_now_and_then(autojump_clock: trio.testing.MockClock) -> None:
    out = io.StringIO()
    await shown(Screen(tables_of([]), lambda: "4 of 8 games", out), 2.5 * SELDOM)
    assert out.getvalue() == "4 of 8 games\n" * 2
