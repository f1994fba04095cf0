"""The operator's commands on a running server, as an operator has them: one folder, and no options."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from worlds.server import PATIENCE, Served, everything, until

from gateway.__main__ import main
from gateway.options.names import TOKEN_FILE as FILE

EVERY = ("who", "kick x", "ban x", "unban x", "announce x", "pause", "resume", "drain", "clear --yes")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of this test's own, without options in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("C4GATEWAY_")]:
        monkeypatch.delenv(name)
    return tmp_path


@contextmanager
def started(*options: str) -> Iterator[Served]:
    """Run a server in the working directory while the context lasts."""
    command = [sys.executable, "-m", "gateway", "--tcp", "0", "--web", "0", *options]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, bufsize=0, **pipes) as process:  # type: ignore[call-overload]
        server = Served(process)
        try:
            server.read_addresses(2)
            yield server
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate(timeout=PATIENCE)


def run(server: Served, command: str, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str]:
    """Run a command on a server; return its exit status, and what it says."""
    capsys.readouterr()
    url = f"http://127.0.0.1:{server.port('page')}"
    status = main([*command.split(" "), *more, "--url", url])
    said = capsys.readouterr()
    return status, said.out + said.err


def player(server: Served, name: str, *more: str) -> socket.socket:
    """Return a player's connection, once its name was taken."""
    sock = socket.create_connection(("127.0.0.1", server.port("droidcon")), timeout=PATIENCE)
    for line in (f"NAME {name}", *more):
        sock.sendall(f"{line}\n".encode())
        until(sock, b"SUCCESS")
    return sock


def test_walk_of_an_operator_with_no_option_given_at_the_start(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with started() as server, player(server, "ann", "JOIN lobby") as ann, player(server, "eve") as eve:
        status, said = run(server, "who", capsys)
        assert status == 0
        assert re.search(r"ann +droidcon +127\.0\.0\.1 +\d\d:\d\d:\d\d +waits\n", said)
        assert re.search(r"eve +droidcon +127\.0\.0\.1 +\d\d:\d\d:\d\d +has not asked for a game\n", said)
        assert run(server, "kick EVE", capsys) == (0, "1 player was hung up on\n")
        everything(eve)
        assert run(server, "kick eve", capsys)[0] == 1
        with player(server, "eve") as again:
            assert run(server, "ban Eve", capsys) == (
                0,
                "the name 'eve' is banned; 1 player was hung up on\n",
            )
            everything(again)
        with socket.create_connection(("127.0.0.1", server.port("droidcon")), timeout=PATIENCE) as banned:
            banned.sendall(b"NAME eve\n")
            until(banned, b"Error INVALID_COMMAND")
        assert "banned already" in run(server, "ban eve", capsys)[1]
        assert run(server, "unban eve", capsys) == (0, "the name 'eve' is let in again\n")
        player(server, "eve").close()
        assert run(server, "kick 127.0.0.1", capsys)[0] == 0
        everything(ann)
        status, log = server.stop()
    assert status == 0
    token = (folder / FILE).read_text().strip()
    audit = (folder / "c4gateway.audit").read_text()
    assert token not in log + audit
    acts = [line.split("\t")[1:] for line in audit.splitlines()]
    assert ["admin", "ban", "127.0.0.1", "eve"] in acts
    assert log.count(str(folder / FILE)) == 1
    with started() as server:
        assert run(server, "who", capsys)[0] == 0
        assert str(folder / FILE) not in server.stop()[1]


@pytest.mark.parametrize("command", ["who", "kick x"])
def test_without_a_token_or_a_server_it_is_said_in_one_line(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command.split()) == 1
    assert "there is no admin token in c4gateway.token; run this in the folder" in capsys.readouterr().err
    (folder / FILE).write_text("sesame\n")
    (folder / FILE).chmod(0o600)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
    assert main([*command.split(), "--url", url]) == 1
    assert f"no server answers at {url}" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["ban eve", "unban eve"])
