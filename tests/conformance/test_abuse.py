"""Attackers beside honest games: bounded and at work, honest games that go on, goals, and short runs."""

from argparse import Namespace
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
import trio
from runner_fakes import tcp_server

from adapters.client.framing import usual_frames
from conformance.lab.abuse.attackers import Attack, Attacked
from conformance.lab.abuse.attacks import ATTACKS, FRAMES, at_once
from conformance.lab.abuse.command import MB, Outcome, Window, best_of, rows_of
from conformance.lab.abuse.honest import Guest, Seen, Undisturbed, play, with_missed
from conformance.lab.bots import KINDS
from conformance.lab.servers import Log
from conformance.lab.survive.together import tokens_for
from conformance.lab.workers import Worker, worker
from conformance.targets import Address

PORTS = ("arena", "nac4", "droidcon", "web")


def attacked_at(address: Address) -> Attacked:
    return Attacked(dict.fromkeys(PORTS, address), "z")


# Attackers.


async def test_clients_that_are_hung_up_on_come_back_and_are_never_more() -> None:
    now, most, lives = 0, 0, 0
    enough = trio.Event()

    async def handler(stream: trio.SocketStream) -> None:
        nonlocal now, most, lives
        now, lives = now + 1, lives + 1
        most = max(most, now)
        await stream.receive_some()
        now -= 1
        if lives > 10:
            enough.set()

    async def greet(attacked: Attacked, number: int) -> None:
        async with attacked.connected("droidcon", drains=True) as client:
            await client.say(b"hello\n")
            await trio.sleep_forever()

    async with tcp_server(handler) as address, trio.open_nursery() as nursery:
        attacked = attacked_at(address)
        nursery.start_soon(attacked.suffer, Attack("greeting", 3, greet, pause=0.0))
        await enough.wait()
        nursery.cancel_scope.cancel()
    assert most <= 3
    assert attacked.counts["connections"] >= lives
    assert attacked.counts["hung up"] >= lives - 3


async def test_attack_falls_silent_after_so_many_bytes() -> None:
    async def swallow(stream: trio.SocketStream) -> None:
        async for _ in stream:
            pass

    async with tcp_server(swallow) as address:
        attacked = attacked_at(address)
        attacked.counts["bytes"] = 2**30 - 1
        async with attacked.connected("droidcon") as client:
            with trio.move_on_after(0.05) as limit:
                while True:
                    await client.say(b"x" * 6)
    assert limit.cancelled_caught
    assert attacked.counts["bytes"] == 2**30 + 5


@pytest.mark.parametrize("answer", [b"", b"SUCCESS\nNEW_GAME\nYOUR_MOVE\nPUT 3\nError X\n"])
async def test_all_attackers_live_on_whatever_is_said_to_them(answer: bytes) -> None:
    """One server hangs up at once, the other says what only one dialect understands."""

    async def handler(stream: trio.SocketStream) -> None:
        with suppress(trio.BrokenResourceError):
            if answer:
                await stream.receive_some()
                await stream.send_all(answer)

    async with tcp_server(handler) as address, trio.open_nursery() as nursery:
        all_attacked = {name: attacked_at(address) for name in ATTACKS}
        for name, attacked in all_attacked.items():
            nursery.start_soon(attacked.suffer, ATTACKS[name])
        while not all(each.counts["connections"] for each in all_attacked.values()):  # noqa: ASYNC110
            await trio.sleep(0.001)
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("data", FRAMES)
def test_no_broken_frame_is_taken_for_a_usual_one(data: bytes) -> None:
    assert usual_frames(data) == ([], b"", data)


def test_attack_that_leaves_no_room_is_let_loose_alone() -> None:
    assert at_once(["files", "storm"]) == [ATTACKS["storm"]]
    assert at_once(["files"]) == [ATTACKS["files"]]
    assert all(attack.clients <= 1_200 for attack in ATTACKS.values())


# Honest games, at servers that hang up, or say what is wrong.


@asynccontextmanager
async def games(
    handler: Callable[[trio.SocketStream], Awaitable[None]], pairs: int = 1
) -> AsyncIterator[Worker]:
    """Let pairs play at a server while the block lasts."""

    async def until_they_go(stream: trio.SocketStream) -> None:
        with suppress(trio.BrokenResourceError):  # both of a pair hang up as soon as one of them is lost
            await handler(stream)

    async with (
        tcp_server(until_they_go) as address,
        worker(play, dict.fromkeys(KINDS, address), pairs, None, [("droidcon", "droidcon")]) as honest,
    ):
        yield honest


