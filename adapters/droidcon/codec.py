"""Reads and writes the lines of the Droidcon dialect (PROTOCOL.md 2 and 4).

Knows how commands and messages are written. Does not know line ends, which belong to the framing, nor when a
command is due.
"""

import re
from functools import cache, lru_cache
from typing import assert_never

from adapters.client.contract import HangUp, WireError, to_column
from adapters.droidcon.messages import ClientMessage, Error, Join, Name, Put, ServerMessage, Word

_INTEGER = re.compile(r"[+-]?[0-9]+")
_BLANKS = re.compile("[ \t]+")
_HTTP_REQUEST = re.compile(r"[^\s/]+ +\S+ +HTTP/[0-9.]+")
_NO_UTF8 = re.compile("[\ud800-\udfff]")
BEFORE_TOKEN = re.compile(r"^\s*NAME[ \t]+\S+[ \t]", re.IGNORECASE)
"""The part of a line that precedes a token."""
_SHORT = 16
"""Lines of up to this many characters are cached."""


class DroidconCodec:
    """The server's side of the dialect."""

    def decode(self, text: str) -> ClientMessage:
        """Return the command in a line. Command words may have any case. Raises WireError."""
        return _cached_command(text) if len(text) <= _SHORT else _command(text)

    def encode(self, message: ServerMessage) -> str:
        """Return a server message as a line without its LF."""
        match message:
            case Word():
                return message
            case Put():
                return _put_line(message.column)
            case Error():
                return f"Error {message.value}"
        assert_never(message)


class DroidconClientCodec:
    """The client's side of the dialect."""

    def encode(self, message: ClientMessage) -> str:
        """Return a command as a line without its LF."""
        match message:
            case Name(nick, token):
                return f"NAME {nick}" if token is None else f"NAME {nick} {token}"
            case Join(channel):
                return f"JOIN {channel}"
            case Put(None):
                return "PUT"
            case Put(column):
                return f"PUT {column}"
        assert_never(message)

    def decode(self, text: str) -> ServerMessage:
        """Return the server message in a line. Raises WireError."""
        try:
            match text.split():
                case ["PUT", column] if _INTEGER.fullmatch(column):
                    return Put(to_column(column))
                case ["Error", error, *_]:
                    return Error(error)
                case [word]:
                    return Word(word)
        except ValueError:
            pass
        raise WireError(f"not a message of a Droidcon server: {text!r}")


def _command(text: str) -> ClientMessage:
    line = _NO_UTF8.sub("\ufffd", text).strip()  # PROTOCOL.md 1.6 and 1.2
    if _HTTP_REQUEST.fullmatch(line):  # PROTOCOL.md 1.10: a website may have chosen the lines that follow
        raise HangUp("sent a request by HTTP")
    match _BLANKS.split(line):  # PROTOCOL.md 2.1
        case [command, *words] if command.upper() == "PUT":
            return Put(_column(words))
        case [command, nick, *rest] if command.upper() == "NAME":
            return Name(nick, *rest[:1])  # PROTOCOL.md 2.2 and 2.14: further words are dropped
        case [command, _, *_] if command.upper() == "JOIN":
            return Join(_BLANKS.split(line, 1)[1])  # PROTOCOL.md 2.6: the channel is the rest of the line
    raise WireError("expected NAME, JOIN or PUT, with a word behind it")


_cached_command = lru_cache(maxsize=64)(_command)
"""Cached, because bots send the same seven lines again and again. Messages are immutable."""


@cache
def _put_line(column: int | None) -> str:
    return f"PUT {column}"


def _column(words: list[str]) -> int | None:
    """Return the column in the words after `PUT` (PROTOCOL.md 2.8 and 2.9); None without an integer."""
    if words and _INTEGER.fullmatch(words[0]):
        return to_column(words[0])
    return None
