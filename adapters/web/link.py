"""The messages between the server and the web process, over the link between them.

Each message is a JSON object, except `Facts`: the letter `f`, then lines. Only the server sends `Facts`.
Either end may send at any time. A question has a number, and its answer repeats the number. To add a kind of
message, add its class to `Message`, and a branch where the other end receives it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from gateway.game.ids import GameId
from gateway.runtime.child import Link, LinkError
from gateway.server.acts import Notice
from gateway.server.metrics.requests import Row

LONGEST = 1 << 20
"""The most bytes in a message."""
WRONG_TOKEN = "admin_token_wrong"
"""The name of the count of requests that need the admin token, but do not have the right one."""


@dataclass(frozen=True, slots=True)
class Orders:
    """The first message to the web process."""

    where: str | None
    file: tuple[int, int] | None
    """The database, as in `gateway.store.database.Place`; `where` is None if results are not kept."""
    token: str | None
    """The operator's token; None if no operator is admitted."""
    log_level: str
    log_json: bool
    origins: Sequence[str] = ()
    """The websites whose pages may read the API, as in `adapters.web.origins.Origins`."""
    fronts: Sequence[Sequence[Any]] = ()
    """The dialects' ports, each as the fields of `adapters.web.site.Front`."""
    house: Sequence[str] = ()
    """The house players that people can choose."""
    limits: Sequence[int | None] = (None, None)
    """The most connections from one address, and the most that it may open in a second.

    0 means no limit, and None means the default.
    """
    request: float | None = None
    """The limit for requests, as `seconds` in `adapters.web.server.Web`."""
    idle: float = 300.0
    """Seconds that a player has for a move, as in `adapters.web.site.Site`."""
    trusted: Sequence[str] = ()
    """Networks of trusted proxies. They report their clients' addresses, and have no limits by address."""
    audit: str = ""
    """The file in which the operator's acts are logged."""
    hsts: bool = False
    """Whether browsers are told to use only TLS, as in `adapters.web.server.Web`."""
    hosts: Sequence[str] = ()
    """The addresses at which the server itself accepts clients of the page, to pass them to the process."""
    counting: bool = False
    """Whether to send the server counts of answered requests."""
    evaluates: bool = True
    """Whether viewers may know who is winning games that are on."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Tells the web process to finish its answers within `limit` seconds, and to end."""

    limit: float


@dataclass(frozen=True, slots=True)
class Ask:
    """Asks the server for its condition, or to clear all results."""

    number: int
    what: Literal["queue", "clear"]


@dataclass(frozen=True, slots=True)
class Act:
    """Asks the server to carry out an act of the operator, one of `gateway.server.operating`."""

    number: int
    what: str
    about: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Withdraws the question with this number. The question still gets an answer, which tells the outcome."""

    number: int


@dataclass(frozen=True, slots=True)
class Condition:
    """The answer to `Ask`: the condition of the server."""

    number: int
    waiting: int
    """Games that wait to be stored."""
    is_behind: bool
    """Whether the database has been failing for so long that results went to the journal, or would have if
    the journal did not fail, too."""
    cluster: Mapping[str, Any] | None = None
    """The state of the connections to the other nodes of the cluster; None without a cluster."""
    is_draining: bool = False
    """Whether the server admits no players, and only finishes its live games."""


@dataclass(frozen=True, slots=True)
class Removed:
    """The answer to `Ask`: all results were cleared."""

    number: int
    games: int
    players: int


@dataclass(frozen=True, slots=True)
class Done:
    """The answer to `Act`: the outcome on each node, as JSON.

    There is one message for each node, because an outcome may be long. One more message, without a text, ends
    the answer.
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
    """Asks the server to send the state of all games, and then facts. The number 0 asks it to stop.

    The server repeats the number in `Begun`.
    """

    number: int


@dataclass(frozen=True, slots=True)
class Begun:
    """The start of the state for a request. It replaces the old state. Facts may come between its parts."""

    number: int


@dataclass(frozen=True, slots=True)
class Complete:
    """The end of the state."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts, or parts of the state, each encoded by `gateway.game.fact_encoding`."""

    encoded: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Reached:
    """How often clients of the page reached a limit, or sent a wrong token, since the last such message."""

    what: str
    """``limit_`` and one of `gateway.access.limits.LIMITS`, or `WRONG_TOKEN`."""
    times: int


@dataclass(frozen=True, slots=True)
class Answered:
    """Counts of the requests that were answered since the last such message."""

    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Analysed:
    """The scores of all positions of a stored game, to be stored with it."""

    game: GameId
    moves: str
    scores: str
    """The bytes of `gateway.store.records.Solved.scores`, two hexadecimal digits each."""


Answer: TypeAlias = Condition | Removed | Done | Failed
Message: TypeAlias = (
    Orders
    | Stop
    | Ask
    | Act
    | Withdraw
    | Answer
    | Notice
    | Watch
    | Begun
    | Complete
    | Reached
    | Answered
    | Analysed
)
KINDS: Mapping[str, Callable[..., Message]] = {kind.__name__.lower(): kind for kind in get_args(Message)}


class Messages:
    """Sends and receives messages over a `Link`. Several tasks may send; only one may receive."""

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
    """Return a message as bytes."""
    if isinstance(message, Facts):
        return b"f" + b"\n".join(message.encoded)
    fields = {name: getattr(message, name) for name in message.__slots__}
    return json.dumps({"kind": type(message).__name__.lower(), **fields}).encode()


def decode(data: bytes) -> Message | Facts:
    """Return the message in `data`. Raises LinkError if it is invalid; the link is then unusable."""
    if data.startswith(b"f"):  # no JSON object begins with this letter
        return Facts(data[1:].split(b"\n"))
    try:
        fields = json.loads(data)
        kind = KINDS[fields.pop("kind")]
        return kind(**{name: _plain(value) for name, value in fields.items()})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise LinkError("this is not a message") from error


def _plain(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
