"""Reads and writes the texts of the RPI dialect (PROTOCOL.md 2, 6 and 7).

Knows how messages are written. Does not know frames, nor when a message is due. Colons separate the words of
a message; further words are dropped, as the original drops them.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import assert_never

from adapters.client.contract import WireError, to_column
from adapters.rpi.messages import (
    Began,
    Came,
    ClientMessage,
    Connect,
    Disconnect,
    Error,
    Games,
    Get,
    Invalid,
    ListGames,
    ListPlayers,
    Moved,
    Observe,
    ObserverMessage,
    Observing,
    Opponent,
    Over,
    Ping,
    Play,
    PlayerMessage,
    Players,
    Ready,
    Reconnect,
    ServerMessage,
    Setting,
    Start,
    Waits,
    Watch,
    Watched,
    Went,
    Word,
)

BEFORE_TOKEN = re.compile(r"^(?:RE)?CONNECT:[^:]*:")
"""The part of a client's text that precedes a token."""
_UNSIGNED = re.compile(r"\+?0*([0-9]{1,20})", re.ASCII)
_NO_UTF8 = re.compile("[\ud800-\udfff]")
_SHORT = 16
"""Texts of up to this many characters are cached."""
_LONGEST_COLUMN = 2**64
_LONGEST_GAME = 2**32
_AUTH = Invalid("ERROR:INVALID:AUTH")
_INVALID = {
    word: Invalid(f"ERROR:INVALID:{word}")
    for word in ("PLAYER", "GAME", "ADMIN", "TOURNAMENT", "GET", "SET", "RESERVATION")
}
_SIMPLE: dict[str, ClientMessage] = {
    "READY": Ready(),
    "DISCONNECT": Disconnect(),
    "OBSERVE": Observe(),
    "PING": Ping(),
}
_ADMIN = {
    ("ADMIN", "AUTH"): 3,
    ("ADMIN", "KICK"): 3,
    ("TOURNAMENT", "START"): 3,
    ("TOURNAMENT", "CANCEL"): 2,
    ("GAME", "AWARD"): 4,
    ("RESERVATION", "GET"): 2,
}
"""Messages of the original's administrator, by their first two words, and how many words each has."""
_PAIR = re.compile("[^,]*,[^,]*")
FIRST_WORDS = frozenset({"CONNECT", "RECONNECT", "PLAY", *_SIMPLE, *_INVALID})
"""The first words of all messages of clients."""


class RpiCodec:
    """The server's side of the dialect."""

    def decode(self, text: str) -> ClientMessage:
        """Return the message in a text. Raises WireError."""
        return _cached_message(text) if len(text) <= _SHORT else _client_message(text)

    def encode(self, message: ServerMessage) -> str:
        """Return the text of a server message."""
        match message:
            case Opponent(column):
                return _opponent(column)
            case Word() | Start() | Error():
                return _to_player(message)
        return _to_observer(message)


class RpiClientCodec:
    """A player's side of the dialect. It reads no messages to observers."""

    def encode(self, message: ClientMessage) -> str:
        """Return the text of a client message."""
        match message:
            case Play(column):
                words = ["PLAY"] if column is None else ["PLAY", str(column)]
            case Connect(name, token):
                words = ["CONNECT", name] if token is None else ["CONNECT", name, token]
            case Reconnect(name, token):
                words = ["RECONNECT", name] if token is None else ["RECONNECT", name, token]
            case Ready() | Disconnect() | Observe() | Ping():
                words = [type(message).__name__.upper()]
            case ListPlayers():
                words = ["PLAYER", "LIST"]
            case ListGames():
                words = ["GAME", "LIST"]
            case Watch(game):
                words = ["GAME", "WATCH", str(game)]
            case Get(key):
                words = ["GET", key]
            case Invalid():
                raise ValueError("no client sends this")
            case _:
                assert_never(message)
        return ":".join(words)

    def decode(self, text: str) -> PlayerMessage:
        """Return the server message in a text. Raises WireError."""
        match text.split(":"):
            case ["GAME", "START", "0" | "1" as first]:
                return Start(first == "1")
            case ["OPPONENT", column] if _UNSIGNED.fullmatch(column):
                return Opponent(to_column(column))
            case ["ERROR", *_]:
                return Error(text)
        try:
            return Word(text)
        except ValueError:
            raise WireError(f"not a message of an RPI server to a player: {text!r}") from None


