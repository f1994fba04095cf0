"""Arena messages to text, and back.

Knows how messages are written, not what they mean: whether a move is a column, an id blank, a message in
its place. Either encoding is read at any time; the first map that is not empty settles what the server
writes, and a copy of a message is written as the message was (PROTOCOL.md 2).
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
from adapters.contract import WireError


class ArenaCodec:
    """The server's end of one connection."""

    def __init__(self) -> None:
        self._encoding: Encoding | None = None

    def decode(self, text: str) -> ClientMessage:
        """Return the message that `text` is. Raises WireError, and only that."""
        message = _remembered(text) if len(text) <= maps.SHORT else _client_message(text)
        if self._encoding is None:
            self._encoding = message.said.encoding
        return message

    def encode(self, message: ServerMessage) -> str:
        """Return the text of a message."""
        style = _STYLES[self._encoding or Encoding.EDN]
        match message:
            case State():
                return _state(message, style)
            case Ignored():
                return _ignored(message, _STYLES[message.said.encoding] if message.said.encoding else style)
            case Disconnected():
                return style.bare % "disconnected"
            case End():
                return style.bare % "end"
            case _:
                assert_never(message)


def _client_message(text: str) -> ClientMessage:
    fields, said = maps.read(text)
    match fields.get("type"):
        case "start":
            return Start(said, fields.get("id"), fields.get("against"), fields.get("table"))
        case "move":
            return Move(said, fields.get("move"))
        case "state_request":
            return StateRequest(said)
        case _:
            return Other(said)


_remembered = lru_cache(maxsize=256)(_client_message)
"""Bots say the same few things over and over. A message is never changed, so all can share it."""


@dataclass(frozen=True, slots=True)
class _Style:
    """How an encoding writes the server's messages; the order of the fields is the original's."""

    state: str
    last_move: str
    winner: str
    ignored: str
    bare: str
    """A message that is all type."""
    separator: str
    """What stands between numbers."""
    write: Callable[[object], str]


_STYLES = {
    Encoding.JSON: _Style(
        state='{"type":"state","turn":%d,"moves":[%s],"state":[%s],"you":%d%s%s}',
        last_move=',"last-move":%d',
        winner=',"winner":%d',
        ignored='{"msg":%s,"type":"ignored","reason":%s}',
        bare='{"type":"%s"}',
        separator=",",
        write=maps.write_json,
    ),
    Encoding.EDN: _Style(
        state='{:type "state", :turn %d, :moves [%s], :state [%s], :you %d%s%s}',
        last_move=", :last-move %d",
        winner=", :winner %d",
        ignored='{:msg %s, :type "ignored", :reason %s}',
        bare='{:type "%s"}',
        separator=" ",
        write=edn.write,
    ),
}


def _state(state: State, style: _Style) -> str:
    return style.state % (
        state.turn,
        style.separator.join(_digits(state.moves)),
        style.separator.join(_digits(state.cells)),
        state.you,
        "" if state.last_move is None else style.last_move % state.last_move,
        "" if state.winner is None else style.winner % state.winner,
    )


def _digits(numbers: tuple[int, ...]) -> str:
    """Return numbers of one digit each, in a third of the time that `str` takes for them."""
    return bytes(numbers).hex()[1::2]


_SURROGATES = re.compile("[\ud800-\udfff]")
"""What bytes that were no UTF-8 have become."""


def _ignored(message: Ignored, style: _Style) -> str:
    value = message.said.value
    if isinstance(value, str):
        value = _SURROGATES.sub("\ufffd", value)
    return style.ignored % (style.write(value), style.write(message.reason))


class ArenaClientCodec:
    """A client's end of one connection, in one encoding throughout."""

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding

    def encode(self, message: ClientMessage) -> str:
        """Return the text of a message; of what it was read from, `said`, only an `Other` makes use."""
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
                return _STYLES[self._encoding].write(message.said.value)
            case _:
                assert_never(message)

    def decode(self, text: str) -> ServerMessage:
        """Return the message that `text` is. Raises WireError, and only that."""
        fields, said = maps.read(text)
        match fields.get("type"):
            case "state":
                return _read_state(fields)
            case "ignored":
                return Ignored(Said(fields.get("msg"), said.encoding), str(fields.get("reason")))
            case "disconnected":
                return Disconnected()
            case "end":
                return End()
            case _:
                raise WireError("no message of a server")


def _read_state(fields: maps.Fields) -> State:
    last_move, winner = fields.get("last-move"), fields.get("winner")
    return State(
        turn=_number(fields.get("turn")),
        you=_number(fields.get("you")),
        cells=_numbers(fields.get("state")),
        moves=_numbers(fields.get("moves", ())),
        last_move=None if last_move is None else _number(last_move),
        winner=None if winner is None else _number(winner),
    )


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise WireError("no number where one belongs")
    return value


def _numbers(value: object) -> tuple[int, ...]:
    if not isinstance(value, Iterable):
        raise WireError("no list where one belongs")
    return tuple(map(_number, value))
