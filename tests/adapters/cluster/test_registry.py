"""The registry, and one that has lost its memory. Needs a Redis server."""

import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from subprocess import DEVNULL
from tempfile import TemporaryDirectory

import pytest
import trio

from adapters.cluster.registry import Registry, registry
from gateway.cluster.membership import Place
from gateway.server import own_registry
from gateway.server.clustering import ClusterOptions, NodeAddress

pytestmark = [
    pytest.mark.operation,
    pytest.mark.skipif(not any(map(shutil.which, own_registry.PROGRAMS)), reason="there is no Redis"),
]


@asynccontextmanager
async def redis() -> AsyncIterator[Path]:
    """A server that remembers nothing, in a folder."""
    with TemporaryDirectory(prefix="c4") as path:
        folder = Path(path)
        process = await trio.lowlevel.open_process(own_registry.command(folder), stdout=DEVNULL)
        try:
            await own_registry.answering(folder)
            yield folder
        finally:
            process.kill()
            with trio.CancelScope(shield=True):
                await process.wait()


async def node(stack: AsyncExitStack, folder: Path, name: str) -> Registry:
    options = ClusterOptions(own_registry.url(folder), None, None, "c4", name, NodeAddress("h", 1))
    return await stack.enter_async_context(registry(options, Place("h", 1, 1)))


async def test_registry_that_has_lost_its_memory_learns_the_secret_and_the_epoch_from_any_node() -> None:
    async with AsyncExitStack() as stack:
        folder = await stack.enter_async_context(redis())
        old, new = await node(stack, folder, "old"), await node(stack, folder, "new")
        secret = old.secret = "known before"
        view = await old.ask(7, may_pair=True)
        assert view.holder == ("old", 8)
        await new.ask(0, may_pair=True)
        assert new.secret == secret


async def test_lease_that_was_had_without_knowing_the_epoch_is_over_once_a_node_tells_it() -> None:
    async with AsyncExitStack() as stack:
        folder = await stack.enter_async_context(redis())
        old, new = await node(stack, folder, "old"), await node(stack, folder, "new")
        assert (await new.ask(0, may_pair=True)).holder == ("new", 1)
        assert (await old.ask(7, may_pair=True)).holder == ("old", 8)
        assert (await new.ask(8, may_pair=True)).holder == ("old", 8)
        assert old.secret == new.secret
