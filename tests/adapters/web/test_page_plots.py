"""The library of large plots: made once, by a process of its own, and absent without its package."""

import gzip
import sys
from pathlib import Path

import pytest
import trio.testing
from game_records import game
from starlette.exceptions import HTTPException
from starlette.requests import Request
from web_world import Site, keep

from adapters.web.page import assets
from adapters.web.page.assets import Library


def request(version: str, encoding: bytes = b"") -> Request:
    headers = [(b"accept-encoding", encoding)]
    return Request({"type": "http", "headers": headers, "path_params": {"version": version}})


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "version", lambda name: "1.2.3")


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> str:
        raise assets.PackageNotFoundError(name)

    monkeypatch.setattr(assets, "version", refuse)


@pytest.mark.usefixtures("installed")
async def test_library_is_made_once_and_kept_for_good(tmp_path: Path) -> None:
    made = tmp_path / "made"
    program = (
        f"open({str(made)!r}, 'a').write('x'); import gzip, sys;"
        "sys.stdout.buffer.write(gzip.compress(b'export default 1'))"
    )
    library = Library([sys.executable, "-c", program])
    assert library.address == "/plots/1.2.3.js"
    plain, again, packed = [await library.serve(request("1.2.3", each)) for each in (b"", b"", b"gzip")]
    assert plain.body is again.body
    assert plain.body == gzip.decompress(packed.body) == b"export default 1"
    assert packed.headers["content-encoding"] == "gzip"
    assert "immutable" in plain.headers["cache-control"]
    assert made.read_text() == "x"


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("program", ["raise SystemExit(1)", "pass"])
async def test_library_that_cannot_be_made_is_tried_once_and_not_served(tmp_path: Path, program: str) -> None:
    made = tmp_path / "made"
    library = Library([sys.executable, "-c", f"open({str(made)!r}, 'a').write('x'); {program}"])
    for _ in range(2):
        with pytest.raises(HTTPException) as caught:
            await library.serve(request("1.2.3"))
        assert caught.value.status_code == 503
    assert made.read_text() == "x"


@pytest.mark.usefixtures("installed")
async def test_library_whose_process_was_killed_is_made_later(
    tmp_path: Path, mock_clock: trio.testing.MockClock
) -> None:
    made = tmp_path / "made"
    program = (
        f"import gzip, os, pathlib, sys; made = pathlib.Path({str(made)!r}); first = not made.exists();"
        "made.touch(); first and os.kill(os.getpid(), 9); sys.stdout.buffer.write(gzip.compress(b'x'))"
    )
    library = Library([sys.executable, "-c", program])
    for _ in range(2):  # the second time too soon
        with pytest.raises(HTTPException):
            await library.serve(request("1.2.3"))
    mock_clock.jump(1000)
    assert (await library.serve(request("1.2.3"))).body == b"x"


@pytest.mark.usefixtures("missing")
async def test_without_the_package_the_page_says_how_to_get_more(tmp_path: Path) -> None:
    site = Site(tmp_path)
    keep(site.database, [game()])
    async with site.client() as client:
        page = (await client.get("/standings", headers={"accept": "text/html"})).text
        assert (await client.get("/plots/1.2.3.js")).status_code == 404
    site.database.close()
    assert "pip install '.[plots]'" in page
    assert "plots.js" not in page


@pytest.mark.usefixtures("installed")
async def test_with_the_package_the_page_loads_it(tmp_path: Path) -> None:
    site = Site(tmp_path)
    keep(site.database, [game()])
    async with site.client() as client:
        page = (await client.get("/standings?table=&least=1", headers={"accept": "text/html"})).text
    site.database.close()
    assert 'data-library="/plots/1.2.3.js"' in page
    assert "pip install" not in page
