"""Texts that may take long to read, and random byte streams based on valid messages. Pure.

A hard text is a frame (an opening and an ending) around a piece that is repeated up to a length. In a piece,
`#i` stands for a different number in each repetition, and `#h` for different integers with the same hash in
Python. A *talk* is a list of the pieces that one connection sends. Equal `Random` states give equal talks.
"""

from collections.abc import Iterator, Sequence
from itertools import count
from random import Random
from typing import TypeAlias

FEW = 120
"""About the highest number of forms that the gateway accepts in an EDN map."""

_SAME_HASH = 2**61 - 1


def _split(pieces: str) -> list[str]:
    return pieces.split("¦")


JSON_FRAMES = (
    ("", ""),
    ('{"a":[', "0]}"),
    ('{"a":[', ""),
    ('{"a":"', '"}'),
    ('{"a":"', ""),
    ('{"type":"move","move":[', r'0],"\u0061":1}'),
    ('{"type":"start","id":"', '"}'),
    ('{"a":', "}"),
    ("{", '"a":0}'),
)
JSON_PIECES = (
    *_split(r"""[],¦{},¦[[]],¦[{"":0}],¦{"":[]},¦{"a":{}},¦"",¦"a",¦"\n",¦"\u0001","""),
    *_split("0,¦-0,¦0e0,¦1.1e1,¦1e-9,¦5e-324,¦7e-310,¦1e300,¦1e400,¦1E400,¦null,¦true,¦false,¦NaN,"),
    *_split(
        r"""[[[[[[[[[[]]]]]]]]]],¦"#i":0,¦"#i":[],¦"#i":{"#i":0},¦"a":1,¦[¦{¦[{"a":¦]¦9¦-¦.¦e¦0¦"¦ ¦,¦:"""
    ),
    *_split(r"""\¦\\¦\n¦\"¦\/¦\u0041¦\ud83d\ude00¦\ud800¦\u00e9¦a¦tru¦e9,¦1e¦1."""),
    *("9" * digits + "," for digits in (18, 300, 4300)),
    *("0." + "9" * digits + "," for digits in (18, 300, 4300)),
    *("\n", "\t", "\r", "\x00", "\x01", "\x7f", "\x85", "\xa0", "\xe9", "\xe9\x01", "\u20ac", "\u2028"),
    *("\ufeff", "\U0001f600", "\udcff", "\udcffa"),
)
EDN_FRAMES = (
    ("{:a [", "]}"),
    ("{:a #{", "}}"),
    ("{:a (", ")}"),
    ("{:a ", "}"),
    ("{", "}"),
    ("{:a #:b{", "}}"),
    ('{:a "', '"}'),
    ('{:a "', ""),
    ("{:a 1} ", ""),
    ("{:a ", "1}"),
)
EDN_PIECES = (
    *_split("0¦00 ¦1¦9¦1 ¦-¦- ¦-1¦+¦+1 ¦.¦. ¦1.¦1.0¦1.0 ¦e¦E¦1e¦1e1 ¦-0¦0-¦0x¦0xf ¦1N ¦1M ¦1.5M "),
    *_split("1e99M ¦1e9999M ¦1e-999999999999999999M ¦1/2 ¦0/¦1/¦0/0 ¦5e-324 ¦0xffffffffffffffffffffffff "),
    *("9" * 100 + " ", "9" * 99 + "/7 ", "0." + "9" * 98 + " "),
    *("1." + "9" * 97 + "M ", "0x" + "f" * 98 + " "),
    *("1e" + "9" * 98 + " ", "0" * 100 + " ", ":" + "a" * 255 + " ", "a" * 256 + " ", "a" * 255 + "/ "),
    *_split(r"""\¦\\¦\a¦\a ¦\newline¦\newline ¦\u00e9 ¦\u¦\space\tab"""),
    *_split("#¦##¦##Inf ¦##NaN ¦##-Inf ¦#_¦#_ ¦#_ 1 ¦#_ #_ 1 1 ¦#_ ^a b ¦#a¦#a ¦#inst ¦#uuid ¦#{¦#{}"),
    *_split("""#inst "2020-01-01" ¦#inst "2020-01-01T00:00:00+01:00" ¦#inst "2020" ¦#inst "x" """),
    *_split("""#uuid "01234567-0123-0123-0123-0123456789ab" ¦#:a¦#:a{}¦#:a{:b 1} ¦#:a{:b/c 1} """),
    *_split(";¦;\n¦; a\n¦:¦: ¦:a¦:a ¦:a#i ¦:a/b ¦:a#i #i ¦a¦a ¦a/¦a/b¦a/b ¦/¦/ ¦//¦nil ¦true ¦%¦&=¦<>@ "),
    *_split(
        "[¦]¦(¦)¦{¦}¦[]¦()¦{}¦[] ¦{[] ¦{{} ¦#{[¦[[¦[-1 -2]¦(-1 -2)¦^¦^a ¦^a 1 ¦^{} [] ¦^{:a 1} ¦^^a b c "
    ),
    *_split("#h ¦[#h] ¦(#h) ¦#{#h} ¦{#h #h} ¦^a #h ¦[[#h]] ¦#h.0 ¦#hM ¦-#h ¦1/#h "),
    *_split(r""""¦"" ¦"a#i" ¦"\¦"\n" ¦\n¦\t¦\"¦\q¦\x41¦\101¦\777¦\u0041¦\ud800¦\U00010000¦\U¦\x"""),
    *_split(r"""\N{¦\N{BULLET}¦\N{x¦\N{}¦}\N{¦ ¦,¦, ¦~¦'¦`"""),
    *("\n", "\r", "\t", "\x00", "\x01", "\xa0", "\xe9"),
    *("\u0663", "\u0663 ", "\\\u20ac ", "\U0001f600", "\udcff"),
)
NAC4_PIECES = (
    *_split("playmove ¦connect ¦connect a ¦playmove 1¦playmove -¦a¦A¦_¦-¦9¦0¦-9¦a ¦ ¦.¦,"),
    *("\t", "\r\n", "\n", "\x00", "\x1c", "\x1f", "\x85", "\xa0", "\u2003", "\u3000 ", "\u3000a", "\xe9"),
    *("\u0663", "\ufeff", "\u0301", "e\u0301 ", "\xdf", "\ufb03", "\u0149", "\U0001f600", "\udcff"),
)
NAC4_FRAMES = (
    *(("", ""), ("playmove ", ""), ("playmove 3", "")),
    *(("connect ", ""), ("", "playmove 3"), ("playmove ", " 3")),
)
DROIDCON_PIECES = (
    *NAC4_PIECES,
    *_split("PUT ¦NAME ¦JOIN ¦put 1 ¦JOIN a ¦+¦+9"),
    *("\udcff\udcff", "\udcff\udcfa", "\udcff\udcfb", "\udcff\udcf0", "\udcff\udcfaa\udcff\udcf0"),
    *("\udcff\udcfa\udcff", "\udcffa", "a\udcff", "\udce2\udc82"),
    *("\udcc3", "\udced\udca0\udc80", "\udcf0\udc9f"),
    *("\u0390", "\u1f50", "\U0001d4b3", "\r", "\x0b", "\x0c"),
)
DROIDCON_FRAMES = (
    *(("", ""), ("PUT ", ""), ("PUT 3", ""), ("NAME ", "")),
    *(("JOIN ", ""), ("", "PUT 3"), ("JOIN a", "b")),
)
I32CFSP_PIECES = (
    *DROIDCON_PIECES,
    *_split("DROP ¦POP ¦DROP 3¦I32CFSP_HELLO ¦I32CFSP_HELLO a ¦AI_GAME ¦AI_GAME 7 6¦READY¦WELCOME ¦OKAY"),
)
I32CFSP_FRAMES = (
    *(("", ""), ("DROP ", ""), ("DROP 3", ""), ("POP ", ""), ("I32CFSP_HELLO ", "")),
    *(("AI_GAME ", ""), ("AI_GAME 7 ", ""), ("WELCOME ", ""), ("", "DROP 3"), ("I32CFSP_HELLO a", "b")),
)
RPI_PIECES = (
    *NAC4_PIECES,
    *_split("CONNECT:¦RECONNECT:¦READY¦PLAY:¦PLAY:3¦GAME:¦WATCH:¦LIST¦PLAYER:LIST¦GET:¦SET:a:¦:¦::¦|¦+¦+9"),
)
RPI_FRAMES = (
    *(("", ""), ("PLAY:", ""), ("PLAY:3", ""), ("CONNECT:", ""), ("RECONNECT:a:", "")),
    *(("GAME:WATCH:", ""), ("RESERVATION:ADD:", "a,b"), ("", ":PLAY:3"), ("GET:", "")),
)
TUTORIAL_PIECES = (
    *JSON_PIECES,
    *_split('"type":"init",¦"type":"play",¦"column":3,¦"join":"a",¦"watch":"a",¦"name":"a",¦"player":"red",'),
)
TUTORIAL_FRAMES = (
    *JSON_FRAMES,
    *(('{"type":"init","join":"', '"}'), ('{"type":"init","name":', "}"), ('{"type":"init",', "}")),
    *(('{"type":"play","column":', "}"), ('{"type":"play",', '"column":3}')),
)
"""In a text, lone surrogates stand for bytes that are not UTF-8, as with `surrogateescape`."""

