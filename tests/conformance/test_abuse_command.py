"""One short run, a log with something in it, a guest that is refused, and servers that do not stop."""

import json
import subprocess
import sys
from argparse import Namespace
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import trio
from runner_fakes import tcp_server

from conformance.__main__ import main
from conformance.lab.abuse import command, target, watched
from conformance.lab.abuse.attacks import ATTACKS
from conformance.lab.abuse.figures import MOST_LEFT_OUT, Memory, Outcome, Said, Spread, Window
from conformance.lab.abuse.target import Log, Target
from conformance.lab.abuse.watched import Guest
from conformance.lab.meters import rss_bytes
from conformance.launch import Server
from conformance.targets import Address, addresses_in, parse_target

SHORT = ("frames", "resets", "commands", "million", "pages")
"""Attacks that are quick to begin."""
SPREAD = Spread(9, 1.0, 2.0, 3.0)
WINDOW = Window(SPREAD, [], SPREAD, 0.1, 0.0, 0.0, 0.0)


@pytest.mark.lab
def test_short_run_measures_all_that_is_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(command, "SETTLING", 0.2)
    monkeypatch.setattr(command, "BEFORE_STOP", 0.2)
    monkeypatch.setattr(command, "TRIES", 1)
    file = tmp_path / "abuse.json"
    words = ["--games", "8", "--seconds", "0.5", "--rest", "0.5", "--stored", "20"]
    status = main(["abuse", "--only", ",".join(SHORT), *words, "--json", str(file)])
    out = capsys.readouterr().out
    report = json.loads(file.read_text())
    assert [one["name"] for one in report["outcomes"]] == [*SHORT, "together"]
    for one in report["outcomes"]:
        assert one["window"]["moves"]["count"] > 0 or one["window"]["left_out"] == 1
        assert one["window"]["lost"] == []
        assert one["said"]["tracebacks"] == 0
    assert report["outcomes"][-1]["counts"].keys() == {*SHORT}
    assert any(counts.get("messages") for one in report["outcomes"] for counts in one["counts"].values())
    assert "honest games hurt: 0.\n" in out
    assert report["stop"]["status"] == 0
    assert report["page"] > 0
    assert max(map(len, out.splitlines())) <= 110
    # How fast it is here is no matter of this test, only whether the status tells.
    assert status == int(bool(report["missed"]) or report["is_void"])


