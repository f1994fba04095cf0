"""Ports that several processes share, with real sockets."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from gateway.runtime.listening import PortInUseError, bound, reserved
from gateway.server.app import open_port

HOST = "127.0.0.1"


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def beside(port: int, opened: ExitStack) -> socket.socket:
    """Return a socket that listens beside others."""
    [sock] = bound(port, HOST, shared=True)
    opened.enter_context(sock)
    sock.listen(64)
    return sock


def accepted(listening: socket.socket) -> int:
    """Return how many connections wait."""
    listening.setblocking(False)
    count = 0
    while True:
        try:
            listening.accept()[0].close()
        except BlockingIOError:
            return count
        count += 1


def test_reserved_port_is_for_several_and_all_of_them_get_connections(opened: ExitStack) -> None:
    ports = opened.enter_context(reserved({"a": 0, "b": 0}, [HOST]))
    assert 0 < ports["a"] != ports["b"] > 0
    listening = [beside(ports["a"], opened) for _ in range(2)]
    for _ in range(64):
        opened.enter_context(socket.create_connection((HOST, ports["a"])))
    counts = [accepted(each) for each in listening]
    assert sum(counts) == 64
    assert min(counts) > 0


def test_reservation_itself_takes_no_connection(opened: ExitStack) -> None:
    ports = opened.enter_context(reserved({"a": 0}, [HOST]))
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((HOST, ports["a"]))


def test_port_at_which_others_listen_cannot_be_reserved_even_if_they_would_share_it(
    opened: ExitStack,
) -> None:
    port = beside(0, opened).getsockname()[1]
    with pytest.raises(
        PortInUseError, match=rf"^cannot listen on {HOST}, port {port}: Address already in use$"
    ):
        opened.enter_context(reserved({"a": 0, "b": port}, [HOST]))


def test_port_is_the_same_at_all_hosts(opened: ExitStack) -> None:
    port = opened.enter_context(reserved({"a": 0}, [HOST, "127.0.0.2"]))["a"]
    for host in (HOST, "127.0.0.2"):
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind((host, port))


def test_port_is_free_again_afterwards() -> None:
    with reserved({"a": 0}, [HOST]) as ports:
        pass
    with socket.socket() as other:
        other.bind((HOST, ports["a"]))


@pytest.mark.parametrize("host", ["a..b", "", "192.0.2.1"])
def test_host_that_is_none_of_ours_says_so(host: str) -> None:
    with pytest.raises(OSError, match=f"^cannot listen on {host}, port 0: "), reserved({"a": 0}, [host]):
        pass


async def test_server_may_listen_beside_another_if_both_say_so(opened: ExitStack) -> None:
    [one] = await open_port(0, [HOST], shared=True)
    port = one.socket.getsockname()[1]
    [two] = await open_port(port, [HOST], shared=True)
    with pytest.raises(OSError, match="in use"):
        await open_port(port, [HOST])
    await one.aclose()
    await two.aclose()
