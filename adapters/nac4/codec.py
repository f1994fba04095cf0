"""The texts of the nac4 dialect (PROTOCOL.md 2).

Knows the words of a message and their spelling. Does not know frames, nor what a message does. Words have to
be spelled exactly. Any white space may separate them. The CR LF at the end of a message counts as white space
(PROTOCOL.md 1.3).
"""

import re
from functools import lru_cache
from typing import assert_never

from adapters.client.contract import WireError, to_column
from adapters.nac4.messages import (
    USER_LIMIT,
    ClientMessage,
    Connect,
    Connected,
    EndGame,
    GenMove,
    NewGame,
    NotConnected,
    PlayMove,
    ServerMessage,
)

_USER = re.compile(rf"[A-Za-z0-9_-]{{1,{USER_LIMIT}}}")
_MOVE = re.compile(r"-?[0-9]+")
BEFORE_TOKEN = re.compile(r"^\s*connect\s+\S+\s")
"""The part of a client's text that precedes a token."""
_BOARD = re.compile(r"[.RY]{42}")
_TIME = re.compile(r"[0-9]*\.[0-9]+")
_COLORS = ("R", "Y")
_SHORT = 16
"""Texts of up to this many characters are cached."""
_TURNS = (("R", "PlayR"), ("Y", "PlayY"))
_RESULTS = ("WinR", "WinY", "Tie", "PlayR", "PlayY")
_BATTLES = ("Ok", "Timeout", "Disconnected")


class Nac4Codec:
    """The server's side of the dialect."""

    def decode(self, text: str) -> ClientMessage:
        """Return the client message in `text`. White space around words does not matter. Raises WireError."""
        return _cached_message(text) if len(text) <= _SHORT else _client_message(text)

    def encode(self, message: ServerMessage) -> str:
        """Return the text of a server message."""
        match message:
            case GenMove():
                return f"genmove {message.board} {message.color} {message.status} {message.time:.1f}\r\n"
            case NewGame(red, yellow):
                return f"newgame {red} {yellow}\r\n"
            case EndGame(board, color, status, battle):
                return f"endgame {board} {color} {status} {battle}\r\n"
            case Connected(info):
                return f"connected {info}\r\n"
            case NotConnected(info):
                return f"not-connected {info}\r\n"
        assert_never(message)


def _client_message(text: str) -> ClientMessage:
    match text.split():
        case ["playmove", move] if _MOVE.fullmatch(move):
            return PlayMove(to_column(move))
        case ["connect", user] if _USER.fullmatch(user):
            return Connect(user)
    raise WireError("expected connect or playmove")


_cached_message = lru_cache(maxsize=64)(_client_message)
"""Cached, because bots send the same seven texts again and again. Messages are immutable."""


class TokenCodec(Nac4Codec):
    """The server's side if names are protected: a token may follow the name (PROTOCOL.md 3.8)."""

    def decode(self, text: str) -> ClientMessage:
        """Return the client message in `text`. Raises WireError."""
        try:
            return super().decode(text)
        except WireError:
            match text.split():
                case ["connect", user, token] if _USER.fullmatch(user):
                    return Connect(user, token)
            raise


class Nac4ClientCodec:
    """The client's side of the dialect."""

    def encode(self, message: ClientMessage) -> str:
        """Return the text of a client message."""
        match message:
            case Connect(user):
                return f"connect {user}\r\n"
            case PlayMove(move):
                return f"playmove {move}\r\n"
        assert_never(message)

    def decode(self, text: str) -> ServerMessage:
        """Return the server message in `text`. Raises WireError."""
        match text.split():
            case ["genmove", board, color, status, time] if _BOARD.fullmatch(board) and _TIME.fullmatch(time):
                if (color, status) in _TURNS:
                    return GenMove(board, color, status, float(time))
            case ["endgame", board, color, status, battle] if _BOARD.fullmatch(board):
                if color in _COLORS and status in _RESULTS and battle in _BATTLES:
                    return EndGame(board, color, status, battle)
            case ["newgame", red, yellow]:
                return NewGame(red, yellow)
            case ["connected", *info]:
                return Connected(" ".join(info))
            case ["not-connected", *info]:
                return NotConnected(" ".join(info))
        raise WireError(f"not a message of a nac4 server: {text!r}")
