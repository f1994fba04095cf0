"""Who is let in: how many, how many of one address, and how fast."""

import pytest

from adapters.dialects import DIALECTS
from gateway.access.limits import (
    REMEMBERED,
    AddressLimits,
    ConnectionCounts,
    Refusal,
    is_local,
    limited_connections,
)
from gateway.options import server
from gateway.options.names import CONNECTS, PER_ADDRESS
from gateway.options.server import ServerOptions

THERE, OTHER, HERE = "192.0.2.1", "192.0.2.2", "127.0.0.1"


def parse(*arguments: str) -> ServerOptions:
    return server.parse(arguments, DIALECTS)


def test_all_addresses_together_and_each_have_so_many_connections_and_one_that_leaves_makes_room() -> None:
    connections = ConnectionCounts(2)
    assert [connections.enter(origin, 0.0) for origin in (THERE, OTHER, THERE)] == [0, 0, Refusal.CONNECTIONS]
    connections.leave(OTHER)
    assert [connections.enter(origin, 0.0) for origin in (THERE, OTHER)] == [0, Refusal.CONNECTIONS]
    connections = ConnectionCounts(others=AddressLimits(connections=1))
    assert [connections.enter(origin, 0.0) for origin in (THERE, OTHER, THERE)] == [0, 0, Refusal.ADDRESS]
    connections.leave(THERE)
    assert [connections.enter(origin, 0.0) for origin in (THERE, OTHER)] == [0, Refusal.ADDRESS]


def test_connection_that_turns_out_to_come_from_elsewhere_counts_there_and_not_twice() -> None:
    connections = ConnectionCounts(3, AddressLimits(connections=1))
    assert [connections.enter("", 0.0) for _ in range(3)] == [0, 0, 0]
    assert [connections.move("", THERE, 0.0), connections.move("", OTHER, 0.0)] == [0, 0]
    assert connections.move("", THERE, 0.0) == Refusal.ADDRESS
    connections.leave("")  # where the one that was refused still counts
    connections.leave(THERE)
    assert connections.move("", OTHER, 0.0) == Refusal.ADDRESS
    assert [connections.enter(THERE, 0.0), connections.enter("", 0.0)] == [0, 0]
    assert connections.enter("", 0.0) == Refusal.CONNECTIONS
    connections = ConnectionCounts(others=AddressLimits(connections=1))
    assert [connections.enter(THERE, 0.0), connections.move(THERE, OTHER, 0.0)] == [0, 0]
    assert [connections.enter(origin, 0.0) for origin in (THERE, THERE)] == [0, Refusal.ADDRESS]


def test_connection_that_turns_out_to_come_from_elsewhere_is_a_connect_of_that_address() -> None:
    connections = ConnectionCounts(others=AddressLimits(connects=1))
    entries = []
    for _ in range(8):
        assert connections.enter("", 0.0) == 0
        entries.append(connections.move("", THERE, 0.0))
    assert entries == [0, 0, 1, 2, 3, 4, 5, Refusal.CONNECTS]


def test_address_that_connects_too_fast_waits_longer_and_longer_and_is_refused_in_the_end() -> None:
    connections = ConnectionCounts(others=AddressLimits(connects=8))
    entries = [connections.enter(THERE, 0.0) for _ in range(100)]
    assert entries[:16] == [0] * 16  # those of two seconds at once
    assert entries[16:56] == [number / 8 for number in range(1, 41)]  # up to five seconds late
    assert entries[56:] == [Refusal.CONNECTS] * 44
    assert connections.enter(OTHER, 0.0) == 0


def test_after_a_rest_an_address_may_connect_as_at_first() -> None:
    connections = ConnectionCounts(others=AddressLimits(connects=8))
    first = [connections.enter(THERE, 0.0) for _ in range(100)]
    assert [connections.enter(THERE, 7.01) for _ in range(100)] == first
    connections = ConnectionCounts(others=AddressLimits(connects=8))
    assert [connections.enter(THERE, number / 8) for number in range(1000)] == [0] * 1000


@pytest.mark.parametrize("begin", [0.0, 3.5, 6.9])
def test_address_is_remembered_for_as_long_as_it_would_have_to_wait(begin: float) -> None:
    connections = ConnectionCounts(others=AddressLimits(connects=8))
    connections.enter(OTHER, 0.0)
    for _ in range(100):
        connections.enter(THERE, begin)
    for later in range(1, 50):
        now = begin + later / 10
        connections.enter(f"address {later}", now)
        assert connections.enter(THERE, now) in (Refusal.CONNECTS, pytest.approx(5, abs=0.125))


def test_what_is_remembered_of_addresses_is_bounded_so_with_very_many_some_are_not_held_back() -> None:
    connections = ConnectionCounts(others=AddressLimits(connects=8))
    entries = [connections.enter(THERE, 0.0) for _ in range(100)]
    for number in range(1000):
        connections.enter(f"address {number}", 0.0)
    assert connections.enter(THERE, 0.0) == entries[-1] == Refusal.CONNECTS
    for number in range(2 * REMEMBERED):
        connections.enter(f"address {number}", 0.0)
    assert connections.enter(THERE, 0.0) == 0


def test_limits_by_address_leave_this_machine_s_clients_alone_unless_somebody_asked_for_them() -> None:
    for origin in (HERE, "127.1.2.3", "::/64"):
        assert is_local(origin)
        usual, asked = limited_connections(0, None, None), limited_connections(0, 3, 1000)
        entries = [usual.enter(origin, 0.0) for _ in range(20 * CONNECTS)]
        assert entries == [0] * len(entries)
        assert [asked.enter(origin, 0.0) for _ in range(4)] == [0, 0, 0, Refusal.ADDRESS]
    for origin, limits in (("", (3, 1)), (THERE, (0, 0))):  # without an address, or where 0 is no limit
        connections = limited_connections(0, *limits)
        assert {connections.enter(origin, 0.0) for _ in range(2 * PER_ADDRESS)} == {0}


def test_usual_limits_have_room_for_a_class_behind_one_address() -> None:
    connections = limited_connections(0, None, None)
    assert [connections.enter(THERE, 0.0) for _ in range(100)] == [0] * 100  # all of them at once
    for number in range(1000):  # each reconnects after a game of half a second
        connections.leave(THERE)
        assert connections.enter(THERE, number / CONNECTS) == 0


@pytest.mark.parametrize("refusal", Refusal)
def test_every_refusal_has_an_option_and_a_sentence(refusal: Refusal) -> None:
    assert hasattr(parse(), refusal.value.replace("-", "_"))
    assert refusal.text.isascii()
    assert refusal.text.endswith(".")