def test_without_a_server_bans_are_changed_in_the_file(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        monkeypatch.setenv("C4GATEWAY_WEB", str(closed.getsockname()[1]))
    bans = folder / "c4gateway.players.bans"
    bans.write_text("" if command == "ban eve" else "name\teve\n")
    assert main(command.split()) == 0
    assert "is written; a running server reads it on SIGHUP" in capsys.readouterr().err
    assert bans.read_text() == ("name\teve\n" if command == "ban eve" else "")


def test_ban_in_another_folder_than_that_of_the_running_server_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with started() as server:
        monkeypatch.setenv("C4GATEWAY_WEB", str(server.port("page")))
        (folder / "other").mkdir()
        monkeypatch.chdir(folder / "other")
        assert main(["ban", "eve"]) == 1
        said = capsys.readouterr().err
    assert "but there is no admin token in" in said
    assert "--players FILE" in said
    assert not [*(folder / "other").iterdir()]


def answered(answers: Sequence[bytes], *command: str) -> int:
    """Run a command on a server that gives these answers to its requests; return its exit status."""
    token = Path(FILE)
    token.write_text("sesame\n")
    token.chmod(0o600)
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.settimeout(PATIENCE)

        def serve() -> None:
            for answer in answers:
                client, _ = other.accept()
                with client:
                    client.recv(4096)
                    client.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        status = main([*command, "--url", f"http://127.0.0.1:{other.getsockname()[1]}"])
        thread.join(PATIENCE)
    return status


def http(status: str, body: str) -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


MISSING = http("404 Not Found", '{"error": "there is no such page"}')
OLD = json.dumps({"info": {"title": "c4gateway"}, "paths": {"/api/clear": {}}})


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([b"SSH-2.0-x\r\n"], "is no c4gateway"),
        ([http("200 OK", "hey!")], "is no c4gateway"),
        ([http("200 OK", "{}")], "is no c4gateway"),
        ([http("200 OK", "[" * 99_999)], "is no c4gateway"),
        ([http("302 Found", "{}")], "is no c4gateway"),
        ([MISSING, MISSING], "is no c4gateway"),
        ([MISSING, http("200 OK", "[]")], "is no c4gateway"),
        ([MISSING, http("200 OK", '{"info": 1}')], "is no c4gateway"),
        ([MISSING, http("200 OK", OLD)], "is an older version, which does not know this command; upgrade it"),
        ([http("500 x", '{"error": "\\u001b[31m"}')], "\\x1b[31m"),
        ([b""], "closed connection without response"),
    ],
)
def test_server_of_another_kind_is_named(
    answers: list[bytes], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answered(answers, "who") == 1
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1
    assert "sesame" not in err


@pytest.mark.parametrize("command", EVERY)
def test_every_command_says_that_its_token_is_another_one(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answered([http("403 Forbidden", '{"error": "x"}')], *command.split()) == 1
    assert "has another admin token than c4gateway.token" in capsys.readouterr().err


def test_names_of_players_do_nothing_to_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    player = {"name": "\x1b[31m\n\u202e", "kind": "arena", "address": "::/64", "seconds": 90_000.5}
    player |= {"doing": "between games", "against": "\x07", "table": "\t", "node": None}
    body = json.dumps(
        {"players": [player, {**player, "seconds": 5, "doing": "plays"}], "more": 3, "not_done": {}}
    )
    assert answered([http("200 OK", body)], "who") == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 4
    assert all(sign.isprintable() for line in out.splitlines() for sign in line)
    assert "and 3 more" in out


def test_nodes_that_have_not_done_it_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    body = json.dumps({"kicked": 1, "not_done": {"b": "it does not answer"}})
    assert answered([http("200 OK", body)], "kick", "x") == 1
    out, err = capsys.readouterr()
    assert out == "1 player was hung up on\n"
    assert err == "c4gateway: error: not done on node b: it does not answer\n"


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8000", "ftp://x", "http://", "http://a b", "http://u:p@h", "http://h/?x"]
)
def test_what_is_no_url_is_refused(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["who", "--url", url])
    assert end.value.code == 2


def test_pause_between_two_rounds_and_a_drain_at_the_end_by_a_token_in_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("C4GATEWAY_ADMIN_TOKEN", "sesame")
    with started("--rounds", "1") as server:
        monkeypatch.setenv("C4GATEWAY_WEB", str(server.port("page")))
        assert main(["who"]) == 0
        assert capsys.readouterr().out == "Nobody is connected.\n"
        assert run(server, "clear --yes", capsys) == (0, "removed: 0 games, 0 players\n")
        assert run(server, "announce", capsys, "Round 2 at <14:00>") == (
            0,
            "the page shows: Round 2 at <14:00>\n",
        )
        assert run(server, "pause", capsys)[0] == 0
        with player(server, "ann", "JOIN lobby") as ann, player(server, "eve", "JOIN lobby") as eve:
            assert run(server, "who", capsys)[1].count(" waits\n") == 2
            assert run(server, "resume", capsys)[0] == 0
            until(ann, b"NEW_GAME")
            until(eve, b"NEW_GAME")
            assert "the page shows no announcement" in run(server, "announce", capsys)[1]
            status, said = run(server, "drain --seconds 50", capsys)
            assert (status, said) == (0, "no further game begins; the server stops within 50 s\n")
            assert "drains already" in run(server, "drain", capsys)[1]
            assert run(server, "kick ann", capsys) == (0, "1 player was hung up on\n")
            everything(eve)
        status, log = server.end()
    assert status == 0
    assert "stopping on the operator's drain; games that are on may be finished within 50 s" in log
    assert "drained: all games are over" in log


def test_clear_needs_a_word_more(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["clear"])
    assert end.value.code == 2
    assert "--yes" in capsys.readouterr().err


def test_ban_says_that_no_server_answers_where_one_may_be(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("C4GATEWAY_ADMIN_TOKEN", "sesame")
    with socket.create_server(("127.0.0.1", 0)) as closed:
        monkeypatch.setenv("C4GATEWAY_WEB", str(closed.getsockname()[1]))
    assert main(["ban", "eve"]) == 0
    assert "no server answers at http://127.0.0.1:" in capsys.readouterr().err
    assert (folder / "c4gateway.players.bans").read_text().endswith("name\teve\n")
