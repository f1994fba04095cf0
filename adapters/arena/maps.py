"""The maps of the arena dialect, in JSON and in EDN.

Knows how maps are written, not what is in them. The rule it keeps: with whatever `read` returns comes a copy
in the same encoding, which reads back equal; anything else is no map (PROTOCOL.md 2).
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
"""Characters of a text that is worth remembering."""
MAX_DEPTH = 100
"""How many collections of JSON may stand in one another; of EDN its tokens are fewer."""

MAX_VALUES = 4096
"""How many values JSON may have, about; not fewer than EDN has characters, which may all be commas."""

_ESCAPE = re.compile(r"\\.")
_SQUARE = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))

Fields = Mapping[str, object]
"""What a map says, by name."""


def read(text: str, hidden: str | None = None) -> tuple[Fields, Said]:
    """Return the map that `text` is, in JSON, else in EDN. Raises WireError.

    A field's name may be a string or a keyword, which comes first; a keyword as a value becomes its name. The
    copy has ``...`` for the value of the field `hidden`.
    """
    text = text.strip()
    try:
        text.encode()
        value, encoding = _read(text)
        if not isinstance(value, dict | ImmutableDict):
            raise WireError("no map")
        if not value:
            return {}, Said("{}")
        shown = value if hidden is None else _hiding(value, hidden)
        copy = write_json(shown) if encoding is Encoding.JSON else edn.write(shown)
        copy.encode()  # an escape may have spelled half of a surrogate pair
    except (ValueError, RecursionError) as error:
        raise WireError("neither JSON nor EDN") from error
    return _fields(value), Said(copy, encoding)


def write_fields(fields: Fields, encoding: Encoding) -> str:
    """Return the map of `fields`, with keywords for names in EDN. Raises ValueError."""
    if encoding is Encoding.JSON:
        return write_json(fields)
    return edn.write({Keyword(name): value for name, value in fields.items()})


def write_json(value: object) -> str:
    """Return `value` as compact JSON, not fit for UTF-8 if a string in it is not. Raises ValueError."""
    return _COMPACT.encode(value)


def _read(text: str) -> tuple[object, Encoding]:
    """Raises ValueError or RecursionError."""
    if _is_long(text):
        raise ValueError("more values than are read")
    try:
        value, end = _DECODER.raw_decode(text)
    except json.JSONDecodeError:
        return edn.read(text), Encoding.EDN
    if end != len(text):
        if value:
            raise ValueError("something behind the value")  # PROTOCOL.md 2.8, though EDN may read it
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
    """Return whether a JSON text has more than MAX_VALUES values, as bad as it may be otherwise."""
    return _values(text) > MAX_VALUES and _values(_without_strings(text)) > MAX_VALUES


def _values(text: str) -> int:
    return text.count(",") + text.count("[") + text.count("{")


def _is_deep(text: str) -> bool:
    """Return whether more than MAX_DEPTH collections of a JSON text stand in one another."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    brackets = _without_strings(text).encode().translate(_SQUARE, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)


def _without_strings(text: str) -> str:
    return "".join(_ESCAPE.sub("", text).split('"')[::2])
