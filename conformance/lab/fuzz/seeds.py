"""The first inputs of each reader: valid ones, and ones that are hard to read. atheris mutates them.

Uses the gateway's code only to encode values.
"""

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import cycle, islice
from json import dumps
from random import Random

from adapters.web.link import Answered, Ask, Begun, Watch
from adapters.web.link import encode as encode_message
from conformance.dialects import found
from conformance.dialects.script import Wish as Player
from conformance.frames import Handshake
from conformance.lab import texts
from conformance.lab.bots import PLAIN, script_of
from conformance.lab.fuzz.visits import KINDS, Piece, script
from conformance.lab.texts import odd_frame, talk_for
from gateway.game.board import Board
from gateway.game.commands import AtTable, Enter, InLobby, Introduce, Leave, Play, Wish
from gateway.game.encoding import encode
from gateway.game.events import Dismissed, Ended, Moved, Objection, Reason, Refused, Started, ToMove, Why
from gateway.game.fact_encoding import encode_fact
from gateway.game.facts import (
    Came,
    Cause,
    GameStarted,
    Hindered,
    Left,
    MoveMade,
    Obstacle,
    Shown,
    Standing,
    Waits,
)
from gateway.store import evidence
from gateway.store.formats import jsonl
from gateway.store.records import GameRecord, Participant

_GAME = "00007-00000a"
_FOUR = "0101010"
_TALKS = 60
_LONG = 65_000
"""The length of a long text in characters: almost the longest frame."""
_MESSAGES: Mapping[str, Sequence[str]] = {
    "nac4": (
        f"genmove {'.' * 42} R PlayR 42.0\r\n",
        "newgame ann bob\r\n",
        f"endgame {'R' * 42} Y Tie Ok\r\n",
        "not-connected no\r\n",
    ),
    "arena": (
        dumps({"type": "state", "turn": 1, "moves": [3], "state": [0] * 42, "you": 1, "last-move": 3}),
        '{:msg {:a 1}, :type "ignored", :reason "x"}',
        '{"type":"end"}',
        '{"type":"start","id":"t\tab"}',
    ),
    "tutorial": (
        '{"type": "init", "join": "95ftAaU5DJVP1zvb", "watch": null, "player": "red", "moves": 3}',
        '{"type": "play", "player": "yellow", "column": 3, "row": 0}',
        '{"type": "win", "player": "red"}',
        '{"type": "error", "message": "no"}',
    ),
    "rpi": ("GAME:START:1", "OPPONENT:3", "ERROR:INVALID:MOVE", "TOURNAMENT:END", "GAME:5:MOVE:ann:3"),
    "droidcon": ("PUT 3\n", "Error INVALID_COMMAND\n", "YOUR_MOVE\n", "NAME a b\nJOIN x y\r\n"),
    "i32cfsp": ("DROP 3\r\n", "WELCOME ann\r\n", "WINNER_RED\r\n", "I32CFSP_HELLO a b\nAI_GAME 8 6\r\n"),
}
"""Messages of a server."""


def of_texts(dialect: str) -> Callable[[bool], Iterator[bytes]]:
    """Return a function that yields texts of a dialect: short ones, or some of almost the longest length."""

    def seeds(is_long: bool) -> Iterator[bytes]:
        if is_long:
            found: Iterable[str] = islice(texts.hard_texts(dialect, _LONG), 0, None, 29)
        else:
            framed = zip(texts.PIECES[dialect], cycle(texts.FRAMES[dialect]), strict=False)
            some = (before + piece + behind for piece, (before, behind) in framed)
            found = (*_MESSAGES[dialect], *some)
        for text in found:
            yield text.encode("utf-8", "surrogateescape")

    return seeds


