"""The registry: the state that the nodes of a cluster share, on a server that speaks Redis's protocol.

Knows coredis and the keys. Decides nothing. Each node runs one script a few times a second. The script also
records that the node is running. All keys begin with one prefix, so that several clusters can share a server.
If a registry loses its data, the nodes write all of it again.
"""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from secrets import token_hex
from socket import EAI_NONAME, gaierror
from ssl import SSLCertVerificationError
from typing import Any, NamedTuple

import coredis
import trio
from coredis.exceptions import AuthenticationRequiredError, RedisError
from coredis.exceptions import ConnectionError as RedisConnectionError

from gateway.options.clustering import ClusterOptions

LEASE = 1.5
"""Seconds for which a node may pair after it has renewed the lease."""
BEAT = 0.4
"""Seconds between two requests to the registry."""
GONE = 3.0
"""Seconds without a request after which a node is removed."""
LIMIT = 1.0
"""Seconds that the registry has for an answer."""

_NO_PASSWORD = "it asks for a password; give it in a file with --cluster-password-file"

# The keys are nodes (a hash, by name), lease, epoch and secret. The arguments are the node's name, its entry,
# whether it may pair, the highest epoch that it knows, the milliseconds of the lease, the milliseconds until
# a node is removed, and the secret that the node knows. If a node knows a higher epoch than the registry, the
# registry has lost its data. Then the lease may belong to a node that did not know the higher epoch. Other
# nodes would not follow such a node, so the lease is deleted.
_ASK = """
local now = redis.call('TIME')
local at = now[1] * 1000 + math.floor(now[2] / 1000)
local name, entry = ARGV[1], ARGV[2]
local there = redis.call('HGET', KEYS[1], name)
if there then
    local seen, before = string.match(there, '^(%d+) (.*)$')
    if before ~= entry and at - seen < tonumber(ARGV[6]) then
        return {'taken'}
    end
end
redis.call('HSET', KEYS[1], name, string.format('%.0f', at) .. ' ' .. entry)
redis.call('SET', KEYS[4], ARGV[7], 'NX')
if tonumber(ARGV[4]) > tonumber(redis.call('GET', KEYS[3]) or 0) then
    redis.call('SET', KEYS[3], ARGV[4])
    redis.call('DEL', KEYS[2])
end
local holder = redis.call('GET', KEYS[2])
if holder == entry and ARGV[3] == '1' then
    redis.call('PEXPIRE', KEYS[2], ARGV[5])
elseif holder == entry then
    redis.call('DEL', KEYS[2])
    holder = nil
elseif not holder and ARGV[3] == '1' then
    redis.call('SET', KEYS[2], entry, 'PX', ARGV[5])
    redis.call('INCR', KEYS[3])
    holder = entry
end
local nodes = {}
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    local seen, entry = string.match(redis.call('HGET', KEYS[1], field), '^(%d+) (.*)$')
    if seen and at - seen < tonumber(ARGV[6]) then
        nodes[#nodes + 1] = entry
    else
        redis.call('HDEL', KEYS[1], field)
    end
end
return {'ok', holder or '', redis.call('GET', KEYS[3]) or '0', nodes, redis.call('GET', KEYS[4])}
"""
_GO = """
if redis.call('GET', KEYS[2]) == ARGV[2] then
    redis.call('DEL', KEYS[2])
end
redis.call('HDEL', KEYS[1], ARGV[1])
return 1
"""


class Holder(NamedTuple):
    """The node that pairs players."""

    node: str
    epoch: int
    """A number that is higher than the epoch of every node that paired before."""


@dataclass(frozen=True, slots=True)
class View:
    """The registry's answer."""

    holder: Holder | None
    nodes: Mapping[str, tuple[str, int]]
    """The host and the port at which each node listens for others."""


class RegistryError(Exception):
    """The registry did not answer, or its answer is invalid."""


class RegistryAwayError(RegistryError):
    """The registry does not answer now, but may answer later."""


class NameTakenError(RegistryError):
    """Another node has this node's name."""

    def __str__(self) -> str:
        """Return a sentence that says what to do."""
        return "another node has this name; give each a name of its own with --node"


