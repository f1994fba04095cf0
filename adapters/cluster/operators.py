"""Carries out an operator's acts on all nodes of the cluster that have the same admin token.

Knows trio and the format of the frames. Does not know what an act does. A frame is carried out only if it has
a code that only a node with the same admin token can compute. A node that does not answer is reported, and
delays an act by at most `PATIENCE` seconds.
"""

import hmac
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, field
from hashlib import sha256
from itertools import count

import trio

from gateway.server.acts import ACTS, NotDoneError, Notice, Parameters
from gateway.server.operating import Operator

PATIENCE = 5.0
"""Seconds that another node has to carry out an act."""
MOST = 64
"""The most acts of other nodes that may wait here."""
OTHER_TOKEN = "it has another admin token, or none"
NO_ANSWER = "it does not answer"


@dataclass(eq=False, slots=True)
class _Asked:
    """An act that other nodes were asked to carry out, and its outcome on each node."""

    left: set[str]
    """The nodes that have not answered."""
    outcomes: dict[str, str] = field(default_factory=dict)
    done: trio.Event = field(default_factory=trio.Event)

    def settle(self, node: str, text: str) -> None:
        """Record a node's outcome."""
        if node in self.left:
            self.left.discard(node)
            self.outcomes[node] = text
            if not self.left:
                self.done.set()


class RemoteOperators:
    """Sends this node's acts to the other nodes, and carries out the acts of other nodes here.

    A frame is a JSON object. Its ``mac`` is the code. Its ``body`` is a text with a JSON array, which begins
    with the kind of the frame:

    - ``ask`` has a number, an act and its parameters.
    - ``done`` answers ``ask``; it has the number and the outcome.
    - ``other`` answers ``ask`` if the node has another token; it has the number, and its ``mac`` is empty.
    - ``notice`` has the fields of `gateway.server.acts.Notice`.
    - ``news`` asks for a ``notice``.
    - ``stop`` begins a drain.
    """

    def __init__(self, send: Callable[[str, bytes], None], nodes: Callable[[], Iterable[str]]) -> None:
        """`send` sends a frame to a node; `nodes` returns the nodes to which frames can be sent."""
        self._send = send
        self._nodes = nodes
        self._operator: Operator | None = None
        self._token = b""
        self._numbers = count(1)
        self._asked: dict[int, _Asked] = {}
        self._to_do, self._due = trio.open_memory_channel[tuple[str, int, str, Parameters]](MOST)

    def connect(self, operator: Operator, token: str) -> None:
        """Use `operator` from now on. It exchanges acts with all nodes that have the same `token`."""
        self._operator, self._token = operator, token.encode()
        operator.others = self
        self._tell_all("news")

    # Called by the operator of this node.

    async def act(self, what: str, about: Parameters) -> Mapping[str, str]:
        """Carry out an act on the other nodes; return the outcome of each, as JSON."""
        number, asked = next(self._numbers), _Asked({*self._nodes()})
        self._asked[number] = asked
        try:
            for node in [*asked.left]:
                self._tell(node, "ask", number, what, about)
            if asked.left:
                with trio.move_on_after(PATIENCE):
                    await asked.done.wait()
        finally:
            del self._asked[number]
        return asked.outcomes | dict.fromkeys(asked.left, _failed(NO_ANSWER))

    def notify(self, notice: Notice) -> None:
        """Send a notice to the other nodes."""
        self._tell_all("notice", *astuple(notice))

    def stop(self) -> None:
        """Begin a drain on the other nodes."""
        self._tell_all("stop")

    # Called by the links, or by the frames of other nodes.

    def joined(self, node: str) -> None:
        """Send the current notice, if there is one, to a node that has just been linked."""
        if self._operator is not None and self._operator.notice != Notice():
            self._tell(node, "notice", *astuple(self._operator.notice))

    def lost(self, node: str) -> None:
        """Stop waiting for a node's answers."""
        for asked in self._asked.values():
            asked.settle(node, _failed(NO_ANSWER))

    def receive(self, node: str, frame: bytes) -> None:
        """Carry out a frame of another node. Raises ValueError."""
        match _read(frame):
            case {"mac": str(mac), "body": str(text)}:
                own = _mac(self._token, text)
                is_known = bool(self._token) and hmac.compare_digest(mac.encode(), own.encode())
                self._carry_out(node, _read(text), is_known=is_known)
            case _:
                raise ValueError("no frame of this version")

    def _carry_out(self, node: str, body: object, *, is_known: bool) -> None:
        """Carry out the body of a frame. `is_known` says whether the sending node has this node's token."""
        match body:
            case ["ask", int(number), str(what), dict(about)]:
                if not is_known:
                    self._send(node, _frame(b"", "other", number))
                    return
                is_text = all(isinstance(each, str) for each in (*about, *about.values()))
                if what not in ACTS or not is_text or not {*about} <= {*ACTS[what]}:
                    raise ValueError("no act of this version")
                try:
                    self._to_do.send_nowait((node, number, what, about))
                except trio.WouldBlock:
                    self._tell(node, "done", number, _failed("too many acts wait"))
            case ["done", int(number), str(text)] if is_known and number in self._asked:
                self._asked[number].settle(node, text)
            case ["other", int(number)] if number in self._asked:
                self._asked[number].settle(node, _failed(OTHER_TOKEN))
            case ["notice", str(text), bool(paused), float(made)] if is_known and self._operator is not None:
                self._operator.adopt(Notice(text, paused, made))
            case ["news"] if is_known:
                self.joined(node)
            case ["stop"] if is_known and self._operator is not None:
                self._operator.stop_here()

    async def run(self) -> None:
        """Carry out the acts that other nodes ask for, until cancelled."""
        async for node, number, what, about in self._due:
            assert self._operator is not None
            try:
                text = await self._operator.act(what, about)
            except NotDoneError as error:
                text = _failed(str(error))
            self._tell(node, "done", number, text)

    def _tell(self, node: str, *body: object) -> None:
        self._send(node, _frame(self._token, *body))

    def _tell_all(self, *body: object) -> None:
        for node in self._nodes():
            self._tell(node, *body)


def _read(text: bytes | str) -> object:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("no frame of this version") from error


def _frame(token: bytes, *body: object) -> bytes:
    text = json.dumps(body)
    return json.dumps({"mac": _mac(token, text) if token else "", "body": text}).encode()


def _mac(token: bytes, body: str) -> str:
    return hmac.new(token, body.encode(), sha256).hexdigest()


def _failed(why: str) -> str:
    return json.dumps({"error": why})
