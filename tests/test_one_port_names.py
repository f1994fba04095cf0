"""Protected names on the one port, by TLS: the token gets there with each client's own way to send it."""

from contextlib import closing
from pathlib import Path

import certificates
import pytest
from shared_ports import dialled, on_one_port, opened, stopped
from worlds.server import ran, until

pytestmark = pytest.mark.operation

START = '{"type": "start", "id": "ann"%s}'


@certificates.needs_openssl
def test_token_lets_a_protected_name_in_by_wss_and_tcp_with_tls(tmp_path: Path) -> None:
    file, audit = tmp_path / "players", tmp_path / "audit"
    status, token, _ = ran("player", "add", "ann", "--players", str(file), "--audit", str(audit))
    token = token.strip()
    assert status == 0
    with on_one_port("--players", str(file), tls=certificates.make(tmp_path)) as gateway:
        bearer = [f"Authorization: Bearer {token}"]
        with closing(opened(gateway, "/nac4", header=bearer)) as bot:
            bot.send("connect ann")
            assert bot.recv() == "connected hello ann\r\n"
        with closing(opened(gateway, "/")) as bot:  # the first message has both
            bot.send(START % f', "token": "{token}"')
            bot.send(START % "")
            assert "Waiting for match" in bot.recv()
        with dialled(gateway) as sock:
            sock.sendall(f"NAME ann {token}\n".encode())
            assert until(sock, b"\n") == b"SUCCESS\n"
        with closing(opened(gateway, "/nac4")) as stranger:
            stranger.send("connect ann")
            assert str(stranger.recv()).startswith("not-connected")
        assert token not in stopped(gateway)
