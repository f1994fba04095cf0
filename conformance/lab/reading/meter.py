"""What a text costs: the processor time of this thread for reading it, and for writing the answer.

Knows the codecs of the dialects, and how a server that cannot do what a text asks for answers it: a client
can have that done with any text, as often as it likes.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from time import thread_time

from adapters.arena.codec import ArenaCodec
from adapters.arena.messages import Ignored
from adapters.client.contract import Flooded, WireError
from adapters.client.framing import Lines
from adapters.droidcon.codec import DroidconCodec
from adapters.nac4.codec import Nac4Codec

TIMES = 5
GOALS = {4096: 2.0, 65_536: 15.0}
"""Milliseconds that a text of so many characters may take, at best."""

_CHUNK = 4096
"""Bytes that a server reads at once."""


def cost(dialect: str, text: str) -> float:
    """Return the milliseconds that a text took, once."""
    read = READERS[dialect]
    began = thread_time()
    read(text)
    return 1e3 * (thread_time() - began)


def best(dialect: str, text: str) -> float:
    """Return the least of several times that a text took, in milliseconds."""
    return min(cost(dialect, text) for _ in range(TIMES))


def _arena(text: str) -> None:
    codec = ArenaCodec()
    try:
        said = codec.decode(text).said
    except WireError:
        codec.encode(Ignored(text, "Malformed message"))
    else:
        codec.encode(Ignored(said, "Only start messages allowed in current state"))


def _nac4(text: str) -> None:
    with suppress(WireError):
        Nac4Codec().decode(text)


def _droidcon(text: str) -> None:
    lines, codec = Lines(), DroidconCodec()
    data = text.replace("\n", " ").encode("utf-8", "surrogateescape") + b"\n"
    with suppress(WireError, Flooded):
        for start in range(0, len(data), _CHUNK):
            for line in lines.feed(data[start : start + _CHUNK]):
                codec.decode(line)


READERS: Mapping[str, Callable[[str], None]] = {"arena": _arena, "nac4": _nac4, "droidcon": _droidcon}