FILLERS = ((' "', r"\n", '" '), (' "', r"\u0041", '" '), ("", ";\n", ""), (";", " ", "\n"))
"""Texts of any length with at most one token, as an opening, a piece to repeat, and an ending."""

PIECES = {
    "arena": (*JSON_PIECES, *EDN_PIECES),
    "nac4": NAC4_PIECES,
    "droidcon": DROIDCON_PIECES,
    "i32cfsp": I32CFSP_PIECES,
    "rpi": RPI_PIECES,
    "tutorial": TUTORIAL_PIECES,
}
FRAMES = {
    "arena": (*JSON_FRAMES, *EDN_FRAMES),
    "nac4": NAC4_FRAMES,
    "droidcon": DROIDCON_FRAMES,
    "i32cfsp": I32CFSP_FRAMES,
    "rpi": RPI_FRAMES,
    "tutorial": TUTORIAL_FRAMES,
}


def hard_texts(dialect: str, length: int) -> Iterator[str]:
    """Yield hard texts of a dialect, as long as possible within `length`."""
    if dialect == "arena":
        yield from framed(JSON_PIECES, JSON_FRAMES, length)
        yield from framed(EDN_PIECES, EDN_FRAMES, length)
        yield from mixed(length)
    else:
        yield from framed(PIECES[dialect], FRAMES[dialect], length)


