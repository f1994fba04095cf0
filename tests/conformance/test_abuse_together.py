"""Everything at once: a short run, a gateway that breaks its word, and the honest beside attackers."""

import json
import sys
import tempfile
from pathlib import Path
from ssl import create_default_context

import pytest
import trio
from certificates import needs_openssl
from runner_fakes import tcp_server
from test_drains import BREAKS_ITS_WORD

from conformance.__main__ import main
from conformance.dialects.frames import frame
from conformance.dialects.script import Game, Wish
from conformance.lab.abuse import command, company, watched
from conformance.lab.abuse.company import Honest, Viewers, tokens_for
from conformance.lab.abuse.together import Ear
from conformance.lab.abuse.watched import Guest
from conformance.lab.bots import PLAIN, script_of
from conformance.lab.kills.load import Player
from conformance.launch import COMMAND
from conformance.targets import Address, addresses_in

ONLY = "frames,resets,million,pages,hellos,guesses"
WORDS = ["--together", "3", "--rest", "0.5", "--games", "6", "--only", ONLY]
ELSEWHERE = Address("127.0.0.1", 9)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where runs keep their files; they reload often, and think fast."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(company, "RELOADING", 0.5)
    monkeypatch.setattr(Honest, "pause", 0.02)
    return tmp_path


@pytest.mark.lab
@needs_openssl
def test_short_run_loses_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = folder / "together.json"
    status = main(["abuse", *WORDS, "--json", str(report)])
    out, err = capsys.readouterr()
    assert status == 0, out + err
    rows = {f"{row['part']}: {row['what']}": row["found"] for row in json.loads(report.read_text())["rows"]}
    for what in ("attackers: messages", "page: metrics read", "server: reloads"):
        assert rows[what] > 0
    assert rows["games: begun"] == rows["games: finished"] == rows["results: told"] > 0
    assert rows["games: with a player by TLS"] > 0
    assert rows["players: with a token"] > 0
    assert rows["players: hurt"] == rows["results: told, not stored"] == 0
    assert [path.name for path in folder.iterdir()] == ["together.json"]


@pytest.mark.lab
@needs_openssl
@pytest.mark.thorough
def test_gateway_that_cuts_games_off_is_found_out(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "COMMAND", (sys.executable, "-c", BREAKS_ITS_WORD, *COMMAND[3:]))
    assert main(["abuse", *WORDS]) == 1
    out, _ = capsys.readouterr()
    assert "\nhurt: " in out
    assert len(list(folder.glob("abuse-*/log"))) == 1


@pytest.mark.lab
@needs_openssl
@pytest.mark.thorough
def test_gateway_that_dies_is_found_out_and_its_log_is_kept(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    dying = "import os; from gateway.server import reloading; reloading.reloading = lambda: os._exit(3)"
    program = f"{dying}; from gateway.__main__ import main; main()"
    monkeypatch.setattr(command, "COMMAND", (sys.executable, "-c", program, *COMMAND[3:]))
    assert main(["abuse", *WORDS]) == 1
    _, err = capsys.readouterr()
    (kept,) = folder.glob("abuse-*")
    assert f" died under attack; files: {kept}; its stderr:\n" in err
    assert (kept / "log").exists()


def test_bad_usage_is_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["abuse", "--together", "0"]) == 2
    assert "--together: '0' is no number of seconds above 0" in capsys.readouterr().err


# What honest clients say.


@pytest.mark.parametrize(
    ("kind", "opening"),
    [
        ("nac4", frame(b"connect me secret\r\n")),
        ("droidcon", b"NAME me secret\nJOIN here\n"),
        ("arena-json", frame(b'{"type":"start","id":"me","against":null,"token":"secret"}')),
        ("arena-edn", frame(b'{:type "start", :id "me", :against nil :token "secret"}')),
    ],
)
def test_token_stands_where_a_dialect_has_it(kind: str, opening: bytes) -> None:
    assert script_of(kind).opening(Wish("me", table="here", token="secret")) == opening


def test_first_course_of_each_pair_is_played_under_protected_names() -> None:
    tokens = tokens_for("x", 2, 1.0)
    assert [*tokens] == ["xp0g0a", "xp0g0b", "xp1g0a", "xp1g0b"]
    assert len({*tokens.values()}) == 4
    assert "xp1g16b" in tokens_for("x", 2, 64.0)


# What is found out about them.


def honest(*dialects: str) -> Honest:
    return Honest("x", dict.fromkeys(dialects, ELSEWHERE), create_default_context(), {})


