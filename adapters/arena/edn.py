"""EDN, as arena clients write it.

Reads with edn-format's grammar, writes by hand. Knows nothing of messages. The rule it keeps: whatever
`read` returns, `write` writes, in UTF-8, so that `read` returns an equal value again. What could break
the rule is refused when it is read, so that a copy of a message can always be sent back.

edn-format's own `loads` builds its parser anew at each call, ten times the work of reading a move; here
it is built once, at the first text, and shared, as reading is synchronous.
"""

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cache
from typing import Any

import ply.lex
import ply.yacc
from edn_format import Char, ImmutableDict, ImmutableList, MetadataValue, dumps, edn_lex, edn_parse

LIMIT = 4096
"""Characters that a text may have."""
MAX_DEPTH = 100
"""How many collections may stand in one another; every metadata mark of a text counts as one."""

_PLAIN = re.compile(r"[^\\#^]{0,200}")
"""Texts too short for deep nesting or endless numbers, without characters, escapes, tags or metadata."""

_OPENING = frozenset(("VECTOR_START", "LIST_START", "MAP_START", "SET_START", "CARET"))
_CLOSING = frozenset(("VECTOR_END", "LIST_END", "MAP_OR_SET_END"))

_TROUBLE = (ValueError, TypeError, AttributeError, ArithmeticError, RuntimeError, Warning)
"""What edn-format is known to raise, on texts like `#uuid 5`, `1/0` or `#what 5`.

A warning is raised only where warnings are errors: newer Pythons warn of escapes like "\\777".
"""

_ESCAPES = str.maketrans(
    {code: f"\\u{code:04x}" for code in range(0x20)}
    | {ord("\t"): r"\t", ord("\n"): r"\n", ord("\r"): r"\r", ord('"'): r"\"", ord("\\"): r"\\"}
)


def read(text: str) -> object:
    """Return the first form in `text`, which is fit for UTF-8; None where there is none.

    A text may have `LIMIT` characters: reading takes about 2 us for each, and everybody waits meanwhile.

    What follows the first form has to be EDN too, and is dropped. Raises ValueError, and only that.
    """
    if len(text) > LIMIT:
        raise ValueError("more EDN than is read")
    try:
        if _PLAIN.fullmatch(text):
            return _first(text)
        value = _first(text, bounded=True)
        write(value).encode()
    except _TROUBLE as trouble:
        raise ValueError("no EDN, or none that could be written back") from trouble
    return value


def write(value: object) -> str:
    """Return `value` as EDN. Raises ValueError for what would not read back equal."""
    match value:
        case ImmutableDict() | dict():
            return "{" + ", ".join(f"{write(key)} {write(item)}" for key, item in value.items()) + "}"
        case ImmutableList() | list():
            return f"[{_row(value)}]"
        case tuple():
            return f"({_row(value)})"
        case frozenset():
            return f"#{{{_row(value)}}}"
        case MetadataValue():
            return f"^{write(value.metadata)} {write(value.value)}"
        case _:
            return _leaf(value)


def _leaf(value: object) -> str:
    match value:
        case Char() if value > "\ud7ff" and not "\ue000" <= value <= "\uffff":
            raise ValueError("a character that EDN has no escape for, or half of one")
        case str() if not isinstance(value, Char):
            return '"' + value.translate(_ESCAPES) + '"'
        case datetime():  # edn-format's own writing fails without a zone, and in the years 1 and 9999
            return f'#inst "{value.isoformat()}"'
        case _:
            return str(dumps(value))


def _row(items: Iterable[object]) -> str:
    return " ".join(map(write, items))


def _first(text: str, *, bounded: bool = False) -> object:
    parser, lexer = _machine()
    forms = parser.parse(text, lexer=lexer, tokenfunc=_bounded(lexer.token) if bounded else None)
    return forms[0] if forms else None


def _bounded(token: Callable[[], Any]) -> Callable[[], Any]:
    """Return a source of tokens that stops where they nest too deeply.

    Python's own limit would not do: hashing nested tuples overruns the stack of a thread.
    """
    depth = 0

    def next_token() -> Any:
        nonlocal depth
        found = token()
        if found is not None:
            depth += (found.type in _OPENING) - (found.type in _CLOSING)
        if depth > MAX_DEPTH:
            raise ValueError("nested too deeply")
        return found

    return next_token


@cache
def _machine() -> tuple[Any, Any]:
    """Return the parser and the lexer. Neither remembers a text once it is read, or has failed."""
    quiet = ply.yacc.NullLogger()
    parser = ply.yacc.yacc(module=edn_parse, debug=False, write_tables=False, errorlog=quiet)
    lexer = ply.lex.lex(module=edn_lex, reflags=re.UNICODE, errorlog=quiet)  # edn_lex.lex() logs its grammar
    lexer.lexignore += "\r"  # white space in EDN, but not in edn-format
    return parser, lexer
