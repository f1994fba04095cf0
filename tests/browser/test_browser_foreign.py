"""Pages of other websites at the bots' ports: they play only where they are of the server's own host."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from shared_ports import stopped
from worlds.server import EVERY_PORT, Served, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

PLAY = """([url, hello]) => new Promise(resolve => {
    const socket = new WebSocket(url);
    socket.onopen = () => socket.send(hello);
    socket.onmessage = event => resolve(event.data);
    socket.onclose = () => resolve("refused");
})"""

HELLO = {"nac4": "connect evil", "arena": '{"type": "start", "id": "evil"}'}


class Website(BaseHTTPRequestHandler):
    """A page without anything on it."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def website() -> Iterator[int]:
    """The port of a website, on this machine, whatever it is called."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Website) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def said(browser: "Browser", page: str, script: str, *given: str) -> str:
    """Return what a script says that a page runs."""
    with browser.new_context() as context:
        opened = context.new_page()
        opened.goto(page)
        found: str = opened.evaluate(script, [*given])
        return found


@pytest.fixture(scope="module")
def ports() -> Iterator[Served]:
    """A gateway whose API all websites may read."""
    with served(*EVERY_PORT, "--web", "0", "--allow-origin", "*", addresses=4) as gateway:
        yield gateway
        stopped(gateway)


@pytest.mark.parametrize("page", ["http://evil.localhost:{}/", "file://{}"])
def test_page_of_another_website_plays_nowhere(
    browser: "Browser", website: int, ports: Served, page: str, tmp_path: Path
) -> None:
    file = tmp_path / "page.html"
    file.write_text("<p>saved")
    evil = page.format(file if page.startswith("file") else website)
    for kind, hello in HELLO.items():
        assert said(browser, evil, PLAY, ports.url(kind), hello) == "refused"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_page_of_the_same_machine_plays(browser: "Browser", website: int, ports: Served, host: str) -> None:
    page = f"http://{host}:{website}/"
    assert said(browser, page, PLAY, ports.url("nac4"), HELLO["nac4"]) == "connected hello evil\r\n"
    say = HELLO["arena"].replace('"evil"', '""')
    assert "You need to include an id" in said(browser, page, PLAY, ports.url("arena"), say)
