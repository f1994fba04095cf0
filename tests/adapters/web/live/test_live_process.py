"""Games as a browser sees them: a gateway with all its processes, players of two dialects, real sockets."""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import pytest
import websockets.sync.client
from live_world import Browser
from test_web_process import web
from worlds.server import PATIENCE, Served, served

from conformance.lab.meters import has_proc

pytestmark = pytest.mark.skipif(not has_proc(), reason="no /proc here")
COLUMNS = "0101010"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A gateway where a series is one game. At the end it complains of nothing but what was done to it."""
    place = str(tmp_path_factory.mktemp("live") / "games.db")
    options = ("--tcp", "0", "--nac4", "0", "--web", "0", "--db", place, "--rounds", "1")
    with served(*options, addresses=3) as gateway:
        yield gateway
        status, err = gateway.stop()
        ours = [line for line in err.splitlines() if "ERROR" in line and "with status -9" not in line]
        assert (status, ours) == (0, [])


@contextmanager
def watching(gateway: Served, browser: Browser, query: str = "") -> Iterator[Callable[[str], None]]:
    """Watch, and give a function that reads until an event of a kind comes."""
    address = ("127.0.0.1", gateway.port("page"))
    with socket.create_connection(address, PATIENCE) as sock, sock.makefile("rb") as lines:
        last = f"Last-Event-ID: {browser.last}\r\n" if browser.last else ""
        sock.sendall(f"GET /api/live/events{query} HTTP/1.1\r\nHost: x\r\n{last}\r\n".encode())
        assert b" 200 " in lines.readline()
        while lines.readline().strip():
            pass

        def read_to(kind: str) -> None:
            begun = len(browser.kinds)
            while kind not in browser.kinds[begun:]:
                size = int(lines.readline(), 16)
                assert size, "the stream has ended"
                browser.read(lines.read(size))
                lines.readline()

        yield read_to


@contextmanager
def seated(gateway: Served) -> Iterator[Callable[[str], None]]:
    """Seat two players of two dialects at a table, and give a function that has them play columns."""
    with (
        socket.create_connection(("127.0.0.1", gateway.port("droidcon")), PATIENCE) as ann,
        websockets.sync.client.connect(gateway.url("nac4", "/?table=x")) as bob,
        ann.makefile("r") as lines,
    ):

        def await_turn(side: int) -> None:
            while side and not str(bob.recv(PATIENCE)).startswith("genmove"):
                pass
            while not side and lines.readline() not in ("YOUR_MOVE\n", ""):
                pass

        def play(columns: str) -> None:
            nonlocal number
            for column in columns:
                await_turn(number % 2)
                if number % 2:
                    bob.send(f"playmove {column}\r\n")
                else:
                    ann.sendall(f"PUT {column}\n".encode())
                number += 1

        number = 0
        ann.sendall(b"NAME ann\nJOIN x\n")
        assert [lines.readline() for _ in range(2)] == ["SUCCESS\n"] * 2
        bob.send("connect bob\r\n")
        yield play


def test_game_across_dialects_is_seen_from_its_start_to_its_end(running: Served) -> None:
    browser, own = Browser(), Browser()
    with (
        watching(running, browser) as read_to,
        watching(running, own, "?player=bob&table=x") as own_read_to,
    ):
        read_to("snapshot")
        own_read_to("snapshot")
        assert (browser.games, browser.counts["playing"]) == ({}, 0)
        with seated(running) as play:
            play(COLUMNS)
            read_to("ended")
            own_read_to("ended")
        [game] = browser.games.values()
        assert [game] == [*own.games.values()]
        players = [{"name": "ann", "kind": "droidcon"}, {"name": "bob", "kind": "nac4"}]
        assert (game["players"], game["table"], game["moves"]) == (players, "x", COLUMNS)
        assert (game["winner"], game["reason"]) == (0, "four")
        assert [kind for kind in browser.kinds if kind != "counts"] == [
            *("snapshot", "started"),
            *["moved"] * len(COLUMNS),
            "ended",
        ]


def latest(browser: Browser) -> object:
    """Return the moves of the game that began last."""
    return browser.games[max(browser.games)]["moves"] if browser.games else None


def test_player_has_a_page_from_when_it_waits(running: Served) -> None:
    address = f"http://127.0.0.1:{running.port('page')}/player/waiter"
    assert httpx.get(address, timeout=PATIENCE).status_code == 404
    browser = Browser()
    with (
        watching(running, browser) as read_to,
        socket.create_connection(("127.0.0.1", running.port("droidcon")), PATIENCE) as waiter,
    ):
        read_to("snapshot")
        waiter.sendall(b"NAME waiter\nJOIN x\n")
        while all(each["name"] != "waiter" for each in browser.counts["lobby"]):
            read_to("counts")
        page = httpx.get(address, timeout=PATIENCE)
    assert page.status_code == 200
    assert "It has waited at table" in page.text


def test_viewer_comes_again_when_the_process_that_serves_the_web_has_died(running: Served) -> None:
    browser = Browser()
    with seated(running) as play:
        with watching(running, browser) as read_to:
            read_to("snapshot")
            play(COLUMNS[:3])
            while latest(browser) != COLUMNS[:3]:
                read_to("moved")
            os.kill(web(running), signal.SIGKILL)
            with pytest.raises((AssertionError, ValueError, ConnectionResetError)):
                read_to("never")
        play(COLUMNS[3:5])
        with watching(running, browser) as read_to:
            read_to("snapshot")
            while latest(browser) != COLUMNS[:5]:
                read_to("moved")
            play(COLUMNS[5:])
            read_to("ended")
        assert latest(browser) == COLUMNS
