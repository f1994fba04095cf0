"""Protected names, from outside: real sockets, clients of each dialect, and what is left of a token."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

import pytest
import websocket as websocket_client
import websockets.exceptions
import websockets.sync.client
from worlds.server import EVERY_PORT, PATIENCE, ROOT, Served, ran, served

from gateway.access.accounts import Account, digest_of, new_token

pytestmark = pytest.mark.operation

NAMES = ("ann", "bob", "cid", "dan", "eve", "tom")


@dataclass(frozen=True)
class World:
    """A running server with protected names."""

    gateway: Served
    tokens: Mapping[str, str]
    file: Path
    db: Path


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("accounts")
    file, db = folder / "players", folder / "games.db"
    tokens = {name: new_token() for name in NAMES[1:]}
    file.write_text("".join(f"{Account(name, digest_of(tokens[name])).line}\n" for name in tokens))
    status, out, _ = ran("player", "add", NAMES[0], "--players", str(file), "--audit", str(folder / "audit"))
    assert status == 0
    tokens[NAMES[0]] = out.strip()
    with served(*EVERY_PORT, "--players", str(file), "--db", str(db)) as gateway:
        yield World(gateway, tokens, file, db)
        status, err = gateway.stop()
        assert status == 0
        assert "ERROR" not in err
        assert not [name for name in NAMES if tokens[name] in err]


@contextmanager
def nac4(world: World, target: str = "/", token: str | None = None) -> Iterator[websocket_client.WebSocket]:
    """Give a connection of the websocket-client library, as the original's own bots are written with."""
    header = [] if token is None else [f"Authorization: Bearer {token}"]
    client = websocket_client.create_connection(
        world.gateway.url("nac4", target), timeout=PATIENCE, header=header
    )
    try:
        yield client
    finally:
        client.shutdown()  # type: ignore[no-untyped-call]


@contextmanager
def arena(
    world: World, target: str = "/", token: str | None = None
) -> Iterator[websockets.sync.client.ClientConnection]:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    with websockets.sync.client.connect(
        world.gateway.url("arena", target), open_timeout=PATIENCE, proxy=None, additional_headers=headers
    ) as client:
        yield client


@contextmanager
def lines(world: World, *said: str) -> Iterator[Sequence[str]]:
    """Give what a Droidcon client hears that says these lines and no more."""
    with socket.create_connection(("127.0.0.1", world.gateway.port("droidcon")), timeout=PATIENCE) as sock:
        sock.sendall("".join(f"{line}\n" for line in said).encode())
        with sock.makefile("r") as heard:
            yield [heard.readline().strip() for _ in said]


def greeted(client: websocket_client.WebSocket, *words: str) -> str:
    client.send(" ".join(("connect", *words)) + "\r\n")
    return str(client.recv()).strip()


def test_nac4_player_is_let_in_with_its_token_in_header_message_or_url(world: World) -> None:
    token = world.tokens["ann"]
    for target, header, words in (
        ("/", token, ("ann",)),
        ("/", None, ("Ann", token)),
        ("/?token=" + quote(token), None, ("ann",)),
        ("/?token=wrong", token, ("ann",)),
    ):
        with nac4(world, target, header) as client:
            assert greeted(client, *words) == f"connected hello {words[0]}"


def test_nac4_player_without_the_right_token_is_refused_and_hung_up_on(world: World) -> None:
    for words in (("eve",), ("EVE", world.tokens["ann"])):
        with nac4(world) as client:
            assert greeted(client, *words) == f"not-connected {words[0]} needs its token"
            opcode, data = client.recv_data(control_frame=True)
            assert opcode == websocket_client.ABNF.OPCODE_CLOSE
            assert data[:2] == (1008).to_bytes(2)


def test_names_that_nobody_protects_need_no_token(world: World) -> None:
    with nac4(world) as client:
        assert greeted(client, "zoe") == "connected hello zoe"
    with lines(world, "NAME yan", "JOIN yans") as heard:
        assert heard == ["SUCCESS", "SUCCESS"]


def test_arena_player_is_let_in_with_its_token_in_header_or_start(world: World) -> None:
    start = {"type": "start", "id": "cid", "table": "arena"}
    with arena(world, token=world.tokens["bob"]) as bob, arena(world) as cid:
        bob.send(json.dumps(start | {"id": "bob"}))
        cid.send(json.dumps(start | {"token": world.tokens["cid"]}))
        for client in (bob, cid):
            assert json.loads(client.recv(PATIENCE))["type"] == "state"


