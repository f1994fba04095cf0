"""TLS, on the one port and on others: from outside, over real sockets."""

import json
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing

import certificates
import pytest
import websocket as websocket_client
from scripted_clients import KINDS, connected, play_out
from shared_ports import MOVES, got, got_from, on_one_port, stopped
from worlds.server import PATIENCE, Served, everything, ran, served, until

pytestmark = [certificates.needs_openssl, pytest.mark.operation]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> certificates.Files:
    return certificates.make(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def secure(files: certificates.Files) -> Iterator[Served]:
    """Takes both, and the clients of tests come by TLS."""
    with on_one_port(tls=files) as gateway:
        yield gateway
        stopped(gateway)


def test_port_with_tls_takes_clients_without_it_too(secure: Served) -> None:
    with socket.create_connection(("127.0.0.1", secure.port("droidcon")), PATIENCE) as sock:
        sock.sendall(b"NAME ann\n")
        assert until(sock, b"\n") == b"SUCCESS\n"
    url = f"ws://127.0.0.1:{secure.port('nac4')}/nac4"
    with closing(websocket_client.create_connection(url, timeout=PATIENCE)) as bot:
        bot.send("connect plainbot")
        assert bot.recv() == "connected hello plainbot\r\n"
    assert got_from(secure.port("page"), "/healthz").startswith("HTTP/1.1 200")


def test_openssl_s_client_serves_as_telnet(secure: Served, files: certificates.Files) -> None:
    where = f"127.0.0.1:{secure.port('droidcon')}"
    command = ["openssl", "s_client", "-quiet", "-verify_return_error", "-CAfile", files.certificate]
    with subprocess.Popen(
        [*command, "-connect", where],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
    ) as telnet:
        assert telnet.stdin is not None
        assert telnet.stdout is not None
        for line in (b"NAME ann\n", b"JOIN telnet\n"):
            telnet.stdin.write(line)
            assert telnet.stdout.readline() == b"SUCCESS\n"
        telnet.terminate()


def test_long_answer_arrives_whole_by_tls(secure: Served) -> None:
    status, _, text = got(secure, "/api/openapi.json")
    assert status == 200
    assert json.loads(text)["openapi"].startswith("3.1")


def test_tls_only_refuses_other_clients_with_a_word(files: certificates.Files) -> None:
    with on_one_port("--tls-only", tls=files) as gateway:
        assert [line.split()[1].partition("://")[0] for line in gateway.announced[:3]] == [
            "https",
            "wss",
            "wss",
        ]
        with socket.create_connection(("127.0.0.1", gateway.port("droidcon")), PATIENCE) as sock:
            sock.sendall(b"NAME ann\n")
            assert everything(sock) == b"Error TLS_REQUIRED\n"
        refusal = got_from(gateway.port("page"))
        assert refusal.startswith("HTTP/1.1 426")
        assert "use https:// or wss:// instead" in refusal
        assert got(gateway, "/healthz")[0] == 200
        stopped(gateway)


def test_ports_of_their_own_take_tls_too(files: certificates.Files) -> None:
    ports = ("--nac4", "0", "--arena", "0", "--tcp", "0", "--web", "0")
    with served(*ports, *files.options, addresses=4) as gateway:
        gateway.tls = files.client()
        assert got(gateway, "/healthz")[0] == 200
        _, _, text = got(gateway, "/play", {"Accept": "text/html"})
        assert f'data-address="wss://127.0.0.1:{gateway.port("arena")}"' in text
        clients = [KINDS[kind](gateway, f"{kind}bot", "own") for kind in ("nac4", "droidcon")]
        with connected(*clients):
            play_out(clients[0], clients[1], MOVES)
        gateway.tls = None
        assert got(gateway, "/healthz")[0] == 200
        stopped(gateway)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--tls-cert", "/nowhere.pem"], "/nowhere.pem: No such file or directory"),
        (["--tls-cert", __file__], "are not a certificate and its key, in PEM"),
    ],
)
def test_certificate_that_cannot_be_used_is_one_line_and_status_1(options: list[str], words: str) -> None:
    status, out, err = ran("--port", "0", "--db", "none", *options)
    assert (status, out) == (1, "")
    assert words in err
    assert err.count("\n") == 1
