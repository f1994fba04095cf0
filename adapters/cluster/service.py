"""Joins a server to a cluster: asks the registry regularly, and accepts connections from other nodes.

Knows the registry, the links and the node. Decides nothing. If the registry refuses this node at the start,
the server does not start. If the registry does not answer, or fails later, it is asked again and again.
"""

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import NoReturn

import trio

from adapters.cluster.links import Links
from adapters.cluster.node import ClusterNode
from adapters.cluster.registry import (
    BEAT,
    NameTakenError,
    Registry,
    RegistryAwayError,
    RegistryError,
    View,
    open_registry,
)
from adapters.net.epoll import Poller
from adapters.net.socket import Socket, taken
from gateway.cluster.channel import Identity
from gateway.hub.hub import Hub
from gateway.options.clustering import ClusterOptions
from gateway.runtime.accepting import accept
from gateway.runtime.throttle import Throttle
from gateway.server.app import open_port

CHECK = 0.1
"""Seconds between two checks of which node pairs players."""
PATIENCE = 4.0
"""Seconds to wait for this node's name if an earlier node has not released it."""
LAST_WORDS = 1.0
"""Seconds in which the node's last frames have to be sent."""
RESULTS = 3.0
"""Seconds to wait, before the last frames, for the results of games with players of other nodes. A result is
sent only after the journal has stored it."""
LOOK = 0.02
"""Seconds between two checks whether all results have been sent."""
MOST_DIALING = 512
"""The most connections from other nodes at once. This is enough for all workers that a cluster can have, and
for connections that never greet."""

logger = logging.getLogger("gateway.cluster")


@asynccontextmanager
async def joined(
    options: ClusterOptions,
    rules: Mapping[str, float],
    run: int,
    hub: Hub,
    poller: Poller,
) -> AsyncIterator[ClusterNode]:
    """Join the cluster until the block ends. Raises OSError if the registry or the system refuses.

    `rules` are the parameters of games, which have to be the same on all nodes. `run` is a number that no
    other run of a node has.
    """
    address = options.address
    listeners = await open_port(address.port, [address.host])
    port = listeners[0].socket.getsockname()[1]
    node = ClusterNode(hub, options.node)
    try:
        async with open_registry(options, port, run) as registry, trio.open_nursery() as nursery:
            identity = Identity(options.node, run, rules)
            at, troubles = trio.current_time(), Throttle()
            view = await _first_view(registry, node, troubles)
            node.links = Links(identity, registry.secret.encode(), node, poller)
            await nursery.start(node.links.run)
            room = trio.Semaphore(MOST_DIALING)
            serve = partial(_serve, node.links, poller)
            for listener in listeners:
                nursery.start_soon(accept, listener, serve, nursery, room)
            if view is not None:
                node.seen(view, at)
            nursery.start_soon(_beat, registry, node, troubles)
            nursery.start_soon(_watch, node)
            nursery.start_soon(node.run)
            nursery.start_soon(node.operators.run)
            yield node
            with trio.move_on_after(RESULTS, shield=True):
                while node.games.is_hosting:  # noqa: ASYNC110  until the store has the results
                    await trio.sleep(LOOK)
            with trio.move_on_after(LAST_WORDS, shield=True), suppress(RegistryError):
                await node.links.flush()
                await registry.go()
            nursery.cancel_scope.cancel()
    except* RegistryError as errors:
        for each in listeners:
            each.socket.close()
        _refuse(options, errors)


def _refuse(options: ClusterOptions, errors: BaseExceptionGroup[RegistryError]) -> NoReturn:
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    raise OSError(f"--cluster: {options.url}: {error}") from None


async def _serve(links: Links, poller: Poller, stream: trio.SocketStream) -> None:
    await links.serve(Socket(taken(stream), poller))


async def _first_view(registry: Registry, node: ClusterNode, troubles: Throttle) -> View | None:
    """Return the registry's first answer; None if the registry is away.

    If the node's name is taken, wait up to `PATIENCE` seconds until it is free. Raises RegistryError.
    """
    until = trio.current_time() + PATIENCE
    while True:
        try:
            return await registry.ask(0, may_pair=True)
        except NameTakenError:
            if trio.current_time() > until:
                raise
            await trio.sleep(BEAT)
        except RegistryAwayError as error:
            _log_away(node, error, troubles)
            return None


def _log_away(node: ClusterNode, error: RegistryError, troubles: Throttle) -> None:
    node.is_registry_away = True
    if troubles.passes(trio.current_time(), str(error)):
        what = "does not answer" if isinstance(error, RegistryAwayError) else "cannot be used"
        about = {"event": "registry_away", "error": str(error)}
        logger.warning("the registry %s: %s", what, error, extra=about)


async def _beat(registry: Registry, node: ClusterNode, troubles: Throttle) -> None:
    """Ask the registry again and again, until cancelled."""
    while True:
        await trio.sleep(BEAT)
        now = trio.current_time()
        try:
            view = await registry.ask(node.epoch, may_pair=node.may_pair)
        except RegistryError as error:
            _log_away(node, error, troubles)
        else:
            if node.is_registry_away:
                node.is_registry_away = False
                logger.info("the registry answers again", extra={"event": "registry_back"})
            node.links.secret = registry.secret.encode()
            node.seen(view, now)


async def _watch(node: ClusterNode) -> None:
    """Check regularly which node pairs players, even without news from the registry, until cancelled."""
    while True:
        due = trio.current_time() + CHECK
        await trio.sleep_until(due)
        now = trio.current_time()
        node.follow(now, late=now - due)
