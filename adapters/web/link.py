"""What the server and the process that serves its web tell each other, and the socket on which they do.

A message is a JSON object, behind its length in four bytes. Either may send at any time; what is asked has a
number, which its answer repeats. A further kind of message is one more class in `KINDS`, and one more branch
where it is heard. Knows trio; does not know processes, nor what is done with a message. The rule it keeps:
what cannot be understood is a `LinkError`, after which only a new process helps.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import trio

LONGEST = 1 << 20
"""Bytes in a message."""
_LENGTH = 4


class LinkError(Exception):
    """The other end is gone in the middle of a message, or sent something that is not a message."""


@dataclass(frozen=True, slots=True)
class Orders:
    """What the web's process is told first."""

    where: str | None
    file: tuple[int, int] | None
    """The database, as in `gateway.store.database.Place`; `where` is None where there is none."""
    token: str | None
    """A client that shows it may clear the results."""
    log_level: str
    log_json: bool
    origins: Sequence[str] = ()
    """The websites whose pages may read the API, as in `adapters.web.origins.Origins`."""
    fronts: Sequence[Sequence[Any]] = ()
    """The dialects' ports, each as the fields of `adapters.web.site.Front`."""
    house: Sequence[str] = ()
    """The players of the server's own that can be asked for."""
    idle: float = 300.0
    """As in `adapters.web.site.Site`."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The web's process is to end once it has finished its answers, for which it has `limit` seconds."""

    limit: float


@dataclass(frozen=True, slots=True)
class Ask:
    """The server is asked how many results wait, or to clear all of them."""

    number: int
    what: Literal["queue", "clear"]


@dataclass(frozen=True, slots=True)
class Withdraw:
    """What was asked under that number is not wanted any more; an answer says whether it was done."""

    number: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found or done: figures, or an error."""

    number: int
    figures: tuple[int, int] = (0, 0)
    """How many results wait, and whether one of them waits too long; or games and players removed."""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Watch:
    """The server is to tell what is on and what happens, or, where `number` is 0, nothing any more.

    What is told for a request begins with its number.
    """

    number: int


@dataclass(frozen=True, slots=True)
class Told:
    """What is on, or has happened: rows of `adapters.web.live.rows`."""

    rows: Sequence[Sequence[Any]]


Message: TypeAlias = Orders | Stop | Ask | Withdraw | Answer | Watch | Told
KINDS: Mapping[str, Callable[..., Message]] = {
    kind.__name__.lower(): kind for kind in (Orders, Stop, Ask, Withdraw, Answer, Watch, Told)
}


class Link:
    """One end of it. Any task may send; one receives."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self._sending = trio.Lock()
        self._heard = bytearray()

    async def send(self, message: Message) -> None:
        """Tell the other end something. Raises LinkError where it is gone."""
        await self._send(encode(message))

    async def tell(self, rows: Sequence[str]) -> None:
        """Send `Told`, with rows that are JSON already. Raises LinkError where the other end is gone."""
        await self._send(_framed(f'{{"kind": "told", "rows": [{",".join(rows)}]}}'))

    async def _send(self, data: bytes) -> None:
        try:
            self._sending.acquire_nowait()
        except trio.WouldBlock:
            await self._sending.acquire()
        try:
            await self._stream.send_all(data)
        except trio.BrokenResourceError as error:
            raise LinkError("the other end is gone") from error
        finally:
            self._sending.release()

    async def receive(self) -> Message | None:
        """Return what the other end says next; None where it has ended. Raises LinkError."""
        head = await self._take(_LENGTH)
        if head is None:
            return None
        length = int.from_bytes(head)
        body = await self._take(length) if length <= LONGEST else None
        if body is None:
            raise LinkError("a message ends too early, or has no end")
        return decode(body)

    async def aclose(self) -> None:
        """Hang up."""
        await trio.aclose_forcefully(self._stream)

    async def _take(self, count: int) -> bytes | None:
        while len(self._heard) < count:
            try:
                data = await self._stream.receive_some(1 << 16)
            except trio.BrokenResourceError:
                data = b""
            if not data:
                return None
            self._heard += data
        taken = bytes(self._heard[:count])
        del self._heard[:count]
        return taken


def encode(message: Message) -> bytes:
    """Return a message as it is sent."""
    fields = {name: getattr(message, name) for name in message.__slots__}
    return _framed(json.dumps({"kind": type(message).__name__.lower(), **fields}))


def _framed(text: str) -> bytes:
    body = text.encode()
    return len(body).to_bytes(_LENGTH) + body


def decode(body: bytes) -> Message:
    """Return the message with that body. Raises LinkError where it is none."""
    try:
        fields = json.loads(body)
        kind = KINDS[fields.pop("kind")]
        return kind(**{name: _plain(value) for name, value in fields.items()})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise LinkError("this is not a message") from error


def _plain(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
