"""The page's port and the one port: which are opened, and whose clients this process accepts."""

import gc
import socket
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import cast

import certificates
import pytest
import trio
import trio.testing
from tcp_port import everything
from worlds.memory_client import MemoryClient, socket_of

from adapters import arena, droidcon, nac4
from adapters.client.rate_limit import ClientLimits
from adapters.entrance.admission import Admission, Admitted
from adapters.entrance.ports import Ports, opened_ports, port_of
from adapters.net.socket import Socket, taken
from gateway.access.limits import ConnectionCounts
from gateway.options.server import parse
from gateway.runtime.listening import PortInUseError
from gateway.server.app import FrontEnd

DIALECTS = [nac4.DIALECT, arena.DIALECT, droidcon.DIALECT]
"""The dialects of these examples."""
NAMES = [each.name for each in DIALECTS]
ONE = ("--port", "0", "--host", "127.0.0.1")
OWN = ("--web", "0", "--host", "127.0.0.1")


@asynccontextmanager
async def opened(*arguments: str) -> AsyncIterator[Ports]:
    """Open the ports of a server with these options."""
    async with opened_ports(parse(arguments, DIALECTS), Counter()) as ports:
        yield ports


async def refuse(sock: Socket, _: Admitted) -> None:
    await sock.linger()


def listening(ports: Ports, limits: Admission | None = None) -> list[FrontEnd]:
    """Return what this process accepts clients for, but for the dialects' own ports."""
    limits = limits or Admission(ConnectionCounts(), Counter())
    return ports.front_ends(refuse, lambda stream: Socket(taken(stream)), limits)


def names(found: Sequence[FrontEnd]) -> list[str]:
    return [each.name for each in found]


@pytest.mark.parametrize(
    ("arguments", "accepted", "hosts", "for_web", "has_page"),
    [
        (ONE, ["port"], ["127.0.0.1"], 0, True),
        ((*ONE, "--no-web"), ["port"], [], 0, False),
        (OWN, [], [], 1, True),
        ((*OWN, *ONE[:2]), ["port"], ["127.0.0.1"], 1, True),
        ((*OWN, "--proxy-protocol"), ["page"], ["127.0.0.1"], 0, True),
        ((*OWN, *ONE[:2], "--proxy-protocol"), ["port", "page"], ["127.0.0.1"] * 2, 0, True),
        ((*ONE, "--no-web", "--proxy-protocol"), ["port"], [], 0, False),
        (("--no-web",), [], [], 0, False),
    ],
)
async def test_this_process_accepts_for_the_page_where_its_clients_share_a_port_or_come_by_a_proxy(
    arguments: Sequence[str], accepted: list[str], hosts: list[str], for_web: int, has_page: bool
) -> None:
    async with opened(*arguments) as ports:
        assert names(listening(ports)) == accepted
        assert ports.hosts == hosts
        assert len(ports.for_web) == for_web
        assert (ports.page_port is not None) == has_page
        assert (ports.to_page is not None) == bool(hosts)


@certificates.needs_openssl
async def test_this_process_accepts_for_the_page_where_its_clients_may_use_tls(
    files: certificates.Files,
) -> None:
    async with opened(*OWN, *files.options) as ports:
        assert names(listening(ports)) == ["page"]
        assert not ports.for_web


async def test_browsers_find_the_page_at_its_own_port_or_else_at_the_one() -> None:
    async with opened(*OWN, *ONE[:2]) as ports:
        assert ports.page_port == port_of(ports.page) != port_of(ports.shared)
    async with opened(*ONE, "--host", "127.0.0.2") as ports:
        first, second = (each.socket.getsockname()[1] for each in ports.shared)
        assert ports.page_port == port_of(ports.shared) == first
        assert port_of(ports.shared[1:]) == second
        assert port_of([]) is None
        assert ports.hosts == ["127.0.0.1", "127.0.0.2"]


