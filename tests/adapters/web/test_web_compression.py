"""Answers are compressed for clients that accept it, if they are whole and long enough."""

import pytest
from game_records import game
from starlette.datastructures import Headers
from web_world import HTML, Site, keep

from adapters.web.compression import LARGE, SHORTEST, accepts_gzip
from adapters.web.page.assets import assets

IDENTITY, GZIP = ({"accept-encoding": each} for each in ("identity", "gzip"))


@pytest.mark.parametrize(
    ("header", "is_accepted"),
    [
        ("gzip", True),
        ("br, GZIP ; q=0.5", True),
        ("*", True),
        ("gzip;q=0.001", True),
        ("", False),
        ("identity, br", False),
        ("gzip;q=0", False),
        ("gzip; q=0.000, *", False),
        ("*;q=0", False),
        ("notgzip", False),
    ],
)
def test_client_says_whether_it_accepts_gzip(header: str, is_accepted: bool) -> None:
    assert accepts_gzip(Headers({"accept-encoding": header})) is is_accepted


@pytest.mark.parametrize("path", ["/standings", "/api/games?limit=1000", "/api/openapi.json"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_whole_answer_is_compressed_for_clients_that_accept_it(
    site: Site, path: str, method: str
) -> None:
    keep(site.database, [game(f"player {number}", "zed") for number in range(200)])
    async with site.client() as client:
        packed = await client.request(method, path, headers=HTML | GZIP)
        plain = await client.request(method, path, headers=HTML | IDENTITY)
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
    assert int(packed.headers["content-length"]) * 2 < int(plain.headers["content-length"])
    assert packed.text == plain.text


async def test_large_answer_is_compressed_as_well(site: Site) -> None:
    keep(site.database, [game(f"player {number}", "zed") for number in range(400)])
    async with site.client() as client:
        packed = await client.get("/api/games?limit=1000", headers=GZIP)
    assert len(packed.content) > LARGE > int(packed.headers["content-length"])


@pytest.mark.parametrize("path", ["/api", "/api/export.jsonl", "/search?for=zed"])
async def test_short_answer_and_one_in_pieces_are_not_compressed(site: Site, path: str) -> None:
    keep(site.database, [game(f"player {number}", "zed") for number in range(20)])
    async with site.client() as client:
        answer = await client.get(path, headers=GZIP)
    assert "content-encoding" not in answer.headers
    assert len(answer.content) < SHORTEST or "content-length" not in answer.headers


async def test_static_file_is_sent_once_to_a_client_that_keeps_it(site: Site) -> None:
    style = assets().address("style.css")
    async with site.client() as client:
        plain = await client.get(style, headers=IDENTITY)
        packed = await client.get(style, headers=GZIP)
        again = await client.get(style, headers=GZIP | {"if-none-match": packed.headers["etag"]})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.text == plain.text
    assert int(packed.headers["content-length"]) < len(plain.content) / 3
    for each in (plain, packed, again):
        assert each.headers["vary"] == "Accept-Encoding"
        assert each.headers["etag"] == packed.headers["etag"]
        assert "immutable" in each.headers["cache-control"]
    assert again.status_code == 304
    assert again.content == b""
