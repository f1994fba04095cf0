"""Hosts that clients name."""

import pytest

from adapters.hosts import host_in, is_domain, port_in


@pytest.mark.parametrize(
    ("header", "host"),
    [
        ("localhost", "localhost"),
        ("c4.example:8000", "c4.example"),
        ("192.0.2.7:1", "192.0.2.7"),
        ("[::1]:8000", "[::1]"),
    ],
)
def test_host_is_what_stands_before_the_port(header: str, host: str) -> None:
    assert host_in(header) == host


@pytest.mark.parametrize(
    "header", ["", "a b", "x/y", "u@x", "x:y", "x:", "[x]", "x\n", "\xe4", "<x>", "x" * 254]
)
def test_what_is_not_a_host_is_none(header: str) -> None:
    assert host_in(header) is None


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


@pytest.mark.parametrize(
    ("header", "port"),
    [
        ("c4.example:8000", 8000),
        ("[::1]:80", 80),
        ("c4.example", None),
        ("[::1]", None),
        ("a b:80", None),
        ("", None),
    ],
)
def test_port_is_what_stands_behind_the_host(header: str, port: int | None) -> None:
    assert port_in(header) == port