async def test_each_dialect_is_at_a_path_of_the_one_port_and_lines_at_none() -> None:
    async with opened(*ONE) as ports:
        address = f"127.0.0.1:{port_of(ports.shared)}"
        paths = {each.name: f"/{each.name}" if each.scheme else "" for each in DIALECTS}
        dialects = [(name, [address + path]) for name, path in paths.items()]
        assert ports.opened(DIALECTS) == [("page", [address]), *dialects]
    async with opened(*ONE, "--no-web") as ports:
        assert [name for name, _ in ports.opened(DIALECTS)] == NAMES


async def test_page_is_told_each_dialect_s_own_port_or_else_the_one() -> None:
    async with opened(*ONE, "--arena", "0") as ports:
        found = {name: (port, is_shared) for name, *_, port, is_shared in ports.fronts(DIALECTS)}
        one, own = port_of(ports.shared), port_of(ports.own["arena"])
        assert one != own
        assert found == {name: (one, True) for name in NAMES if name != "page"} | {"arena": (own, False)}


@pytest.mark.parametrize("refused", ["--metrics", "--nac4", "--tcp"])
async def test_ports_that_are_open_are_closed_where_a_later_one_is_refused(refused: str) -> None:
    with socket.socket() as first, socket.socket() as taken:
        for each in (first, taken):
            each.bind(("127.0.0.1", 0))
        taken.listen()
        port = first.getsockname()[1]
        first.close()
        with pytest.raises(PortInUseError):
            async with opened(*ONE, f"--web={port}", "--arena=0", refused, str(taken.getsockname()[1])):
                pass
        with socket.socket() as free:
            free.bind(("127.0.0.1", port))
    gc.collect()  # a socket that nobody closed is a ResourceWarning here


async def test_port_with_the_page_stays_open_while_the_last_games_are_finished_and_pauses_are_counted() -> (
    None
):
    limits = Admission(ConnectionCounts(), Counter())
    async with opened(*ONE, *OWN[:2], "--proxy-protocol") as ports:
        found = listening(ports, limits)
        assert {each.name: each.stays for each in found} == {"port": True, "page": True}
        for each in found:
            each.paused()
    assert limits.counts == {("limit_system", "port"): 1, ("limit_system", "page"): 1}
    async with opened(*ONE, "--no-web") as ports:
        assert {each.name: each.stays for each in listening(ports)} == {"port": False}


@certificates.needs_openssl
async def test_client_of_the_page_may_say_nothing_as_long_as_it_has_for_a_request(
    files: certificates.Files, autojump_clock: trio.testing.MockClock
) -> None:
    limits = Admission(ConnectionCounts(), Counter(), ClientLimits(request=5.0))
    async with opened(*OWN, *files.options) as ports, trio.open_nursery() as nursery:
        client = MemoryClient()
        (page,) = ports.front_ends(refuse, lambda _: socket_of(client), limits)
        nursery.start_soon(page.serve, cast("trio.SocketStream", None))
        await trio.sleep(4)
        assert not client.socket.has_ended
        await trio.sleep(2)
        assert client.socket.has_ended


@certificates.needs_openssl
@pytest.mark.parametrize("only", [(), ("--tls-only",)])
async def test_with_tls_only_all_ports_demand_it_and_the_page_says_so(
    only: Sequence[str], files: certificates.Files
) -> None:
    async with opened(*OWN, *files.options, *only) as ports, trio.open_nursery() as nursery:
        assert ports.preamble.tls_only == bool(only)
        assert ports.to_page is not None
        ports.to_page.passing.close()  # so that it is busy
        (page,) = listening(ports)
        async with await trio.open_tcp_stream("127.0.0.1", ports.page_port or 0) as stream:
            nursery.start_soon(page.serve, await ports.page[0].accept())
            client = trio.SSLStream(
                stream, files.client(), server_hostname="127.0.0.1", https_compatible=True
            )
            await client.send_all(b"GET / HTTP/1.1\r\n")
            assert (b"strict-transport-security" in await everything(client)) == bool(only)
