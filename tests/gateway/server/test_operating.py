"""What the operator asks of a running server, carried out on a hub."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest
import trio
import trio.testing
from worlds.hub import STANDING_BY, STEPPING_OUT, TABLE, World

from gateway.access.accounts import Account, Accounts, Denial, digest_of
from gateway.game.events import Dismissed, Ended, Objection, Reason, Why
from gateway.server import operating
from gateway.server.acts import NotDoneError, Notice
from gateway.server.operating import AT_ONCE, Operator, reload_players

T = TypeVar("T")


def at_once(do: Callable[[], T], /) -> T:
    """Stand in for the event loop."""
    return do()


class Server:
    """A hub with two players at a table and one who waits, and its operator."""

    def __init__(self, folder: Path) -> None:
        self.world = World()
        self.bans = folder / "players.bans"
        self.accounts = Accounts(str(folder / "players"), optional=True)
        self.drains: list[int] = []
        self.operator = Operator(self.world.hub, self.accounts, self.drains.append, "a")
        self.ann, self.eve, self.zed = (
            self.world.client(STEPPING_OUT, f"192.0.2.{number}") for number in (1, 2, 3)
        )
        self.ann.enter(TABLE, "Ann")
        self.eve.enter(TABLE, "eve")
        self.zed.enter(name="zed")

    async def act(self, what: str, **about: str) -> Any:
        return json.loads(await self.operator.act(what, about))


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path)


async def test_who_is_here_and_what_each_does(server: Server, autojump_clock: trio.abc.Clock) -> None:
    await trio.sleep(90 - trio.current_time())
    silent = server.world.client(STEPPING_OUT)
    found = await server.act("who")
    assert found["more"] == 0
    assert [[*each.values()] for each in found["players"]] == [
        ["Ann", "", "192.0.2.1", 90.0, "plays", "eve", "round", "a"],
        ["eve", "", "192.0.2.2", 90.0, "plays", "Ann", "round", "a"],
        ["zed", "", "192.0.2.3", 90.0, "waits", None, None, "a"],
        [None, "", "", 90.0, "idle", None, None, "a"],
    ]
    silent.leave()


@pytest.mark.parametrize(
    ("who", "names"), [("ANN", ["Ann"]), ("192.0.2.2/31", ["eve", "zed"]), ("nobody", [])]
)
async def test_some_are_asked_for_by_name_or_address(server: Server, who: str, names: list[str]) -> None:
    assert [each["name"] for each in (await server.act("who", who=who))["players"]] == names


async def test_answer_lists_only_so_many(server: Server) -> None:
    for number in range(operating.MOST):
        server.world.client(STEPPING_OUT, "198.51.100.1").enter(name=f"p{number}")
    found = await server.act("who")
    assert (len(found["players"]), found["more"]) == (operating.MOST, 3)
    for number in range(300):
        server.world.client(STEPPING_OUT, "198.51.100.2").enter(name=f"{number:0256}")
    found = await server.act("who", who="198.51.100.2")
    assert len(found["players"]) + found["more"] == 300
    assert sum(len(each["name"]) for each in found["players"]) < operating.MOST_CHARACTERS


async def test_who_is_kicked_leaves_its_game_and_may_come_back(server: Server) -> None:
    server.world.play("01", (server.ann, server.eve))
    assert await server.act("kick", who="EVE") == {"kicked": 1}
    assert server.eve.heard[-1] == Dismissed(Why.LEFT)
    ended = server.ann.last(Ended)
    assert (ended.reason, ended.winner) == (Reason.LEFT, 0)
    assert await server.act("kick", who="eve") == {"kicked": 0}
    assert server.accounts.denial("eve", None, "192.0.2.2", 0.0) is None
    assert await server.act("kick", who="192.0.2.0/24") == {"kicked": 2}


async def test_ban_is_in_force_and_in_the_file_at_once(server: Server) -> None:
    assert await server.act("ban", who="Eve", notes="spam") == {"changed": True, "kicked": 1}
    assert server.eve.gone
    assert server.accounts.denial("eve", None, "192.0.2.2", 0.0) is not None
    assert server.bans.read_text().splitlines()[-1] == "name\teve\tspam"
    assert await server.act("ban", who="eve") == {"changed": False, "kicked": 0}
    assert await server.act("unban", who="EVE") == {"changed": True}
    assert server.accounts.denial("eve", None, "192.0.2.2", 0.0) is None
    assert await server.act("unban", who="eve") == {"changed": False}


@pytest.mark.parametrize(
    ("what", "about"),
    [
        ("kick", {"who": "a\nb"}),
        ("who", {"who": "\u200b"}),
        ("ban", {"who": "x" * 257}),
        ("ban", {"who": "eve", "notes": "x\nname\tann"}),
        ("announce", {"text": "x" * 201}),
        ("announce", {"text": "a\nb"}),
        ("announce", {"text": "a\u202eb"}),
        ("drain", {"seconds": "0"}),
        ("drain", {"seconds": "1e9"}),
        ("drain", {"seconds": "9" * 5000}),
    ],
)
async def test_what_names_nobody_is_refused(server: Server, what: str, about: dict[str, str]) -> None:
    with pytest.raises(NotDoneError):
        await server.act(what, **about)
    assert not server.bans.exists()
    assert server.operator.notice == Notice()
    assert server.drains == []


async def test_ban_where_the_file_cannot_be_used_is_refused(server: Server) -> None:
    server.bans.write_text("broken\n")
    with pytest.raises(NotDoneError, match=r"players\.bans, line 1"):
        await server.act("ban", who="eve")
    assert not server.eve.gone


@pytest.mark.parametrize(("what", "names"), [("ban", "name\teve\n"), ("unban", "")])
async def test_ban_is_kept_and_the_fault_told_where_the_names_cannot_be_read_again(
    server: Server, what: str, names: str
) -> None:
    server.bans.write_text("" if what == "ban" else "name\teve\n")
    (Path(server.bans.parent) / "players").write_text("broken\n")
    found = await server.act(what, who="eve")
    assert found["changed"]
    assert "players, line 1" in found["fault"]
    assert server.bans.read_text() == names


async def test_who_asks_for_a_name_that_is_banned_meanwhile_is_hung_up_on(server: Server) -> None:
    held = server.world.client(STANDING_BY, "192.0.2.4")
    held.enter(name="gus")
    claimant = server.world.client(STANDING_BY, "192.0.2.4")
    claimant.enter(name="gus")
    assert not claimant.gone
    assert await server.act("ban", who="gus") == {"changed": True, "kicked": 2}
    assert held.gone
    assert claimant.gone


async def test_each_act_reaches_the_other_nodes_whatever_is_announced_meanwhile(server: Server) -> None:
    asked: list[str | Notice] = []

    class Others:
        def notify(self, notice: Notice) -> None:
            asked.append(notice)

        async def act(self, what: str, about: Any) -> dict[str, str]:
            asked.append(what)
            return {"b": "{}"}

        def stop(self) -> None:
            raise AssertionError

    server.operator.others = Others()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.operator.everywhere, "ban", {"who": "eve"})
        await server.operator.everywhere("announce", {"text": "Round 2"})
    assert {*await server.operator.everywhere("pause", {})} == {"", "b"}
    assert asked.index(server.operator.notice) < asked.index("pause")
    assert sorted(each for each in asked if isinstance(each, str)) == ["announce", "ban", "pause"]


async def test_notice_that_an_act_of_another_node_makes_here_is_told_to_all(server: Server) -> None:
    told: list[Notice] = []
    server.operator.others = SimpleNamespace(notify=told.append)  # type: ignore[assignment]
    server.operator.adopt(Notice("Round 3", False, time.time() + 60))  # later than the one that is asked for
    await server.act("announce", text="Round 2")
    await server.act("announce", text="Round 2")
    assert told == [server.operator.notice]
    assert (told[0].text, told[0].made > time.time() + 59) == ("Round 2", True)


async def test_notice_that_another_node_made_keeps_its_time_when_the_act_follows(server: Server) -> None:
    notice = Notice("Round 2", True, 5.0)
    server.operator.adopt(notice)
    assert await server.act("announce", text="Round 2") == {"announcement": "Round 2", "paused": True}
    assert await server.act("pause") == {"announcement": "Round 2", "paused": True}
    assert server.operator.notice == notice


async def test_mistake_of_ours_costs_the_act_alone(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    def drain(_: int) -> None:
        raise KeyError

    operator = Operator(server.world.hub, server.accounts, drain)
    with pytest.raises(NotDoneError, match="internal error"):
        await operator.act("drain", {})
    assert [record.exc_info is not None for record in caplog.records] == [True]


async def test_announcement_stays_until_another_comes_or_none(server: Server) -> None:
    assert await server.act("announce", text=" Round 2 at 14:00 ") == {
        "announcement": "Round 2 at 14:00",
        "paused": False,
    }
    assert await server.act("pause") == {"announcement": "Round 2 at 14:00", "paused": True}
    assert await server.act("announce") == {"announcement": None, "paused": True}
    assert await server.act("resume") == {"announcement": None, "paused": False}


async def test_notice_is_waited_for_and_the_latest_counts(server: Server) -> None:
    heard = []

    async def follow() -> None:
        known = Notice()
        while not known.paused:
            known = await server.operator.next_notice(known)
            heard.append(known.text)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(follow)
        await server.act("announce", text="one")
        await trio.testing.wait_all_tasks_blocked()
        one = server.operator.notice
        server.operator.adopt(Notice("of an earlier time", False, one.made - 1))
        server.operator.adopt(Notice("of a node whose clock is ahead", False, one.made + 1000))
        await trio.testing.wait_all_tasks_blocked()
        await server.act("pause")
    assert heard == ["one", *["of a node whose clock is ahead"] * 2]


async def test_nobody_is_paired_while_it_is_paused_and_games_go_on(server: Server) -> None:
    await server.act("pause")
    bob = server.world.client(STEPPING_OUT)
    bob.enter(name="bob")
    server.world.play("01", (server.ann, server.eve))
    server.world.wait(5)
    assert (bob.games, server.zed.games) == (0, 0)
    assert server.ann.plays
    await server.act("resume")
    server.world.wait(2)
    assert bob.opponent == "zed"


async def test_drain_is_asked_for_once(server: Server) -> None:
    assert await server.act("drain") == {"seconds": 600}
    assert await server.act("drain", seconds="5") == {"seconds": 5}
    server.operator.stop()
    assert server.drains == [600, 5, 0]
    server.world.hub.drain()
    with pytest.raises(NotDoneError, match="drains already"):
        await server.act("drain")
    server.operator.stop()
    assert server.drains == [600, 5, 0]


def test_reload_hangs_up_on_who_is_banned_now_and_on_nobody_else(server: Server) -> None:
    world = server.world
    world.play("01", (server.ann, server.eve))
    silent = world.client(STEPPING_OUT, "198.51.100.1")
    server.bans.write_text("name\tEVE\naddress\t198.51.100.1\n")
    assert reload_players(server.accounts, world.hub, lambda: world.now, at_once) == 2
    assert server.eve.heard[-1] == Dismissed(Why.LEFT)
    assert silent.heard == [Dismissed(Why.LEFT)]
    ended = server.ann.last(Ended)
    assert (ended.reason, ended.winner) == (Reason.LEFT, 0)
    assert not server.ann.gone


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
