"""Readers of what clients and servers send each other: messages, lines and frames.

Knows codecs and framing, neither sessions nor translators.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress

from wsproto.connection import Connection, ConnectionState, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Message, Ping, TextMessage

from adapters.arena.codec import ArenaClientCodec, ArenaCodec
from adapters.arena.messages import Encoding, Ignored
from adapters.client.contract import Farewell, Flooded, WireError
from adapters.client.framing import HUNG_UP, Lines, WebSocket
from adapters.droidcon.codec import DroidconClientCodec, DroidconCodec
from adapters.nac4.codec import Nac4ClientCodec, Nac4Codec

_CHUNK = 4096
"""Bytes that a server reads at once."""


def _arena(text: str) -> None:
    """Read a text, and write the `ignored` that copies it: a client can have that done with any text."""
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


_READERS: Mapping[str, Callable[[str], None]] = {"arena": _arena, "nac4": _nac4, "droidcon": _droidcon}
"""The server's side of each dialect."""


def nac4(data: bytes) -> None:
    """Read a message of nac4's, on either side."""
    _on_both_sides("nac4", Nac4ClientCodec().decode, data)


def arena(data: bytes) -> None:
    """Read a map of arena's, on either side."""
    _on_both_sides("arena", ArenaClientCodec(Encoding.JSON).decode, data)


def droidcon(data: bytes) -> None:
    """Read lines of Droidcon's, on either side."""
    _on_both_sides("droidcon", DroidconClientCodec().decode, data)


def _on_both_sides(dialect: str, heard: Callable[[str], object], data: bytes) -> None:
    read(dialect)(data)
    with suppress(WireError):
        heard(_text(data))


def read(dialect: str) -> Callable[[bytes], None]:
    """Return what reads a message of a dialect, and answers it, as a server does."""
    reader = _READERS[dialect]
    return lambda data: reader(_text(data))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def lines(data: bytes) -> None:
    """Take lines apart, whole and torn at every place that the first byte says."""
    step = data[0] % 16 + 1 if data else 1
    whole, torn = _lines(data, _CHUNK), _lines(data, max(step, len(data) // 64))
    assert whole == torn, "lines are others when they arrive in other pieces"


def _lines(data: bytes, step: int) -> list[str]:
    reader, found = Lines(), list[str]()
    try:
        for start in range(0, len(data), step):
            found += reader.feed(data[start : start + step])
    except Flooded:
        return found
    return found + reader.end()


def frames(data: bytes) -> None:
    """Take websocket frames apart: whole and torn the same, and as wsproto's own connection does."""
    whole, torn = _websocket(data, _CHUNK), _websocket(data, data[0] % 16 + 1 if data else 1)
    assert whole == torn, "a websocket is another when its bytes arrive in other pieces"
    if not whole[2].endswith("(1009)"):  # a limit that the library does not have
        assert whole == _as_the_library(data)


def websocket(data: bytes) -> None:
    """Take frames apart as the gateway does."""
    WebSocket().feed(data)


def _websocket(data: bytes, step: int) -> tuple[list[str], bytes, str]:
    """Return the texts, what was answered, and how the client ended it."""
    framing, texts = WebSocket(), list[str]()
    for start in range(0, len(data), step):
        texts += framing.feed(data[start : start + step])
        while framing.has_more:
            texts += framing.feed()
    goodbye = framing.close(Farewell()) if framing.ended == HUNG_UP else b""
    return texts, framing.replies + goodbye, framing.ended


def _as_the_library(data: bytes) -> tuple[list[str], bytes, str]:
    """Return the same of wsproto's connection."""
    texts, replies, text, binary = list[str](), b"", "", b""
    connection = Connection(ConnectionType.SERVER)
    connection.receive_data(data)
    for event in connection.events():
        match event:
            case TextMessage(part):
                text += part
            case BytesMessage(part):
                binary += part
            case Ping():
                replies += connection.send(event.response())
            case CloseConnection(code):
                if connection.state is ConnectionState.REMOTE_CLOSING:
                    return texts, replies + connection.send(event.response()), HUNG_UP
                return texts, replies, f"broke the websocket protocol ({int(code)})"
        if isinstance(event, Message) and event.message_finished:
            texts.append(text or binary.decode("utf-8", "surrogateescape"))
            text, binary = "", b""
    return texts, replies, ""
