"""One port for everything, behind a proxy and not: from outside, over real sockets."""

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import closing

import certificates
import pytest
from scripted_clients import KINDS, connected, play_out
from shared_ports import MOVES, asked, dialled, got, got_from, on_one_port, opened, stopped
from worlds.server import PATIENCE, Served, everything, served, until

from conformance.lab.meters import children_of, has_proc

pytestmark = pytest.mark.operation

FIRST = {
    "nac4": ("connect ann", "connected hello ann"),
    "arena": ('{"type": "start", "id": ""}', "You need to include an id"),
}
"""What a client says first, and what it hears."""
LOCAL = b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0"
"""The header, in version 2, with which a proxy speaks for itself."""
NAMES = ["page", "nac4", "arena", "droidcon"]


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
    assert plain.paths == {"page": "", "nac4": "/nac4", "arena": "/arena", "droidcon": ""}


@pytest.mark.parametrize(
    ("first", "second"), [("nac4", "arena"), ("arena", "droidcon"), ("droidcon", "nac4")]
)
def test_dialects_play_each_other_on_one_port(gateway: Served, first: str, second: str) -> None:
    table = f"{first} {second}"
    clients = [KINDS[kind](gateway, f"{kind}bot", table) for kind in (first, second)]
    with connected(*clients):
        play_out(clients[0], clients[1], MOVES)


@pytest.mark.parametrize("kind", FIRST)
@pytest.mark.parametrize("path", ["/{}", "/{}/", "/{}?table=x", "/", "/?table=x", "/anything"])
def test_path_or_else_the_first_message_says_which_dialect_it_is(
    gateway: Served, kind: str, path: str
) -> None:
    say, hear = FIRST[kind]
    with closing(opened(gateway, path.format(kind))) as bot:
        bot.send(say)
        assert hear in bot.recv()


def test_path_counts_more_than_the_first_message(plain: Served) -> None:
    with closing(opened(plain, "/nac4")) as bot:
        bot.send(FIRST["arena"][0])
        assert bot.recv().startswith("not-connected")
    with closing(opened(plain, "/arena")) as bot:
        bot.send(FIRST["nac4"][0])
        assert "Malformed message" in bot.recv()


@pytest.mark.parametrize(
    "first", ['{:type "start", :id ""}', ' ,\n{"type": "start", "id": ""}', "#:x{:a 1}", "{}"]
)
def test_map_is_a_map_in_either_encoding(plain: Served, first: str) -> None:
    with closing(opened(plain, "/")) as bot:
        bot.send(first)
        assert "ignored" in bot.recv()


def test_line_that_comes_byte_by_byte_is_a_line(gateway: Served) -> None:
    with dialled(gateway) as sock:
        for byte in b"PUT 3\nNAME ann\n":
            sock.sendall(bytes((byte,)))
        error, success, _ = until(sock, b"SUCCESS\n").split(b"\n")
        assert error.startswith(b"Error ")
        assert success == b"SUCCESS"


def test_lines_may_be_piped_in_and_are_answered_before_the_end(plain: Served) -> None:
    with dialled(plain) as sock:
        sock.sendall(b"NAME ann\nNAME bob")
        sock.shutdown(socket.SHUT_WR)
        assert everything(sock) == b"SUCCESS\nSUCCESS\n"


def test_client_that_sends_nothing_and_leaves_is_forgotten(gateway: Served) -> None:
    for begin in (b"", b"P", b"GET / HTTP/1.1\r\n"):
        with dialled(gateway) as sock:
            sock.sendall(begin)


def test_page_and_its_api_are_there(gateway: Served) -> None:
    assert got(gateway, "/api/live")[0] == 200
    _, policy, text = got(gateway, "/play", {"Accept": "text/html"})
    scheme = "ws" if gateway.tls is None else "wss"
    address = f"{scheme}://127.0.0.1:{gateway.port('page')}/arena"
    assert f'data-address="{address}"' in text
    assert address in policy


def test_connection_to_the_page_stays_open_for_further_requests(gateway: Served) -> None:
    with dialled(gateway) as sock:
        for _ in range(3):
            sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert until(sock, b"}").startswith(b"HTTP/1.1 200")


def test_request_that_comes_byte_by_byte_is_answered(gateway: Served) -> None:
    with dialled(gateway) as sock:
        for byte in b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n":
            sock.sendall(bytes((byte,)))
        assert everything(sock).startswith(b"HTTP/1.1 200")


def test_stream_of_live_games_goes_on_while_its_viewer_watches(gateway: Served) -> None:
    clients = [KINDS[kind](gateway, f"{kind}watched", "watched") for kind in ("nac4", "droidcon")]
    with asked(gateway, "/api/live/events") as answer, connected(*clients):
        play_out(clients[0], clients[1], MOVES)
        while b"event: ended" not in answer.readline():
            pass


def test_foreign_name_is_refused_as_on_a_port_of_the_page_s_own(plain: Served) -> None:
    assert got(plain, "/api/live", {"Host": "evil.example"})[0] == 421


def test_request_of_a_proxy_is_the_only_one_on_its_connection(plain: Served) -> None:
    """The next one could ask for a websocket, which the page's process does not have."""
    for header in ("X-Forwarded-For: 203.0.113.7", "Via: 1.1 proxy", "Forwarded: for=203.0.113.7"):
        with dialled(plain) as sock:
            sock.sendall(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n{header}\r\n\r\n".encode())
            assert b"connection: close" in everything(sock).lower()


def test_without_the_page_a_request_is_told_what_the_port_takes() -> None:
    with served("--port", "0") as gateway:
        answer = got_from(gateway.port("nac4"))
        assert "nac4 (websocket), at /nac4" in answer
        assert "(TCP)" in answer
        stopped(gateway)


def test_other_ports_open_beside_the_one_where_they_are_given() -> None:
    with served("--port", "0", "--tcp", "0", "--web", "0", addresses=6) as gateway:
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


@certificates.needs_openssl
def test_header_of_a_proxy_comes_before_tls(files: certificates.Files) -> None:
    with on_one_port("--proxy-protocol", tls=files) as gateway:
        for name in ("droidcon", "page"):
            sock = socket.create_connection(("127.0.0.1", gateway.port(name)), PATIENCE)
            sock.sendall(b"PROXY TCP4 203.0.113.7 192.0.2.1 12345 443\r\n")
            assert gateway.tls is not None
            with gateway.tls.wrap_socket(sock, server_hostname="127.0.0.1") as wrapped:
                wrapped.sendall(b"NAME ann\n" if name == "droidcon" else b"GET / HTTP/1.0\r\n\r\n")
                assert until(wrapped, b"\n").split()[0] in (b"SUCCESS", b"HTTP/1.1")
        stopped(gateway)


def test_trusted_proxy_says_how_its_client_came() -> None:
    forwarded = {"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https", "Host": "localhost"}
    headers = forwarded | {"Accept": "text/html"}
    with on_one_port("--trusted-proxy", "127.0.0.0/8") as gateway:
        assert 'data-address="wss://localhost:443/arena"' in got(gateway, "/play", headers)[2]
        stopped(gateway)


def test_from_others_a_proxy_s_headers_mean_nothing(plain: Served) -> None:
    headers = {"X-Forwarded-Proto": "https", "Host": "localhost", "Accept": "text/html"}
    assert 'data-address="ws://localhost:80/arena"' in got(plain, "/play", headers)[2]
