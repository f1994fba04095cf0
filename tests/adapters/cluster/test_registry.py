"""The registry, on a Redis server of the test's own: names, the lease, and what is left when it forgets."""

import os
import shutil
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, run
from tempfile import TemporaryDirectory

import certificates
import coredis
import pytest
import trio
from worlds.hub import World

from adapters.cluster.registry import Holder, NameTakenError, Registry, RegistryError, open_registry
from adapters.cluster.service import joined
from gateway.options.clustering import ClusterOptions
from gateway.runtime.addresses import Address
from gateway.server.local_redis import PROGRAMS, answering, command, url

pytestmark = pytest.mark.skipif(not any(map(shutil.which, PROGRAMS)), reason="needs redis-server")


@pytest.fixture
async def where() -> AsyncIterator[str]:
    """The URL of a Redis server."""
    with TemporaryDirectory(prefix="c4-", dir="/tmp") as folder:
        async with trio.open_nursery() as nursery:
            start = partial(trio.run_process, command(Path(folder)), stdout=DEVNULL, check=False)
            process = await nursery.start(start)
            await answering(Path(folder))
            yield url(Path(folder))
            process.kill()
            nursery.cancel_scope.cancel()


@asynccontextmanager
async def node(where: str, name: str, run: int = 1, prefix: str = "c4") -> AsyncIterator[Registry]:
    options = ClusterOptions(where, None, None, prefix, name, Address("h", 0))
    async with open_registry(options, run, run) as asked:
        yield asked


async def test_first_that_asks_pairs_and_all_see_all(where: str) -> None:
    async with node(where, "a", 1) as one, node(where, "b", 2) as two:
        assert (await one.ask(0, may_pair=True)).holder == Holder("a", 1)
        view = await two.ask(0, may_pair=True)
        assert view.holder == Holder("a", 1)
        assert view.nodes == {"a": ("h", 1), "b": ("h", 2)}


async def test_cluster_of_another_prefix_is_another_one(where: str) -> None:
    async with node(where, "a") as one, node(where, "a", 2, prefix="other") as two:
        await one.ask(0, may_pair=True)
        assert (await two.ask(0, may_pair=True)).nodes == {"a": ("h", 2)}
        assert one.secret != two.secret


async def test_name_is_taken_until_its_node_has_gone(where: str) -> None:
    async with node(where, "a", 1) as one, node(where, "a", 2) as two:
        await one.ask(0, may_pair=True)
        with pytest.raises(NameTakenError, match="--node"):
            await two.ask(0, may_pair=True)
        await one.go()
        assert (await two.ask(0, may_pair=True)).holder == Holder("a", 2)


async def test_node_that_may_not_pair_any_more_gives_up_the_lease(where: str) -> None:
    async with node(where, "a", 1) as one, node(where, "b", 2) as two:
        await one.ask(0, may_pair=True)
        assert (await one.ask(0, may_pair=False)).holder is None
        assert (await two.ask(0, may_pair=True)).holder == Holder("b", 2)


async def test_lease_runs_out(where: str) -> None:
    async with node(where, "a", 1) as one, node(where, "b", 2) as two:
        await one.ask(0, may_pair=True)
        client = coredis.Redis.from_url(where)
        async with client:
            await client.pexpire("c4:lease", 1)
            with trio.fail_after(10):
                while await client.exists(["c4:lease"]):
                    await trio.lowlevel.checkpoint()
        assert (await two.ask(0, may_pair=True)).holder == Holder("b", 2)


async def test_epoch_is_higher_than_any_that_a_node_knows_though_redis_has_forgotten_it(where: str) -> None:
    async with node(where, "a", 1) as one:
        assert (await one.ask(7, may_pair=True)).holder == Holder("a", 8)
        client = coredis.Redis.from_url(where)
        async with client:
            await client.flushall()
        assert (await one.ask(8, may_pair=True)).holder == Holder("a", 9)


async def test_redis_that_has_forgotten_the_secret_learns_it_from_any_node(where: str) -> None:
    async with node(where, "a", 1) as old, node(where, "b", 2) as new:
        secret = old.secret = "known before"
        await old.ask(0, may_pair=True)
        await new.ask(0, may_pair=True)
        assert old.secret == new.secret == secret


async def test_lease_had_without_knowing_the_epoch_is_over_once_a_node_tells_it(where: str) -> None:
    async with node(where, "a", 1) as old, node(where, "b", 2) as new:
        assert (await new.ask(0, may_pair=True)).holder == Holder("b", 1)
        assert (await old.ask(7, may_pair=True)).holder == Holder("a", 8)
        assert (await new.ask(8, may_pair=True)).holder == Holder("a", 8)
        assert old.secret == new.secret


