"""Who is let in: how many, how many of one address, and how fast."""

import argparse

import pytest

from gateway.access import limits
from gateway.access.limits import (
    BURST,
    PATIENCE,
    AddressLimits,
    Doors,
    Refusal,
    doors,
    is_local,
)
from gateway.options.access import CONNECTS, PER_ADDRESS, add_limit_options

THERE, OTHER, HERE = "192.0.2.1", "192.0.2.2", "127.0.0.1"


def parse(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_limit_options(parser.add_argument_group("what a client may take"))
    return parser.parse_args(arguments)


def test_all_addresses_together_have_so_many_connections_and_one_that_leaves_makes_room() -> None:
    inside = Doors(2)
    assert [inside.enter(origin, 0.0) for origin in (THERE, OTHER, THERE)] == [0, 0, Refusal.CONNECTIONS]
    inside.leave(OTHER)
    assert [inside.enter(origin, 0.0) for origin in (THERE, OTHER)] == [0, Refusal.CONNECTIONS]


def test_one_address_has_so_many_connections_whatever_others_have() -> None:
    inside = Doors(there=AddressLimits(connections=1))
    assert [inside.enter(origin, 0.0) for origin in (THERE, OTHER, THERE)] == [0, 0, Refusal.ADDRESS]
    inside.leave(THERE)
    assert [inside.enter(origin, 0.0) for origin in (THERE, OTHER)] == [0, Refusal.ADDRESS]


def test_connection_that_turns_out_to_come_from_elsewhere_counts_there_and_not_twice() -> None:
    inside = Doors(3, AddressLimits(connections=1))
    assert [inside.enter("", 0.0) for _ in range(3)] == [0, 0, 0]
    assert [inside.move("", THERE, 0.0), inside.move("", OTHER, 0.0)] == [0, 0]
    assert inside.move("", THERE, 0.0) == Refusal.ADDRESS
    inside.leave("")  # where the one that was refused still counts
    inside.leave(THERE)
    assert inside._inside == {OTHER: 1}
    assert [inside.enter(THERE, 0.0), inside.enter("", 0.0)] == [0, 0]
    assert inside.enter("", 0.0) == Refusal.CONNECTIONS


def test_connection_that_turns_out_to_come_from_elsewhere_is_a_connect_of_that_address() -> None:
    inside, room = Doors(there=AddressLimits(connects=1)), int(BURST + PATIENCE)
    entries = []
    for _ in range(room + 1):
        assert inside.enter("", 0.0) == 0
        entries.append(inside.move("", THERE, 0.0))
    assert entries == [0, 0, 1, 2, 3, 4, 5, Refusal.CONNECTS]


def test_address_that_connects_too_fast_waits_longer_and_longer_and_is_refused_in_the_end() -> None:
    inside = Doors(there=AddressLimits(connects=8))
    entries = [inside.enter(THERE, 0.0) for _ in range(100)]
    at_once, late = int(BURST * 8), int(PATIENCE * 8)
    assert entries[:at_once] == [0] * at_once
    assert entries[at_once : at_once + late] == [number / 8 for number in range(1, late + 1)]
    assert entries[at_once + late :] == [Refusal.CONNECTS] * (100 - at_once - late)
    assert inside.enter(OTHER, 0.0) == 0


def test_address_that_connects_as_fast_as_it_may_never_waits() -> None:
    inside = Doors(there=AddressLimits(connects=8))
    assert [inside.enter(THERE, number / 8) for number in range(1000)] == [0] * 1000


def test_after_a_rest_an_address_may_connect_as_at_first() -> None:
    inside = Doors(there=AddressLimits(connects=8))
    first = [inside.enter(THERE, 0.0) for _ in range(100)]
    rested = BURST + PATIENCE + 0.01
    assert [inside.enter(THERE, rested) for _ in range(100)] == first


def test_what_is_remembered_of_addresses_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REMEMBERED", 100)
    inside = Doors(there=AddressLimits(connects=8))
    for number in range(1000):
        inside.enter(f"address {number}", 0.0)
        inside.leave(f"address {number}")
    assert len(inside._connects._ahead) + len(inside._connects._older) <= 200
    assert not inside._inside


def test_limits_by_address_leave_this_machine_s_clients_alone_unless_somebody_asked_for_them() -> None:
    for origin in (HERE, "127.1.2.3", "::/64"):
        assert is_local(origin)
        usual, asked = doors(0, None, None), doors(0, 3, 1000)
        entries = [usual.enter(origin, 0.0) for _ in range(20 * CONNECTS)]
        assert entries == [0] * len(entries)
        assert [asked.enter(origin, 0.0) for _ in range(4)] == [0, 0, 0, Refusal.ADDRESS]


def test_client_without_an_address_has_no_limits_by_address() -> None:
    inside = doors(0, 3, 1)
    assert [inside.enter("", 0.0) for _ in range(100)] == [0] * 100


def test_usual_limits_have_room_for_a_class_behind_one_address() -> None:
    inside = doors(0, None, None)
    assert [inside.enter(THERE, 0.0) for _ in range(100)] == [0] * 100  # all of them at once
    for number in range(1000):  # each reconnects after a game of half a second
        inside.leave(THERE)
        assert inside.enter(THERE, number / CONNECTS) == 0


def test_no_limit_is_zero() -> None:
    inside = doors(0, 0, 0)
    entries = [inside.enter(THERE, 0.0) for _ in range(2 * PER_ADDRESS)]
    assert entries == [0] * len(entries)


@pytest.mark.parametrize("refusal", Refusal)
def test_every_refusal_has_an_option_and_a_sentence(refusal: Refusal) -> None:
    assert hasattr(parse(), refusal.value.replace("-", "_"))
    assert refusal.text.isascii()
    assert refusal.text.endswith(".")


def test_limits_are_the_documented_ones() -> None:
    assert vars(parse()) == {
        "max_connections": 0,
        "max_per_address": None,
        "connects_per_second": None,
        "messages_per_second": 5000,
        "message_burst": 10_000,
        "request_seconds": None,
    }
    assert (PER_ADDRESS, CONNECTS) == (512, 200)
