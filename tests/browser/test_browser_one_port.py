"""The page on the bots' port: a browser finds it there, and plays, with TLS and without."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import certificates
import pytest
from browsing import Windows, expect
from shared_ports import on_one_port, stopped
from worlds.server import Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def one_port(tmp_path_factory: pytest.TempPathFactory, browser: "Browser") -> Iterator[Served]:
    files = certificates.make(tmp_path_factory.mktemp("certificate"))
    with on_one_port(tls=files) as gateway:
        yield gateway
        stopped(gateway)


@certificates.needs_openssl
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_person_plays_on_the_page_of_the_one_port(scheme: str, browser: "Browser", one_port: Served) -> None:
    windows = Windows(browser, f"{scheme}://127.0.0.1:{one_port.port('page')}")
    page = windows.open("/play")
    page.locator(".choose button[data-name=random]").click()
    for left in (6, 5):
        expect(page.locator("#turn")).to_have_text("Your move")
        page.get_by_role("button", name=re.compile(f"column 3, [1-{left}] free")).click()
    viewer = windows.open("/")
    expect(viewer.get_by_text("random").first).to_be_visible()
    windows.close()
