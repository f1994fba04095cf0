"""The readers to fuzz. Each is a function of bytes that raises an error if the gateway makes a mistake.

They cover messages, lines and frames of clients and servers, the data that the gateway's processes and the
store exchange, and a browser's requests. Some readers also write the value again and compare the results.
"""

import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from wsproto.connection import Connection, ConnectionState, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Message, Ping, TextMessage

from adapters.arena.codec import ArenaClientCodec, ArenaCodec
from adapters.arena.messages import Encoding, Ignored
from adapters.client.contract import Farewell, Flooded, WireError
from adapters.client.dialect import Dialect
from adapters.client.framing import HUNG_UP, Lines, WebSocket
from adapters.dialects import all_dialects
from adapters.droidcon.codec import DroidconClientCodec, DroidconCodec
from adapters.i32cfsp.codec import I32cfspClientCodec, I32cfspCodec
from adapters.nac4.codec import Nac4ClientCodec, Nac4Codec
from adapters.rpi.codec import RpiClientCodec, RpiCodec
from adapters.rpi.translator import RpiTranslator, in_alphabet
from adapters.tutorial.codec import TutorialClientCodec, TutorialCodec
from adapters.tutorial.translator import TutorialTranslator
from adapters.web.link import decode
from adapters.web.live.state import State
from adapters.web.query import FILTERS, PAGING, BadRequestError, parameters, part, wanted
from conformance.lab.fuzz import seeds, visits
from gateway.access.heads import host_in, is_domain, may_play
from gateway.game.commands import LOBBY
from gateway.game.encoding import EncodingError, decode_command, decode_event
from gateway.game.encoding import encode as encode_value
from gateway.game.events import Objection, Refused
from gateway.game.fact_encoding import decode_fact
from gateway.runtime.child import LinkError
from gateway.store import evidence
from gateway.store.formats import FORMATS, jsonl

_CHUNK = 4096
"""The most bytes that a server reads at once."""


def _arena(text: str) -> None:
    """Read a text, and write the `ignored` message that quotes it, as the server does for a refused text."""
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
    _by_lines(text, DroidconCodec().decode)


def _i32cfsp(text: str) -> None:
    # One line, since an empty line is a message here, and the server carries messages out in turns
    _by_lines(text.replace("\r", " "), I32cfspCodec().decode)


def _by_lines(text: str, decode: Callable[[str], object]) -> None:
    lines = Lines()
    data = text.replace("\n", " ").encode("utf-8", "surrogateescape") + b"\n"
    with suppress(WireError, Flooded):
        for start in range(0, len(data), _CHUNK):
            for line in lines.feed(data[start : start + _CHUNK]):
                decode(line)


def _rpi(text: str) -> None:
    """Read a text, and write the error that a refused message gets. No name may add a separator."""
    codec = RpiCodec()
    assert not {*in_alphabet(text)} & {*":,|\r\n"}, "a separator in a name"
    try:
        message = codec.decode(text)
    except WireError:
        return
    translator = RpiTranslator(LOBBY)
    translator.receive(message)
    for answer in translator.observe(Refused(Objection.UNFIT), message):
        codec.encode(answer)


def _tutorial(text: str) -> None:
    """Read a text, and write the error that a refused message gets."""
    codec, translator = TutorialCodec(), TutorialTranslator("guest", "key")
    try:
        message = codec.decode(text)
    except WireError:
        return
    translator.receive(message)
    for answer in translator.observe(Refused(Objection.UNFIT), message):
        codec.encode(answer)


_READERS: Mapping[str, Callable[[str], None]] = {
    "arena": _arena,
    "nac4": _nac4,
    "droidcon": _droidcon,
    "i32cfsp": _i32cfsp,
    "rpi": _rpi,
    "tutorial": _tutorial,
}
"""The server's reader for each dialect."""


def nac4(data: bytes) -> None:
    """Read a nac4 message as a server, and as a client."""
    _on_both_sides("nac4", Nac4ClientCodec().decode, data)


def arena(data: bytes) -> None:
    """Read a c4-arena map as a server, which answers it, and as a client."""
    _on_both_sides("arena", ArenaClientCodec(Encoding.JSON).decode, data)


def droidcon(data: bytes) -> None:
    """Read Droidcon lines as a server, and as a client."""
    _on_both_sides("droidcon", DroidconClientCodec().decode, data)


def i32cfsp(data: bytes) -> None:
    """Read I32CFSP lines as a server, and as a client."""
    _on_both_sides("i32cfsp", I32cfspClientCodec().decode, data)


def rpi(data: bytes) -> None:
    """Read an RPI message as a server, which answers it, and as a player."""
    _on_both_sides("rpi", RpiClientCodec().decode, data)


def tutorial(data: bytes) -> None:
    """Read a message of the tutorial as a server, which answers it, and as a client."""
    _on_both_sides("tutorial", TutorialClientCodec().decode, data)


def _on_both_sides(dialect: str, heard: Callable[[str], object], data: bytes) -> None:
    read(dialect)(data)
    with suppress(WireError):
        heard(_text(data))


def read(dialect: str) -> Callable[[bytes], None]:
    """Return a function that reads a message of a dialect, and answers it, as a server does."""
    reader = _READERS[dialect]
    return lambda data: reader(_text(data))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def lines(data: bytes) -> None:
    """Split into lines, at once and in pieces of a size given by the first byte; compare the results."""
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
    """Split into websocket frames, at once, in pieces, and with wsproto; compare the results."""
    whole, torn = _websocket(data, _CHUNK), _websocket(data, data[0] % 16 + 1 if data else 1)
    assert whole == torn, "a websocket is another when its bytes arrive in other pieces"
    if not whole[2].endswith("(1009)"):  # wsproto has no such limit
        assert whole == _as_the_library(data)


