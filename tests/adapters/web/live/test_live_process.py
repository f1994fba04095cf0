"""Games as a browser sees them: a gateway with all its processes, players of two dialects, real sockets."""

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from live_world import Browser
from scripted_clients import DroidconClient, Nac4Client, connected
from test_web_process import web
from worlds.server import PATIENCE, Served, served

from conformance.lab.meters import has_proc

pytestmark = pytest.mark.skipif(not has_proc(), reason="no /proc here")


@contextmanager
def watching(gateway: Served, browser: Browser, query: str = "") -> Iterator[Callable[..., None]]:
    """Watch, and give a function that reads until an event of a kind comes, or until any event comes.

    It fails if the event does not come in time, although comments do.
    """
    address = ("127.0.0.1", gateway.port("page"))
    with socket.create_connection(address, PATIENCE) as sock, sock.makefile("rb") as lines:
        last = f"Last-Event-ID: {browser.last}\r\n" if browser.last else ""
        sock.sendall(f"GET /api/live/events{query} HTTP/1.1\r\nHost: x\r\n{last}\r\n".encode())
        assert b" 200 " in lines.readline()
        while lines.readline().strip():
            pass

        def read_to(kind: str | None = None) -> None:
            begun, deadline = len(browser.kinds), time.monotonic() + PATIENCE
            while not any(kind in (None, each) for each in browser.kinds[begun:]):
                assert time.monotonic() < deadline
                size = int(lines.readline(), 16)
                assert size, "the stream has ended"
                browser.read(lines.read(size))
                lines.readline()

        yield read_to


def moves(browser: Browser) -> object:
    """Return the moves of the only game."""
    return [each["moves"] for each in browser.games.values()]


def test_game_across_dialects_is_seen_from_its_start_to_its_end_though_the_web_s_process_dies(
    tmp_path: Path,
) -> None:
    options = ("--tcp", "0", "--nac4", "0", "--web", "0", "--db", str(tmp_path / "games.db"))
    browser, own = Browser(), Browser()
    with served(*options, "--rounds", "1", addresses=3) as gateway:
        players = DroidconClient(gateway, "ann", "x"), Nac4Client(gateway, "bob", "x")
        with watching(gateway, browser) as read_to:
            read_to("snapshot")
            assert (browser.games, browser.counts["playing"]) == ({}, 0)
            with connected(*players):
                for number in range(3):
                    players[number % 2].play(number % 2)
                while moves(browser) != ["010"]:
                    read_to()
                os.kill(web(gateway), signal.SIGKILL)
                with pytest.raises((AssertionError, ValueError, ConnectionResetError)):
                    read_to("never")
                players[1].play(1)
                with (
                    watching(gateway, browser) as read_on,
                    watching(gateway, own, "?player=bob&table=x") as read_own,
                ):
                    read_on("snapshot")
                    for number in range(4, 7):
                        players[number % 2].play(number % 2)
                    # A viewer that is served late has the end in its snapshot.
                    for viewer, read in ((browser, read_on), (own, read_own)):
                        while [each["reason"] for each in viewer.games.values()] != ["four"]:
                            read()
        status, err = gateway.stop()
    errors = [line for line in err.splitlines() if "ERROR" in line and "status -9" not in line]
    assert (status, errors) == (0, [])
    [game] = browser.games.values()
    assert moves(own) == ["0101010"]
    assert game["players"] == [{"name": "ann", "kind": "droidcon"}, {"name": "bob", "kind": "nac4"}]
    assert (game["table"], game["moves"], game["winner"], game["reason"]) == ("x", "0101010", 0, "four")
