"""Reads EDN within limits, so that the time to read a text depends only on its length.

This module checks the limits and builds the collections. edn-format reads the tokens, and applies tags and
namespaces. One lexer serves all texts, because reading is synchronous.
"""

import codecs
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import ply.lex
from edn_format import ImmutableDict, ImmutableList, MetadataValue, edn_lex, edn_parse

LIMIT = 4096
"""The most characters that a text may have."""
MAX_TOKENS = 128
"""The most tokens that a text may have. A `state` late in a game has 102."""
COSTS = {"FLOAT": 2, "TAG": 2, "RATIO": 4, "MAP_NAMESPACE_TAG": 32}
"""The number of tokens for which a slow token counts. A token is slow if edn-format takes long to read it, or
if Python takes long to compare its value. Any other token counts once."""
CHEAP_ESCAPES = 32
"""The number of escapes in a string that together count as one more token."""
MAX_NUMBER = 100
"""The most characters of a number, including all characters that follow it without a gap. The limit is low
because edn-format's lexer tries several patterns, and some patterns look far ahead."""
MAX_NAME = 256
"""The most characters of a symbol, a keyword or a tag."""

_GAP = re.compile(r"(?:[ \t\n\r,]++|;[^\n]*+)*+")
"""White space, which includes commas, and comments."""
_TOO_LONG = re.compile(
    r"[+-]?\d[{all}/]{{{number}}}|[{all}/]{{{name}}}".format(
        all=edn_lex.PARTS["all"], number=MAX_NUMBER, name=MAX_NAME + 1
    )
)
_STRING = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"')
_ESCAPE = re.compile(
    r"""(\\(?: U.{8} | u.{4} | x.{2} | [0-7]{1,3} | N\{(?:[^}]{1,100}\}|[^}]{101}) | [\\'"abfnrtv] ))""",
    re.VERBOSE,
)
"""The escapes of edn-format, which are Python's. No character has a name of more than 100 letters, so the
search for the end of `\\N{` stops there; edn-format would search the whole text."""
_DECODE = codecs.getdecoder("unicode-escape")
_SIMPLE = dict(zip([f"\\{letter}" for letter in "\\'\"abfnrtv"], "\\'\"\a\b\f\n\r\t\v", strict=True))

_BRACKETS = frozenset("[](){}")
_CLOSING = {"VECTOR_START": "]", "LIST_START": ")", "MAP_START": "}", "SET_START": "}"}
_OPENING = {"[": "VECTOR_START", "(": "LIST_START", "{": "MAP_START"}
_MARKS = frozenset(("CARET", "DISCARD_TAG", "TAG", "MAP_NAMESPACE_TAG"))

_LEXER: Any = ply.lex.lex(module=edn_lex, reflags=re.UNICODE, errorlog=ply.lex.NullLogger())
"""Built here because edn-format's own function would log its grammar. It keeps only the latest text."""


class _Open(NamedTuple):
    """An unfinished form: a collection, a mark such as a tag, or the whole text."""

    kind: str
    """The type of its first token."""
    tag: str | None
    """The name of a tag or a namespace; for a map, the namespace that precedes it."""
    items: list[object]


def read(text: str) -> object:
    """Return the first form in `text`; None if there is none. The text after it has to be EDN too.

    Raises ValueError if the text exceeds a limit, and any error that edn-format raises.
    """
    if len(text) > LIMIT:
        raise ValueError("the text is too long")
    whole = _Open("text", None, [])
    stack = [whole]
    for kind, value in _tokens(text):
        # Collections are built here because edn-format's parser takes several times as long as its lexer.
        if kind in _CLOSING or kind in _MARKS:
            stack.append(_opened(stack, kind, value))
        elif kind in _BRACKETS:
            _put(stack, _closed(stack.pop(), kind))
        else:
            _put(stack, value)
    if len(stack) > 1:
        raise ValueError("a collection or a mark is unfinished")
    return whole.items[0] if whole.items else None


def _tokens(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the type and the value of each token. The type of a closing bracket is the bracket itself."""
    lexer = _LEXER
    lexer.input(text)
    at, count = 0, 0
    while (at := _end(_GAP, text, at)) < len(text):
        character = text[at]
        end = _end(_STRING, text, at) if character == '"' else at
        count += 1 + text.count("\\", at, end) // CHEAP_ESCAPES
        if count > MAX_TOKENS:
            raise ValueError("too many tokens")
        if character in _BRACKETS:
            at += 1
            yield _OPENING.get(character, character), None
        elif character == '"':
            start, at = at + 1, end
            yield "STRING", _unescaped(text[start : end - 1])
        elif _TOO_LONG.match(text, at):
            raise ValueError("a number or name is too long")
        else:
            lexer.lexpos = at
            token = lexer.token()
            at = lexer.lexpos
            count += COSTS.get(token.type, 1) - 1
            yield token.type, token.value


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    if found is None:
        raise ValueError("a string has no end")
    return found.end()


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    pieces = _ESCAPE.split(text)
    pieces[1::2] = [_SIMPLE.get(escape) or _character(escape) for escape in pieces[1::2]]
    return "".join(pieces)


def _character(escape: str) -> str:
    if escape[1].isdigit():  # beyond 0o377 Python's codec issues a warning, which is slow
        return chr(int(escape[1:], 8))
    return _DECODE(escape.encode())[0]


def _opened(stack: list[_Open], kind: str, value: str | None) -> _Open:
    """Return the form that a token opens. A map takes over the namespace that precedes it."""
    if stack[-1].kind != "MAP_NAMESPACE_TAG":
        return _Open(kind, value, [])
    if kind != "MAP_START":
        raise ValueError("a namespace precedes no map")
    return _Open(kind, stack.pop().tag, [])


def _closed(collection: _Open, bracket: str) -> object:
    """Return the value of a finished collection. Raises ValueError if `bracket` or the items do not fit."""
    kind, namespace, items = collection
    if _CLOSING.get(kind) != bracket:
        raise ValueError("a closing bracket does not match")
    if kind == "VECTOR_START":
        return ImmutableList(items, copy=False)
    if kind == "LIST_START":
        return tuple(items)
    if kind == "SET_START":
        return frozenset(items)
    if len(items) % 2:
        raise ValueError("a key has no value")
    value = ImmutableDict(zip(items[::2], items[1::2], strict=True))
    return value if namespace is None else _reduced(edn_parse.p_map_with_namespace_tag, namespace, value)


def _put(stack: list[_Open], value: object) -> None:
    """Add a finished form to the innermost open one, and apply the marks that precede it."""
    while (mark := stack[-1]).kind in _MARKS:
        if mark.kind == "MAP_NAMESPACE_TAG":
            raise ValueError("a namespace precedes no map")
        if mark.kind == "CARET" and not mark.items:
            break
        stack.pop()
        if mark.kind == "DISCARD_TAG":
            return
        if mark.kind == "CARET":
            value = MetadataValue(mark.items[0], value)
        else:
            value = _reduced(edn_parse.p_expression_tagged_element, mark.tag, value)
    stack[-1].items.append(value)


def _reduced(rule: Callable[[list[object]], None], mark: str | None, value: object) -> object:
    """Apply a rule of edn-format's grammar to a mark and the form after it, and return the value."""
    production = [None, mark, value]
    rule(production)
    return production[0]
