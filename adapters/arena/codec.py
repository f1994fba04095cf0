"""Converts arena messages to text, and back.

Knows how messages are written. Does not check whether a move is a column, whether an id is blank, or whether
a message is due. Reads both encodings at any time. The server writes the encoding of the client's first map
that is not empty. Only an `ignored` may have the other encoding: that of the client's message that it copies
(PROTOCOL.md 2).
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import assert_never

from adapters.arena import edn, maps
from adapters.arena.messages import (
    ClientMessage,
    Disconnected,
    Encoding,
    End,
    Ignored,
    Move,
    Other,
    Said,
    ServerMessage,
    Start,
    State,
    StateRequest,
)
from adapters.client.contract import WireError

BEFORE_TOKEN = re.compile(r"token|\\")
"""The part of a client's text that precedes a token. A backslash counts, too, because escapes may spell the
word `token`."""


_LIKE_JSON = re.compile(r'\s*\{\s*"')
"""The beginning of a map in JSON. A map in EDN rarely begins like this, because its keys are keywords."""


class ArenaCodec:
    """The server's side of one connection."""

    def __init__(self) -> None:
        self._is_set = False
        self._style = _EDN

    def decode(self, text: str) -> ClientMessage:
        """Return the message in `text`. Raises only WireError."""
        message = _cached_message(text) if len(text) <= maps.SHORT else _client_message(text)
        if not self._is_set and message.said.encoding is not None:
            self._set(message.said.encoding)
        return message

    def _set(self, encoding: Encoding) -> None:
        self._is_set, self._style = True, _STYLES[encoding]

    def encode(self, message: ServerMessage) -> str:
        """Return the text of a message."""
        style = self._style
        match message:
            case State():
                before = _before_you(style, message.turn, message.moves, message.cells)
                return f"{before}{message.you}{_behind_you(style, message.last_move, message.winner)}"
            case Ignored(str(text)) if not self._is_set and _LIKE_JSON.match(text):
                return _ignored(message, _JSON)  # PROTOCOL.md 2.5
            case Ignored():
                return _ignored(message, style)
            case Disconnected():
                return style.bare % "disconnected"
            case End():
                return style.bare % "end"
            case _:
                assert_never(message)


def _client_message(text: str, hidden: str | None = None) -> ClientMessage:
    fields, said = maps.read(text, hidden)
    match fields.get("type"):
        case "start":
            return Start(said, *(_field(fields, name) for name in ("id", "against", "table", "token")))
        case "move":
            return Move(said, _field(fields, "move"))
        case "state_request":
            return StateRequest(said)
        case _:
            return Other(said)


def _field(fields: maps.Fields, name: str) -> object:
    value = fields.get(name)
    return value if isinstance(value, str | int | float | None) else ()


_cached_message = lru_cache(maxsize=256)(_client_message)
"""Cached, because bots send the same few texts again and again. Messages are immutable."""


class TokenCodec(ArenaCodec):
    """The server's side of one connection, if ids are protected.

    No copy of a map shows a token: the value of `token` is ``"..."`` (PROTOCOL.md 5.17).
    """

    def decode(self, text: str) -> ClientMessage:
        """Return the message in `text`. Raises only WireError."""
        if BEFORE_TOKEN.search(text) is None:
            return super().decode(text)
        message = _client_message(text, hidden="token")
        if not self._is_set and message.said.encoding is not None:
            self._set(message.said.encoding)
        return message


@dataclass(frozen=True, slots=True, eq=False)
class _Style:
    """Templates for the server's messages in one encoding. The order of the fields is the original's."""

    state: str
    """A state up to the value of `you`."""
    last_move: str
    winner: str
    ignored: str
    bare: str
    """A message whose only field is its type."""
    separator: bytes
    """The separator between numbers in a list."""
    write: Callable[[object], str]


