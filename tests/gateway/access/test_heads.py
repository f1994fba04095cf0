"""What the head of a request says, and how it begins."""

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.access.heads import (
    LONGEST_HEAD,
    has_two_lengths,
    host_in,
    is_domain,
    is_http,
    may_play,
    port_in,
    read_request,
)


@pytest.mark.parametrize(
    ("header", "host", "port"),
    [
        ("localhost", "localhost", None),
        ("c4.example:8000", "c4.example", 8000),
        ("192.0.2.7:1", "192.0.2.7", 1),
        ("[::1]:8000", "[::1]", 8000),
        ("[::1]", "[::1]", None),
        *((header, None, None) for header in ("", "a b", "a b:80", "x/y", "u@x", "x:y", "x:", "[x]", "x\n")),
        *((header, None, None) for header in ("\xe4", "<x>", "x" * 254)),
    ],
)
def test_host_is_what_stands_before_the_port(header: str, host: str | None, port: int | None) -> None:
    assert (host_in(header), port_in(header)) == (host, port)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", False),
        ("c4.localhost", False),
        ("box", False),
        ("box.", False),
        ("127.0.0.1", False),
        ("[::1]", False),
        ("c4.example", True),
        ("c4.example.", True),
        ("127.0.0.1.c4.example", True),
        ("localhost.c4.example", True),
    ],
)
def test_domain_is_a_name_that_somebody_else_gives(host: str, expected: bool) -> None:
    assert is_domain(host) == expected


ALLOWED = ("https://c4.example", "*")


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://bots.example", "bots.example:8080"),
        ("https://bots.example:444", "bots.example"),
        ("http://BOTS.example.", "bots.Example"),
        ("http://bots.example:8080/", "bots.example:8080"),  # as some libraries write it
        ("http://box", "box:1"),
        ("http://192.0.2.7:3000", "192.0.2.7:8080"),
        ("http://[2001:db8::1]", "[2001:DB8:0::1]:8080"),
        ("http://localhost:3000", "127.0.0.1:8080"),
        ("http://127.0.0.1:3000", "localhost"),
        ("http://[::1]", "127.8.9.10:1"),
        ("http://localhost.", "[::1]:8080"),
        ("http://[::ffff:7f00:1]", "LOCALHOST"),
        ("https://c4.example", "192.0.2.7"),
        ("HTTPS://C4.example", "192.0.2.7"),
    ],
)
def test_page_of_the_same_host_may_play_and_one_that_is_allowed_by_name(origin: str, host: str) -> None:
    assert may_play(origin, [host], ALLOWED)
    assert may_play(origin, ["192.0.2.9:1", host], ALLOWED)  # any of the names by which a request came


@pytest.mark.parametrize(
    "origin",
    [
        *("null", "*", "file://", "http://", "http://.", "http:// localhost", "localhost", "//localhost", ""),
        *("http://evil.example", "http://evil.localhost", "http://localhost.evil.example"),
        *("http://127.0.0.1.evil.example", "http://localhost@evil.example", "http://evil.example/localhost"),
        *("http://evil.example:80:localhost", "http://a+b.example", "http://0.0.0.0", "http://10.0.0.1"),
        *("http://c4.example", "https://c4.example:444", "https://c4.example.evil"),
        *("http://localhost,http://evil.example", "http://localhost, http://localhost", "http://[::2]"),
    ],
)
@pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1", "[::1]"])
def test_page_of_another_website_may_not(origin: str, host: str) -> None:
    assert not may_play(origin, [host], ALLOWED)


@pytest.mark.parametrize("host", ["", "a b", "evil.example@x"])
def test_where_the_request_names_no_host_none_but_allowed_pages_may_play(host: str) -> None:
    assert [may_play(each, [host], ALLOWED) for each in ("http://.", "http://x", "https://c4.example")] == [
        *(False, False, True)
    ]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([b"content-length"], False),
        ([b"transfer-encoding"], False),
        ([b"host", b"transfer-encoding", b"content-length"], True),
    ],
)
def test_body_has_one_length(names: list[bytes], expected: bool) -> None:
    assert has_two_lengths((name, b"1") for name in names) == expected


async def read(data: bytes) -> tuple[h11.Connection, h11.Request | None]:
    """Return the request that `data` is, if it comes all at once."""
    http = h11.Connection(h11.SERVER, LONGEST_HEAD)

    async def receive() -> bytes:
        return data

    return http, await read_request(http, receive)


@pytest.mark.parametrize(
    "head", [b"GET /%b HTTP/1.1\r\nHost: x\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nX: %b\r\n\r\n"]
)
async def test_head_has_a_length_also_if_it_comes_all_at_once(head: bytes) -> None:
    _, request = await read(head % (b"a" * (LONGEST_HEAD - 100)))
    assert request is not None
    with pytest.raises(h11.RemoteProtocolError) as refusal:
        await read(head % (b"a" * LONGEST_HEAD))
    assert refusal.value.error_status_hint == 431


async def test_chunk_ends_where_it_says() -> None:
    """With another end a proxy may see a second request in what is the rest of the first one's body here."""
    chunked = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    http, _ = await read(chunked + b"2\r\nabXX0\r\n\r\n")
    http.next_event()
    with pytest.raises(h11.RemoteProtocolError):
        http.next_event()


# How a request begins.

REQUESTS = [
    f"{method} /x HTTP/1.1\r\n".encode()
    for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT")
]
LINES = [
    b"NAME ann\n",
    b"JOIN /lobby\n",
    b"PUT 3\n",
    b"PUT +3\n",
    b"put /3\n",
    b"get / HTTP/1.1\n",
    b"\n",
    b" GET / HTTP/1.1\n",
    b"\xff\xfd\x01NAME ann\r\n",
    b"GETS / \n",
    b"\x16\x03\x01",
]


@pytest.mark.parametrize(
    ("data", "is_request", "limit"),
    [*((each, True, 8) for each in REQUESTS), *((each, False, 5) for each in LINES)],
)
def test_request_is_known_when_its_method_is_over_and_a_line_as_soon_as_it_is_none(
    data: bytes, is_request: bool, limit: int
) -> None:
    found = [is_http(data[:size]) for size in range(len(data) + 1)]
    known = found.index(is_request)
    assert 0 < known <= limit
    assert found == [None] * known + [is_request] * (len(found) - known)


@given(st.sampled_from([b"", b"PUT ", b"GET ", b"OPTIONS"]), st.binary(max_size=12))
def test_decision_comes_by_the_eighth_byte_and_is_never_taken_back(begin: bytes, data: bytes) -> None:
    found = [is_http((begin + data)[:size]) for size in range(len(begin + data) + 1)]
    decided = [each for each in found if each is not None]
    assert len(found) - len(decided) <= 8
    assert len({*decided}) <= 1
    assert found == [None] * (len(found) - len(decided)) + decided
