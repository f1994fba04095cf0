"""Reads and writes the lines of the I32CFSP dialect (PROTOCOL.md 2 and 4).

Knows how messages are written. Does not know when one is due. A line ends with CR LF; the LF belongs to the
framing, so the CR is the last character of each text that is written here.
"""

import re
from typing import assert_never

from adapters.client.contract import HangUp, WireError, to_column
from adapters.i32cfsp.messages import (
    AiGame,
    Blank,
    ClientMessage,
    Drop,
    Hello,
    Pop,
    ServerMessage,
    Welcome,
    Word,
)

COLUMNS, ROWS = 7, 6
HELLO = "I32CFSP_HELLO"
BEFORE_TOKEN = re.compile(rf"^\s*{HELLO}[ \t]+\S+[ \t]")
"""The part of a line that precedes a token."""
_BLANKS = re.compile("[ \t]+")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NO_UTF8 = re.compile("[\ud800-\udfff]")
_BREAKS = re.compile("[\r\n]")
_WELCOME = "WELCOME "
_END = "\r"
_DROPS = {f"DROP {column}": Drop(column) for column in range(1, COLUMNS + 1)}
"""The usual moves. Messages are immutable."""
_USUAL: dict[str, ClientMessage] = {"": Blank(), **_DROPS}
"""Lines that are read without a search. There may be thousands of empty ones in a packet."""
_LINES = {drop: f"{text}{_END}" for text, drop in _DROPS.items()}
_WORDS = {word: f"{word}{_END}" for word in Word}


class I32cfspCodec:
    """The server's side of the dialect."""

    def decode(self, text: str) -> ClientMessage:
        """Return the message in a line. Raises HangUp for any other line (PROTOCOL.md 1.6)."""
        return _USUAL.get(text) or _message(text)

    def encode(self, message: ServerMessage) -> str:
        """Return a server message as a line without its LF."""
        match message:
            case Word():
                return _WORDS[message]
            case Drop():
                return _LINES.get(message) or f"DROP {message.column}{_END}"
            case Welcome(name):
                return f"{_WELCOME}{_BREAKS.sub('_', name)}{_END}"
        assert_never(message)


class I32cfspClientCodec:
    """The client's side of the dialect."""

    def encode(self, message: ClientMessage) -> str:
        """Return a client's message as a line without its LF."""
        match message:
            case Hello(name, token):
                words = f"{HELLO} {name}" if token is None else f"{HELLO} {name} {token}"
            case AiGame(sized):
                words = f"AI_GAME {COLUMNS} {ROWS}" if sized else "AI_GAME"
            case Drop(column):
                words = f"DROP {column}"
            case Pop(column):
                words = f"POP {column}"
            case Blank():
                words = ""
            case _:
                assert_never(message)
        return f"{words}{_END}"

    def decode(self, text: str) -> ServerMessage:
        """Return the server message in a line. Raises WireError."""
        if text.startswith(_WELCOME):
            return Welcome(text.removesuffix(_END).removeprefix(_WELCOME))
        try:
            match _words(text):
                case ["DROP", column] if _INTEGER.fullmatch(column):
                    return Drop(to_column(column))
                case [word]:
                    return Word(word)
        except ValueError:
            pass
        raise WireError(f"not a message of an I32CFSP server: {text!r}")


def _message(text: str) -> ClientMessage:
    match _words(_NO_UTF8.sub("\ufffd", text)):  # PROTOCOL.md 1.5
        case ["DROP", column] if _INTEGER.fullmatch(column):
            return Drop(to_column(column))
        case ["POP", column] if _INTEGER.fullmatch(column):
            return Pop(to_column(column))
        case [word, name, *rest] if word == HELLO and len(rest) <= 1:
            return Hello(name, *rest)
        case [""]:
            return Blank()  # PROTOCOL.md 1.2
        case ["AI_GAME"]:
            return AiGame(sized=False)
        case ["AI_GAME", columns, rows] if _INTEGER.fullmatch(columns) and _INTEGER.fullmatch(rows):
            if (to_column(columns), to_column(rows)) != (COLUMNS, ROWS):
                # PROTOCOL.md 3.3: a client that draws another board would show another game
                raise HangUp(f"asked for a board of {columns[:9]} columns and {rows[:9]} rows")
            return AiGame()
    raise HangUp("sent a line that the protocol does not have")


def _words(text: str) -> list[str]:
    return _BLANKS.split(text.strip(" \t\r"))
