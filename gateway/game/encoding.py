"""Encodes events, commands and other dataclasses as bytes, so that they can be sent to another machine.

A value is encoded as a JSON object with a version, the name of its class, and its fields. Encoding and
decoding use the field definitions of the dataclass, so a new class needs no code here. Unknown, missing or
invalid fields raise `EncodingError`. Names may have lone surrogates, which clients can send.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from enum import Enum
from functools import cache, partial, reduce
from math import isfinite
from operator import or_
from types import NoneType
from typing import Any, Literal, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from gateway.game.board import COLUMNS, Board
from gateway.game.commands import LONGEST_NAME, Command
from gateway.game.events import NOTHING, Event, Objection
from gateway.game.ids import parse

VERSION = 1
_PLAIN = frozenset({str, int, float, bool, NoneType})
LONGEST = 16_384
"""The longest value, in bytes. Two names of the greatest length take 3,072 bytes if each character is an
escape."""

Kinds: TypeAlias = Mapping[str, type]
E = TypeVar("E", bound=Enum)
T = TypeVar("T")


class EncodingError(ValueError):
    """Bytes that are not a valid value, or a value that cannot be encoded."""


def kinds_of(union: Any) -> Kinds:
    """Return the dataclasses of a union by name, for `decode`."""
    return {each.__name__: each for each in get_args(union)}


def encode(value: Event | Command) -> bytes:
    """Encode an event or a command. Raises EncodingError, also if decoding would return another value."""
    data = encode_unchecked(value)
    if decode(data, {type(value).__name__: type(value)}) != value:
        raise EncodingError("it would be read back as something else")
    return data


def encode_unchecked(value: Any) -> bytes:
    """Encode a dataclass whose fields are known to be within their ranges. Raises EncodingError."""
    try:
        text = json.dumps({"version": VERSION, **_written(value)}, ensure_ascii=False)
    except ValueError as error:  # an integer with more digits than Python writes
        raise EncodingError(str(error)) from error
    return text.encode("utf-8", "surrogatepass")


def decode_event(data: bytes) -> Event:
    """Decode an event. Raises EncodingError, and no other exception."""
    event: Event = decode(data, _EVENTS)
    return event


def decode_command(data: bytes) -> Command:
    """Decode a command. Raises EncodingError, and no other exception."""
    command: Command = decode(data, _COMMANDS)
    return command


def _written(value: Any) -> Any:
    kind: type = type(value)
    match value:
        case _ if kind in _PLAIN:  # most types are plain; class patterns are slower
            return value
        case Board():
            return "".join(map(str, value.moves))
        case Objection():
            return [each.name for each in value]
        case Enum():
            return value.name
        case tuple():
            return [_written(each) for each in value]
        case _:
            return {"class": kind.__name__, **{each: _written(getattr(value, each)) for each in _types(kind)}}


def decode(data: bytes, kinds: Kinds) -> Any:
    """Decode a value of one of these kinds. Raises EncodingError, and no other exception."""
    try:
        if len(data) > LONGEST:
            raise ValueError("too long")
        found = json.loads(data.decode("utf-8", "surrogatepass"), object_pairs_hook=_unique)
        version = found.pop("version", None) if isinstance(found, dict) else None
        if type(version) is not int or version != VERSION:
            raise ValueError("not of a version that is known")
        return _of_kind(kinds, found)
    except (ValueError, OverflowError, RecursionError) as error:
        raise EncodingError(str(error)) from error


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a field stands twice")
    return found


def _of_kind(kinds: Kinds, found: Any) -> Any:
    """Convert a JSON object to the dataclass, one of `kinds`, that it names."""
    name = found.pop("class", None) if isinstance(found, dict) else None
    kind = kinds.get(name) if isinstance(name, str) else None
    if kind is None or found.keys() != _types(kind).keys():
        raise ValueError("not of a kind that is known here, or not its fields")
    values = {each: _of_type(wanted, found[each]) for each, wanted in _types(kind).items()}
    for each, value in values.items():
        is_in_range = _RANGES.get(each) or _RANGES.get(f"{name}.{each}")
        if is_in_range is not None and value is not None and not is_in_range(value):
            raise ValueError(f"{each} is out of its range")
    return kind(**values)


@cache
def _types(kind: type) -> Mapping[str, Any]:
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind)}


@cache
def _as_tuple(kind: type) -> Any:
    """Return the type of a plain tuple with the fields of a NamedTuple."""
    return tuple.__class_getitem__(tuple(get_type_hints(kind).values()))


def _of_type(wanted: Any, found: Any) -> Any:
    """Convert a JSON value to the type `wanted`."""
    origin, options = get_origin(wanted), get_args(wanted)
    if wanted in _READERS:
        value = _READERS[wanted](found)
    elif origin is tuple and options[-1] is Ellipsis:
        value = tuple(_of_type(options[0], part) for part in _checked(list, found))
    elif origin is tuple:
        parts = zip(options, _checked(list, found), strict=True)
        value = tuple(_of_type(each, part) for each, part in parts)
    elif origin is Literal:
        value = options[options.index(_checked(int, found))]
    elif origin is not None:
        value = _of_union(options, found)
    elif issubclass(wanted, Enum):
        value = _member(wanted, found)
    elif issubclass(wanted, tuple):  # a NamedTuple
        value = wanted(*_of_type(_as_tuple(wanted), found))
    else:
        value = _of_kind({wanted.__name__: wanted}, found)
    return value


def _of_union(options: Sequence[Any], found: Any) -> Any:
    kinds = [each for each in options if each is not NoneType]
    if found is None and len(kinds) < len(options):
        return None
    if len(kinds) == 1:
        return _of_type(kinds[0], found)
    return _of_kind({each.__name__: each for each in kinds}, found)


def _checked(wanted: type[T], found: Any) -> T:
    """Return a JSON value unchanged. Raises ValueError unless its type is exactly `wanted`."""
    if type(found) is not wanted:
        raise ValueError(f"not of type {wanted.__name__}")
    return found


def _member(wanted: type[E], found: Any) -> E:
    member = wanted.__members__.get(_checked(str, found))
    if member is None:
        raise ValueError(f"not a word for a {wanted.__name__}")
    return member


def _text(found: Any) -> str:
    text = _checked(str, found)
    if len(text) > LONGEST_NAME:
        raise ValueError("a name that is too long")
    return text


def _seconds(found: Any) -> float:
    value = float(found) if type(found) is int else _checked(float, found)
    if not isfinite(value) or value < 0:
        raise ValueError("not a time")
    return value


def _board(found: Any) -> Board:
    if not _checked(str, found).isascii():
        raise ValueError("not a column")
    return reduce(Board.drop, map(int, found), Board())


def _objections(found: Any) -> Objection:
    return reduce(or_, [_member(Objection, each) for each in _checked(list, found)], NOTHING)


_READERS: Mapping[Any, Callable[[Any], Any]] = {
    int: partial(_checked, int),
    bool: partial(_checked, bool),
    float: _seconds,
    str: _text,
    Board: _board,
    Objection: _objections,
}
_RANGES: Mapping[str, Callable[[Any], object]] = {
    "game": parse,  # raises ValueError itself
    "number": lambda number: number > 0,
    "rounds": lambda number: number > 0,
    "to": lambda number: number >= 0,
    "Moved.column": range(COLUMNS).__contains__,
    "Ended.column": range(COLUMNS).__contains__,
}
_EVENTS = kinds_of(Event)
_COMMANDS = kinds_of(Command)
