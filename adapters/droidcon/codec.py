"""Lines of the Droidcon dialect, as in PROTOCOL.md 2. The transport sees to line ends."""

import re
from typing import assert_never

from adapters.contract import WireError
from adapters.droidcon.messages import ClientMessage, Error, Join, Name, Put, ServerMessage, Word
from adapters.numbers import to_column

_INTEGER = re.compile(r"[+-]?[0-9]+")


class DroidconCodec:
    """The server's side of the dialect."""

    def decode(self, text: str) -> ClientMessage:
        """Return the command that a line is, whatever the case of its letters."""
        line = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        match line.split():
            case [command, *words] if command.upper() == "PUT":
                return Put(_column(words))
            case [command, nick, *_] if command.upper() == "NAME":
                return Name(nick)
            case [command, _, *_] if command.upper() == "JOIN":
                return Join(line.split(None, 1)[1].strip())
        raise WireError("expected NAME, JOIN or PUT, with a word behind it")

    def encode(self, message: ServerMessage) -> str:
        """Return the line of a server message, without its LF."""
        match message:
            case Word():
                return message.value
            case Put(column):
                return f"PUT {column}"
            case Error():
                return f"Error {message.value}"
        assert_never(message)


class DroidconClientCodec:
    """The client's side of the dialect."""

    def encode(self, message: ClientMessage) -> str:
        """Return the line of a command, without its LF."""
        match message:
            case Name(nick):
                return f"NAME {nick}"
            case Join(channel):
                return f"JOIN {channel}"
            case Put(column):
                return f"PUT {column}"
        assert_never(message)

    def decode(self, text: str) -> ServerMessage:
        """Return the server message that a line is. Raises WireError."""
        try:
            match text.split():
                case ["PUT", column]:
                    return Put(int(column))
                case ["Error", error, *_]:
                    return Error(error)
                case [word]:
                    return Word(word)
        except ValueError:
            pass
        raise WireError(f"no message of a Droidcon server: {text!r}")


def _column(words: list[str]) -> int | None:
    if words and _INTEGER.fullmatch(words[0]):
        return to_column(words[0])
    return None
