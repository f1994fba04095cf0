"""Reads and writes the JSON of the tutorial dialect (PROTOCOL.md 2).

Knows the keys of each message. Does not know frames, nor when a message is due.
"""

import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import assert_never

from adapters.client.contract import WireError
from adapters.tutorial.messages import (
    ClientMessage,
    Color,
    Error,
    Init,
    InitRequest,
    Play,
    PlayRequest,
    ServerMessage,
    Win,
)

LONGEST = 4096
"""The most characters that a message may have (PROTOCOL.md 2.2)."""
BEFORE_TOKEN = re.compile(r"token|\\")
"""The part of a client's text that precedes a token. A backslash counts, too, because escapes may spell the
word `token`."""
_SHORT = 64
"""Texts of up to this many characters are cached."""
_NO_COLUMN = -1
_COLUMNS, _ROWS = 7, 6

_Fields = Mapping[str, object]


class TutorialCodec:
    """The server's side of the dialect."""

    def decode(self, text: str) -> ClientMessage:
        """Return the client message in `text`. Raises WireError."""
        return _cached_message(text) if len(text) <= _SHORT else _client_message(text)

    def encode(self, message: ServerMessage) -> str:
        """Return the text of a server message."""
        match message:
            case Play():
                return _play(message)
            case Init(join, watch, player, moves):
                fields: dict[str, object] = {"type": "init", "join": join, "watch": watch}
                if player is not None:
                    fields["player"] = player.value
                if moves:
                    fields["moves"] = moves
                return json.dumps(fields)
            case Win(player):
                return json.dumps({"type": "win", "player": player.value})
            case Error(words):
                return json.dumps({"type": "error", "message": words})
        assert_never(message)


class TutorialClientCodec:
    """The client's side of the dialect."""

    def encode(self, message: ClientMessage) -> str:
        """Return the text of a client message."""
        match message:
            case InitRequest(join, watch, name, token):
                keys = {"join": join, "watch": watch, "name": name, "token": token}
                return json.dumps(
                    {"type": "init"} | {key: text for key, text in keys.items() if text is not None}
                )
            case PlayRequest(column):
                return json.dumps({"type": "play", "column": column})
        assert_never(message)

    def decode(self, text: str) -> ServerMessage:
        """Return the server message in `text`. Raises WireError."""
        fields = _fields(text)
        match fields.get("type"):
            case "init":
                player, moves = fields.get("player"), _within(fields.get("moves", 0), _COLUMNS * _ROWS + 1)
                color = None if player is None else _color(player)
                return Init(_key(fields, "join"), _key(fields, "watch"), color, moves)
            case "play":
                column, row = _within(fields.get("column"), _COLUMNS), _within(fields.get("row"), _ROWS)
                return Play(_color(fields.get("player")), column, row)
            case "win":
                return Win(_color(fields.get("player")))
            case "error" if isinstance(words := fields.get("message"), str):
                return Error(words)
        raise WireError("not a message of a tutorial server")


def _client_message(text: str) -> ClientMessage:
    fields = _fields(text)
    match fields.get("type"):
        case "init":
            return InitRequest(*(_key(fields, name) for name in ("join", "watch", "name", "token")))
        case "play":
            column = fields.get("column")
            if not isinstance(column, int) or isinstance(column, bool):  # PROTOCOL.md 2.4
                return PlayRequest()
            return PlayRequest(column if 0 <= column < _COLUMNS else _NO_COLUMN)
    raise WireError("expected init or play")


_cached_message = lru_cache(maxsize=64)(_client_message)
"""Cached, because clients send the same seven moves again and again. Messages are immutable."""


@cache
def _play(message: Play) -> str:
    player, column, row = message
    return json.dumps({"type": "play", "player": player.value, "column": column, "row": row})


def _fields(text: str) -> _Fields:
    """Return the values of a JSON object by key. Raises WireError."""
    if len(text) > LONGEST:
        raise WireError("too long")
    try:
        text.encode()  # bytes that are not UTF-8 are lone surrogates
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError("not JSON") from error
    if not isinstance(found, dict):
        raise WireError("not an object")
    return found


def _key(fields: _Fields, name: str) -> str | None:
    """Return a text among the fields; None if it is missing or null. Raises WireError for anything else."""
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise WireError(f"{name} is no text")
    try:
        value.encode()  # an escape may spell half of a surrogate pair
    except UnicodeEncodeError as error:
        raise WireError(f"{name} has a lone surrogate") from error
    return value


def _color(value: object) -> Color:
    try:
        return Color(value)
    except ValueError as error:
        raise WireError("not a colour") from error


def _within(value: object, end: int) -> int:
    """Return an integer from 0 to `end` - 1. Raises WireError for anything else."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < end:
        return value
    raise WireError("a number is missing or out of its range")
