"""Limits by address on the one port, behind proxies: they hold for the client, not for the proxy."""

import resource
import socket
import ssl
from contextlib import ExitStack

import certificates
import pytest
from shared_ports import dialled, got_from, on_one_port, stopped
from worlds.server import PATIENCE, everything, until

from adapters.entrance.web_handoff import MOST_RELAYS

pytestmark = pytest.mark.operation


def header(address: str) -> bytes:
    return f"PROXY TCP4 {address} 192.0.2.1 12345 443\r\n".encode()


def test_address_that_a_proxy_names_has_the_limit_and_not_the_proxy() -> None:
    with on_one_port("--proxy-protocol", "--max-per-address", "1") as gateway:
        where = "127.0.0.1", gateway.port("droidcon")
        with socket.create_connection(where, PATIENCE) as first:
            first.sendall(header("203.0.113.7") + b"NAME ann\n")
            assert until(first, b"\n") == b"SUCCESS\n"
            with socket.create_connection(where, PATIENCE) as second:
                second.sendall(header("203.0.113.7"))
                assert everything(second).startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
            with socket.create_connection(where, PATIENCE) as other:
                other.sendall(header("203.0.113.8") + b"NAME bob\n")
                assert until(other, b"\n") == b"SUCCESS\n"
        err = stopped(gateway)
    assert "--max-per-address" in err
    assert "203.0.113.7" in err


def test_clients_of_the_page_are_told_apart_by_the_address_that_a_proxy_names() -> None:
    with on_one_port("--proxy-protocol", "--max-per-address", "1") as gateway:
        port = gateway.port("page")
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as viewer:
            viewer.sendall(
                header("203.0.113.7") + b"GET /api/live/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
            )
            assert b" 200 " in until(viewer, b"\r\n")
            assert got_from(port, "/healthz", header("203.0.113.7")).startswith("HTTP/1.1 503")
            assert got_from(port, "/healthz", header("203.0.113.8")).startswith("HTTP/1.1 200")
        stopped(gateway)


@certificates.needs_openssl
def test_client_by_tls_has_the_limit_before_its_handshake(tmp_path_factory: pytest.TempPathFactory) -> None:
    files = certificates.make(tmp_path_factory.mktemp("certificate"))
    with on_one_port("--max-per-address", "1", tls=files) as gateway:
        with dialled(gateway) as first:
            first.sendall(b"NAME ann\n")
            until(first, b"SUCCESS\n")
            with pytest.raises(ssl.SSLError, match="ACCESS_DENIED"):
                dialled(gateway)
            for hello in (b"NAME bob\n", b""):
                where = "127.0.0.1", gateway.port("droidcon")
                with socket.create_connection(where, PATIENCE) as second:
                    second.sendall(hello)
                    assert everything(second).startswith(b"HTTP/1.1 503")
        stopped(gateway)


@certificates.needs_openssl
def test_viewer_by_https_takes_no_bot_s_place(tmp_path_factory: pytest.TempPathFactory) -> None:
    files = certificates.make(tmp_path_factory.mktemp("certificate"))
    with on_one_port("--max-connections", "1", tls=files) as gateway, dialled(gateway) as viewer:
        viewer.sendall(b"GET /api/live/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b" 200 " in until(viewer, b"\r\n")
        with dialled(gateway) as bot:
            bot.sendall(b"NAME ann\n")
            assert until(bot, b"\n") == b"SUCCESS\n"
        viewer.close()
        stopped(gateway)


@certificates.needs_openssl
def test_one_address_has_a_quarter_of_the_connections_to_the_page_by_tls(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    files = certificates.make(tmp_path_factory.mktemp("certificate"))
    _, descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_RELAYS if descriptors == resource.RLIM_INFINITY else min(MOST_RELAYS, descriptors // 32)
    with on_one_port("--proxy-protocol", tls=files) as gateway, ExitStack() as stack:

        def watches(address: str) -> bool:
            assert gateway.tls is not None
            sock = socket.create_connection(("127.0.0.1", gateway.port("page")), PATIENCE)
            sock.sendall(header(address))
            secure = stack.enter_context(gateway.tls.wrap_socket(sock, server_hostname="127.0.0.1"))
            secure.sendall(b"GET /api/live/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return b" 200 " in until(secure, b"\r\n")

        assert all(watches("203.0.113.7") for _ in range(most // 4))
        assert not watches("203.0.113.7")
        assert watches("203.0.113.8")
        stack.close()
        stopped(gateway)
