"""The placeholders of a transcript: names, boards, times and wildcards in braces.

Defines how `{a}`, `{table}`, `{board 0103}` or `{time clock-1.0..clock}` are written and what they stand for.
Must not know files or connections. Any other word in braces is an error, because it is most likely a misspelt
placeholder; for a literal word in braces write `\\x7bword}` in a payload with escapes. A JSON or EDN map is
never taken for a placeholder: its brace is followed by a quote, a colon or the closing brace.
"""

import re
import secrets
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from conformance.boards import arena_cells, arena_moves, nac4_board

# Words with a meaning in braces. A client must not have such a name.
RESERVED = frozenset(
    {"table", "clock", "time", "any", "rest", "board", "cells", "moves", "repeat", "keep", "kept"}
)

_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9]*)(?: ([^{}\"]*))?\}")
_SPAN = re.compile(r"clock(?:-([0-9]+(?:\.[0-9]+)?))?|([0-9]+(?:\.[0-9]+)?)")
_BOUNDS = re.compile(r"(\S+?)\.\.(\S+)")
_REPEAT = re.compile(r"(\S) ([1-9][0-9]{0,6})")
_WORD = re.compile(r"[a-z][a-z0-9]*")


USUAL_CLOCK = 42.0
"""Seconds that a server gives a player for a game by default."""


class PlaceholderError(ValueError):
    """A placeholder is malformed, or not allowed in its position."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one playback, which no other client of the server uses.

    `suffix`, of letters and digits, makes the names unique. `roles` maps each name that is allowed in braces
    to the client it stands for; after a `lot`, two names stand for one client. `clock` is the time that the
    server gives a player for a game, in seconds.
    """

    suffix: str
    roles: Mapping[str, str]
    clock: float = USUAL_CLOCK
    kept: Mapping[str, str] = field(default_factory=dict)
    """The texts that `{keep NAME}` has stood for, by name."""

    def of(self, role: str) -> str:
        return self.roles[role] + self.suffix


def run_token() -> str:
    """Return five random letters that make the names of a run differ from those of other runs."""
    return "".join(secrets.choice(string.ascii_lowercase) for _ in range(5))


@dataclass(frozen=True, slots=True)
class Wild:
    """A placeholder that matches many texts. `bounds`: the range that a number in its place must be in."""

    source: str
    regex: str
    bounds: tuple[float, float] | None = None
    name: str = ""
    """The name under which the text that it stands for is kept; empty for none."""


Part = str | Wild


@dataclass(frozen=True, slots=True)
class TextPattern:
    """Literal text with wildcards in it, and the line ending that must follow."""

    parts: tuple[Part, ...]
    ending: str = ""
    _regex: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        body = "".join(re.escape(part) if isinstance(part, str) else f"({part.regex})" for part in self.parts)
        object.__setattr__(self, "_regex", re.compile(body + re.escape(self.ending), re.DOTALL))

    def complaint(self, text: str) -> str | None:
        """Return a description of why `text` does not match; None if it matches."""
        found = self._regex.fullmatch(text)
        if found is None:
            return self._difference(text)
        wilds = (part for part in self.parts if isinstance(part, Wild))
        for wild, value in zip(wilds, found.groups(), strict=True):
            if wild.bounds and not wild.bounds[0] <= float(value) <= wild.bounds[1]:
                return f"{value} is not within {wild.bounds[0]}..{wild.bounds[1]}"
        return None

    def kept(self, text: str) -> dict[str, str]:
        """Return the texts, by name, that the placeholders `{keep NAME}` stand for in a text that matches."""
        found = self._regex.fullmatch(text)
        wilds = (part for part in self.parts if isinstance(part, Wild))
        values = zip(wilds, found.groups() if found else (), strict=False)
        return {wild.name: value for wild, value in values if wild.name}

    def _difference(self, text: str) -> str:
        if not text.endswith(self.ending):
            return f"it does not end in {escaped(self.ending, quote=True)}"
        body = text.removesuffix(self.ending)
        start = next(iter(self.parts), "")
        literal = start if isinstance(start, str) else ""
        common = _common_prefix(literal, body)
        if common == len(literal) and len(self.parts) > (1 if literal else 0):
            return f"what follows {literal!r} does not fit" if literal else "the placeholders do not fit"
        return f"they differ from character {common + 1} on"


def parts(text: str, names: Names) -> tuple[Part, ...]:
    """Split text into literal pieces and wildcards. Placeholders with a fixed value become literal."""
    pieces: list[Part] = []
    end = 0
    for found in _PLACEHOLDER.finditer(text):
        pieces += (text[end : found.start()], _meaning(found, names))
        end = found.end()
    return joined((*pieces, text[end:]))


def expand(text: str, names: Names) -> str:
    """Replace the placeholders of a text to be sent. Raises PlaceholderError for a wildcard."""
    pieces = parts(text, names)
    for piece in pieces:
        if isinstance(piece, Wild):
            raise PlaceholderError(f"{piece.source} stands for something received, it cannot be sent")
    return "".join(piece for piece in pieces if isinstance(piece, str))


def filled(text: str, names: Names) -> str:
    """Replace placeholders that have a fixed value; keep wildcards as written. The result is for people."""
    return "".join(piece if isinstance(piece, str) else piece.source for piece in parts(text, names))


def span(text: str, clock: float) -> float:
    """Return the seconds that a text such as `2.5`, `clock` or `clock-0.3` means. Raises PlaceholderError."""
    found = _SPAN.fullmatch(text)
    if found is None:
        raise PlaceholderError(f"{text!r} is no number of seconds, nor clock, nor clock less seconds")
    less, seconds = found.groups()
    return float(seconds) if seconds else max(round(clock - float(less or 0), 3), 0.0)


def unescape(text: str) -> str:
    """Decode Python's string escapes. Raises PlaceholderError."""
    try:
        return text.encode("latin-1", "backslashreplace").decode("unicode_escape")
    except UnicodeDecodeError as error:
        raise PlaceholderError(f"broken escape in {text!r}: {error.reason}") from None


def escaped(text: str, *, quote: bool) -> str:
    """Replace unprintable characters by escapes. `quote`: add quotes, in a form that `unescape` reverses."""
    if quote:
        text = text.replace("\\", "\\\\").replace('"', '\\"')
    seen = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return f'"{seen}"' if quote else seen


def joined(pieces: Iterable[Part]) -> tuple[Part, ...]:
    """Join adjacent literal parts, and drop empty ones."""
    result: list[Part] = []
    for piece in pieces:
        last = result[-1] if result else None
        if isinstance(piece, str) and isinstance(last, str):
            result[-1] = last + piece
        elif piece != "":
            result.append(piece)
    return tuple(result)


def _common_prefix(one: str, other: str) -> int:
    length = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        length += 1
    return length


def _meaning(found: re.Match[str], names: Names) -> Part:
    source, word, argument = found[0], found[1], found[2]
    try:
        if word in ("keep", "kept"):
            name = _matching(_WORD, argument or "", f"a word such as {{{word} key}}")[0]
            if word == "keep":
                return Wild(source, r"[^\s\"]+", name=name)
            return names.kept.get(name, name)  # while a transcript is only read, nothing has been kept
        if argument is None:
            return _bare(source, word, names)
        return _with_argument(source, word, argument, names)
    except ValueError as error:
        if isinstance(error, PlaceholderError):
            raise
        raise PlaceholderError(f"{source}: {error}") from None


def _bare(source: str, word: str, names: Names) -> Part:
    match word:
        case "any":
            return Wild(source, r"\S+")
        case "rest":
            return Wild(source, r"[^\r\n]*")
        case "time":
            return Wild(source, r"[0-9]*\.[0-9]+")
        case "clock":
            return f"{names.clock:.1f}"
        case "table" | "board" | "cells" | "moves" | "repeat":
            return _with_argument(source, word, "table" if word == "table" else "", names)
    if word not in names.roles:
        raise PlaceholderError(f"unknown placeholder {source}")
    return names.of(word)


def _with_argument(source: str, word: str, argument: str, names: Names) -> Part:
    match word:
        case "time":
            return Wild(source, r"[0-9]*\.[0-9]+", _bounds(argument, names.clock))
        case "table":
            return _matching(_WORD, argument, "a word such as {table other}")[0] + names.suffix
        case "board":
            return nac4_board(argument)
        case "cells":
            return arena_cells(argument)
        case "moves":
            return arena_moves(argument)
        case "repeat":
            found = _matching(_REPEAT, argument, "a character and a count such as {repeat x 70000}")
            return found[1] * int(found[2])
    if word in names.roles or word in RESERVED:
        raise ValueError(f"nothing may follow {word!r}")
    raise PlaceholderError(f"unknown placeholder {source}")


def _bounds(argument: str, clock: float) -> tuple[float, float]:
    found = _matching(_BOUNDS, argument, "bounds such as {time 40.0..42.0}")
    return span(found[1], clock), span(found[2], clock)


def _matching(pattern: re.Pattern[str], argument: str, wanted: str) -> re.Match[str]:
    found = pattern.fullmatch(argument)
    if found is None:
        raise ValueError(f"expected {wanted}")
    return found
