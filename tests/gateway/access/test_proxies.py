"""Where a client is, when it comes by way of a proxy."""

import socket
import struct
from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.access.proxies import LONGEST, Proxied, client_behind, header_in, is_trusted

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"


def version_2(command: int, family: int, body: bytes) -> bytes:
    return SIGNATURE + struct.pack("!BBH", command, family, len(body)) + body


IPV4 = version_2(
    0x21, 0x11, socket.inet_aton("203.0.113.7") + socket.inet_aton("192.0.2.1") + b"\x30\x39\x01\xbb"
)
IPV6 = version_2(
    0x21,
    0x21,
    socket.inet_pton(socket.AF_INET6, "2001:db8::7")
    + socket.inet_pton(socket.AF_INET6, "2001:db8::1")
    + b"\x30\x39\x01\xbb"
    + b"\x04\0\x01x",  # a field of another kind
)
HEADERS = [
    (b"PROXY TCP4 203.0.113.7 192.0.2.1 12345 443\r\n", "203.0.113.7"),
    (b"PROXY TCP6 2001:db8::7 2001:db8::1 12345 443\r\n", "2001:db8::7"),
    (b"PROXY TCP6 ::ffff:203.0.113.7 ::1 12345 443\r\n", "203.0.113.7"),
    (b"PROXY TCP6 fe80::7%\xff\xfe ::1 12345 443\r\n", "fe80::7"),
    (b"PROXY UNKNOWN\r\n", None),
    (b"PROXY UNKNOWN 203.0.113.7 and more\r\n", None),
    (IPV4, "203.0.113.7"),
    (IPV6, "2001:db8::7"),
    (version_2(0x20, 0x00, b""), None),
    (version_2(0x20, 0x11, IPV4[16:]), None),
    (version_2(0x21, 0x31, b"x" * 216), None),
]


@pytest.mark.parametrize(("header", "address"), HEADERS)
@pytest.mark.parametrize("rest", [b"", b"NAME ann\n", b"PROXY TCP4 6.6.6.6 1.1.1.1 1 1\r\n"])
def test_header_says_where_the_client_is_and_what_follows_is_the_client_s(
    header: bytes, address: str | None, rest: bytes
) -> None:
    assert header_in(header + rest) == Proxied(address, rest)
    assert [header_in(header[:size]) for size in range(len(header))] == [None] * len(header)


@pytest.mark.parametrize(
    "data",
    [
        b"NAME ann\n",
        b"GET / HTTP/1.1\r\n",
        b"\x16\x03\x01",
        b"\r\n\r\nX",
        b"PROXY TCP4 203.0.113.7\r\n",
        b"PROXY TCP4 2001:db8::7 2001:db8::1 1 2\r\n",
        b"PROXY TCP4 somewhere 192.0.2.1 1 2\r\n",
        b"PROXY TCP4 203.0.113.7  192.0.2.1 1 2\r\n",
        b"PROXY TCP4 \xff\xfe 192.0.2.1 1 2\r\n",
        b"PROXY " + b"x" * 200,
        version_2(0x11, 0x11, IPV4[16:]),
        version_2(0x22, 0x11, IPV4[16:]),
        version_2(0x21, 0x11, b"short"),
        version_2(0x21, 0x21, IPV4[16:]),
        version_2(0x21, 0x11, IPV4[16:] + b"x" * LONGEST),
    ],
)
def test_what_is_no_header_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        header_in(data)


@given(st.sampled_from([b"", b"PROXY ", b"PROXY TCP4 ", SIGNATURE]), st.binary(max_size=300))
def test_garbage_raises_only_value_error(begin: bytes, data: bytes) -> None:
    try:
        found = header_in(begin + data)
    except ValueError:
        return
    assert found is None or found.rest in data + begin


NETWORKS = (ip_network("10.0.0.0/8"), ip_network("2001:db8:a::/48"))


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("10.0.0.1", "203.0.113.7", "203.0.113.7"),
        ("10.0.0.1", "6.6.6.6, 203.0.113.7", "203.0.113.7"),
        ("10.0.0.1", "6.6.6.6,203.0.113.7 , 10.9.9.9", "203.0.113.7"),
        ("2001:db8:a::1", "2001:db8:b::7", "2001:db8:b::7"),
        ("10.0.0.1", "203.0.113.7:4711", "203.0.113.7"),
        ("10.0.0.1", "[2001:db8:b::7]:4711", "2001:db8:b::7"),
        ("::ffff:10.0.0.1", "203.0.113.7", "203.0.113.7"),
        ("10.0.0.1", "10.0.0.2, 10.0.0.3", "10.0.0.2"),
        ("10.0.0.1", "203.0.113.7, unknown", "10.0.0.1"),
        ("10.0.0.1", "203.0.113.7, <b>, 10.0.0.2", "10.0.0.2"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("192.0.2.1", "203.0.113.7", "192.0.2.1"),
        ("", "203.0.113.7", ""),
        ("10.0.0.1", "203.0.113.7" + ", 10.0.0.2" * 5000, "10.0.0.2"),  # of many hops the last
    ],
)
def test_client_is_at_the_rightmost_hop_that_is_not_trusted(peer: str, forwarded: str, client: str) -> None:
    assert client_behind(peer, forwarded, NETWORKS) == client
    assert client_behind(peer, forwarded, ()) == peer
    assert not is_trusted(peer, ())


@given(st.text(max_size=100))
def test_any_text_for_a_header_gives_an_address(forwarded: str) -> None:
    found = client_behind("10.0.0.1", forwarded, NETWORKS)
    assert ip_network(found).num_addresses == 1
