"""By which addresses other machines reach this one."""

import socket
from ipaddress import ip_address

import pytest

from gateway.runtime.listening import in_table, own_addresses, reachable

OWN = ["192.168.178.20", "fd00::2", "10.0.0.7", "2001:db8::7"]


@pytest.mark.parametrize(
    ("address", "own", "found"),
    [
        ("0.0.0.0:8080", OWN, ["192.168.178.20:8080", "10.0.0.7:8080"]),
        ("[::]:8080", OWN, ["[fd00::2]:8080", "[2001:db8::7]:8080"]),
        ("0.0.0.0:8000/nac4", OWN[:1], ["192.168.178.20:8000/nac4"]),
        ("[::]:8000/nac4", OWN[:2], ["[fd00::2]:8000/nac4"]),
        ("0.0.0.0:8080", [], ["0.0.0.0:8080"]),
        ("0.0.0.0:8080", OWN[1:2], ["0.0.0.0:8080"]),
        ("[::]:8080", OWN[:1], ["[::]:8080"]),
        ("127.0.0.1:8080", OWN, ["127.0.0.1:8080"]),
        ("[::1]:8080", OWN, ["[::1]:8080"]),
        ("10.0.0.0:80", OWN, ["10.0.0.0:80"]),
        ("[fd00::]:80", OWN, ["[fd00::]:80"]),
    ],
)
def test_what_listens_at_all_addresses_is_reached_by_each(
    address: str, own: list[str], found: list[str]
) -> None:
    assert reachable(address, own) == found


def test_addresses_are_this_machine_s_and_of_use_for_others() -> None:
    for address in own_addresses():
        found = ip_address(address)
        assert not found.is_loopback
        assert not found.is_link_local
        family = socket.AF_INET if found.version == 4 else socket.AF_INET6
        with socket.socket(family) as sock:
            sock.bind((address, 0))


def test_of_ipv6_those_that_last_are_found() -> None:
    table = """\
00000000000000000000000000000001 01 80 10 80       lo
fe8000000000000000fc00fffe000001 04 40 20 80     eth0
fd000000000000000000000000000002 04 40 00 82     eth0
20010db8000000000000000000000007 04 40 00 80     eth1
20010db8000000000000000000000008 04 40 00 01     eth1
20010db8000000000000000000000009 04 40 00 20     eth1
20010db800000000000000000000000a 04 40 00 80  docker0
"""
    assert [*in_table(table)] == ["fd00::2", "2001:db8::7"]
