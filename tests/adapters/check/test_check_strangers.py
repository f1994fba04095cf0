"""What is said of connections that are no bot's of the dialect."""

import pytest

from adapters.check.serving import hint, in_words
from adapters.dialects import DIALECTS

BY_NAME = {each.name: each for each in DIALECTS}
GET = b"GET / HTTP/1.1\r\nHost: x\r\n"
HELLO = b"\x16\x03\x01\x02\x00\x01"


def words(first: bytes, name: str, *, takes_tls: bool = False) -> str:
    dialect = BY_NAME[name]
    return in_words(first, dialect, [each for each in DIALECTS if each is not dialect], takes_tls=takes_tls)


@pytest.mark.parametrize(
    ("first", "name", "expected"),
    [
        (HELLO, "nac4", "began TLS, which this port does not take"),
        (HELLO, "droidcon", "began TLS, which this port does not take"),
        (GET, "arena", "'GET / HTTP/1.1', which is no valid request for a websocket"),
        (GET, "droidcon", "asked by HTTP; "),
        (GET + b"Upgrade: WebSocket\r\n\r\n", "droidcon", "asked by HTTP for a websocket; "),
        (b"NAME ann\nJOIN x\n", "nac4", "that is Droidcon: c4gateway check droidcon"),
        (b"\xff\x00\n", "arena", r"'ÿ\x00', which is no request for a websocket"),
    ],
)
def test_stranger_is_told_by_how_it_begins(first, name, expected):
    assert expected in words(first, name)


@pytest.mark.parametrize("first", [b"", b"NAME ann\n", b"hello\n", b"PUT 3\n", b"\n", b"\xff\xf4"])
def test_lines_are_no_stranger_s(first):
    assert words(first, "droidcon") == ""


def test_bot_that_fails_at_tls_is_not_told_that_there_is_none():
    assert "trust the certificate" in words(HELLO, "nac4", takes_tls=True)


@pytest.mark.parametrize(
    ("text", "name"), [('{"type": "start", "id": "ann"}', "arena"), ("connect ann", "nac4"), ("hello", "")]
)
def test_text_of_another_dialect_is_known(text, name):
    found = hint(text, DIALECTS)
    assert found.endswith(f"c4gateway check {name}") if name else found == ""
