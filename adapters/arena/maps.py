"""The maps of the arena dialect, in JSON and in EDN.

Knows how maps are written, not what is in them. The rule it keeps: with whatever `read` returns comes a copy
in the same encoding, which reads back equal; anything else is no map (PROTOCOL.md 2). In JSON the text is its
own copy, in EDN the first form is written anew.
"""

import json
import math
from collections.abc import Iterable, Mapping
from typing import NoReturn

from edn_format import ImmutableDict, Keyword

from adapters.arena import edn
from adapters.arena.messages import Encoding, Said
from adapters.contract import WireError

SHORT = 200
"""Characters of a text that is worth remembering."""
MAX_DEPTH = 100
"""How many collections of JSON may stand in one another; of EDN its tokens are fewer."""

Fields = Mapping[str, object]
"""What a map says, by name."""


def read(text: str) -> tuple[Fields, Said]:
    """Return the map that `text` is: strict JSON, else EDN. Raises WireError.

    A field's name may be a string or a keyword, which comes first; a keyword as a value becomes its name.
    """
    text = text.strip()
    try:
        text.encode()
        value, encoding = _read(text)
        if not isinstance(value, dict | ImmutableDict):
            raise WireError("no map")
        if not value:
            return {}, Said("{}")
        copy = text if encoding is Encoding.JSON else edn.write(value)
        copy.encode()  # an escape in EDN may have spelled half of a surrogate pair
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
    try:
        value, end = _STRICT.raw_decode(text)
    except json.JSONDecodeError:
        return edn.read(text), Encoding.EDN
    if end != len(text):
        return edn.read(text), Encoding.EDN
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise ValueError("nested too deeply")
    if "\\u" in text:  # may be half of a surrogate pair
        write_json(value).encode()
    return value, Encoding.JSON


def _fields(value: "dict[str, object] | ImmutableDict") -> Fields:
    if isinstance(value, dict):
        return value
    pairs = value.dict.items()
    strings = {name: _plain(item) for name, item in pairs if isinstance(name, str)}
    return strings | {key.name: _plain(item) for key, item in pairs if isinstance(key, Keyword)}


def _plain(value: object) -> object:
    return value.name if isinstance(value, Keyword) else value


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError("a number that JSON could not be written with")
    return number


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_STRICT = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse)
_COMPACT = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":"))


def _depth(value: object) -> int:
    """Return how many JSON collections stand in one another."""
    depth = 0
    level = [value]
    while collections := [item for item in level if isinstance(item, dict | list)]:
        depth += 1
        level = [item for outer in collections for item in _items(outer)]
    return depth


def _items(collection: dict[str, object] | list[object]) -> Iterable[object]:
    return collection.values() if isinstance(collection, dict) else collection
