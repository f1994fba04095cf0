"""Arena payloads as values: parsed strictly, and compared in any order of keys.

Parses JSON and EDN, and describes where two values differ. Must not know what an arena message means. Strict
parsing refuses NaN, Infinity, a repeated key and text after the value. In a comparison an integer never
equals a float, and a keyword never equals a string.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum

import edn_format

from conformance.placeholders import Names, Part, PlaceholderError, TextPattern, Wild, joined, parts

Plain = object
"""A dict, list, str, int, float, bool, None or Keyword. If expected, also a TextPattern or ANYTHING."""

# Private-use characters that replace wildcards while the surrounding text is parsed.
_IN_STRING, _AS_VALUE = 0xE000, 0xF000


class ValueSyntaxError(ValueError):
    """A text is not a valid value in its encoding. The message says why."""


class Encoding(Enum):
    JSON = "json"
    EDN = "edn"


class Anything(Enum):
    """An expected value that matches every value."""

    ANYTHING = "{any}"


@dataclass(frozen=True, slots=True)
class Keyword:
    """An EDN keyword."""

    name: str


def read(encoding: Encoding, text: str) -> Plain:
    """Parse a value. Raises ValueSyntaxError."""
    return _READERS[encoding](text)


def expected_value(encoding: Encoding, text: str, names: Names) -> Plain:
    """Parse a transcript's payload. Wildcards become patterns. Raises ValueSyntaxError, PlaceholderError."""
    wilds: list[Wild] = []
    return _with_patterns(read(encoding, _marked(parts(text, names), wilds)), wilds)


def difference(expected: Plain, got: Plain, where: str = "it") -> str | None:
    """Return a description of the first difference between `got` and `expected`; None if they match."""
    match expected, got:
        case TextPattern(), str():
            why = expected.complaint(got)
            return why and f"{where}: {why}"
        case dict(), dict():
            return _key_difference(expected, got, where)
        case list(), list():
            return _item_difference(expected, got, where)
    same = expected is Anything.ANYTHING or (type(expected) is type(got) and expected == got)
    return None if same else f"{where} is {told(got)}, not {told(expected)}"


def told(value: Plain) -> str:
    """Return a short description of a value."""
    match value:
        case Keyword(name):
            return f":{name}"
        case dict():
            return "a map"
        case list():
            return f"a list of {len(value)}"
        case TextPattern():
            return "text"
        case None | bool() | int() | float() | str():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return repr(value)


def _key_difference(expected: Mapping[Plain, Plain], got: Mapping[Plain, Plain], where: str) -> str | None:
    inside = "" if where == "it" else f" in {where}"
    for key in expected:
        if key not in got:
            return f"key {told(key)} is missing{inside}"
    for key in got:
        if key not in expected:
            return f"key {told(key)} was not expected{inside}"
    for key, value in expected.items():
        why = difference(value, got[key], told(key) if where == "it" else f"{where} {told(key)}")
        if why:
            return why
    return None


def _item_difference(expected: list[Plain], got: list[Plain], where: str) -> str | None:
    for i, (one, other) in enumerate(zip(expected, got, strict=False)):
        why = difference(one, other, f"{where}[{i}]")
        if why:
            return why
    if len(expected) != len(got):
        return f"{where} is of length {len(got)}, not {len(expected)}"
    return None


def _marked(pieces: tuple[Part, ...], wilds: list[Wild]) -> str:
    """Return text with a replacement for each wildcard: a character in a string, elsewhere a whole string."""
    text, in_string = "", False
    for piece in pieces:
        if isinstance(piece, str):
            text += piece
            in_string = _ends_in_string(piece, in_string=in_string)
            continue
        if not in_string and piece.source != "{any}":
            raise PlaceholderError(f"{piece.source} stands outside of a string, where only {{any}} can")
        mark = chr((_IN_STRING if in_string else _AS_VALUE) + len(wilds))
        text += mark if in_string else f'"{mark}"'
        # {any} matches up to the next blank; in a string it matches up to the end of the string.
        wilds.append(replace(piece, regex=".*") if piece.source == "{any}" else piece)
    return text


def _ends_in_string(text: str, *, in_string: bool) -> bool:
    escape = False
    for c in text:
        if escape:
            escape = False
        elif c == "\\":
            escape = True
        elif c == '"':
            in_string = not in_string
    return in_string


def _with_patterns(value: Plain, wilds: list[Wild]) -> Plain:
    if isinstance(value, dict):
        return {key: _with_patterns(item, wilds) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_patterns(item, wilds) for item in value]
    if not isinstance(value, str):
        return value
    if len(value) == 1 and 0 <= ord(value) - _AS_VALUE < len(wilds):
        return Anything.ANYTHING
    pieces = joined(wilds[ord(c) - _IN_STRING] if 0 <= ord(c) - _IN_STRING < len(wilds) else c for c in value)
    return TextPattern(pieces) if any(isinstance(piece, Wild) for piece in pieces) else value


def _read_json(text: str) -> Plain:
    try:
        return _STRICT_JSON.decode(text)
    except (ValueError, RecursionError) as error:
        raise ValueSyntaxError(f"no JSON: {error}") from None


def _no_key_twice(pairs: list[tuple[str, Plain]]) -> dict[str, Plain]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one map")
    return found


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not allowed")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is out of range")
    return number


def _read_edn(text: str) -> Plain:
    _edn(text)
    # Parse the text again in brackets: the library ignores anything after the first value.
    values = _edn_items(f"[{text}\n]")
    if len(values) != 1:
        raise ValueSyntaxError(f"no EDN: {len(values)} values, not one")
    value, inside = values[0], text.strip()
    # The library also ignores a repeated key: parse each map as a vector too, and count its items.
    keys = len(value) if isinstance(value, dict) and inside.startswith("{") else None
    if keys is not None and len(_edn_items(f"[{inside[1:-1]}\n]")) > 2 * keys:
        raise ValueSyntaxError("no EDN: a key stands twice in one map")
    return value


def _edn_items(text: str) -> list[Plain]:
    value = _edn(text)
    if not isinstance(value, list):
        raise ValueSyntaxError("no EDN")
    return value


def _edn(text: str) -> Plain:
    try:
        return _from_edn(edn_format.loads(text))
    except (ValueError, NotImplementedError, RecursionError, TypeError, LookupError, AttributeError) as error:
        raise ValueSyntaxError(f"no EDN: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    """Return the first line of an error, without the text that the library quotes after it."""
    return str(error).partition(" with lexpos")[0].partition("\n")[0]


def _from_edn(value: object) -> Plain:
    if isinstance(value, edn_format.Keyword):
        return Keyword(value.name)
    if isinstance(value, Mapping):
        return {_from_edn(key): _from_edn(item) for key, item in value.items()}
    if isinstance(value, edn_format.ImmutableList | list | tuple):
        return [_from_edn(item) for item in value]
    return value


_STRICT_JSON = json.JSONDecoder(
    object_pairs_hook=_no_key_twice, parse_constant=_no_constant, parse_float=_finite
)
_READERS: dict[Encoding, Callable[[str], Plain]] = {Encoding.JSON: _read_json, Encoding.EDN: _read_edn}