def test_game_that_is_on_has_begun_and_one_that_is_left_on_is_hurt() -> None:
    game, load = Game("0101010", 1, "four"), honest()
    players = [Player("droidcon", Wish(f"x{end}", table="x"), "x", (game,)) for end in "ab"]
    load.players += players
    assert (load.begun, load.finished, load.hurt) == (0, 0, [])
    for player in players:
        for message in (b"SUCCESS", b"SUCCESS", b"NEW_GAME"):
            player.hear(message)
    assert (load.begun, load.finished) == (1, 0)
    assert load.hurt == [f"droidcon player x{end} was left in a game" for end in "ab"]


async def test_honest_player_that_is_hung_up_on_says_so_and_plays_on(autojump_clock: object) -> None:
    visits: list[bytes] = []

    async def refuse(stream: trio.SocketStream) -> None:
        visits.append(await stream.receive_some())
        if len(visits) == 4:
            load.is_over = True

    async with tcp_server(refuse) as address:
        load = Honest("x", dict.fromkeys(PLAIN, address), create_default_context(), {})
        load.tls_of = lambda _: None  # type: ignore[method-assign]
        await load.run(1)
    assert load.wrong
    assert len({*load.wrong}) == len(load.wrong)


async def test_guest_whose_series_is_over_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "_AGAIN", 0.0)
    twice = trio.Event()
    visits: list[str] = []

    async def series(stream: trio.SocketStream) -> None:
        visits.append("one")
        if len(visits) == 3:
            twice.set()
            await trio.sleep_forever()
        await stream.receive_some()
        await stream.send_all(b"SUCCESS\n")
        await stream.receive_some()
        await stream.send_all(b"SUCCESS\nNEW_GAME\nYOU_WON\n" + b"NEW_GAME\n" * (len(visits) == 2))

    async with tcp_server(series) as address, trio.open_nursery() as nursery:
        client = Guest(address)
        nursery.start_soon(client.run)
        await twice.wait()
        nursery.cancel_scope.cancel()
    assert client.finished == 2
    assert client.lost == ["guest against aimafast: the server hung up"]  # in its second visit's second game


async def test_guest_for_whom_a_house_player_has_no_time_is_not_lost(autojump_clock: object) -> None:
    over = trio.Event()

    async def busy(stream: trio.SocketStream) -> None:
        await stream.receive_some()
        await stream.send_all(b"SUCCESS\n")
        await stream.receive_some()
        if client.refused:
            over.set()
            await trio.sleep_forever()
        await stream.send_all(b"Error PLAYER_NOT_AVAILABLE\n")

    async with tcp_server(busy) as address, trio.open_nursery() as nursery:
        client = Guest(address)
        nursery.start_soon(client.run)
        await over.wait()
        nursery.cancel_scope.cancel()
    assert client.refused[0] == "guest against aimafast: the server said 'Error PLAYER_NOT_AVAILABLE'"
    assert client.lost == []


async def test_metrics_that_cannot_be_read_are_counted(autojump_clock: object) -> None:
    answers = [b"a_total 1.0\n", b"a_total one\n", b""]
    over = trio.Event()

    async def serve(stream: trio.SocketStream) -> None:
        if not answers:
            over.set()
            await trio.sleep_forever()
        await stream.receive_some()
        await stream.send_all(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + (answers.pop(0) if answers else b"")
        )

    async with tcp_server(serve) as address, trio.open_nursery() as nursery:
        viewers = Viewers(ELSEWHERE, address, create_default_context())
        nursery.start_soon(viewers.scrape)
        await over.wait()
        nursery.cancel_scope.cancel()
    assert viewers.counts == {"metrics read": 1, "metrics not read": 2}


def test_port_for_metrics_is_read_from_what_the_gateway_says() -> None:
    line = "metrics   http://127.0.0.1:46057     /metrics, for Prometheus"
    assert addresses_in(line) == {"metrics": Address("127.0.0.1", 46057)}


def test_log_is_written_down_and_its_reloads_counted(tmp_path: Path) -> None:
    ear = Ear(tmp_path / "log")
    lines = (
        b"WARNING the players: not reloaded, what was read before stays: x\nINFO reloaded: the certificate\n"
    )
    for at in range(len(lines)):
        ear.hear(lines[at : at + 1])
    assert ear.reloads == {True: 1, False: 1}
    assert (tmp_path / "log").read_bytes() == lines
