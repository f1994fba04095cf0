"""What a client speaks, by its first bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.net.http import is_http

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


@pytest.mark.parametrize("data", REQUESTS)
def test_request_is_known_as_soon_as_its_method_is_over(data: bytes) -> None:
    found = [is_http(data[:size]) for size in range(len(data) + 1)]
    known = found.index(True)
    assert known <= 8
    assert found == [None] * known + [True] * (len(found) - known)


@pytest.mark.parametrize("data", LINES)
def test_line_is_known_as_soon_as_it_is_no_request(data: bytes) -> None:
    found = [is_http(data[:size]) for size in range(len(data) + 1)]
    known = found.index(False)
    assert known <= 5
    assert found == [None] * known + [False] * (len(found) - known)


def test_nothing_is_neither() -> None:
    assert is_http(b"") is None


@given(st.sampled_from([b"", b"PUT ", b"GET ", b"OPTIONS"]), st.binary(max_size=12))
def test_decision_comes_by_the_eighth_byte_and_is_never_taken_back(begin: bytes, data: bytes) -> None:
    found = [is_http((begin + data)[:size]) for size in range(len(begin + data) + 1)]
    decided = [each for each in found if each is not None]
    assert len(found) - len(decided) <= 8
    assert len({*decided}) <= 1
    assert found == [None] * (len(found) - len(decided)) + decided