class Registry:
    """A connection to the registry, for one node."""

    def __init__(self, client: "coredis.Redis[str]", prefix: str, entry: tuple[str, str, int, int]) -> None:
        """`entry` is for the other nodes: this node's name, host and port, and the number of its run."""
        self._client = client
        self._name = entry[0]
        self._entry = json.dumps(entry)
        self._keys = [f"{prefix}:{key}" for key in ("nodes", "lease", "epoch", "secret")]
        self.secret = token_hex(16)
        """The cluster's secret. It is valid after the first request. The cluster's first node creates it."""

    async def ask(self, epoch: int, *, may_pair: bool) -> View:
        """Register the node, and return the registry's answer. Raises RegistryError."""
        arguments = (
            *(self._name, self._entry, int(may_pair), epoch),
            *(round(1000 * LEASE), round(1000 * GONE)),
            self.secret,
        )
        with _asking():
            answer = await self._client.eval(_ASK, self._keys, arguments)
        view, self.secret = _view(answer)
        return view

    async def go(self) -> None:
        """Remove the node. Raises RegistryError."""
        with _asking():
            await self._client.eval(_GO, self._keys, (self._name, self._entry))


@asynccontextmanager
async def open_registry(options: ClusterOptions, port: int, run: int) -> AsyncIterator[Registry]:
    """Connect to the registry, for a node that listens at `port`. Raises RegistryError if it does not answer.

    `run` is a number that no other run of a node has.
    """
    client = coredis.Redis.from_url(
        options.url,
        username=options.username,
        password=options.password,
        decode_responses=True,
        max_connections=2,
        verify_version=False,
    )
    try:
        async with client:
            yield Registry(client, options.prefix, (options.node, options.address.host, port, run))
    except* RedisError as errors:
        raise RegistryError(_text_of(errors.exceptions[0])) from None


@contextmanager
def _asking() -> Iterator[None]:
    """Raise a RegistryError for any error of a request to the registry."""
    try:
        with trio.fail_after(LIMIT):
            yield
    except AuthenticationRequiredError as error:
        raise RegistryError(_NO_PASSWORD) from error
    except (RedisError, OSError, trio.TooSlowError) as error:
        kind = RegistryAwayError if _is_away(error) else RegistryError
        raise kind(_text_of(error) or "it does not answer") from error


def _is_away(error: BaseException) -> bool:
    """Return whether the registry may answer the same request later."""
    cause = error.__cause__
    is_wrong = isinstance(cause, SSLCertVerificationError) or (
        isinstance(cause, gaierror) and cause.errno == EAI_NONAME
    )
    return isinstance(error, RedisConnectionError | OSError | trio.TooSlowError) and not is_wrong


def _text_of(error: BaseException) -> str:
    """Return the text of an error.

    If an invalid certificate caused the error, the text says what is wrong with the certificate.
    """
    cause = error.__cause__
    return f"{error}: {cause.verify_message}" if isinstance(cause, SSLCertVerificationError) else str(error)


def _view(answer: Any) -> tuple[View, str]:
    """Return the view and the secret in an answer. Raises RegistryError."""
    try:
        if answer[0] == "taken":
            raise NameTakenError
        _, holder, epoch, nodes, secret = answer
        if not isinstance(secret, str):
            raise ValueError("not a secret")
        places = dict(map(_node, nodes))
        if not holder:
            return View(None, places), secret
        name, place = _node(holder)
        return View(Holder(name, int(epoch)), {name: place} | places), secret
    except (ValueError, TypeError, IndexError, RecursionError) as error:
        raise RegistryError(f"its data are not those of a node: {error}") from error


def _node(entry: str) -> tuple[str, tuple[str, int]]:
    """Return a node's name, and the host and port at which it listens. Raises ValueError."""
    name, host, port, run = json.loads(entry)
    if (type(name), type(host), type(port), type(run)) != (str, str, int, int) or not 0 < port < 1 << 16:
        raise ValueError("not a node")
    return name, (host, port)
