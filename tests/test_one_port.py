"""One port for everything, behind a proxy and not, and TLS: from outside, over real sockets."""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing

import certificates
import pytest
import websocket as websocket_client
from scripted_clients import KINDS, connected, play_out
from shared_ports import MOVES, asked, got, got_from, on_one_port, stopped
from worlds.server import PATIENCE, Served, everything, ran, served, until

from adapters.dialects import DIALECTS
from conformance.lab.meters import children_of, has_proc

pytestmark = pytest.mark.operation

LOCAL = b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0"
"""The header, in version 2, with which a proxy speaks for itself."""
NAMES = ["page", *(each.name for each in DIALECTS)]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> certificates.Files:
    return certificates.make(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def plain() -> Iterator[Served]:
    with on_one_port() as gateway:
        yield gateway
        stopped(gateway)


@pytest.fixture(scope="module")
def secure(files: certificates.Files) -> Iterator[Served]:
    """Takes both, and the clients of tests come by TLS."""
    with on_one_port(tls=files) as gateway:
        yield gateway
        stopped(gateway)


@pytest.fixture(params=["plain", pytest.param("secure", marks=certificates.needs_openssl)])
def gateway(request: pytest.FixtureRequest) -> Served:
    found: Served = request.getfixturevalue(request.param)
    return found


def test_command_says_where_everything_is(plain: Served) -> None:
    assert [name for name, _, _ in plain.addresses] == NAMES
    assert len({port for _, _, port in plain.addresses}) == 1
    paths = {each.name: f"/{each.name}" if each.scheme else "" for each in DIALECTS}
    assert plain.paths == {"page": "", **paths}


@pytest.mark.parametrize(
    ("first", "second"), [("nac4", "arena"), ("arena", "droidcon"), ("droidcon", "nac4")]
)
def test_dialects_play_each_other_on_one_port(gateway: Served, first: str, second: str) -> None:
    table = f"{first} {second}"
    clients = [KINDS[kind](gateway, f"{kind}bot", table) for kind in (first, second)]
    with connected(*clients):
        play_out(clients[0], clients[1], MOVES)


def test_page_and_its_api_are_there(gateway: Served) -> None:
    assert got(gateway, "/api/live")[0] == 200
    _, policy, text = got(gateway, "/play", {"Accept": "text/html"})
    scheme = "ws" if gateway.tls is None else "wss"
    address = f"{scheme}://127.0.0.1:{gateway.port('page')}/arena"
    assert f'data-address="{address}"' in text
    assert address in policy


def test_stream_of_live_games_goes_on_while_its_viewer_watches(gateway: Served) -> None:
    clients = [KINDS[kind](gateway, f"{kind}watched", "watched") for kind in ("nac4", "droidcon")]
    with asked(gateway, "/api/live/events") as answer, connected(*clients):
        play_out(clients[0], clients[1], MOVES)
        while b"event: ended" not in (line := answer.readline()):
            assert line, "the stream has ended"


def test_foreign_name_is_refused_as_on_a_port_of_the_page_s_own(plain: Served) -> None:
    assert got(plain, "/api/live", {"Host": "evil.example"})[0] == 421


def test_without_the_page_a_request_is_told_what_the_port_takes() -> None:
    with served("--port", "0") as gateway:
        answer = got_from(gateway.port("nac4"))
        assert "nac4 (websocket), at /nac4" in answer
        assert "(TCP)" in answer
        stopped(gateway)


def test_other_ports_open_beside_the_one_where_they_are_given() -> None:
    with served("--port", "0", "--tcp", "0", "--web", "0", addresses=2 + len(NAMES)) as gateway:
        assert [name for name, _, _ in gateway.addresses] == ["page", "droidcon", *NAMES]
        for port in {port for name, _, port in gateway.addresses if name == "droidcon"}:
            with socket.create_connection(("127.0.0.1", port), PATIENCE) as sock:
                sock.sendall(b"NAME ann\n")
                assert until(sock, b"\n") == b"SUCCESS\n"
        for port in {port for name, _, port in gateway.addresses if name == "page"}:
            with socket.create_connection(("127.0.0.1", port), PATIENCE) as sock:
                sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
                assert everything(sock).startswith(b"HTTP/1.1 200")
        stopped(gateway)


@pytest.mark.skipif(not has_proc(), reason="no /proc here")
def test_client_that_asks_while_the_page_s_process_is_away_waits_for_the_next_one() -> None:
    with on_one_port() as gateway:
        assert got(gateway, "/healthz")[0] == 200
        (number,) = children_of(gateway.process.pid)
        os.kill(number, signal.SIGKILL)
        assert got(gateway, "/healthz")[0] == 200
        assert gateway.stop()[0] == 0


# Behind a proxy.


def test_behind_a_proxy_every_connection_begins_with_its_header() -> None:
    with on_one_port("--proxy-protocol") as gateway:
        port = gateway.port("page")
        for header in (b"PROXY TCP4 203.0.113.7 192.0.2.1 12345 443\r\n", LOCAL):
            with socket.create_connection(("127.0.0.1", port), PATIENCE) as sock:
                sock.sendall(header + b"NAME ann\n")
                assert until(sock, b"\n") == b"SUCCESS\n"
            assert got_from(port, "/healthz", header).startswith("HTTP/1.1 200")
        for header in (b"", b"PROXY TCP4 nowhere\r\n"):
            with socket.create_connection(("127.0.0.1", port), PATIENCE) as sock:
                sock.sendall(header + b"NAME ann\nNAME ann\n")
                assert everything(sock) == b""
        err = stopped(gateway)
    assert err.count("was refused: there is no PROXY header") == 1


def test_trusted_proxy_says_how_its_client_came() -> None:
    forwarded = {"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https", "Host": "localhost"}
    headers = forwarded | {"Accept": "text/html"}
    with on_one_port("--trusted-proxy", "127.0.0.0/8") as gateway:
        assert 'data-address="wss://localhost:443/arena"' in got(gateway, "/play", headers)[2]
        stopped(gateway)


# TLS.


@certificates.needs_openssl
def test_port_with_tls_takes_clients_without_it_too(secure: Served) -> None:
    with socket.create_connection(("127.0.0.1", secure.port("droidcon")), PATIENCE) as sock:
        sock.sendall(b"NAME ann\n")
        assert until(sock, b"\n") == b"SUCCESS\n"
    url = f"ws://127.0.0.1:{secure.port('nac4')}/nac4"
    with closing(websocket_client.create_connection(url, timeout=PATIENCE)) as bot:
        bot.send("connect plainbot")
        assert bot.recv() == "connected hello plainbot\r\n"
    assert got_from(secure.port("page"), "/healthz").startswith("HTTP/1.1 200")


@certificates.needs_openssl
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


@certificates.needs_openssl
def test_long_answer_arrives_whole_by_tls(secure: Served) -> None:
    status, _, text = got(secure, "/api/openapi.json")
    assert status == 200
    assert json.loads(text)["openapi"].startswith("3.1")


@certificates.needs_openssl
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


@certificates.needs_openssl
def test_silent_client_has_the_seconds_of_a_request_also_where_it_may_begin_with_tls(
    files: certificates.Files,
) -> None:
    with (
        served("--nac4", "0", "--request-seconds", "0.2", *files.options, addresses=1) as gateway,
        socket.create_connection(("127.0.0.1", gateway.port("nac4")), PATIENCE) as sock,
    ):
        assert sock.recv(1) == b""


@certificates.needs_openssl
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


@certificates.needs_openssl
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
