"""Readers of what clients and servers send each other: messages, lines and frames.

Knows codecs and framing, neither sessions nor translators. The server's side of each dialect is what
`reading` measures too.
"""

from collections.abc import Callable
from contextlib import suppress

from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Event, Message, Ping, Pong, TextMessage
from wsproto.utilities import RemoteProtocolError

from adapters.arena.codec import ArenaClientCodec
from adapters.arena.messages import Encoding
from adapters.client.contract import Flooded, WireError
from adapters.client.framing import Lines, usual_frames
from adapters.droidcon.codec import DroidconClientCodec
from adapters.nac4.codec import Nac4ClientCodec
from conformance.lab.reading.meter import READERS

_CHUNK = 4096


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
    reader = READERS[dialect]
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
    """Take the usual frames off, which have to mean to wsproto what they mean here."""
    texts, controls, rest = usual_frames(data)
    told = [(TextMessage, text, True) for text in texts] + understood(rest)
    whole = understood(data)
    assert [each for each in told if not is_control(each)] == [each for each in whole if not is_control(each)]
    mine = understood(controls) + [each for each in understood(rest) if is_control(each)]
    assert mine == [each for each in whole if is_control(each)]


def understood(data: bytes) -> list[object]:
    """Return what wsproto makes of frames: messages, control frames, and at last an error if there is one."""
    connection = Connection(ConnectionType.SERVER)
    seen: list[object] = []
    try:
        connection.receive_data(data)
        seen.extend(_plain(event) for event in connection.events())
    except RemoteProtocolError as error:
        seen.append(type(error))
    return seen


def _plain(event: Event) -> object:
    match event:
        case Message(data, _, message_finished):
            return type(event), bytes(data) if isinstance(event, BytesMessage) else data, message_finished
        case Ping(payload) | Pong(payload):
            return type(event), bytes(payload)
        case CloseConnection(code, reason):
            return type(event), code, reason
    raise AssertionError(event)


def is_control(event: object) -> bool:
    """Whether it is a ping or a pong of what `understood` returns."""
    return isinstance(event, tuple) and event[0] in (Ping, Pong)