async def end(honest: Worker) -> Seen:
    await honest.send("end")
    seen: Seen = await honest.receive()
    return seen


async def lost(honest: Worker) -> list[str]:
    """Return what was lost, when something was."""
    while not (seen := await end(honest)).lost:  # noqa: ASYNC110  it is asked
        await trio.sleep(0.01)
    return [*seen.lost]


async def test_pair_that_is_hung_up_on_is_noted_once_and_replaced() -> None:
    names: list[bytes] = []

    async def handler(stream: trio.SocketStream) -> None:
        names.append((await stream.receive_some()).partition(b"\n")[0])
        await stream.send_all(b"SUCCESS\n")

    async with games(handler) as honest:
        first = await lost(honest)
        await honest.send("begin")
        second = await lost(honest)
    assert [len(first), len(second)] == [1, 1]
    assert "was hung up on" in first[0]
    assert {b"0a", b"1a"} <= {name.rpartition(b"x")[2] for name in names} <= {b"0a", b"0b", b"1a", b"1b", b""}


async def test_move_that_is_not_answered_counts_as_long_as_it_has_waited() -> None:
    moved = trio.Event()

    async def handler(stream: trio.SocketStream) -> None:
        opens = b"a\n" in await stream.receive_some()
        await stream.send_all(b"SUCCESS\nSUCCESS\nNEW_GAME\n" + b"YOUR_MOVE\n" * opens)
        if opens:
            await stream.receive_some()
            moved.set()
        await stream.receive_some()

    async with games(handler) as honest:
        await moved.wait()
        await trio.sleep(0.25)
        seen = await end(honest)
    assert len(seen.times) >= 2
    assert 0.25 <= max(seen.times) < 10


