"""One Chromium for all tests of a process, and a gateway for those of a module."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest
from browsing import ALL, Windows, chromium, program, wants_all
from views import addresses, busy
from worlds.server import EVERY_PORT, Served, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    if find_spec("playwright") is None or find_spec("axe_playwright_python") is None:
        pytest.skip("the extra is not installed: pip install '.[test,browser]'")
    path = program()
    if path is None:
        pytest.skip("there is no Chromium here: apt-get install chromium")
    with chromium(path) as running:
        yield running


@pytest.fixture(scope="module")
def gateway(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, browser: "Browser"
) -> Iterator[Served]:
    """A gateway with a page and an empty database, which has to end in good order.

    A module may have further options of it: `OPTIONS`. With `IS_BUSY` it has players, games and tournaments.
    """
    if getattr(request.module, "IS_BUSY", False):
        with busy(tmp_path_factory.mktemp("busy") / "games.db") as gateway:
            yield gateway
        return
    where = tmp_path_factory.mktemp("gateway") / "games.db"
    options = (*EVERY_PORT, "--web", "0", "--rounds", "1", "--db", str(where))
    with served(*options, *getattr(request.module, "OPTIONS", ()), addresses=4) as gateway:
        yield gateway
        status, err = gateway.stop()
        assert status == 0
        # A test may have killed the process that serves the web.
        assert [line for line in err.splitlines() if "ERROR" in line and "status -9" not in line] == []


@pytest.fixture(scope="module")
def games(gateway: Served) -> Mapping[str, str]:
    """The ids of games that the path of a view may name, on a busy gateway."""
    return addresses(gateway)


@pytest.fixture
def windows(browser: "Browser", gateway: Served) -> Iterator[Windows]:
    """Where pages are opened, which have to be without fault."""
    windows = Windows(browser, f"http://127.0.0.1:{gateway.port('page')}")
    yield windows
    windows.close()


@pytest.fixture(scope="session")
def long() -> None:
    """Skip a test that takes long, unless such tests are asked for."""
    if not wants_all():
        pytest.skip(f"takes long; {ALL}=all runs it")