def of_transcripts(dialect: str, is_long: bool) -> Iterator[bytes]:
    """Yield what clients and servers say in the transcripts of a plug-in's dialect; then an empty text."""
    folder = found().folders.get(dialect)
    for path in () if folder is None else sorted(folder.transcripts.glob("*/*.txt")):
        for said in re.findall(r"^\w+ [<>] (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE):
            yield said.encode() * (1000 if is_long else 1)
    yield b""


def hard(dialect: str, length: int) -> Iterator[bytes]:
    """Yield texts of a dialect, of about the given length, that may take long to read."""
    for text in texts.hard_texts(dialect, length):
        yield text.encode("utf-8", "surrogateescape")[:length]


def of_talks(*ports: str) -> Callable[[bool], Iterator[bytes]]:
    """Return a function that yields inputs.

    An input has all bytes of one connection to one of these ports.
    """

    def seeds(is_long: bool) -> Iterator[bytes]:
        lot = Random(7)
        for port in ports:
            for _ in range(_TALKS):
                yield b"".join(talk_for(port, lot)) * (20 if is_long else 1)

    return seeds


def frames(is_long: bool) -> Iterator[bytes]:
    """Yield frames of all kinds."""
    lot = Random(7)
    for payload in (b"", b"playmove 3", b"\xc3\x28", b"x" * 126, b"{}" * 60):
        for _ in range(20):
            yield odd_frame(payload, lot) * (400 if is_long else 2)


def events(is_long: bool) -> Iterator[bytes]:
    """Yield events and commands."""
    board = Board().drop(3).drop(3)
    name = "\U0001f600" * 250 if is_long else "ann"
    yield from [
        encode(each)
        for each in (
            Started(_GAME, 0, (name, "bob")),
            ToMove(_GAME, 3, board, 41.5),
            Moved(_GAME, 1, 3, board),
            Refused(Objection.OUTSIDE | Objection.NOT_YOUR_TURN, 3, _GAME),
            Ended(_GAME, board, 1, Reason.LEFT, None, 0),
            Dismissed(Why.SERIES_OVER),
            Introduce(name),
            Enter(AtTable(name), name, 1),
            Enter(InLobby(Wish(name, True))),
            Play(3, 1),
            Leave(),
        )
    ]


def facts(is_long: bool) -> Iterator[bytes]:
    """Yield lines of facts."""
    yield b"\n".join(_facts() * (100 if is_long else 1))
    yield from _facts()


def messages(is_long: bool) -> Iterator[bytes]:
    """Yield messages between the server and the web process."""
    yield encode_message(Answered([("page", 200, [0, 1], 0.25)] * (1_000 if is_long else 1)))
    for message in (Ask(1, "queue"), Watch(1), Begun(1)):
        yield encode_message(message)


def games(is_long: bool) -> Iterator[bytes]:
    """Yield lines of an export."""
    record = _record("ann")
    for line in jsonl.write([record, _record("=x\u202e\\"), _record("a" * (30_000 if is_long else 3))]):
        yield line.encode()
    yield f"[{','.join(jsonl.write([record] * 2))}]".encode()


def exchanges(is_long: bool) -> Iterator[bytes]:
    """Yield the evidence of games."""
    some = [(0.1, "in", "playmove 3", None), (0.2, "out", "\udcff" * 9, 41.5), (0.3, "note", "", "hung up")]
    packed = evidence.stored(evidence.recorded(some * (500 if is_long else 1)))  # type: ignore[arg-type]
    yield from (packed, zlib.decompress(packed))


def requests(is_long: bool) -> Iterator[bytes]:
    """Yield queries, each followed by a host."""
    yield b"limit=5&after=0\nexample.org:80"
    yield b"player=%F0%9F%98%80&opponent=b&reason=four\n[::1]:9"
    yield b"since=2026-11-21&until=2026-11-21T12:00:00Z&before=00007-00000a\n127.0.0.1"
    yield b"player=" + b"%20" * (20_000 if is_long else 5) + b"\n" + b"a." * 20


def visits(is_long: bool) -> Iterator[bytes]:
    """Yield scripts of whole games, and of games with messages that no client should send."""
    for first in range(len(KINDS)):
        for second in range(len(KINDS)):
            yield script(first, second, _played(first, second) * (40 if is_long else 1))
    lot = Random(7)
    for number in range(_TALKS):
        kind = number % len(KINDS)
        talk = [(0, piece) for piece in talk_for(KINDS[kind], lot)]
        yield script(kind, 0, talk, shaken=False)
    for kind in (1, 2, 3, 4):
        yield script(
            kind, kind, [(0, Handshake("x", "/?against=bob").request), *_played(kind, kind)], shaken=False
        )


def _played(first: int, second: int) -> list[Piece]:
    scripts = [script_of(PLAIN[KINDS[kind]]) for kind in (first, second)]
    enters = [(who, scripts[who].opening(Player("ab"[who], table="t"))) for who in (0, 1)]
    return enters + [(at % 2, scripts[at % 2].move(column)) for at, column in enumerate(_FOUR)]


def _facts() -> list[bytes]:
    game = GameStarted(_GAME, (6, 7), ("ann", "bob"), ("one", "two"), None, 1, 42.0)
    some: Sequence[Shown] = (
        Came(7, "ann", "one"),
        Waits(7, "round", 1.5),
        Hindered(7, "ann", Obstacle(Cause.ABSENT, "Ada", "ada"), is_first=True),
        Hindered(7, "ann", None, is_first=False),
        game,
        MoveMade(_GAME, 0, 3, 0.5, 41.5),
        (game, Standing((3, 3), (0.0, 0.0), (40.5, 41.0), 2.25)),
        Left(7),
    )
    return [*map(encode_fact, some)]


def _record(name: str) -> GameRecord:
    players = (Participant(name, "nac4"), Participant("bob", "arena"))
    return GameRecord(
        _GAME, 1_700_000_000_000, 1_700_000_001_500, players, _FOUR, 0, Reason.FOUR, (120, 340), "t"
    )
