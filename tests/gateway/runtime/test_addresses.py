"""Addresses, as clients are known by them."""

import pytest

from gateway.runtime.addresses import is_loopback, origin_at


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("", ""),
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::/64"),
    ],
)
def test_clients_of_one_network_have_one_origin(host: str, origin: str) -> None:
    assert origin_at(host) == origin


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "localhost", "LocalHost"]
)
def test_host_that_only_its_own_machine_reaches_is_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "fe80::1%eth0", "localhost.example", ""])
def test_host_that_others_reach_is_not(host: str) -> None:
    assert not is_loopback(host)