def framed(pieces: Sequence[str], frames: Sequence[tuple[str, str]], length: int) -> Iterator[str]:
    """Yield hard texts: each piece in each frame."""
    for before, behind in frames:
        for piece in pieces:
            yield before + repeated(piece, length - len(before) - len(behind)) + behind


def mixed(length: int) -> Iterator[str]:
    """Yield EDN maps with about as many forms as allowed, filled up with text that adds at most one form."""
    for before, behind in EDN_FRAMES[:6]:
        for piece in filter(_is_closed, EDN_PIECES):
            forms = before + repeated(piece, length // 2, FEW // _tokens(piece))
            for opening, filler, closing in FILLERS:
                room = length - len(forms + opening + closing + behind)
                yield forms + opening + repeated(filler, room) + closing + behind


def repeated(piece: str, length: int, times: int | None = None) -> str:
    """Repeat a piece up to `length` characters, and at most `times` times."""
    if "#i" not in piece and "#h" not in piece:
        most = max(length // len(piece), 0)
        return piece * (most if times is None else min(times, most))
    found: list[str] = []
    for number in count() if times is None else range(times):
        one = piece.replace("#i", f"{number:x}").replace("#h", str(5 + number * _SAME_HASH))
        length -= len(one)
        if length < 0:
            break
        found.append(one)
    return "".join(found)


def _is_closed(piece: str) -> bool:
    return piece.endswith((" ", "]", ")", "}"))


def _tokens(piece: str) -> int:
    """Return an upper estimate of the number of tokens in a piece."""
    return max(1, len(piece.split()) + sum(piece.count(bracket) for bracket in "[](){}"))


NAMES = (
    "a" * 256,
    "a" * 4_000,
    "\U0001f600" * 256,
    "a" * 60_000,
    '=HYPERLINK("http://127.0.0.1/","look")',
    "@SUM(1+1)*cmd|'/C calc'!A0",
    "<script>alert(1)</script>",
    "\x1b[2J\x1b[31mred",
    "\u202egnp.exe",
    "a\r\n2026-11-22 ERROR all is lost",
    "\x00nul",
    "%0d%0a%00",
    "../../../../etc/passwd",
    "aima",
    "' OR 1=1 --",
)
"""Names that are long, or have a special meaning in a log, a page, a terminal or a spreadsheet."""


# Talks.

Talk: TypeAlias = list[bytes]
"""The pieces that one connection sends, in order."""

PORTS = ("nac4", "arena", "droidcon", "rpi", "tutorial", "web")
_MOST_PIECES = 12
"""The most messages in a talk."""

_NAC4 = (b"connect ann\r\n", b"playmove 3\r\n", b"playmove -1\r\n", b"connect \r\n", b"connected x\r\n")
_ARENA = (
    b'{"type": "start", "id": "ann", "against": null}',
    b'{:type "start", :id "ann", :table "x"}',
    b'{"type": "move", "move": 3}',
    b"{:type :move, :move 3}",
    b'{"type": "state_request"}',
    b'{"type":"move","move":[[{"a":1e400}]]}',
    b'#{1 #_ x "\\u00e9"} \\newline',
)
_DROIDCON = (
    *(b"NAME ann\n", b"JOIN lobby\n", b"JOIN @aima\n", b"PUT 3\n"),
    *(b"PUT -9\r\n", b"NAME \xff\xfd\x18x\n", b"\n"),
)
_I32CFSP = (
    *(b"I32CFSP_HELLO ann\r\n", b"AI_GAME 7 6\r\n", b"AI_GAME\r\n", b"DROP 3\r\n"),
    *(b"DROP -9\n", b"POP 1\r\n", b"I32CFSP_HELLO \xff\xfd\x18x y\n", b"\n"),
)
_RPI = (
    *(b"CONNECT:ann", b"READY", b"PLAY:3", b"PLAY:-1", b"OBSERVE", b"PLAYER:LIST", b"GAME:LIST"),
    *(b"GAME:WATCH:5", b"RECONNECT:ann", b"DISCONNECT", b"GET:MOVE_WAIT", b"ADMIN:AUTH:x", b"PING"),
)
_TUTORIAL = (
    *(b'{"type": "init"}', b'{"type": "init", "join": "t"}', b'{"type": "init", "name": "ann"}'),
    *(b'{"type": "init", "watch": "t"}', b'{"type": "play", "column": 3}', b'{"type": "play", "column": -1}'),
)
_PATHS = b"/ /api/games /api/games?limit=5 /api/standings /healthz /api/clear /?table=x *".split()
_ODD = (
    *(b"\0", b"\r\n", b"\n", b"\xff", b"\xc3", b"\xf0\x9f\x98\x80"),
    *(b"%00", b"9" * 400, b"A" * 5000, b"=", b"\x7f" * 9),
)
_UPGRADE = (
    b"GET %s HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
_H2C = (
    b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
    b"HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n"
)
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def talk_for(port: str, lot: Random) -> Talk:
    """Return a random talk for a port, which is one of `PORTS` or ``i32cfsp``."""
    if lot.random() < 0.1:
        return [noise(lot) for _ in range(lot.randint(1, 3))]
    match port:
        case "droidcon" | "i32cfsp":
            lines = _DROIDCON if port == "droidcon" else _I32CFSP
            return [_line(lot, lines) for _ in range(lot.randint(1, _MOST_PIECES))]
        case "web":
            return _web(lot)
        case _:
            return _websocket(lot, {"nac4": _NAC4, "rpi": _RPI, "tutorial": _TUTORIAL}.get(port, _ARENA))


def noise(lot: Random) -> bytes:
    """Return some random bytes."""
    return lot.randbytes(lot.choice((1, 2, 5, 20, 200, 3000)))


def mutated(data: bytes, lot: Random) -> bytes:
    """Return `data` with a few random changes, or sometimes unchanged."""
    for _ in range(lot.choice((0, 1, 1, 2, 3, 8))):
        at = lot.randrange(len(data) + 1)
        before, behind = data[:at], data[at:]
        match lot.randrange(6):
            case 0:
                data = before + lot.randbytes(1) + behind[1:]
            case 1:
                data = before + behind[lot.randint(1, 8) :]
            case 2:
                data = before + behind[:20] * lot.choice((2, 3, 50))
            case 3:
                data = before
            case _:
                data = before + lot.choice(_ODD) + behind
    return data


def _line(lot: Random, lines: Sequence[bytes]) -> bytes:
    line = mutated(lot.choice(lines), lot)
    return line if lot.random() < 0.2 else line.rstrip(b"\n") + b"\n"


def odd_frame(payload: bytes, lot: Random) -> bytes:
    """Return a websocket frame, usually a client's text frame. Any part of it may be wrong."""
    first = lot.choice((0x81, 0x81, 0x81, 0x82, 0x01, 0x00, 0x80, 0x89, 0x8A, 0x88, lot.randrange(256)))
    if first == 0x88 and lot.random() < 0.7:
        payload = lot.randbytes(2) + payload[:20]
    size = (
        len(payload) if lot.random() < 0.9 else lot.choice((0, 1, 125, 126, 65_535, 1 << 20, (1 << 64) - 1))
    )
    mask = 0x80 if lot.random() < 0.95 else 0
    if size < 126:
        head = bytes((first, mask | size))
    elif size < 1 << 16:
        head = bytes((first, mask | 126)) + size.to_bytes(2, "big")
    else:
        head = bytes((first, mask | 127)) + size.to_bytes(8, "big")
    return head + (bytes(4) if mask else b"") + payload


def _frames(lot: Random, messages: Sequence[bytes]) -> Talk:
    pieces = [odd_frame(mutated(lot.choice(messages), lot), lot) for _ in range(lot.randint(1, _MOST_PIECES))]
    return [mutated(piece, lot) if lot.random() < 0.1 else piece for piece in pieces]


def _websocket(lot: Random, messages: Sequence[bytes]) -> Talk:
    path = mutated(lot.choice(_PATHS), lot) if lot.random() < 0.2 else b"/"
    request = _UPGRADE % path
    if lot.random() < 0.3:
        request = mutated(request, lot)
    frames = _frames(lot, messages)
    if lot.random() < 0.3:  # the first frame does not wait for the answer
        return [request + frames[0], *frames[1:]]
    return [request, *frames]


def _web(lot: Random) -> Talk:
    match lot.randrange(6):
        case 0:
            return [_PREFACE, *(_http2_frame(lot) for _ in range(lot.randint(0, _MOST_PIECES)))]
        case 1:
            return [mutated(_H2C, lot), noise(lot)]
        case 2:
            return _websocket(lot, _NAC4)
        case 3:
            return [mutated(_UPGRADE % b"/", lot), noise(lot), noise(lot)]
        case _:
            return [mutated(_request(lot), lot) for _ in range(lot.randint(1, 4))]


def _http2_frame(lot: Random) -> bytes:
    payload = lot.randbytes(lot.choice((0, 4, 5, 8, 40)))
    head = len(payload).to_bytes(3, "big") + bytes((lot.randrange(11), lot.randrange(256)))
    return head + lot.choice((0, 1, 3, 1 << 31)).to_bytes(4, "big") + payload


def _request(lot: Random) -> bytes:
    method = lot.choice((b"GET", b"GET", b"HEAD", b"POST", b"OPTIONS", b"TRACE", b"\xff"))
    body = lot.choice((b"", b"", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n"))
    end = lot.choice((b"", b"hello", b"5\r\nhello\r\n0\r\n\r\n"))
    return b"%s %s HTTP/1.%d\r\nHost: x\r\n%s\r\n%s" % (
        method,
        lot.choice(_PATHS),
        lot.randrange(3),
        body,
        end,
    )