def test_copy_in_ignored_shows_no_token(world: World) -> None:
    with arena(world) as client:
        wrong = {"type": "start", "id": "eve", "token": world.tokens["ann"]}
        client.send(json.dumps(wrong))
        answer = json.loads(client.recv(PATIENCE))
        assert answer["msg"] == wrong | {"token": "..."}
        assert answer["reason"] == "The token for this id is missing or wrong"


def test_droidcon_player_is_let_in_with_its_token_behind_the_name(world: World) -> None:
    with lines(world, f"NAME dan {world.tokens['dan']}", "JOIN dans") as heard:
        assert heard == ["SUCCESS", "SUCCESS"]
    with lines(world, "NAME eve", "JOIN eves") as heard:
        assert heard == ["Error INVALID_COMMAND", "Error NO_NAME_SET"]


def test_name_that_looks_like_a_protected_one_is_refused_in_every_dialect(world: World) -> None:
    token = world.tokens["tom"]
    with nac4(world) as client:
        assert greeted(client, "torn", token) == "not-connected torn needs its token"
    with arena(world, token=token) as other:
        other.send(json.dumps({"type": "start", "id": "t\u043em"}))
        assert json.loads(other.recv(PATIENCE))["reason"] == "The token for this id is missing or wrong"
    with lines(world, f"NAME t\u043em {token}") as heard:
        assert heard == ["Error INVALID_COMMAND"]


@pytest.mark.parametrize("dialect", ["nac4", "arena", "droidcon"])
@pytest.mark.parametrize("by", ["file", "environment"])
def test_c4bot_plays_under_a_protected_name(world: World, dialect: str, by: str, tmp_path: Path) -> None:
    address = f"127.0.0.1:{world.gateway.port(dialect)}"
    options, token = ["--name", "ann", "--against", "random", "--engine", "random"], world.tokens["ann"]
    environment = {"C4BOT_TOKEN": "wrong" if by == "file" else token}
    if by == "file":
        (tmp_path / "token").write_text(f"{token}\n")
        options += ["--token-file", str(tmp_path / "token")]
    done = subprocess.run(
        [sys.executable, "-m", "adapters.bot", dialect, address, *options],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert token not in done.stdout + done.stderr


def test_evidence_of_a_game_shows_no_token(world: World) -> None:
    token = world.tokens["bob"]
    with (
        socket.create_connection(("127.0.0.1", world.gateway.port("droidcon")), timeout=PATIENCE) as sock,
        sock.makefile("r") as heard,
        arena(world, "/?table=evidence") as client,
    ):
        sock.sendall(f"NAME bob {token}\nJOIN evidence\n".encode())
        assert [heard.readline() for _ in range(2)] == ["SUCCESS\n"] * 2
        start = json.dumps({"type": "start", "id": "cid", "token": world.tokens["cid"]})
        client.send(start)
        assert [heard.readline() for _ in range(2)] == ["NEW_GAME\n", "YOUR_MOVE\n"]
        sock.sendall(f"NAME bob {token}\nNMAE bob {token}\nPUT 0\n".encode())
        client.send(start)
        while json.loads(client.recv(PATIENCE)).get("last-move") is None:
            pass
        client.send('{"type":"move","move":1}')
        while heard.readline() != "PUT 1\n":
            pass
    status, out, _ = ran("export", "--player", "cid", "--db", str(world.db))
    game = json.loads(out.splitlines()[-1])["id"]
    status, out, _ = ran("show", game, "--db", str(world.db))
    assert status == 0
    assert "NAME bob ..." in out
    assert "NMAE bob ..." in out
    assert '"token...' in out
    assert token not in out
    assert world.tokens["cid"] not in out


def test_log_tells_of_refusals_and_of_tokens_in_urls_and_shows_none(world: World) -> None:
    with served(*EVERY_PORT, "--players", str(world.file), "--registered-only") as gateway:
        other = replace(world, gateway=gateway)
        with nac4(other, "/?token=" + quote(world.tokens["ann"])) as client:
            assert greeted(client, "ann") == "connected hello ann"
        with lines(other, f"NAME eve {world.tokens['ann']}", "NAME zoe"):
            pass
        status, err = gateway.stop()
    assert status == 0
    assert err.count("a client at 127.0.0.1 sends its token in the URL") == 1
    assert "'eve' is not let in from 127.0.0.1: the token is missing or wrong" in err
    assert "'zoe' is not let in from 127.0.0.1: the name is not registered" in err
    assert world.tokens["ann"] not in err


def test_tokens_are_in_no_file_of_the_server(world: World) -> None:
    for path in filter(Path.is_file, world.file.parent.rglob("*")):
        data = path.read_bytes()
        assert not [name for name in NAMES if world.tokens[name].encode() in data]
