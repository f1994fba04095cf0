"""The messages between the server and the web's process, over the link between the two.

A message is a JSON object, but for facts, which are lines behind the letter `f`: the process that plays
believes nothing that the web's process says. Either end may send at any time; a question has a number, and
its answer repeats it. To add a kind of message, add its class to `Message` and a branch where it is received.
A message that cannot be read is a `LinkError`, and then only a new process helps.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from gateway.runtime.child import Link, LinkError
from gateway.server.acts import Notice
from gateway.server.metrics.requests import Row

LONGEST = 1 << 20
"""Bytes in a message."""
WRONG_TOKEN = "admin_token_wrong"
"""What a request of the operator's without the right token is counted as."""


@dataclass(frozen=True, slots=True)
class Orders:
    """The first message to the web's process."""

    where: str | None
    file: tuple[int, int] | None
    """The database, as in `gateway.store.database.Place`; `where` is None if results are not kept."""
    token: str | None
    """A client that sends it is the operator."""
    log_level: str
    log_json: bool
    origins: Sequence[str] = ()
    """The websites whose pages may read the API, as in `adapters.web.origins.Origins`."""
    fronts: Sequence[Sequence[Any]] = ()
    """The dialects' ports, each as the fields of `adapters.web.site.Front`."""
    house: Sequence[str] = ()
    """The server's own players that people can choose."""
    limits: Sequence[int | None] = (None, None)
    """Connections from one address, and how many it may open in a second: options of the server."""
    request: float | None = None
    """As `seconds` in `adapters.web.server.Web`."""
    idle: float = 300.0
    """As in `adapters.web.site.Site`."""
    trusted: Sequence[str] = ()
    """Networks of proxies, which have no limits by address, and say where their clients are."""
    audit: str = ""
    """The file where it is logged what that client does."""
    hsts: bool = False
    """As in `adapters.web.server.Web`."""
    hosts: Sequence[str] = ()
    """The addresses at which the server accepts clients of the page and passes them on."""
    counting: bool = False
    """Whether the server wants to be told of answered requests."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The web's process has `limit` seconds to finish its answers, and then ends."""

    limit: float


@dataclass(frozen=True, slots=True)
class Ask:
    """Asks the server how it is and how many results wait, or to clear all results."""

    number: int
    what: Literal["queue", "clear"]


@dataclass(frozen=True, slots=True)
class Act:
    """Asks the server to carry out an act of the operator's, as `gateway.server.operating` has them."""

    number: int
    what: str
    about: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Takes back the question with that number. Its answer says whether it was carried out."""

    number: int


@dataclass(frozen=True, slots=True)
class Condition:
    """The answer to `Ask`: how the server is."""

    number: int
    waiting: int
    """Games that wait to be stored."""
    is_behind: bool
    """Whether one has waited so long that players were told its result unstored."""
    cluster: Mapping[str, Any] | None = None
    """How the server is connected with the other nodes of its cluster, if it is in one."""
    is_draining: bool = False
    """Whether the server only finishes the games that are on."""


@dataclass(frozen=True, slots=True)
class Removed:
    """The answer to `Ask`: all results were cleared."""

    number: int
    games: int
    players: int


@dataclass(frozen=True, slots=True)
class Done:
    """The answer to `Act`: what came of it on each node, as JSON.

    A message for each node, since each may be long, and one without a text at the end.
    """

    number: int
    node: str = ""
    """Empty for this server."""
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The answer to a question that was not carried out."""

    number: int
    error: str


@dataclass(frozen=True, slots=True)
class Watch:
    """Asks the server to send the state of all games, and then facts; with the number 0, to stop.

    The state begins with the number of its request.
    """

    number: int


@dataclass(frozen=True, slots=True)
class Begun:
    """The state for a request begins. It replaces what was sent before; facts may come between its parts."""

    number: int


@dataclass(frozen=True, slots=True)
class Complete:
    """The state ends."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts, or games of the state, each as `gateway.game.fact_encoding` writes it."""

    encoded: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Reached:
    """Tells the server what clients of the page came up against, since the last such message."""

    what: str
    """``limit_`` and one of `gateway.access.limits.LIMITS`, or `WRONG_TOKEN`."""
    times: int


@dataclass(frozen=True, slots=True)
class Answered:
    """Tells the server of the requests that were answered since the last such message."""

    rows: Sequence[Row]


Answer: TypeAlias = Condition | Removed | Done | Failed
Message: TypeAlias = (
    Orders | Stop | Ask | Act | Withdraw | Answer | Notice | Watch | Begun | Complete | Reached | Answered
)
KINDS: Mapping[str, Callable[..., Message]] = {kind.__name__.lower(): kind for kind in get_args(Message)}


class Messages:
    """Sends and reads messages over a `Link`. Any task may send; one receives."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def send(self, message: Message | Facts) -> None:
        """Send a message. Raises LinkError if the other end is gone."""
        await self._link.send(encode(message))

    async def receive(self) -> Message | Facts | None:
        """Return the next message; None if the other end has ended. Raises LinkError."""
        data = await self._link.receive()
        return None if data is None else decode(data)


def encode(message: Message | Facts) -> bytes:
    """Return a message as it is sent."""
    if isinstance(message, Facts):
        return b"f" + b"\n".join(message.encoded)
    fields = {name: getattr(message, name) for name in message.__slots__}
    return json.dumps({"kind": type(message).__name__.lower(), **fields}).encode()


def decode(data: bytes) -> Message | Facts:
    """Return the message with these bytes. Raises LinkError if it is not a message."""
    if data.startswith(b"f"):  # as no JSON object does
        return Facts(data[1:].split(b"\n"))
    try:
        fields = json.loads(data)
        kind = KINDS[fields.pop("kind")]
        return kind(**{name: _plain(value) for name, value in fields.items()})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise LinkError("this is not a message") from error


def _plain(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