@pytest.mark.parametrize(
    ("key", "said"),
    [
        *(("lease", "nonsense"), ("lease", '["b", "h", 1]'), ("lease", '["b", "h", 0, 1]')),
        *(("lease", '["b", "h", "1", 1]'), ("lease", "[" * 100_000), ("secret", b"\xff")),
    ],
    ids=range(6),
)
async def test_what_no_node_wrote_is_an_error_and_nothing_else(
    where: str, key: str, said: str | bytes
) -> None:
    async with node(where, "a", 1) as one:
        await one.ask(0, may_pair=True)
        client = coredis.Redis.from_url(where)
        async with client:
            await client.set(f"c4:{key}", said)
        with pytest.raises(RegistryError):
            await one.ask(0, may_pair=True)


async def test_registry_that_asks_for_a_password_says_how_to_give_one(where: str) -> None:
    client = coredis.Redis.from_url(where)
    async with client:
        await client.config_set({"requirepass": "x"})
    async with node(where, "a") as one:
        with pytest.raises(RegistryError, match="--cluster-password-file"):
            await one.ask(0, may_pair=True)


@pytest.mark.operation
@certificates.needs_openssl
async def test_certificate_that_is_not_trusted_is_named_as_the_cause(tmp_path: Path) -> None:
    files = certificates.make(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(files.certificate, files.key)

    async def greet(stream: trio.SSLStream[trio.SocketStream]) -> None:
        with suppress(trio.BrokenResourceError):
            await stream.do_handshake()

    async with trio.open_nursery() as nursery:
        serve = partial(trio.serve_ssl_over_tcp, greet, 0, context, host="127.0.0.1")
        [listener] = await nursery.start(serve)
        port = listener.transport_listener.socket.getsockname()[1]
        options = ["--cluster", f"rediss://127.0.0.1:{port}", "--nac4", "0", "--no-web"]
        command = [sys.executable, "-m", "gateway", *options]
        ended = await trio.run_process(command, capture_stderr=True, check=False)
        assert ended.stderr.endswith(
            b"Unable to establish a connection to 127.0.0.1:%d: self-signed certificate\n" % port
        )
        nursery.cancel_scope.cancel()


async def test_address_that_is_not_this_machine_s_is_named() -> None:
    options = ClusterOptions("unix:///nowhere", None, None, "c4", "a", Address("192.0.2.1", 5000))
    world = World()
    with pytest.raises(OSError, match=r"cannot listen on 192\.0\.2\.1, port 5000: "):
        async with joined(options, {}, 1, world.hub, None):
            pass


SERVER = [sys.executable, "-m", "gateway", "--node", "a", "--db", "none", "--no-web", "--nac4", "0"]


def said(process: Popen[str], words: str) -> list[str]:
    """Return what a process says up to a line with these words."""
    lines = list[str]()
    assert process.stderr is not None
    for line in process.stderr:
        lines.append(line)
        if words in line:
            return lines
    raise AssertionError(lines)


@pytest.mark.operation
def test_node_whose_registry_is_not_there_pairs_its_own_players_and_joins_once_it_is() -> None:
    with TemporaryDirectory(prefix="c4-", dir="/tmp") as folder:
        words = [*SERVER, "--cluster", url(Path(folder))]
        with Popen(words, stdout=DEVNULL, stderr=PIPE, text=True) as server:
            lines = said(server, "this one pairs its own")
            [away] = [line for line in lines if "the registry does not answer" in line]
            assert "redis.sock" in away
            with Popen(command(Path(folder)), stdout=DEVNULL) as redis:
                lines = said(server, "node a pairs")
                assert not any("does not answer" in line for line in lines)
                server.terminate()
                assert server.wait(10) == 0
                redis.kill()


@pytest.mark.operation
@pytest.mark.parametrize("place", ["redis://:y@c4.invalid:6379/0", "redis://c4.invalid:6379/0"])
def test_registry_on_a_host_that_does_not_exist_is_an_error_at_once(place: str) -> None:
    words = [*SERVER, "--node-address", "127.0.0.1"]
    about = {**os.environ, "C4GATEWAY_CLUSTER": place}
    ended = run(words, env=about, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 1
    [line] = ended.stderr.splitlines()
    assert line.startswith("c4gateway: error: --cluster: redis://c4.invalid:6379/0: ")


@pytest.mark.operation
async def test_registry_that_takes_no_such_password_is_an_error_at_once(where: str) -> None:
    client = coredis.Redis.from_url(where)
    async with client:
        await client.config_set({"requirepass": "x"})
    about = {**os.environ, "C4GATEWAY_CLUSTER": where.replace("unix://", "unix://:y@")}
    ended = await trio.run_process(SERVER, env=about, capture_stderr=True, check=False)
    assert ended.returncode == 1
    [line] = ended.stderr.decode().splitlines()
    assert line.startswith("c4gateway: error: --cluster: unix://")
    assert "invalid username-password pair" in line
