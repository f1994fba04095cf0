"""Chromium for tests: one for all of them, a profile of its own for each page, nothing that goes unnoticed.

Whatever a page says in its console, violates of the policy or asks of another host fails the test, unless the
test said that it expects it. Playwright is imported only where it is needed: tests are skipped without it.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # The certificates of the tests sign themselves. Told to ignore that for one page only, Chromium begins a
    # request anew after each connection that failed for it, and may give up: ERR_TOO_MANY_RETRIES.
    "--ignore-certificate-errors",
)
PATIENCE = 60_000
"""Milliseconds to wait for what a page should show. Only a failing test waits so long."""
ALL = "C4TEST_BROWSER"
"""The environment variable that asks for the long tests, too, when it is `all`."""

DARK = {"color_scheme": "dark"}
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
LAPTOPS = {
    "1366": {"viewport": {"width": 1366, "height": 768}},
    "1440": {"viewport": {"width": 1440, "height": 900}},
}
PROJECTOR = {"viewport": {"width": 1920, "height": 1080}}
STILL = {"reduced_motion": "reduce"}
LOOKS: dict[str, dict[str, Any]] = {"light": {}, "dark": DARK, "phone": PHONE}


def program() -> str | None:
    """Return where Chromium is installed, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


def wants_all() -> bool:
    """Return whether the long tests are asked for."""
    return os.environ.get(ALL) == "all"


@contextmanager
def chromium(path: str) -> Iterator["Browser"]:
    """Run Chromium, for as long as the block lasts."""
    from playwright.sync_api import expect, sync_playwright  # noqa: PLC0415  an extra

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*ARGUMENTS])
        yield browser
        browser.close()


def expect(place: Any) -> Any:
    """Return what waits until a place in a page, or a page, is as it says."""
    from playwright.sync_api import expect as waiting  # noqa: PLC0415

    return waiting(place)


class Windows:
    """The pages that a test opens."""

    def __init__(self, browser: "Browser", home: str) -> None:
        """`home` is the address of the server, without a slash at the end."""
        self.home = home
        self.complaints: list[str] = []
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self._expected: list[re.Pattern[str]] = []

    def open(self, path: str = "/", **look: Any) -> "Page":
        """Return a page of the server, in a profile that knows of no other, drawn in this look."""
        context = self._browser.new_context(base_url=self.home, **look)
        self._contexts.append(context)
        context.set_default_timeout(PATIENCE)
        context.on("console", self._said)
        context.on(
            "weberror",
            lambda error: self._complain(
                f"raised {error.error.stack or error.error} at {error.page and error.page.url}"
            ),
        )
        context.on("dialog", lambda dialog: self._complain(f"opened a dialog: {dialog.message}"))
        context.on("request", self._asked)
        page = context.new_page()
        page.goto(path)
        return page

    def expect(self, pattern: str) -> None:
        """Let pages say, or do, what matches."""
        self._expected.append(re.compile(pattern))

    def close(self) -> None:
        """Close all pages. Raises AssertionError for what they should not have done."""
        for context in self._contexts:
            context.close()
        assert not self.complaints, self.complaints

    def _said(self, message: "ConsoleMessage") -> None:
        if message.type in {"error", "warning"}:
            where = message.location
            self._complain(f"{message.text} ({where['url']}:{where['lineNumber']})")

    def _asked(self, request: "Request") -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in {"data", "blob", "about"} and f"{parts.scheme}://{parts.netloc}" != self.home:
            self._complain(f"asked {request.url}")

    def _complain(self, text: str) -> None:
        if not any(each.search(text) for each in self._expected):
            self.complaints.append(text)
