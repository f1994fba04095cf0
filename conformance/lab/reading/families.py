"""Texts that may be slow to read, by kind: a piece that is repeated, in a frame, up to a length.

Knows what the dialects look like, not how they are read. `#i` in a piece stands for a number that is another
one each time, `#h` for an integer that has the same hash in Python as all others.
"""

from collections.abc import Iterator, Sequence
from itertools import count

FEW = 120
"""As many forms as there may be in a map of EDN, or nearly so."""

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
    *(
        "9" * 100 + " ",
        "9" * 99 + "/7 ",
        "0." + "9" * 98 + " ",
        "1." + "9" * 97 + "M ",
        "0x" + "f" * 98 + " ",
    ),
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
    *(
        "\n",
        "\r",
        "\t",
        "\x00",
        "\x01",
        "\xa0",
        "\xe9",
        "\u0663",
        "\u0663 ",
        "\\\u20ac ",
        "\U0001f600",
        "\udcff",
    ),
)
NAC4_PIECES = (
    *_split("playmove ¦connect ¦connect a ¦playmove 1¦playmove -¦a¦A¦_¦-¦9¦0¦-9¦a ¦ ¦.¦,"),
    *("\t", "\r\n", "\n", "\x00", "\x1c", "\x1f", "\x85", "\xa0", "\u2003", "\u3000 ", "\u3000a", "\xe9"),
    *("\u0663", "\ufeff", "\u0301", "e\u0301 ", "\xdf", "\ufb03", "\u0149", "\U0001f600", "\udcff"),
)
NAC4_FRAMES = (
    ("", ""),
    ("playmove ", ""),
    ("playmove 3", ""),
    ("connect ", ""),
    ("", "playmove 3"),
    ("playmove ", " 3"),
)
DROIDCON_PIECES = (
    *NAC4_PIECES,
    *_split("PUT ¦NAME ¦JOIN ¦put 1 ¦JOIN a ¦+¦+9"),
    *("\udcff\udcff", "\udcff\udcfa", "\udcff\udcfb", "\udcff\udcf0", "\udcff\udcfaa\udcff\udcf0"),
    *(
        "\udcff\udcfa\udcff",
        "\udcffa",
        "a\udcff",
        "\udce2\udc82",
        "\udcc3",
        "\udced\udca0\udc80",
        "\udcf0\udc9f",
    ),
    *("\u0390", "\u1f50", "\U0001d4b3", "\r", "\x0b", "\x0c"),
)
DROIDCON_FRAMES = (
    ("", ""),
    ("PUT ", ""),
    ("PUT 3", ""),
    ("NAME ", ""),
    ("JOIN ", ""),
    ("", "PUT 3"),
    ("JOIN a", "b"),
)
"""Bytes that are no UTF-8 stand in a text as the halves of surrogate pairs that Python has for them."""

FILLERS = ((' "', r"\n", '" '), (' "', r"\u0041", '" '), ("", ";\n", ""), (";", " ", "\n"))
"""What takes time and has one token or none: openings, pieces and endings."""

PIECES = {
    "arena": (*JSON_PIECES, *EDN_PIECES),
    "nac4": NAC4_PIECES,
    "droidcon": DROIDCON_PIECES,
}
FRAMES = {
    "arena": (*JSON_FRAMES, *EDN_FRAMES),
    "nac4": NAC4_FRAMES,
    "droidcon": DROIDCON_FRAMES,
}


def texts(dialect: str, length: int) -> Iterator[str]:
    """Yield the texts of a dialect that have this length, or at most so much less as a piece is long."""
    if dialect == "arena":
        yield from framed(JSON_PIECES, JSON_FRAMES, length)
        yield from framed(EDN_PIECES, EDN_FRAMES, length)
        yield from mixed(length)
    else:
        yield from framed(PIECES[dialect], FRAMES[dialect], length)


def framed(pieces: Sequence[str], frames: Sequence[tuple[str, str]], length: int) -> Iterator[str]:
    """Yield each piece in each frame."""
    for before, behind in frames:
        for piece in pieces:
            yield before + repeated(piece, length - len(before) - len(behind)) + behind


def mixed(length: int) -> Iterator[str]:
    """Yield maps of EDN with as many forms as there may be, and beside them something without any."""
    for before, behind in EDN_FRAMES[:6]:
        for piece in filter(_is_closed, EDN_PIECES):
            forms = before + repeated(piece, length // 2, FEW // _tokens(piece))
            for opening, filler, closing in FILLERS:
                room = length - len(forms + opening + closing + behind)
                yield forms + opening + repeated(filler, room) + closing + behind


def repeated(piece: str, length: int, times: int | None = None) -> str:
    """Return a piece repeated, up to a length, and at most so many times."""
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
    """Return about how many tokens a piece has, rather too many than too few."""
    return max(1, len(piece.split()) + sum(piece.count(bracket) for bracket in "[](){}"))
