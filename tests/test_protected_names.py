"""Protected names, from outside: a token lets its player in, and is left nowhere."""

import json
import socket
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest
import websocket
from worlds.server import EVERY_PORT, PATIENCE, ran, served

from gateway.access.accounts import Account, digest_of, new_token

pytestmark = pytest.mark.operation


def test_token_lets_its_player_in_and_is_shown_in_no_log_file_or_evidence(tmp_path: Path) -> None:
    file, database = tmp_path / "players", str(tmp_path / "games.db")
    status, out, _ = ran("player", "add", "ann", "--players", str(file), "--audit", str(tmp_path / "audit"))
    assert status == 0
    tokens = {"ann": out.strip(), "bob": new_token()}
    with file.open("a") as players:
        players.write(f"{Account('bob', digest_of(tokens['bob'])).line}\n")
    with (
        served(*EVERY_PORT, "--players", str(file), "--db", database) as gateway,
        closing(
            websocket.create_connection(
                gateway.url("nac4", f"/?table=x&token={quote(tokens['ann'])}"), timeout=PATIENCE
            )
        ) as ann,
        socket.create_connection(("127.0.0.1", gateway.port("droidcon")), timeout=PATIENCE) as bob,
        bob.makefile("r") as heard,
    ):
        ann.send("connect ann\r\n")
        assert ann.recv() == "connected hello ann\r\n"
        for said, answer in (
            (f"NAME bob {tokens['ann']}", "Error INVALID_COMMAND\n"),
            (f"NAME bob {tokens['bob']}", "SUCCESS\n"),
            ("JOIN x", "SUCCESS\n"),
        ):
            bob.sendall(f"{said}\n".encode())
            assert heard.readline() == answer
        ann.send("playmove 0\r\n")
        while heard.readline() != "YOUR_MOVE\n":
            pass
        bob.sendall(f"NAME bob {tokens['bob']}\nNMAE bob {tokens['bob']}\nPUT 1\n".encode())
        assert [ann.recv().split()[0] for _ in range(3)] == ["newgame", "genmove", "genmove"]
        bob.shutdown(socket.SHUT_WR)
        heard.read()
        status, log = gateway.stop()
    assert status == 0
    assert log.count("a client at 127.0.0.1 sends its token in the URL") == 1
    assert "'bob' is not let in from 127.0.0.1: the token is missing or wrong" in log
    exported = ran("export", "--db", database, "--format", "jsonl")[1]
    status, shown, _ = ran("show", json.loads(exported)["id"], "--db", database)
    assert status == 0
    assert "NAME bob ..." in shown
    assert "NMAE bob ..." in shown
    texts = [log, exported, shown]
    texts += [path.read_bytes().decode("latin-1") for path in tmp_path.rglob("*") if path.is_file()]
    assert not [name for name, token in tokens.items() if any(token in text for text in texts)]
