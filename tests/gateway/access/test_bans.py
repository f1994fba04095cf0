"""Bans: whom the file names."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.access.accounts import Accounts, Denial
from gateway.access.bans import Bans, bans_file, network_in, read_bans, target
from gateway.game.commands import folded
from gateway.game.events import Objection

T = TypeVar("T")


def at_once(do: Callable[[], T], /) -> T:
    """Stand in for the event loop."""
    return do()


def bans(*who: str) -> Bans:
    found = Bans()
    for each in who:
        found.add(target(each))
    return found


@pytest.mark.parametrize(
    ("who", "origin", "banned"),
    [
        ("192.0.2.7", "192.0.2.7", True),
        ("192.0.2.7", "192.0.2.8", False),
        ("192.0.2.0/24", "192.0.2.8", True),
        ("192.0.2.0/24", "192.0.3.8", False),
        ("0.0.0.0/0", "203.0.113.1", True),
        ("0.0.0.0/0", "2001:db8::/64", False),
        ("2001:db8::5", "2001:db8::/64", True),
        ("2001:db8::/32", "2001:db8:0:9::/64", True),
        ("2001:db8::/32", "2001:db9::/64", False),
        ("192.0.2.7", "", False),
        ("::ffff:192.0.2.7", "192.0.2.7", True),
        ("::ffff:192.0.2.0/120", "192.0.2.8", True),
        ("::ffff:192.0.2.7", "::/64", False),
    ],
)
def test_address_is_banned_with_its_network(who: str, origin: str, banned: bool) -> None:
    assert bans(who).hold("ann", origin) is banned
    assert bans(who).hold("", origin) is banned


@pytest.mark.parametrize("name", ["eve", "EVE", " E\u200bve", "\uff25ve"])
def test_name_is_banned_however_it_is_written(name: str) -> None:
    assert bans("Eve").hold(folded(name), "192.0.2.1")
    assert not bans("Eve").hold("evelyn", "192.0.2.1")
    assert not bans("Eve").hold("", "192.0.2.1")


@given(st.ip_addresses(v=4), st.integers(0, 32), st.ip_addresses(v=4))
def test_search_finds_what_ipaddress_finds(base: object, length: int, address: object) -> None:
    network = network_in(f"{base}/{length}")
    assert network is not None
    assert bans(str(network)).hold("", str(address)) is (address in network)


def test_file_is_read_with_comments_and_notes_and_may_be_missing(tmp_path: Path) -> None:
    file = tmp_path / "players.bans"
    assert read_bans(bans_file(str(tmp_path / "players"))) == Bans()
    file.write_text("# bans\n\nname\teve\tspam\naddress\t192.0.2.0/24\n")
    assert read_bans(bans_file(str(tmp_path / "players"))) == bans("eve", "192.0.2.0/24")


@pytest.mark.parametrize("line", ["eve", "name\t", "name\t\u200b", "address\teve", "player\teve", "\teve"])
def test_wrong_line_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "players.bans"
    file.write_text(f"# bans\n{line}\n")
    with pytest.raises(ValueError, match="line 2: not `name` or `address`"):
        read_bans(bans_file(str(tmp_path / "players")))


def test_banned_client_is_denied_whatever_its_token(tmp_path: Path) -> None:
    file = tmp_path / "players"
    file.write_text("")
    (tmp_path / "players.bans").write_text("name\teve\naddress\t192.0.2.0/24\n")
    accounts = Accounts(str(file))
    assert accounts.denial("ann", None, "203.0.113.1", 0.0) is None
    assert accounts.denial("Eve", "x", "203.0.113.1", 0.0) == Denial(Objection.BANNED, 0.25)
    assert accounts.denial("ann", None, "192.0.2.9", 0.0) == Denial(Objection.BANNED, 0.25)


def test_bans_stay_where_their_file_is_broken_or_gone_and_not_where_it_is_empty(tmp_path: Path) -> None:
    file, beside = tmp_path / "players", tmp_path / "players.bans"
    file.write_text("")
    beside.write_text("name\teve\n")
    accounts = Accounts(str(file))
    beside.write_text("broken\n")
    with pytest.raises(ValueError, match=r"players\.bans, line 1"):
        accounts.reload(at_once)
    assert accounts.bans == bans("eve")
    beside.unlink()
    with pytest.raises(ValueError, match=r"players\.bans is gone, .* make an empty file"):
        accounts.reload(at_once)
    assert accounts.bans == bans("eve")
    beside.write_text("")
    accounts.reload(at_once)
    assert accounts.bans == Bans()
