"""The connections between the nodes of a cluster.

Knows sockets and channels, and when nodes greet. Does not know what frames mean. Of two nodes, the node whose
name sorts first dials the other. A broken connection loses no frames: the channel continues on the next
connection. Invalid data from another node can only close the link to that node.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from secrets import token_hex
from typing import Protocol, TypeAlias

import trio

from adapters.net.epoll import Poller
from adapters.net.socket import BROKEN, Socket, taken
from gateway.cluster.channel import (
    LONGEST_HELLO,
    Channel,
    Hello,
    HelloError,
    Identity,
    check,
    decode,
    is_proof,
    proof,
)
from gateway.runtime.throttle import Throttle

GREETING_LIMIT = 2.0
"""Seconds for the hellos and proofs of both sides."""
MOST_STRANGERS = 32
"""The most connections from other nodes whose greeting is not finished."""
SILENCE = 2.25
"""Seconds of silence after which a node counts as lost. The opponents of its players then learn of the loss
within 3 seconds."""
HEARTBEAT = 0.5
"""Seconds after which a node sends an empty batch if it had no frame to send."""
CHECK = 0.1
"""Seconds between two checks of all links."""
REDIAL = 0.25
"""Seconds between two attempts to reach a node."""
DIALING = 2.0
"""Seconds for one attempt to reach a node. The next attempt uses the node's current address."""
UNREACHED = 5.0
"""Seconds of failed attempts after which the log reports a node. A node that has died is not reported,
because it leaves the registry earlier."""
MOST_WORDS = 300
"""The most characters of a link's error that are logged."""

NO_PROOF = "it does not know the secret of this cluster"

Address: TypeAlias = tuple[str, int]

logger = logging.getLogger("gateway.cluster")


class Node(Protocol):
    """Receives news of the other nodes. Its methods MUST NOT block."""

    def joined(self, node: str, now: float) -> None:
        """Called when frames can be sent to a node."""

    def receive(self, node: str, frame: bytes, now: float) -> None:
        """Carry out a frame. Raises ValueError if it cannot be understood."""

    def settle(self, now: float) -> None:
        """Called once for all frames that arrived together, after the last `receive`."""

    def lost(self, node: str, now: float) -> None:
        """Called when a node or the link to it is lost. Frames sent to it recently may not have arrived."""


@dataclass(eq=False, slots=True)
class _Link:
    """The channel to one node, and its current connection."""

    identity: Identity
    name: str
    """The name of the channel, which both nodes know."""
    heard_at: float
    sent_at: float = 0.0
    sock: Socket | None = None
    channel: Channel = field(default_factory=Channel)