def websocket(data: bytes) -> None:
    """Split into websocket frames as the gateway does."""
    WebSocket().feed(data)


def _websocket(data: bytes, step: int) -> tuple[list[str], bytes, str]:
    """Return the texts, the bytes of the answers, and how the client ended the websocket."""
    framing, texts = WebSocket(), list[str]()
    for start in range(0, len(data), step):
        texts += framing.feed(data[start : start + step])
        while framing.has_more:
            texts += framing.feed()
    goodbye = framing.close(Farewell()) if framing.ended == HUNG_UP else b""
    return texts, framing.replies + goodbye, framing.ended


def _as_the_library(data: bytes) -> tuple[list[str], bytes, str]:
    """Split the data with wsproto; return the same values as `_websocket`."""
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


def events(data: bytes) -> None:
    """Read the data as an event and as a command, and write each again."""
    for decode_one in (decode_event, decode_command):
        with suppress(EncodingError):
            value: Any = decode_one(data)
            assert decode_one(encode_value(value)) == value, "written and read it is another one"


def messages(data: bytes) -> None:
    """Read a message between the server and the web process."""
    with suppress(LinkError):
        decode(data)


def facts(data: bytes) -> None:
    """Read facts as the web process receives them, and apply them to its model of the games."""
    model = State()
    for now, line in enumerate(data.split(b"\n")):
        with suppress(ValueError):
            fact = decode_fact(line)
            game = model.hear(fact, float(now))
            if game is not None:
                json.dumps(game.shown(1, float(now)))
    json.dumps(model.counts(float(len(data))))


def games(data: bytes) -> None:
    """Read a line of an import. Every export format must be able to write the games."""
    try:
        found = jsonl.read(data)
    except ValueError:
        return
    for write in FORMATS.values():
        "".join(write(found)).encode()
    again = [game for line in jsonl.write(found) for game in jsonl.read(line)]
    assert again == found, "written and read a game is another one"


def exchanges(data: bytes) -> None:
    """Read the data as stored evidence of one side, and as evidence that is not compressed."""
    evidence.unpacked(data)
    evidence.unpacked(zlib.compress(data, 1))


def requests(data: bytes) -> None:
    """Read a browser's query and host. A page from that host must be allowed to play."""
    query, _, host = data.partition(b"\n")
    with suppress(BadRequestError):
        given = parameters(query, (*FILTERS, *PAGING))
        wanted(given)
        part(given)
    name = host_in(host.decode("latin-1"))
    if name is not None:
        is_domain(name)
        assert may_play(f"http://{name}:1", [name], ()), "a page may not play where it is from"


GOALS = {4096: 2.0, 65_536: 15.0}
"""The milliseconds that an input may take, by its greatest length in bytes."""


@dataclass(frozen=True, slots=True)
class Target:
    """A reader, and its inputs."""

    try_: Callable[[bytes], None]
    """Reads as the gateway does, and checks the result. Any error that it raises is a fault."""
    seeds: Callable[[bool], Iterator[bytes]]
    """Yields the first inputs: of up to 4 KB for False, of up to 64 KB for True."""
    share: int
    """The reader's weight: inputs are shared out in proportion to the weights. Fast readers have more."""
    reads: Callable[[bytes], object] | None = None
    """The part that the gateway's main process does without a pause. `GOALS` limits its time."""
    hard: Callable[[int], Iterator[bytes]] | None = None
    """Yields handwritten inputs of up to a given length that may take long to read."""

    @property
    def name(self) -> str:
        """The name of the reader."""
        return self.try_.__name__


def _dialect(try_: Callable[[bytes], None], share: int) -> Target:
    name = try_.__name__
    return Target(try_, seeds.of_texts(name), share, read(name), partial(seeds.hard, name))


def _plug_in(dialect: Dialect) -> Target:
    """Return the target for a dialect without a reader of its own. Its first inputs are from transcripts."""

    def reads(data: bytes) -> None:
        """Read a text as a server."""
        decode = dialect.requirements().codec().decode
        if dialect.scheme:
            with suppress(WireError):
                decode(_text(data))
        else:
            _by_lines(_text(data), decode)

    reads.__name__ = dialect.name
    return Target(reads, partial(seeds.of_transcripts, dialect.name), 40, reads)


_ALL = (
    _dialect(nac4, 50),
    _dialect(arena, 24),
    _dialect(droidcon, 40),
    _dialect(i32cfsp, 40),
    _dialect(rpi, 40),
    _dialect(tutorial, 40),
    Target(lines, seeds.of_talks("droidcon"), 24, lines),
    Target(frames, seeds.frames, 8, websocket),
    Target(events, seeds.events, 40, events),
    Target(facts, seeds.facts, 40),
    Target(messages, seeds.messages, 40),
    Target(games, seeds.games, 30),
    Target(exchanges, seeds.exchanges, 60),
    Target(requests, seeds.requests, 40),
    Target(visits.heads, seeds.of_talks("nac4", "arena", "rpi", "tutorial", "web"), 3),
    Target(visits.visits, seeds.visits, 1),
)
TARGETS: Mapping[str, Target] = {target.name: target for target in _ALL} | {
    each.name: _plug_in(each) for each in all_dialects() if each.name not in _READERS
}
"""All targets, by name."""