_JSON = _Style(
    state='{"type":"state","turn":%d,"moves":[%s],"state":[%s],"you":',
    last_move=',"last-move":%d',
    winner=',"winner":%d',
    ignored='{"msg":%s,"type":"ignored","reason":%s}',
    bare='{"type":"%s"}',
    separator=b",",
    write=maps.write_json,
)
_EDN = _Style(
    state='{:type "state", :turn %d, :moves [%s], :state [%s], :you ',
    last_move=", :last-move %d",
    winner=", :winner %d",
    ignored='{:msg %s, :type "ignored", :reason %s}',
    bare='{:type "%s"}',
    separator=b" ",
    write=edn.write,
)
_STYLES = {Encoding.JSON: _JSON, Encoding.EDN: _EDN}


@lru_cache(maxsize=256)
def _before_you(style: _Style, turn: int, moves: tuple[int, ...], cells: bytes) -> str:
    """Return a state up to the receiver's number. Both players' states share this part."""
    return style.state % (turn, _row(bytes(moves), style.separator), _row(cells, style.separator))


@lru_cache(maxsize=256)
def _behind_you(style: _Style, last_move: int | None, winner: int | None) -> str:
    text = "" if last_move is None else style.last_move % last_move
    return text + ("}" if winner is None else style.winner % winner + "}")


_DIGITS = bytes.maketrans(bytes(range(10)), b"0123456789")
_SPREAD = bytes(index for number in range(42) for index in (255, number))
"""Indexes into the table of `_row`. The byte at 255 is a separator; at any other index it is a digit."""


def _row(numbers: bytes, separator: bytes) -> str:
    """Return up to 42 one-digit numbers as text, separated.

    Uses `translate`, which is faster than `join`. Its table of 256 bytes has the digits first, and then only
    separators.
    """
    table = numbers.translate(_DIGITS).ljust(256, separator)
    return _SPREAD[1 : 2 * len(numbers)].translate(table).decode()


_SURROGATES = re.compile("[\ud800-\udfff]")
"""The characters to which the framing decodes bytes that are not UTF-8."""


def _ignored(message: Ignored, style: _Style) -> str:
    said = message.said
    if isinstance(said, str):
        return style.ignored % (style.write(_SURROGATES.sub("\ufffd", said)), style.write(message.reason))
    own = style if said.encoding is None else _STYLES[said.encoding]
    return own.ignored % (said.text, own.write(message.reason))


class ArenaClientCodec:
    """A client's side of one connection, which writes one encoding."""

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding

    def encode(self, message: ClientMessage) -> str:
        """Return the text of a message. The field `said` is used only in an `Other`."""
        match message:
            case Start():
                table = {} if message.table is None else {"table": message.table}
                fields = {"type": "start", "id": message.id, "against": message.against} | table
                return maps.write_fields(fields, self._encoding)
            case Move():
                return maps.write_fields({"type": "move", "move": message.move}, self._encoding)
            case StateRequest():
                return maps.write_fields({"type": "state_request"}, self._encoding)
            case Other():
                return message.said.text
            case _:
                assert_never(message)

    def decode(self, text: str) -> ServerMessage:
        """Return the message in `text`. Raises only WireError."""
        fields, said = maps.read(text)
        match fields.get("type"):
            case "state":
                return _read_state(fields)
            case "ignored":
                return Ignored(_copied(fields.get("msg"), said.encoding), str(fields.get("reason")))
            case "disconnected":
                return Disconnected()
            case "end":
                return End()
            case _:
                raise WireError("not a message of an arena server")


def _copied(value: object, encoding: Encoding | None) -> Said | str:
    if isinstance(value, str) or encoding is None:
        return str(value)
    return Said(_STYLES[encoding].write(value), encoding if value else None)


def _read_state(fields: maps.Fields) -> State:
    last_move, winner = fields.get("last-move"), fields.get("winner")
    return State(
        turn=_number(fields.get("turn")),
        you=_number(fields.get("you")),
        cells=_cells(fields.get("state")),
        moves=_numbers(fields.get("moves", ())),
        last_move=None if last_move is None else _number(last_move),
        winner=None if winner is None else _number(winner),
    )


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise WireError("a number is missing")
    return value


def _numbers(value: object) -> tuple[int, ...]:
    if not isinstance(value, Iterable):
        raise WireError("a list is missing")
    return tuple(map(_number, value))


def _cells(value: object) -> bytes:
    try:
        return bytes(_numbers(value))
    except ValueError as error:
        raise WireError("a cell has an invalid number") from error
