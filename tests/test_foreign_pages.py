"""What a page of another website can make a browser send: to the ports of real servers."""

from collections.abc import Iterator

import certificates
import pytest
import websocket as websocket_client
from shared_ports import dialled, got_from, on_one_port, stopped
from worlds.server import EVERY_PORT, PATIENCE, Served, everything, served

EVIL = "http://evil.example"
KNOWN = "https://c4.example"


@pytest.fixture(scope="module")
def own_ports() -> Iterator[Served]:
    allowed = ("--allow-origin", KNOWN, "--allow-origin", "*")
    with served(*EVERY_PORT, "--web", "0", "--metrics", "0", *allowed, addresses=5) as gateway:
        yield gateway
        stopped(gateway)


def status_for(gateway: Served, url: str, *origin: str) -> int:
    """Return the status of a handshake; with no origin, of what is no browser."""
    more = {"origin": origin[0]} if origin else {"suppress_origin": True}
    sslopt = None if gateway.tls is None else {"context": gateway.tls}
    try:
        websocket_client.create_connection(url, timeout=PATIENCE, sslopt=sslopt, **more).close()
    except websocket_client.WebSocketBadStatusException as error:
        return error.status_code
    return 101


@pytest.mark.parametrize("kind", ["nac4", "arena"])
def test_page_plays_where_it_is_from_and_where_it_is_known(own_ports: Served, kind: str) -> None:
    url = own_ports.url(kind)
    assert [status_for(own_ports, url, *each) for each in ((), ("http://localhost:1",), (KNOWN,))] == [
        101
    ] * 3
    assert [status_for(own_ports, url, each) for each in (EVIL, "null", "file://", "*")] == [403] * 4


@pytest.mark.parametrize(("host", "status"), [("evil.example", 421), ("c4.example:1", 200), ("box", 200)])
@pytest.mark.parametrize(("name", "path"), [("page", "/healthz"), ("metrics", "/metrics")])
def test_server_on_this_machine_alone_answers_to_no_domain_name_but_those_it_was_told_of(
    own_ports: Served, name: str, path: str, host: str, status: int
) -> None:
    with dialled(own_ports, name) as sock:
        sock.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        assert everything(sock).startswith(f"HTTP/1.1 {status} ".encode())


@certificates.needs_openssl
def test_one_port_and_tls_heed_the_same_and_keep_browsers_with_tls(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    files = certificates.make(tmp_path_factory.mktemp("certificates"))
    with on_one_port("--tls-only", "--nac4", "0", tls=files) as gateway:
        for name, path in (("page", "/nac4"), ("page", "/arena"), ("page", "/"), ("nac4", "/")):
            url = f"wss://127.0.0.1:{gateway.port(name)}{path}"
            assert [status_for(gateway, url, each) for each in ("https://localhost", EVIL)] == [101, 403]
        for name in ("page", "nac4"):
            for path in ("/", "/nowhere"):
                with dialled(gateway, name) as sock:
                    sock.sendall(
                        f"GET {path} HTTP/1.1\r\nHost: c4.test\r\nConnection: close\r\n\r\n".encode()
                    )
                    assert b"\r\nstrict-transport-security: max-age=15552000\r\n" in everything(sock).lower()
            assert "strict-transport-security" not in got_from(gateway.port(name)).lower()
        stopped(gateway)
