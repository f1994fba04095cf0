"""Texts out of bytes and bytes out of texts: lines, and websockets behind their handshake.

Every case is fed whole, byte by byte, cut at every place, and with more behind it; the outcome has to be the
same. The tables of websockets follow the categories of Autobahn's test suite, whose numbers their cases bear.
"""

import re
import tracemalloc
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import pytest
from frame_strategies import streams
from hypothesis import example, given
from hypothesis import strategies as st
from wsproto.connection import Connection, ConnectionState, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Ping, TextMessage
from wsproto.frame_protocol import CloseReason

from adapters.client.contract import Farewell, Flooded, PeerGone
from adapters.client.framing import Framing, Lines, WebSocket, text_frame, to_text, usual_frames

FAREWELL = Farewell(1001, "bye")


@dataclass(frozen=True)
class Outcome:
    """What comes of a client's bytes."""

    texts: list[str] = field(default_factory=list)
    replies: bytes = b""
    ended: str = ""
    goodbye: bytes = b""
    """What `close` gives for FAREWELL."""
    is_flooded: bool = False


def fed(framing: Framing, pieces: Iterable[bytes]) -> Outcome:
    """Feed bytes in these pieces, then say good-bye."""
    texts: list[str] = []
    is_flooded = False
    try:
        for piece in (*pieces, b""):  # after the lines before a flood, the next call raises
            texts += framing.feed(piece)
            while framing.has_more:
                texts += framing.feed()
    except Flooded:
        is_flooded = True
    return Outcome(texts, framing.replies, framing.ended, framing.close(FAREWELL), is_flooded)


def outcome(make: Callable[[], Framing], data: bytes, tail: bytes) -> Outcome:
    """Return what comes of `data`, however it is cut; and see that `tail` behind it is the text "tail"."""
    whole = fed(make(), [data])
    size = len(data)
    few = 1 if size < 1000 else 61
    assert fed(make(), [data[at : at + few] for at in range(0, size, few)]) == whole, "byte by byte"
    cuts = range(size) if size < 500 else (1, 2, 5, 8, 10, 13, 14, 15, size // 2, size - 1)
    for cut in cuts:
        assert fed(make(), [data[:cut], data[cut:]]) == whole, f"cut at {cut}"
    is_over = whole.ended or whole.is_flooded
    with_tail = whole if is_over else replace(whole, texts=[*whole.texts, "tail"])
    assert fed(make(), [data + tail]) == with_tail, "with more behind it"
    return whole


# Lines.


def lines_of(data: bytes) -> list[str]:
    """Return the lines of a stream, all of which are ended."""
    found = outcome(Lines, data, b"tail\n")
    assert found == Outcome(found.texts)
    return found.texts


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"NAME ann\nJOIN x\n", ["NAME ann", "JOIN x"]),
        (b"NAME ann\r\nJOIN x\r\n", ["NAME ann", "JOIN x"]),
        (b"NAME a\rJOIN x\rPUT 3\r", ["NAME a", "JOIN x", "PUT 3"]),
        (b"NAME a\r\0JOIN x\r\0", ["NAME a", "JOIN x"]),  # how telnet writes a lone CR
        (b"\n\n", ["", ""]),
        (b"\r\r\n\n\r", ["", "", "", ""]),
        (b"\r\r\0\r", ["", "", ""]),
        (b"PUT\0 1\n\0\n", ["PUT\0 1", "\0"]),  # a NUL that is behind no CR is a character
        (b"a\r\0\0\n", ["a", "\0"]),
        (b" put 3 \n", [" put 3 "]),
        ("JOIN ä€\n".encode(), ["JOIN ä€"]),
        (b"", []),
    ],
)
def test_line_ends_with_lf_or_cr_lf_or_cr_or_cr_nul(data: bytes, lines: list[str]) -> None:
    assert lines_of(data) == lines


def test_lone_cr_ends_a_line_at_once_and_what_belongs_to_it_may_come_later() -> None:
    for tail in (b"\n", b"\0"):
        lines = Lines()
        assert [lines.feed(data) for data in (b"PUT 1\r", b"", tail, b"PUT 2\n")] == [
            ["PUT 1"],
            [],
            [],
            ["PUT 2"],
        ]


