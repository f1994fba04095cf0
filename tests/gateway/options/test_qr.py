"""The page's address as a code on the terminal."""

import sys
from itertools import chain

import pytest
from test_options import parse

from gateway.server import qr

LINES = """\
page      http://127.0.0.1:8000      games live, standings, play
page      http://192.168.178.20:8000 games live, standings, play
nac4      ws://192.168.178.20:8080   send: connect alice
results   /page      http://10.0.0.1:1
"""
ROWS = {"\N{FULL BLOCK}": (0, 0), " ": (1, 1), "\N{UPPER HALF BLOCK}": (0, 1), "\N{LOWER HALF BLOCK}": (1, 0)}


def modules(drawn: str) -> list[list[int]]:
    """Return what a camera sees, without the border: 1 for dark."""
    lines = [line.removeprefix("\x1b[40;97m").removesuffix("\x1b[0m") for line in drawn.splitlines()]
    halves = [[[ROWS[sign][half] for sign in line] for half in (0, 1)] for line in lines]
    rows = [*chain.from_iterable(halves)]
    size = len(rows[0])
    assert {*chain.from_iterable(rows[:2])} == {0}  # the border is light
    return [row[2:-2] for row in rows[2 : size - 2]]


def test_code_is_that_of_the_first_address_that_others_reach() -> None:
    segno = pytest.importorskip("segno")
    *code, last = qr.below(LINES).splitlines(keepends=True)
    assert last == "qr        http://192.168.178.20:8000\n"
    wanted = segno.make_qr("http://192.168.178.20:8000").matrix
    assert modules("".join(code)) == [[*row] for row in wanted]


@pytest.mark.parametrize("url", ["https://[fd00::2]:8000", "http://10.0.0.1:8000"])
def test_page_by_tls_or_ipv6_has_a_code_too(url: str) -> None:
    pytest.importorskip("segno")
    assert qr.below(f"page      {url} games live\n").endswith(f"\nqr        {url}\n")


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("nac4      ws://10.0.0.1:8080 send: connect alice\n", "there is no page"),
        ("page      http://127.0.0.1:8000 games\n", "other machines do not reach the page; --host 0.0.0.0"),
        ("page      http://[::1]:8000 games\n", "other machines do not reach the page; --host 0.0.0.0"),
        ("page      http://0.0.0.0:8000 games\n", "other machines do not reach the page"),
    ],
)
def test_where_there_is_no_code_a_line_says_why(lines: str, why: str) -> None:
    below = qr.below(lines)
    assert below.startswith(f"qr        no code: {why}")
    assert below.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "is_terminal", "is_shown"),
    [
        ([], True, False),
        (["--qr"], True, True),
        (["--qr"], False, False),
        (["--qr", "--log-json"], True, False),
    ],
)
def test_code_is_for_people_at_a_terminal(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], is_terminal: bool, is_shown: bool
) -> None:
    pytest.importorskip("segno")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    assert qr.is_shown(parse(arguments)) == is_shown
