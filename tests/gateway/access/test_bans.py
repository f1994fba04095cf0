"""Bans: whom the file names, and what becomes of those who are here."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds.hub import STEPPING_OUT, TABLE, World

from gateway.access.accounts import Account, Accounts, Denial, digest_of, reload_players
from gateway.access.bans import AT_ONCE, Bans, bans_file, network_in, read_bans, target
from gateway.game.commands import folded
from gateway.game.events import Dismissed, Ended, Objection, Reason, Why

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


def test_reload_hangs_up_on_who_is_banned_now_and_on_nobody_else(tmp_path: Path) -> None:
    file, world = tmp_path / "players", World()
    file.write_text("")
    accounts = Accounts(str(file))
    ann, eve = world.client(STEPPING_OUT, "192.0.2.1"), world.client(STEPPING_OUT, "192.0.2.2")
    for client, name in ((ann, "ann"), (eve, "eve")):
        client.enter(TABLE, name)
    world.play("01", (ann, eve))
    silent = world.client(STEPPING_OUT, "198.51.100.1")
    (tmp_path / "players.bans").write_text("name\tEVE\naddress\t198.51.100.1\n")
    reload_players(accounts, world.hub, lambda: world.now, at_once)
    assert eve.heard[-1] == Dismissed(Why.LEFT)
    assert silent.heard == [Dismissed(Why.LEFT)]
    ended = ann.last(Ended)
    assert (ended.reason, ended.winner) == (Reason.LEFT, 0)
    assert not ann.gone


def test_search_among_those_who_are_here_takes_many_short_turns(tmp_path: Path) -> None:
    file, world, turns = tmp_path / "players", World(), list[object]()
    file.write_text("")
    accounts = Accounts(str(file))
    clients = [world.client(STEPPING_OUT, "198.51.100.1") for _ in range(2 * AT_ONCE + 1)]
    (tmp_path / "players.bans").write_text("address\t198.51.100.1\n")

    def in_loop(do: Callable[[], T], /) -> T:
        gone = sum(client.gone for client in clients)
        done = do()
        turns.append(sum(client.gone for client in clients) - gone)
        return done

    reload_players(accounts, world.hub, lambda: world.now, in_loop)
    assert turns == [0, 0, AT_ONCE, AT_ONCE, 1]


def test_broken_bans_leave_names_and_bans_as_they_were(tmp_path: Path) -> None:
    file = tmp_path / "players"
    file.write_text("")
    (tmp_path / "players.bans").write_text("name\teve\n")
    accounts = Accounts(str(file))
    (tmp_path / "players.bans").write_text("broken\n")
    with pytest.raises(ValueError, match=r"players\.bans, line 1"):
        accounts.reload(at_once)
    assert accounts.bans == bans("eve")


def test_bans_stay_where_their_file_is_gone_and_not_where_it_is_empty(tmp_path: Path) -> None:
    file, beside = tmp_path / "players", tmp_path / "players.bans"
    file.write_text("")
    beside.write_text("name\teve\n")
    accounts = Accounts(str(file))
    beside.unlink()
    with pytest.raises(ValueError, match=r"players\.bans is gone, .* make an empty file"):
        accounts.reload(at_once)
    assert accounts.bans == bans("eve")
    beside.write_text("")
    accounts.reload(at_once)
    assert accounts.bans == Bans()


def test_bans_are_taken_where_the_last_name_was_removed(tmp_path: Path) -> None:
    file, world = tmp_path / "players", World()
    file.write_text(f"{Account('ann', digest_of('x')).line}\n")
    accounts = Accounts(str(file))
    eve = world.client(STEPPING_OUT, "192.0.2.2")
    eve.enter(TABLE, "eve")
    file.write_text("")
    (tmp_path / "players.bans").write_text("name\teve\n")
    with pytest.raises(ValueError, match="has no names"):
        reload_players(accounts, world.hub, lambda: world.now, at_once)
    assert eve.gone
    assert accounts.denial("ann", None, "192.0.2.9", 0.0) == Denial(Objection.TOKEN_WRONG, 0.25)