def test_times_are_left_out_around_what_the_host_took(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = iter([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    monkeypatch.setattr("conformance.lab.abuse.honest.stolen", lambda: next(taken))
    times: list[float] = []
    undisturbed, now = Undisturbed(times), perf_counter()
    for look in range(1, 6):
        times += [look / 1000, 1.0 + look]
        undisturbed.look(now + look)
    assert undisturbed.kept() == [0.001, 2.0, 3.0, 4.0, 5.0, 0.005, 6.0]


def test_long_time_stands_for_the_moves_that_it_held_up() -> None:
    assert with_missed([0.05, 0.1], 0.1) == [0.05, 0.1]
    assert with_missed([0.35], 0.1) == pytest.approx([0.35, 0.25, 0.15, 0.05])


@pytest.mark.parametrize(
    ("answers", "refused", "lost", "finished"),
    [
        ([b""], "the server hung up", None, 0),
        ([b"SUCCESS\n", b"Error PLAYER_NOT_AVAILABLE\n"], "the server said", None, 0),
        ([b"SUCCESS\n", b"SUCCESS\nNEW_GAME\n"], None, "the server hung up", 0),
        ([b"SUCCESS\n", b"SUCCESS\nNEW_GAME\nYOU_WON\n"], None, None, 1),
        ([b"SUCCESS\n", b"SUCCESS\nNEW_GAME\nYOU_WON\nNEW_GAME\n"], None, "the server hung up", 1),
    ],
)
async def test_guest_comes_back_and_has_lost_only_what_had_begun(
    answers: list[bytes], refused: str | None, lost: str | None, finished: int, autojump_clock: object
) -> None:
    came, again = 0, trio.Event()

    async def house(stream: trio.SocketStream) -> None:
        nonlocal came
        came += 1
        if came == 2:
            again.set()
            await trio.sleep_forever()
        for answer in answers:
            await stream.receive_some()
            await stream.send_all(answer)

    async with tcp_server(house) as address, trio.open_nursery() as nursery:
        guest = Guest(address)
        nursery.start_soon(guest.run)
        await again.wait()
        nursery.cancel_scope.cancel()
    for known, wanted in ((guest.refused, refused), (guest.lost, lost)):
        assert len(known) == (wanted is not None)
        assert all(f"guest against aimafast: {wanted}" in what for what in known)
    assert guest.games.finished == finished


# Goals.

WINDOW = Window([0.0005] * 980 + [0.002] * 20, 0.0, [], [0.015], 0.3)
GOOD = Outcome("junk", WINDOW, 100 * MB, 100 * MB, 100 * MB, Counter(), {"junk": {"messages": 7}}, 0.5, 0)


def moves(p50: float, p99: float) -> Window:
    return replace(WINDOW, times=[p50 / 1000] * 980 + [p99 / 1000] * 20)


@pytest.mark.parametrize(
    ("change", "missed"),
    [
        ({}, []),
        ({"window": moves(2.0, 20.0)}, []),
        ({"window": moves(2.1, 20.0)}, ["p50 ms"]),
        ({"window": moves(1.0, 20.1)}, ["p99 ms"]),
        ({"window": replace(WINDOW, times=[])}, ["p50 ms", "p99 ms"]),
        ({"window": replace(WINDOW, house=[1.1])}, ["house p50 ms"]),
        ({"window": replace(WINDOW, house=[0.1, 0.1, 1.1])}, []),
        ({"window": replace(WINDOW, house=[0.1, 0.1, 1.1]), "name": "house"}, ["house max ms"]),
        ({"window": replace(WINDOW, lost=["hung up"])}, ["lost"]),
        ({"window": replace(WINDOW, left_out=0.76)}, ["left out"]),
        ({"said": Counter(tracebacks=1)}, ["log"]),
        ({"said": Counter(errors=1)}, ["log"]),
        ({"said": Counter(controls=1)}, ["log"]),
        ({"said": Counter(errors=1), "name": "files"}, []),  # of which the operator should hear
        ({"most": 357 * MB}, ["MB more"]),
        ({"most": 356 * MB, "after": 110 * MB}, []),
        ({"after": 111 * MB}, ["kept"]),
        ({"counts": {"junk": {"messages": 7}, "texts": {}}}, ["idle"]),
    ],
)
def test_each_fault_misses_a_goal(change: dict[str, Any], missed: list[str]) -> None:
    assert [row.what for row in rows_of(replace(GOOD, **change), 0.1) if row.is_missed] == missed


def test_try_counts_in_which_the_host_held_up_least_and_what_was_lost_in_any() -> None:
    tries = [
        replace(
            GOOD, window=replace(WINDOW, left_out=share, lost=[name]), said=Counter(errors=1), stored=number
        )
        for number, (share, name) in enumerate([(1.0, "a"), (0.8, "b"), (0.9, "c")])
    ]
    best = best_of(tries)
    assert (best.stored, best.window.lost, best.said["errors"]) == (1, ["a", "b", "c"], 3)


# The server under attack.


def test_log_counts_lines_however_they_come_in_pieces(tmp_path: Path) -> None:
    text = (
        "2026-11-22T02:02:48.792Z ERROR   Error in ASGI Framework\n"
        "  + Exception Group Traceback (most recent call last):\n"
        "    | Traceback (most recent call last):\n"
        "2026-11-22T02:02:48.807Z INFO    game 'ERROR' - 'x\\x1b': no winner\n"
        "2026-11-22T02:02:48.807Z ERROR   the database has failed\n"
        "2026-11-22T02:02:48.808Z INFO    game '\x1b[2J\u202e' - 'x': no winner\n"
        "2026-11-22T02:02:48.808Z INFO    reloaded: the certificate\n"
    ).encode()
    whole, torn = (Log("(re)loaded", tmp_path / name, ["has failed"]) for name in ("a", "b"))
    whole.hear(text)
    for at in range(len(text)):
        torn.hear(text[at : at + 1])
    assert whole.said == torn.said == Counter(tracebacks=2, errors=1, controls=2, bytes=len(text))
    assert [match[1] for match in torn.found] == ["re"]
    assert all(line.isprintable() for line in whole.examples)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == text


"""Attacks that are quick to begin."""


def test_first_course_of_each_pair_is_played_under_protected_names() -> None:
    tokens = tokens_for("x", Namespace(pairs=2, seconds=1.0))
    assert [*tokens] == ["xp0g0a", "xp0g0b", "xp1g0a", "xp1g0b"]
    assert len({*tokens.values()}) == 4
    assert "xp1g16b" in tokens_for("x", Namespace(pairs=2, seconds=64.0))
