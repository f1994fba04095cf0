"""How two nodes of a cluster greet each other.

Pure. Each side says who it is and gives the other a nonce; each then proves that it knows the cluster's
secret by signing both hellos. Neither takes anything else before that. Nodes that would not agree on what a
game is, being of another version or having other rules, refuse each other in words that say what differs.
"""

import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from secrets import token_hex
from typing import Any

VERSION = 3
"""Of all that nodes say to each other."""
LONGEST = 4096
"""Bytes of a hello."""


class HelloError(ValueError):
    """The other node is not one to talk to."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What a node is, for as long as it runs."""

    node: str
    """Its name: 1 to 32 letters, digits, dots, dashes or underscores."""
    run: int
    """The number of its run, which no other has."""
    rules: Mapping[str, float]
    """What games are played by: seconds of clocks and the like."""
    version: int = VERSION


@dataclass(frozen=True, slots=True)
class Hello:
    """What a node says first on a connection."""

    identity: Identity
    channel: str = ""
    """The channel that it goes on with; empty for a new one."""
    arrived: int = 0
    """The number of the latest batch that has arrived on it."""
    nonce: str = field(default_factory=lambda: token_hex(16))

    def encode(self) -> bytes:
        """Return a line."""
        return json.dumps(asdict(self)).encode() + b"\n"


def decode(line: bytes) -> Hello:
    """Return the hello that a line is. Raises HelloError."""
    try:
        found = json.loads(line)
        identity = Identity(**_fields(found.pop("identity"), node=str, run=int, rules=dict, version=int))
        hello = Hello(identity, **_fields(found, channel=str, arrived=int, nonce=str))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        raise HelloError("what it says is no hello") from error
    if not all(type(each) in (int, float) for each in identity.rules.values()):
        raise HelloError("what it says is no hello")
    return hello


def check(own: Identity, other: Identity) -> None:
    """Raise HelloError if two nodes do not go together."""
    if own.version != other.version:
        raise HelloError(f"it speaks version {other.version}, this node {own.version}: upgrade one of them")
    if own.node == other.node:
        raise HelloError(f"it is called {own.node} as well: give each node a name of its own with --node")
    different = sorted(
        name for name in {*own.rules, *other.rules} if own.rules.get(name) != other.rules.get(name)
    )
    if different:
        raise HelloError(f"its --{', --'.join(different)} differs: start all nodes with the same")


def proof(secret: bytes, prover: Hello, other: Hello) -> bytes:
    """Return the line by which `prover` shows that it knows the secret."""
    text = prover.encode() + other.encode()
    return hmac.new(secret, text, sha256).hexdigest().encode() + b"\n"


def is_proof(line: bytes, secret: bytes, prover: Hello, other: Hello) -> bool:
    """Return whether `line` is the proof of `prover`."""
    return hmac.compare_digest(line, proof(secret, prover, other))


def _fields(found: Any, **kinds: type) -> dict[str, Any]:
    if found.keys() != kinds.keys() or any(type(found[name]) is not kind for name, kind in kinds.items()):
        raise ValueError("not the fields")
    return dict(found)