@pytest.mark.parametrize(
    ("left_out", "made", "counts"),
    [([0.0], 1, 0), ([MOST_LEFT_OUT], 1, 0), ([1.0, 0.1], 2, 1), ([1.0, 0.8, 0.9], 3, 1)],
)
@pytest.mark.trio
async def test_attack_is_made_again_where_the_host_held_too_many_moves_up(
    left_out: list[float], made: int, counts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was lost and logged counts in each; which try is taken does not depend on what came of it."""
    tries: list[Outcome] = []
    log = Log()
    under_attack = SimpleNamespace(target=SimpleNamespace(log=log))

    async def attacked_by(*_: object) -> tuple[Outcome, Window]:
        await trio.lowlevel.checkpoint()
        window = replace(WINDOW, lost=[f"game {len(tries)}"], left_out=left_out[len(tries)])
        log.hear(b"2026-11-22 02:02:48,792 ERROR   x\n")
        tries.append(Outcome("x", window, Memory(None, None, None), stored=len(tries)))
        return tries[-1], WINDOW

    monkeypatch.setattr(command, "_attacked_by", attacked_by)
    outcome, quiets = await command._undisturbed(["x"], Namespace(), under_attack, "")  # type: ignore[arg-type]
    assert (len(tries), len(quiets), outcome.stored) == (made, made, counts)
    assert outcome.window.lost == [f"game {number}" for number in range(made)]
    assert outcome.said.errors == made


@pytest.mark.parametrize("words", [["--games", "0"], ["--only", "chess"], ["--seconds", "-1"], ["more"]])
def test_bad_usage_is_status_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["abuse", *words]) == 2
    assert capsys.readouterr().err.endswith("(--help tells more)\n")


def test_attacks_are_told_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["abuse", "--only", "chess"]) == 2
    err = capsys.readouterr().err
    assert all(name in err for name in ATTACKS)


def test_server_that_does_not_start_is_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["abuse", "--only", "junk", "--server-options=--clock 0"]) == 1
    assert "--clock" in capsys.readouterr().err


# The log.


def test_log_counts_lines_however_they_come_in_pieces() -> None:
    text = (
        "2026-11-22 02:02:48,792 ERROR   Error in ASGI Framework\n"
        "  + Exception Group Traceback (most recent call last):\n"
        "    | Traceback (most recent call last):\n"
        "2026-11-22 02:02:48,807 INFO    game 'ERROR' - 'x\\x1b': no winner\n"
        "2026-11-22 02:02:48,808 INFO    game '\x1b[2J\u202e' - 'x': no winner\n"
    ).encode()
    whole, torn = Log(), Log()
    whole.hear(text)
    for at in range(len(text)):
        torn.hear(text[at : at + 1])
    assert whole.said == torn.said == Said(2, 1, 2, len(text))
    assert len(whole.examples) == 2
    assert whole.examples[1].isprintable()


# The guest.


async def test_guest_times_the_answers_of_the_house(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "PAUSE", 0.0)
    over = trio.Event()

    async def house(stream: trio.SocketStream) -> None:
        await stream.receive_some()
        await stream.send_all(b"SUCCESS\n")
        await stream.receive_some()
        await stream.send_all(b"SUCCESS\nNEW_GAME\nYOUR_MOVE\n")
        await stream.receive_some()
        await stream.send_all(b"PUT 3\nYOUR_MOVE\n")
        await stream.receive_some()
        over.set()
        await stream.receive_some()

    async with tcp_server(house) as address, trio.open_nursery() as nursery:
        client = Guest(address)
        nursery.start_soon(client.run)
        await over.wait()
        spread = client.spread()
        nursery.cancel_scope.cancel()
    assert spread.count == 2  # one was answered, one is owed
    assert client.lost == []


async def test_guest_that_gets_no_game_says_why_and_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "_AGAIN", 0.0)
    visits = 0
    twice = trio.Event()

    async def refuse(stream: trio.SocketStream) -> None:
        nonlocal visits
        visits += 1
        if visits == 3:
            twice.set()

    async with tcp_server(refuse) as address, trio.open_nursery() as nursery:
        client = Guest(address)
        nursery.start_soon(client.run)
        await twice.wait()
        nursery.cancel_scope.cancel()
    assert client.refused[0] == "guest against aimafast: the server hung up"
    assert client.lost == []


async def test_guest_that_is_hung_up_on_in_a_game_has_lost_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "_AGAIN", 0.0)
    twice = trio.Event()

    async def begin(stream: trio.SocketStream) -> None:
        if client.lost:
            twice.set()
        with suppress(trio.BrokenResourceError):
            await stream.send_all(b"SUCCESS\nSUCCESS\nNEW_GAME\n")
            await stream.send_eof()
            async for _ in stream:
                pass

    async with tcp_server(begin) as address, trio.open_nursery() as nursery:
        client = Guest(address)
        nursery.start_soon(client.run)
        await twice.wait()
        nursery.cancel_scope.cancel()
    assert client.lost[0] == "guest against aimafast: the server hung up"
    client.begin()
    assert client.lost == []


# A server's process.


async def started(words: str) -> Target:
    process = await trio.lowlevel.open_process([sys.executable, "-c", words], stdout=subprocess.PIPE)
    assert process.stdout is not None
    await process.stdout.receive_some()
    await process.stdout.aclose()
    return Target(Server(process, ()), Log())


async def test_stop_is_timed_and_its_status_told() -> None:
    found = await started("import signal; print(flush=True); signal.pause()")
    seconds, status = await found.stop()
    assert 0 < seconds < 10
    assert status == -15


async def test_server_that_is_deaf_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "PATIENCE", 0.01)
    deaf = (
        "import signal; signal.signal(15, signal.SIG_IGN); print(flush=True); signal.pause(); signal.pause()"
    )
    _, status = await (await started(deaf)).stop()
    assert status == -9


async def test_memory_is_that_of_all_processes() -> None:
    child = "import subprocess, sys; p = subprocess.Popen(['sleep', '60']); print(flush=True)"
    found = await started(f"{child}; import signal; signal.signal(15, lambda *_: p.kill()); p.wait()")
    memory, own = found.memory(), rss_bytes(found.pid)
    await found.stop()
    assert memory is not None
    assert own is not None
    assert memory > own
    assert found.most == memory


def test_web_port_is_read_from_what_the_gateway_says() -> None:
    line = "page      http://127.0.0.1:8000      games live, standings, play"
    assert addresses_in(line) == {"web": Address("127.0.0.1", 8000)}


def test_web_port_is_no_dialect_that_transcripts_could_be_played_at() -> None:
    with pytest.raises(ValueError, match="'web' is no dialect"):
        parse_target("web=127.0.0.1:8000")