def _client_message(text: str) -> ClientMessage:
    message: ClientMessage | None = None
    words = _NO_UTF8.sub("\ufffd", text).split(":")
    match words:
        case ["PLAY", *rest]:
            message = Play(_column(rest))
        case [word, *_] if word in _SIMPLE:
            message = _SIMPLE[word]
        case ["CONNECT", name, *rest]:
            message = Connect(name, rest[0] if rest else None)
        case ["RECONNECT", name, *rest]:
            message = Reconnect(name, rest[0] if rest else None)
        case ["CONNECT" | "RECONNECT" as word]:
            message = Invalid(f"ERROR:INVALID:{word}:")
        case ["PLAYER", "LIST", *_]:
            message = ListPlayers()
        case ["GAME", "LIST", *_]:
            message = ListGames()
        case ["GAME", "WATCH", game, *_]:
            number = _unsigned(game, _LONGEST_GAME)
            message = Invalid("ERROR:INVALID:WATCH") if number is None else Watch(number)
        case ["GET", key, *_]:
            message = Get(key)
        case [word, *_] if word in _INVALID:
            message = _administrative(words)
    if message is None:
        raise WireError("no message of this dialect begins like that")
    return message


def _administrative(words: Sequence[str]) -> Invalid:
    """Return the answer to a message of an administrator, or to one that the original does not know."""
    match words:
        case ["GAME", "TERMINATE", game, *_]:
            is_number = _unsigned(game, _LONGEST_GAME) is not None
            return _AUTH if is_number else Invalid("ERROR:INVALID:TERMINATE")
        case ["SET", _, _, *_]:
            return _AUTH
        case ["RESERVATION", "ADD" | "DELETE", names] if _PAIR.fullmatch(names):
            return _AUTH
        case [word, kind, *_] if len(words) >= _ADMIN.get((word, kind), len(words) + 1):
            return _AUTH
    return _INVALID[words[0]]


_cached_message = lru_cache(maxsize=64)(_client_message)
"""Cached, because bots send the same seven texts again and again. Messages are immutable."""


@cache
def _opponent(column: int) -> str:
    return f"OPPONENT:{column}"


def _column(words: Sequence[str]) -> int | None:
    """Return the column in the words after `PLAY` (PROTOCOL.md 5.9); None without one."""
    if not words or _unsigned(words[0], _LONGEST_COLUMN) is None:
        return None
    return to_column(words[0])


def _unsigned(digits: str, limit: int) -> int | None:
    """Return an integer of 0 to `limit` - 1; None for other text."""
    match = _UNSIGNED.fullmatch(digits)
    value = limit if match is None else int(match[1])
    return value if value < limit else None


def _to_player(message: Word | Start | Error) -> str:
    match message:
        case Word():
            return message
        case Start(is_first):
            return f"GAME:START:{is_first:d}"
        case Error(text):
            return text
    assert_never(message)


def _to_observer(message: ObserverMessage) -> str:
    """Return the text of a message to an observer, or of an answer to a question."""
    match message:
        case Moved(game, name, column):
            text = f"GAME:{game}:MOVE:{name}:{column}"
        case Began(game, names):
            text = f"GAME:START:{game},{names[0]},{names[1]}"
        case Over(game, None, is_drawn):
            text = f"GAME:{game}:{'DRAW' if is_drawn else 'TERMINATED'}"
        case Over(game, winner):
            text = f"GAME:{game}:WIN:{winner}"
        case Waits(name, is_ready):
            text = f"READY:{name}:{_boolean(is_ready)}"
        case Came(name):
            text = f"CONNECT:{name}"
        case Went(name):
            text = f"DISCONNECT:{name}"
        case Observing(is_on):
            text = f"OBSERVE:ACK:{is_on:d}"
        case Players(players):
            each = [f"{name},{_boolean(waits)},{_boolean(plays)}" for name, waits, plays in players]
            text = "PLAYER:LIST:" + "|".join(each)
        case Games(games):
            text = "GAME:LIST:" + "|".join(f"{game},{one},{two}" for game, (one, two) in games)
        case Watched(game, names, moves):
            each = [f"{names[ply & 1]},{column}" for ply, column in enumerate(moves)]
            text = "|".join([f"GAME:WATCH:ACK:{game},{names[0]},{names[1]}", *each])
        case Setting(key, value):
            text = f"GET:{key}:{value}"
        case _:
            assert_never(message)
    return text


def _boolean(value: object) -> str:
    return "true" if value else "false"