@pytest.mark.parametrize(
    ("data", "last"), [(b"PUT 1\nPUT 2", ["PUT 2"]), (b"PUT 1\n", []), (b"PUT 1\r", []), (b"", [])]
)
def test_last_line_of_a_stream_needs_no_end(data: bytes, last: list[str]) -> None:
    lines = Lines()
    lines.feed(data)
    assert lines.end() == last
    assert lines.ended == "hung up"


_PIECES = st.lists(st.sampled_from([b"\r", b"\n", b"\0", b"\xff", b"x"]), max_size=8).map(b"".join)


@given(st.lists(st.binary(max_size=40) | _PIECES, max_size=12))
def test_however_a_stream_is_cut_its_lines_are_the_same(pieces: list[bytes]) -> None:
    *ended, rest = re.split(rb"\n|\r[\n\0]?", b"".join(pieces))
    lines = Lines()
    texts = [text for piece in pieces for text in lines.feed(piece)] + lines.end()
    assert texts == [to_text(line) for line in ended] + ([to_text(rest)] if rest else [])


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r", b"\r\0"])
@pytest.mark.parametrize("character", ["x", "ä"])
def test_line_may_have_4096_bytes_whatever_ends_it(character: str, end: bytes) -> None:
    line = character * (4096 // len(character.encode()))
    assert lines_of(line.encode() + end) == [line]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n", b"\nPUT 1\n"])
def test_longer_line_is_a_flood_behind_the_lines_before_it(end: bytes) -> None:
    assert outcome(Lines, b"x" * 4097 + end, b"") == Outcome(is_flooded=True)
    short = b"PUT 1\nPUT 2\n123456" + end
    assert outcome(lambda: Lines(limit=5), short, b"\ntail\n") == Outcome(["PUT 1", "PUT 2"], is_flooded=True)
    lines = Lines(limit=5)
    lines.feed(short)
    assert lines.end() == []


@pytest.mark.parametrize("line", [b"\xc3", b"PUT \x80", b"\xed\xa0\x80", b"\xfe", b"\xf8\x88\x80\x80\x80"])
def test_bytes_that_are_no_utf8_stand_in_a_line_as_surrogates(line: bytes) -> None:
    (text,) = lines_of(line + b"\n")
    assert text.encode("utf-8", "surrogateescape") == line


@pytest.mark.parametrize(
    "command",
    [
        b"\xff\xf4\xff\xfd\x06",  # what Ctrl-C sends: interrupt process, do timing mark
        b"\xff\xfb\x1f\xff\xfd\x03",  # will window size, do suppress go-ahead
        b"\xff\xfa\x1f\x00\x50\x00\x18\xff\xf0",  # the window's size
        b"\xff\xfa\x1f\xff\xff\x00\x18\xff\xf0",  # the same, 65,280 columns wide
        b"\xff\xff",  # a byte 0xFF as telnet writes it
        b"\xff\xf1",
        b"\xff",  # no command, so it costs only itself
    ],
)
def test_telnet_commands_are_left_out(command: bytes) -> None:
    for place in range(6):
        assert lines_of(b"PUT 3"[:place] + command + b"PUT 3"[place:] + b"\n") == ["PUT 3"]


@pytest.mark.parametrize("command", [b"\xff", b"\xff\xfd", b"\xff\xfa\x1f\x00"])
def test_telnet_command_that_is_cut_off_ends_with_its_line(command: bytes) -> None:
    assert lines_of(b"PUT 3" + command + b"\nPUT 4\n") == ["PUT 3", "PUT 4"]


def test_texts_are_sent_a_line_each_and_lines_have_neither_pings_nor_good_byes() -> None:
    lines = Lines()
    assert lines.frame(["NAME ann"]) == b"NAME ann\n"
    assert lines.frame(["a", "", "ä€"]) == "a\n\nä€\n".encode()
    assert (lines.ping(), lines.close(FAREWELL), lines.frame(["a"])) == (b"", b"", b"a\n")


# Websockets.

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
BEGUN = False
"""For a frame behind which its message goes on."""
_MASK = b"\x37\xfa\x21\x3d"


def server_frame(opcode: int, payload: bytes = b"") -> bytes:
    """Return a frame as a server sends it, of 125 bytes at most."""
    return bytes([0x80 | opcode, len(payload)]) + payload


def closing(code: int, reason: str | bytes = b"") -> bytes:
    """Return the payload of a close frame."""
    return code.to_bytes(2, "big") + (reason.encode() if isinstance(reason, str) else reason)


def head(opcode: int, size: int, *, finished: bool = True, reserved: int = 0) -> bytes:
    """Return the beginning of a client's frame, up to its payload."""
    first = opcode | (0x80 if finished else 0) | reserved << 4
    if size < 126:
        return bytes([first, 0x80 | size]) + _MASK
    if size < 1 << 16:
        return bytes([first, 0xFE]) + size.to_bytes(2, "big") + _MASK
    return bytes([first, 0xFF]) + size.to_bytes(8, "big") + _MASK


def frame(opcode: int, payload: str | bytes = b"", *, finished: bool = True, reserved: int = 0) -> bytes:
    """Return a client's frame."""
    payload = payload.encode() if isinstance(payload, str) else payload
    key = _MASK * (len(payload) // 4 + 1)
    masked = bytes(byte ^ other for byte, other in zip(payload, key, strict=False))
    return head(opcode, len(payload), finished=finished, reserved=reserved) + masked


def fragments(opcode: int, *payloads: str | bytes, between: bytes = b"") -> bytes:
    """Return the frames of one message, with `between` between each two."""
    last = len(payloads) - 1
    return between.join(
        frame(CONTINUATION if index else opcode, payload, finished=index == last)
        for index, payload in enumerate(payloads)
    )


def goes_on(*texts: str, pongs: Iterable[bytes] = ()) -> Outcome:
    """The connection stays open."""
    replies = b"".join(server_frame(PONG, payload) for payload in pongs)
    return Outcome([*texts], replies, "", server_frame(CLOSE, closing(1001, "bye")))


def breaks(*texts: str, code: int = 1002, pongs: Iterable[bytes] = ()) -> Outcome:
    """The connection ends, as the client has broken a rule."""
    words = "sent a message that is too long" if code == 1009 else "broke the websocket protocol"
    goodbye = server_frame(CLOSE, closing(code))
    return replace(goes_on(*texts, pongs=pongs), ended=f"{words} ({code})", goodbye=goodbye)


def hangs_up(*texts: str, echo: bytes = b"", pongs: Iterable[bytes] = ()) -> Outcome:
    """The connection ends with the client's close frame, which is sent back."""
    before = goes_on(*texts, pongs=pongs)
    return replace(before, ended="hung up", goodbye=server_frame(CLOSE, echo))


Cases = dict[str, tuple[bytes, Outcome]]

ECHO: Cases = {
    f"{number} {size} bytes": (frame(opcode, "*" * size), goes_on("*" * size))
    for number, opcode in (("1.1", TEXT), ("1.2", BINARY))
    for size in (0, 125, 126, 65_535, 65_536)
}

PINGS: Cases = {
    "2.1 empty": (frame(PING), goes_on(pongs=[b""])),
    "2.3 binary": (frame(PING, b"\x00\xff\xfe"), goes_on(pongs=[b"\x00\xff\xfe"])),
    "2.4 125 bytes": (frame(PING, b"\xfe" * 125), goes_on(pongs=[b"\xfe" * 125])),
    "2.5 126 bytes": (frame(PING, b"\xfe" * 126), breaks()),
    "2.5 header of 65,536 bytes": (head(PING, 65_536), breaks()),
    "2.9 pongs, then ping": (frame(PONG) + frame(PONG, "a") + frame(PING, "b"), goes_on(pongs=[b"b"])),
    "2.12 pings and texts in turn": (
        (frame(PING, "p") + frame(TEXT, "t")) * 20,
        goes_on(*["t"] * 20, pongs=[b"p"] * 20),
    ),
}

RESERVED: Cases = {
    f"3.{bits} opcode {opcode}": (
        frame(TEXT, "Hello") + frame(opcode, b"", reserved=bits) + frame(PING),
        breaks("Hello"),
    )
    for bits in (1, 2, 4, 7)
    for opcode in (CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG)
}

OPCODES: Cases = {
    f"4 opcode {opcode}{' with a payload' * bool(payload)}": (
        frame(TEXT, "Hello") + frame(PING, "a") + frame(opcode, payload) + frame(PING, "b"),
        breaks("Hello", pongs=[b"a"]),
    )
    for opcode in (3, 7, 11, 15)
    for payload in ("", "x")
}

FRAGMENTS: Cases = {
    "5.1 ping in fragments": (fragments(PING, "a", "b"), breaks()),
    "5.x close in fragments": (fragments(CLOSE, closing(1000), "b"), breaks()),
    "5.3 text in two": (fragments(TEXT, "a", "b"), goes_on("ab")),
    "5.3 binary in two": (fragments(BINARY, b"a\xff", b"b"), goes_on("a\udcffb")),
    "5.6 ping inside": (fragments(TEXT, "a", "b", between=frame(PING, "p")), goes_on("ab", pongs=[b"p"])),
    "5.6 pong inside": (fragments(TEXT, "a", "b", between=frame(PONG, "p")), goes_on("ab")),
    "5.9 continuation of nothing": (frame(CONTINUATION, "a") + frame(TEXT, "b"), breaks()),
    "5.12 begun one": (frame(CONTINUATION, "a", finished=BEGUN) + frame(TEXT, "b"), breaks()),
    "5.15 continuation behind a message": (
        fragments(TEXT, "a", "b") + frame(CONTINUATION, "c", finished=BEGUN) + frame(TEXT, "d"),
        breaks("ab"),
    ),
    "5.18 text inside a text": (frame(TEXT, "a", finished=BEGUN) + frame(TEXT, "b"), breaks()),
    "5.18 text inside a binary": (frame(BINARY, "a", finished=BEGUN) + frame(TEXT, "b"), breaks()),
    "5.19 text in five with pings inside": (
        fragments(TEXT, "a", "b", "c", "d", "e", between=frame(PING, "p") + frame(PING, "q")),
        goes_on("abcde", pongs=[b"p", b"q"] * 4),
    ),
    "5.20 messages in fragments one after the other": (
        fragments(TEXT, "a", "b") + frame(TEXT, "c") + fragments(BINARY, "d", "e"),
        goes_on("ab", "c", "de"),
    ),
    "6.1.2 empty fragments": (fragments(TEXT, "", "", ""), goes_on("")),
}

VALID = [
    *("Hello-µ@ßöäüàá-UTF-8!!", "κόσμε", "\0", "\x7f", "\x80", "\u07ff", "\u0800", "\ud7ff", "\ue000"),
    *("\ufffd", "\ufffe", "\uffff", "\U00010000", "\U0010ffff" * 30),
]
"""6.2, 6.5, 6.7, 6.9, 6.11, 6.22, 6.23."""
INVALID = [
    *(b"\xf8\x88", b"\xf4\x90", b"\xf5"),  # 6.8, 6.10, 6.11: of more than four bytes, beyond U+10FFFF
    *(b"\x80", b"\xbf", b"\xc3 ", b"\xf0\x9f\x98 "),  # 6.12 - 6.14: continuation bytes, and none
    *(b"\xfe", b"\xff"),  # 6.16: bytes that are nowhere
    *(b"\xc0\xaf", b"\xe0\x80", b"\xf0\x8f"),  # 6.17 - 6.19: longer than needed
    *(b"\xed\xa0\x80", b"\xed\xbf\xbf"),  # 6.20, 6.21: surrogates
]
"""What no text has, whatever follows."""
UNFINISHED = [b"\xce", b"\xe1\xbd", b"\xf0\x9f", b"\xf0\x9f\x98", "κ".encode() + b"\xcf"]
"""6.6: what is no text where it ends so."""


def one_by_one(payload: bytes) -> bytes:
    return fragments(TEXT, *(bytes([byte]) for byte in payload))


UTF8: Cases = (
    {f"6 {text!a:.30}": (frame(TEXT, text), goes_on(text)) for text in VALID}
    | {f"6 {text!a:.30} in fragments": (one_by_one(text.encode()), goes_on(text)) for text in VALID}
    | {f"6 {data!r}": (frame(TEXT, b"ab" + data + b"c"), breaks(code=1007)) for data in INVALID + UNFINISHED}
    | {f"6 {data!r} at the end": (frame(TEXT, b"ab" + data), breaks(code=1007)) for data in UNFINISHED}
    | {f"6 {data!r} in fragments": (one_by_one(b"ab" + data), breaks(code=1007)) for data in UNFINISHED}
    | {
        f"6.4 {data!r} in a first fragment": (frame(TEXT, b"a" + data, finished=BEGUN), breaks(code=1007))
        for data in INVALID
    }
    | {
        f"6.4 {data!r} in a later fragment": (
            frame(TEXT, "a", finished=BEGUN) + frame(CONTINUATION, data, finished=BEGUN) + frame(PING),
            breaks(code=1007),
        )
        for data in INVALID
    }
    | {
        f"6.4 {data!r} of a frame that is not whole": (frame(TEXT, data + b"ab")[:-1], breaks(code=1007))
        for data in INVALID
    }
    | {
        f"6 {data!r} in a binary": (frame(BINARY, data), goes_on(data.decode("utf-8", "surrogateescape")))
        for data in INVALID
    }
)

CODES = (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 3000, 3999, 4000, 4999)
NO_CODES = (0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535)
_BYE = closing(1000)
CLOSES: Cases = {
    "7.1.1 behind a text": (frame(TEXT, "a") + frame(CLOSE, _BYE), hangs_up("a", echo=_BYE)),
    "7.1.4 text behind it": (frame(CLOSE, _BYE) + frame(TEXT, "a"), hangs_up(echo=_BYE)),
    "7.1.4 nonsense behind it": (frame(CLOSE, _BYE) + b"\xff" * 10, hangs_up(echo=_BYE)),
    "7.1.5 inside a message": (fragments(TEXT, "a", "b", between=frame(CLOSE, _BYE)), hangs_up(echo=_BYE)),
    "7.1.x behind a ping": (frame(PING, "p") + frame(CLOSE, _BYE), hangs_up(pongs=[b"p"], echo=_BYE)),
    "7.3.1 without a payload": (frame(CLOSE), hangs_up()),
    "7.3.2 payload of one byte": (frame(CLOSE, b"\x03"), breaks()),
    "7.3.4 reason": (frame(CLOSE, closing(1000, "bye ä")), hangs_up(echo=closing(1000, "bye ä"))),
    "7.3.5 longest reason": (frame(CLOSE, closing(1000, "*" * 123)), hangs_up(echo=closing(1000, "*" * 123))),
    "7.3.6 reason too long": (frame(CLOSE, closing(1000, "*" * 124)), breaks()),
    "7.5.1 reason that is no UTF-8": (frame(CLOSE, closing(1000, b"a\xed\xa0")), breaks(code=1007)),
    **{f"7.7 code {code}": (frame(CLOSE, closing(code)), hangs_up(echo=closing(code))) for code in CODES},
    **{f"7.9 code {code}": (frame(CLOSE, closing(code)), breaks()) for code in NO_CODES},
}

_MOST = "*" * 65_536
LIMITS: Cases = {
    "longer than 65,536 bytes": (frame(TEXT, _MOST + "*"), breaks(code=1009)),
    "longer binary": (frame(BINARY, _MOST + "*"), breaks(code=1009)),
    "longer in fragments": (fragments(TEXT, _MOST, "", "*"), breaks(code=1009)),
    "longest in fragments": (fragments(TEXT, _MOST[1:], "", "*", between=frame(PONG)), goes_on(_MOST)),
    "longest ones one after the other": (frame(TEXT, _MOST) + frame(BINARY, _MOST), goes_on(_MOST, _MOST)),
    "1,024 frames with pings between": (
        fragments(TEXT, *["a"] * 1024, between=frame(PING)),
        goes_on("a" * 1024, pongs=[b""] * 1023),
    ),
    "1,024 frames twice": (fragments(TEXT, *["a"] * 1024) * 2, goes_on("a" * 1024, "a" * 1024)),
    "1,025 empty frames": (fragments(BINARY, *[b""] * 1025), breaks(code=1009)),
    "65,537 bytes of 2**63 - 1": (head(BINARY, 2**63 - 1) + b"*" * 65_537, breaks(code=1009)),
    "2**63 bytes": (head(BINARY, 2**63), breaks()),
    "125 bytes with a field of 2": (b"\x81\xfe\x00\x7d" + _MASK, breaks()),
    "125 bytes with a field of 8": (b"\x81\xff" + (125).to_bytes(8, "big") + _MASK, breaks()),
    "65,535 bytes with a field of 8": (b"\x81\xff" + (65_535).to_bytes(8, "big") + _MASK, breaks()),
    **{
        f"unmasked, opcode {opcode}, {len(payload)} bytes": (server_frame(opcode, payload), breaks())
        for opcode in (CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG)
        for payload in (b"", _BYE)
    },
    "unmasked behind a text": (frame(TEXT, "a") + server_frame(TEXT, b"b"), breaks("a")),
    "a request by HTTP": (b"GET / HTTP/1.1\r\n\r\n", breaks()),
}


def table(cases: Cases) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("data", "expected"), cases.values(), ids=cases.keys())


@table(ECHO | PINGS | RESERVED | OPCODES | FRAGMENTS | UTF8 | CLOSES | LIMITS)
def test_frames_are_texts_or_answered_or_an_end(data: bytes, expected: Outcome) -> None:
    assert outcome(WebSocket, data, frame(TEXT, "tail")) == expected


def test_stream_that_ends_leaves_no_text_and_nobody_to_say_good_bye_to() -> None:
    for data in (b"", frame(TEXT, "a")[:-1], frame(TEXT, "a", finished=BEGUN)):
        framing = WebSocket()
        framing.feed(data)
        assert (framing.end(), framing.ended, framing.close(FAREWELL)) == ([], "hung up", b"")


def test_stream_that_ends_behind_an_error_has_ended_by_the_error() -> None:
    framing = WebSocket()
    framing.feed(server_frame(PING))
    framing.end()
    assert framing.ended == "broke the websocket protocol (1002)"
    assert framing.close(FAREWELL) == server_frame(CLOSE, closing(1002))


def test_every_call_ends_soon_and_the_next_one_goes_on_with_what_has_come() -> None:
    data = frame(BINARY, "0") + b"".join(frame(TEXT, str(number)) for number in range(1, 1001))
    framing = WebSocket()
    calls = [framing.feed(data)]
    while framing.has_more:
        calls.append(framing.feed())
    assert max(map(len, calls)) <= 32
    assert [int(text) for texts in calls for text in texts] == [*range(1001)]
    assert framing.feed(frame(TEXT, "x")) == ["x"]


@pytest.mark.parametrize("begin", [b"", frame(TEXT, "a"), frame(BINARY)], ids=["pings", "text", "binary"])
def test_pings_without_end_are_answered_a_few_in_each_call(begin: bytes) -> None:
    framing, data = WebSocket(), begin + frame(PING) * 1000
    answered = 0
    while data or framing.has_more:
        framing.feed(data)
        assert 0 < len(framing.replies) <= 64 * len(framing.ping())
        answered += len(framing.replies) // len(framing.ping())
        data = framing.replies = b""
    assert answered == 1000


@pytest.mark.parametrize("opcode", [TEXT, BINARY])
def test_unfinished_message_takes_little_more_memory_than_its_bytes_however_it_came(opcode: int) -> None:
    framing = WebSocket()
    framing.feed(head(opcode, 65_536))
    tracemalloc.start()
    for _ in range(4000):
        framing.feed(bytes(2))
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < 40_000


@pytest.mark.parametrize("more", [frame(CLOSE, _BYE), server_frame(TEXT)], ids=["close", "error"])
def test_after_the_end_there_is_no_more_to_digest(more: bytes) -> None:
    framing = WebSocket()
    framing.feed(frame(BINARY) + more + frame(TEXT, "a") * 1000)
    assert framing.ended
    assert not framing.has_more
    assert framing.feed() == []


def test_after_a_good_bye_nothing_is_read_or_said_until_the_client_says_it_too() -> None:
    framing = WebSocket()
    assert framing.close(Farewell(1008, "why")) == server_frame(CLOSE, closing(1008, "why"))
    for data in (frame(TEXT, "a"), frame(BINARY, "a"), fragments(TEXT, "a", "b"), frame(PING, "p")):
        assert framing.feed(data) == []
    assert framing.feed(frame(TEXT, "a") + frame(BINARY, "b") + frame(CLOSE, _BYE)) == []
    assert (framing.ended, framing.replies) == ("hung up", b"")


@pytest.mark.parametrize("whose", ["ours", "the client's", "ours by an error"])
def test_nothing_follows_a_close_frame_of_this_side(whose: str) -> None:
    framing = WebSocket()
    framing.feed({"ours": b"", "the client's": frame(CLOSE), "ours by an error": server_frame(PING)}[whose])
    assert framing.close(FAREWELL)
    for texts in ((), ("a",)):
        with pytest.raises(PeerGone):
            framing.frame(texts)
    assert (framing.ping(), framing.close(FAREWELL)) == (b"", b"")


def test_texts_are_sent_a_frame_each_and_a_ping_is_empty() -> None:
    framing = WebSocket()
    assert framing.frame(["a", "", "ä"]) == b"\x81\x01a" + b"\x81\x00" + b"\x81\x02\xc3\xa4"
    assert framing.ping() == b"\x89\x00"


# Held against the library.


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536])
def test_frame_of_a_text_is_what_the_library_would_send(size: int) -> None:
    text = "x" * size
    assert text_frame(text) == Connection(ConnectionType.SERVER).send(TextMessage(data=text))


