"""EDN, as arena clients write it.

edn-format reads the text, and this module writes most values itself. Does not know messages. For each value
that `read` returns, `write` either raises ValueError or returns text from which `read` gets an equal value.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from math import isfinite
from types import NoneType
from typing import Any

from edn_format import Char, ImmutableDict, ImmutableList, Keyword, MetadataValue, Symbol, dumps, edn_dump

from adapters.arena import forms

_TROUBLE = (ValueError, TypeError, AttributeError, ArithmeticError, RuntimeError)
"""The exceptions that edn-format is known to raise, for texts such as `#uuid 5`, `1/0` or `#what 5`."""


def read(text: str) -> object:
    """Return the first form in `text`; None if there is none.

    The text after the first form is dropped, but has to be EDN too. Raises only ValueError.
    """
    try:
        return forms.read(text)
    except _TROUBLE as trouble:
        raise ValueError("not EDN, or beyond the limits") from trouble


def write(value: object) -> str:
    """Return `value` as EDN. Raises ValueError if `read` would not get an equal value from the text."""
    return str(_WRITERS.get(type(value), dumps)(value))


def _map(value: Mapping[object, object]) -> str:
    return "{" + ", ".join(f"{write(key)} {write(item)}" for key, item in value.items()) + "}"


def _row(items: Iterable[object]) -> str:
    return " ".join(map(write, items))


def _character(value: Char) -> str:
    if value > "\ud7ff" and not "\ue000" <= value <= "\uffff":
        raise ValueError("EDN has no escape for this character, or it is half of a surrogate pair")
    return str(edn_dump.dump_char(value))


_WRITERS: dict[type, Callable[[Any], str]] = {
    NoneType: lambda _: "nil",
    bool: lambda value: "true" if value else "false",
    int: str,
    str: json.JSONEncoder(ensure_ascii=False).encode,  # EDN has the same escapes, and json writes them fast
    float: lambda value: str(value) if isfinite(value) else dumps(value),
    Decimal: "{}M".format,
    Keyword: str,
    Symbol: str,
    Char: _character,
    datetime: lambda value: f'#inst "{value.isoformat()}"',  # edn-format cannot write a time without a zone
    dict: _map,
    ImmutableDict: _map,
    list: lambda items: f"[{_row(items)}]",
    ImmutableList: lambda items: f"[{_row(items)}]",
    tuple: lambda items: f"({_row(items)})",
    frozenset: lambda items: f"#{{{_row(items)}}}",
    MetadataValue: lambda value: f"^{write(value.metadata)} {write(value.value)}",
}
"""Writers for the common types. edn-format can write these too, but takes ten times as long for values other
than collections."""
