"""The maps of the arena dialect, in JSON and in EDN.

Knows how maps are written. Does not know their keys. `read` returns a map and a copy of it as text in the
same encoding. Reading the copy gives an equal map (PROTOCOL.md 2).
"""

import json
import re
from collections.abc import Mapping
from typing import NoReturn

from edn_format import ImmutableDict, Keyword

from adapters.arena import edn
from adapters.arena.messages import Encoding, Said
from adapters.client.contract import WireError

SHORT = 200
"""Texts of up to this many characters are cached."""
MAX_DEPTH = 100
"""The deepest nesting of collections in JSON. In EDN the limit on tokens allows less."""

MAX_VALUES = 4096
"""The most values in a text, estimated by counting brackets and commas. The limit is for JSON: no EDN of
permitted length exceeds it, even if it is all commas."""

_ESCAPE = re.compile(r"\\.")
_SQUARE = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))

Fields = Mapping[str, object]
"""The values of a map by key."""


def read(text: str, hidden: str | None = None) -> tuple[Fields, Said]:
    """Read `text` as JSON, or else as EDN. Return the map and a copy of it as text. Raises WireError.

    A key may be a string or a keyword; if a map has both, the keyword counts. A keyword as a value becomes
    its name. In the copy, the value of the field `hidden` is ``...``.
    """
    text = text.strip()
    try:
        text.encode()
        value, encoding = _read(text)
        if not isinstance(value, dict | ImmutableDict):
            raise WireError("not a map")
        if not value:
            return {}, Said("{}")
        shown = value if hidden is None else _hiding(value, hidden)
        copy = write_json(shown) if encoding is Encoding.JSON else edn.write(shown)
        copy.encode()  # an escape may spell half of a surrogate pair
    except (ValueError, RecursionError) as error:
        raise WireError("neither JSON nor EDN") from error
    return _fields(value), Said(copy, encoding)


def write_fields(fields: Fields, encoding: Encoding) -> str:
    """Return `fields` as a map. In EDN its keys are keywords. Raises ValueError."""
    if encoding is Encoding.JSON:
        return write_json(fields)
    return edn.write({Keyword(name): value for name, value in fields.items()})


def write_json(value: object) -> str:
    """Return `value` as compact JSON, which may contain lone surrogates. Raises ValueError."""
    return _COMPACT.encode(value)


def _read(text: str) -> tuple[object, Encoding]:
    """Return the value in `text`, and its encoding. Raises ValueError or RecursionError."""
    if _is_long(text):
        raise ValueError("too many values")
    try:
        value, end = _DECODER.raw_decode(text)
    except json.JSONDecodeError:
        return edn.read(text), Encoding.EDN
    if end != len(text):
        if value:
            raise ValueError("the text goes on after the map")  # PROTOCOL.md 2.8, even if it is valid EDN
        return edn.read(text), Encoding.EDN
    if _is_deep(text):
        raise ValueError("nested too deeply")
    return value, Encoding.JSON


def _fields(value: "dict[str, object] | ImmutableDict") -> Fields:
    if isinstance(value, dict):
        return value
    pairs = value.dict.items()
    strings = {name: _plain(item) for name, item in pairs if isinstance(name, str)}
    return strings | {key.name: _plain(item) for key, item in pairs if isinstance(key, Keyword)}


def _hiding(value: "dict[str, object] | ImmutableDict", hidden: str) -> dict[object, object]:
    pairs = value.items() if isinstance(value, dict) else value.dict.items()
    names = (hidden, Keyword(hidden))
    return {key: "..." if key in names else item for key, item in pairs}


def _plain(value: object) -> object:
    return value.name if isinstance(value, Keyword) else value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(
    strict=False,  # PROTOCOL.md 2.8: control characters in strings are read
    parse_constant=_refuse,  # 1e400 becomes infinity, which cannot be written
)
_COMPACT = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":"))


def _is_long(text: str) -> bool:
    """Return whether a JSON text has more than MAX_VALUES values. The text need not be valid."""
    return _values(text) > MAX_VALUES and _values(_without_strings(text)) > MAX_VALUES


def _values(text: str) -> int:
    return text.count(",") + text.count("[") + text.count("{")


def _is_deep(text: str) -> bool:
    """Return whether the collections of a JSON text are nested more than MAX_DEPTH deep."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    brackets = _without_strings(text).encode().translate(_SQUARE, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)


def _without_strings(text: str) -> str:
    return "".join(_ESCAPE.sub("", text).split('"')[::2])