class Links:
    """All links of this node."""

    def __init__(self, own: Identity, secret: bytes, node: Node, poller: Poller | None = None) -> None:
        self.own = own
        self._poller = poller
        self.secret = secret
        """The secret of the cluster. Other nodes have to prove that they know it."""
        self._node = node
        self._links: dict[str, _Link] = {}
        self._places: Mapping[str, Address] = {}
        self._dialed: set[str] = set()
        self._strangers: dict[trio.CancelScope, None] = {}
        """The cancel scopes of unfinished greetings with nodes that have dialed this one, oldest first."""
        self._waiting: list[_Link] = []
        """Links with frames to send."""
        self._flusher = trio.lowlevel.ParkingLot()
        self._throttle = Throttle()
        self._nursery: trio.Nursery

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Dial nodes, send the waiting frames and check all links, until cancelled."""
        async with trio.open_nursery() as self._nursery:
            self._nursery.start_soon(self._flush)
            self._nursery.start_soon(self._watch)
            task_status.started()
            await trio.sleep_forever()

    def meet(self, places: Mapping[str, Address]) -> None:
        """Dial the nodes in `places` from now on, and no others. Existing links stay.

        Only nodes whose names sort after this node's name are dialed, so `places` may include this node.
        """
        self._places = places
        for name in places:
            if name > self.own.node and name not in self._dialed:
                self._dialed.add(name)
                self._nursery.start_soon(self._dial, name)

    @property
    def nodes(self) -> list[str]:
        """The nodes to which frames can be sent."""
        return list(self._links)

    def send(self, node: str, frame: bytes) -> None:
        """Send a frame to a node, without waiting. Frames to a lost node are dropped.

        All frames to a node in the same turn of the event loop are sent as one batch.
        """
        link = self._links.get(node)
        if link is not None and link.channel.put(frame):
            self._waiting.append(link)
            self._flusher.unpark()

    async def flush(self) -> None:
        """Send all waiting frames, and wait until they are sent. Links without a connection are skipped."""
        for link in self._waiting:
            self._write(link, link.channel.batch())
        for link in [*self._links.values()]:
            if link.sock is not None:
                await _drain(link.sock)

    async def serve(self, sock: Socket) -> None:
        """Serve a node that has dialed this one, until the connection ends."""
        await self._converse(sock, sock.address, self._answer)

    async def _dial(self, name: str) -> None:
        reached = trio.current_time()
        while (place := self._places.get(name)) is not None:
            try:
                with trio.fail_after(DIALING):
                    sock = Socket(taken(await trio.open_tcp_stream(*place)), self._poller)
            except (OSError, UnicodeError, trio.TooSlowError) as error:
                if trio.current_time() - reached > UNREACHED:
                    self._log_refusal(name, f"it cannot be reached: {error or 'no answer'}", name)
            else:
                await self._converse(sock, name, partial(self._ask, name))
                reached = trio.current_time()
            await trio.sleep(REDIAL)
        self._dialed.discard(name)

    async def _converse(
        self, sock: Socket, place: str, greet: Callable[[Socket], Awaitable[tuple[Hello, str]]]
    ) -> None:
        """Greet the other side, and receive its frames until the connection ends.

        `greet` returns the other side's hello, and the name of the channel that both sides continue.
        """
        try:
            theirs, channel = await greet(sock)
            link = self._linked(theirs, channel)
            if link is not None:
                await self._listen(link, sock, theirs.arrived)
        except (*BROKEN, trio.TooSlowError):
            pass
        except HelloError as error:
            self._log_refusal(place, str(error), str(error))
        finally:
            sock.close()

    async def _ask(self, name: str, sock: Socket) -> tuple[Hello, str]:
        """Greet the node `name`, which this node has dialed. Raises HelloError, TooSlowError."""
        link = self._links.get(name)
        ours = Hello(self.own) if link is None else Hello(self.own, link.name, link.channel.arrived)
        theirs = await ask(sock, ours, self.secret)
        if theirs.identity.node != name:
            raise HelloError(f"its name is {theirs.identity.node}")
        return theirs, theirs.channel

    async def _answer(self, sock: Socket) -> tuple[Hello, str]:
        """Greet a node that has dialed this one. Raises HelloError, TooSlowError.

        If too many greetings are unfinished, cancel the oldest. So connections that never greet cannot keep
        nodes out.
        """
        with trio.fail_after(GREETING_LIMIT) as scope:
            self._strangers[scope] = None
            if len(self._strangers) > MOST_STRANGERS:
                oldest = next(iter(self._strangers))
                del self._strangers[oldest]
                oldest.cancel()
            try:
                theirs = decode(await _line(sock))
                ours = self._answer_to(theirs)
                await sock.send_all(ours.encode() + proof(self.secret, ours, theirs))
                if not is_proof(await _line(sock), self.secret, theirs, ours):
                    raise HelloError(NO_PROOF)
            finally:
                self._strangers.pop(scope, None)
        check(ours.identity, theirs.identity)
        return theirs, ours.channel

    def _answer_to(self, theirs: Hello) -> Hello:
        link = self._links.get(theirs.identity.node)
        if link is not None and link.identity == theirs.identity and link.name == theirs.channel:
            return Hello(self.own, link.name, link.channel.arrived)
        return Hello(self.own, token_hex(8))

    def _linked(self, theirs: Hello, channel: str) -> _Link | None:
        """Return the existing or a new link to a node; None if the link was lost during the greeting."""
        name, now = theirs.identity.node, trio.current_time()
        link = self._links.get(name)
        if link is not None and link.name == channel:
            return link
        if theirs.arrived:
            return None
        if link is not None:
            self._lose(link, now)
        link = self._links[name] = _Link(theirs.identity, channel, now)
        self._node.joined(name, now)
        return link

    async def _listen(self, link: _Link, sock: Socket, arrived: int) -> None:
        """Receive a node's frames until the connection ends."""
        node = link.identity.node

        def ready() -> bool:
            data = sock.read()
            if data:
                link.heard_at = now = trio.current_time()
                for frame in link.channel.feed(data):
                    self._node.receive(node, frame, now)
                self._node.settle(now)
            return not sock.ended and link.sock is sock

        if link.sock is not None:
            link.sock.close()  # the old connection may not end otherwise
        link.sock = sock
        try:
            self._write(link, link.channel.again(arrived))
            await sock.listen(ready)
        except ValueError as error:
            self._log_refusal(node, str(error), node)
            self._lose(link, trio.current_time())
        finally:
            if link.sock is sock:
                link.sock = None

    async def _flush(self) -> None:
        """Send the waiting batches, once in each turn of the event loop that has any."""
        while True:
            await self._flusher.park()
            waiting, self._waiting = self._waiting, []
            for link in waiting:
                self._write(link, link.channel.batch())

    def _write(self, link: _Link, data: bytes) -> None:
        """Send bytes. Frames that are not sent now are sent again on the next connection."""
        sock = link.sock
        if sock is not None and data:
            link.sent_at = trio.current_time()
            with suppress(*BROKEN):
                if not sock.write(data):
                    self._nursery.start_soon(_drain, sock)

    async def _watch(self) -> None:
        """Until cancelled, drop silent nodes, and send a batch to the others before they drop this node.

        If this node itself stood still for more than `SILENCE` seconds, it drops all nodes.
        """
        seen = trio.current_time()
        while True:
            await trio.sleep(CHECK)
            now = trio.current_time()
            stood_still, seen = now - seen > SILENCE, now
            for link in [*self._links.values()]:
                if stood_still or now - link.heard_at > SILENCE or link.channel.is_too_full:
                    self._lose(link, now)
                elif now - link.sent_at > HEARTBEAT or link.channel.has_unacknowledged:
                    self._write(link, link.channel.batch())

    def _lose(self, link: _Link, now: float) -> None:
        node = link.identity.node
        if self._links.get(node) is link:
            del self._links[node]
            sock, link.sock = link.sock, None
            if sock is not None:
                sock.close()
            self._node.lost(node, now)

    def _log_refusal(self, place: str, why: str, kind: str) -> None:
        if self._throttle.passes(trio.current_time(), kind):
            why = why[:MOST_WORDS]
            about = {"event": "node_refused", "other": place, "error": why}
            logger.warning("no link to the node at %s: %s", place, why, extra=about)