def by_the_library(data: bytes) -> Outcome:
    """Return what wsproto's own connection makes of frames, where their messages are within the limits."""
    connection = Connection(ConnectionType.SERVER)
    texts: list[str] = []
    pongs: list[bytes] = []
    message = b""
    connection.receive_data(data)
    for event in connection.events():
        match event:
            case TextMessage(part) | BytesMessage(part):
                message += part.encode() if isinstance(part, str) else part
                if event.message_finished:
                    texts.append(message.decode("utf-8", "surrogateescape"))
                    message = b""
            case Ping(payload):
                pongs.append(bytes(payload))
            case CloseConnection(code, reason) if connection.state is ConnectionState.REMOTE_CLOSING:
                echo = b"" if code == CloseReason.NO_STATUS_RCVD else closing(code, reason or "")
                return hangs_up(*texts, pongs=pongs, echo=echo)
            case CloseConnection(code):
                return breaks(*texts, pongs=pongs, code=code)
    return goes_on(*texts, pongs=pongs)


@given(streams, st.lists(st.integers(0, 200), max_size=6).map(sorted))
@example(frame(TEXT, "a") + frame(PING, "p") + frame(CONTINUATION, "a"), [])
@example(frame(TEXT, b"\xc3\x28") + frame(TEXT, "a"), [])
def test_frames_mean_what_they_mean_to_the_library_however_they_are_cut(data: bytes, cuts: list[int]) -> None:
    pieces = [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    assert fed(WebSocket(), pieces) == by_the_library(data)


@given(st.lists(st.text(max_size=20).filter(lambda text: len(text.encode()) < 126), max_size=5))
def test_short_texts_all_go_the_short_way(texts: list[str]) -> None:
    assert usual_frames(b"".join(frame(TEXT, text) for text in texts)) == (texts, b"", b"")


@given(streams)
def test_what_the_short_way_leaves_begins_with_nothing_for_it(data: bytes) -> None:
    _, _, rest = usual_frames(data)
    assert data.endswith(rest)
    assert usual_frames(rest) == ([], b"", rest)


def test_limit_of_a_text_is_in_characters() -> None:
    assert WebSocket().feed(frame(TEXT, "é" * 65_536)) == ["é" * 65_536]
    framing = WebSocket()
    assert framing.feed(frame(TEXT, "é" * 65_537)) == []
    assert framing.ended == "sent a message that is too long (1009)"