async def _drain(sock: Socket) -> None:
    with suppress(*BROKEN):
        await sock.drain()


# The greeting: hellos and proofs, which precede all frames. `gateway.cluster.channel` defines their content.
# Text from a node that does not know the secret is not logged.


async def ask(sock: Socket, ours: Hello, secret: bytes) -> Hello:
    """Greet a node that this node has dialed; return its hello. Raises HelloError, TooSlowError."""
    with trio.fail_after(GREETING_LIMIT):
        await sock.send_all(ours.encode())
        theirs, their_proof = decode(await _line(sock)), await _line(sock)
        if not is_proof(their_proof, secret, theirs, ours):
            raise HelloError(NO_PROOF)
        # The proof is sent before the check, so that both sides log the differences
        await sock.send_all(proof(secret, ours, theirs))
    check(ours.identity, theirs.identity)
    return theirs


async def _line(sock: Socket) -> bytes:
    """Return the next line, with its newline. Raises HelloError if it is too long or has no end."""
    data = b""
    while b"\n" not in data:
        if len(data) > LONGEST_HELLO or not (more := await sock.receive_some()):
            raise HelloError("its hello has no end, or is too long")
        data += more
    line, newline, rest = data.partition(b"\n")
    if rest:
        sock.push_back(rest)
    return line + newline
