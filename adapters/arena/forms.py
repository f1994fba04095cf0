"""EDN text to values, within bounds: the time that a text takes grows with its length alone.

edn-format says what a token is and what it means, and what tags and maps with a namespace stand for. Its
lexer tries one pattern after the other, some of which look far ahead and find little, so a number or a name
may not be long. Its parser takes several times as long for a token as its lexer, so forms are put together
here. Strings are read here too: it looks for the end of each `\\N{` as far as the text goes.

One lexer serves all texts, as reading is synchronous.
"""

import codecs
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import ply.lex
from edn_format import ImmutableDict, ImmutableList, MetadataValue, edn_lex, edn_parse

LIMIT = 4096
"""Characters that a text may have."""
MAX_TOKENS = 128
"""Tokens that a text may have; a `state` late in a game has 102."""
COSTS = {"FLOAT": 2, "TAG": 2, "RATIO": 4, "MAP_NAMESPACE_TAG": 32}
"""What tokens count for that edn-format reads slowly, or Python compares slowly; any other counts as one."""
CHEAP_ESCAPES = 32
"""Escapes of strings that count as one more token."""
MAX_NUMBER = 100
"""Characters that a number may have, whatever is written behind it without a gap included."""
MAX_NAME = 256
"""Characters that a symbol, a keyword or a tag may have."""

_GAP = re.compile(r"(?:[ \t\n\r,]++|;[^\n]*+)*+")
"""White space, a comma being one, and comments."""
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
"""The escapes of edn-format, which are Python's; no character has a name of more than 100 letters."""
_DECODE = codecs.getdecoder("unicode-escape")
_SIMPLE = dict(zip([f"\\{letter}" for letter in "\\'\"abfnrtv"], "\\'\"\a\b\f\n\r\t\v", strict=True))

_BRACKETS = frozenset("[](){}")
_CLOSING = {"VECTOR_START": "]", "LIST_START": ")", "MAP_START": "}", "SET_START": "}"}
_OPENING = {"[": "VECTOR_START", "(": "LIST_START", "{": "MAP_START"}
_MARKS = frozenset(("CARET", "DISCARD_TAG", "TAG", "MAP_NAMESPACE_TAG"))

_LEXER: Any = ply.lex.lex(module=edn_lex, reflags=re.UNICODE, errorlog=ply.lex.NullLogger())
"""Not edn-format's own way to build it, which logs its grammar. Keeps the latest text alone."""


class _Open(NamedTuple):
    """What is to be completed by forms behind it: a collection, a mark, or the text."""

    kind: str
    """The type of its token."""
    tag: str | None
    """What a tag or a namespace says; of a map the namespace before it."""
    items: list[object]


def read(text: str) -> object:
    """Return the first form in `text`; None where there is none. All that follows has to be EDN too.

    Raises ValueError beyond the bounds, and besides whatever edn-format raises.
    """
    if len(text) > LIMIT:
        raise ValueError("more EDN than is read")
    whole = _Open("text", None, [])
    stack = [whole]
    for kind, value in _tokens(text):
        if kind in _CLOSING or kind in _MARKS:
            stack.append(_opened(stack, kind, value))
        elif kind in _BRACKETS:
            _put(stack, _closed(stack.pop(), kind))
        else:
            _put(stack, value)
    if len(stack) > 1:
        raise ValueError("no end")
    return whole.items[0] if whole.items else None


def _tokens(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the type and the value of each token; a closing bracket is its own type."""
    lexer = _LEXER
    lexer.input(text)
    at, count = 0, 0
    while (at := _end(_GAP, text, at)) < len(text):
        character = text[at]
        end = _end(_STRING, text, at) if character == '"' else at
        count += 1 + text.count("\\", at, end) // CHEAP_ESCAPES
        if count > MAX_TOKENS:
            raise ValueError("more tokens than are read")
        if character in _BRACKETS:
            at += 1
            yield _OPENING.get(character, character), None
        elif character == '"':
            start, at = at + 1, end
            yield "STRING", _unescaped(text[start : end - 1])
        elif _TOO_LONG.match(text, at):
            raise ValueError("a longer number or name than is read")
        else:
            lexer.lexpos = at
            token = lexer.token()
            at = lexer.lexpos
            count += COSTS.get(token.type, 1) - 1
            yield token.type, token.value


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    if found is None:
        raise ValueError("a string without an end")
    return found.end()


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    pieces = _ESCAPE.split(text)
    pieces[1::2] = [_SIMPLE.get(escape) or _character(escape) for escape in pieces[1::2]]
    return "".join(pieces)


def _character(escape: str) -> str:
    if escape[1].isdigit():  # beyond 0o377 Python's codec warns, which takes it long
        return chr(int(escape[1:], 8))
    return _DECODE(escape.encode())[0]


def _opened(stack: list[_Open], kind: str, value: str | None) -> _Open:
    """Return what is open from here on, with the namespace that stands before it."""
    if stack[-1].kind != "MAP_NAMESPACE_TAG":
        return _Open(kind, value, [])
    if kind != "MAP_START":
        raise ValueError("a namespace without a map")
    return _Open(kind, stack.pop().tag, [])


def _closed(collection: _Open, bracket: str) -> object:
    """Return a collection that `bracket` completes."""
    kind, namespace, items = collection
    if _CLOSING.get(kind) != bracket:
        raise ValueError("a bracket that closes nothing")
    if kind == "VECTOR_START":
        return ImmutableList(items, copy=False)
    if kind == "LIST_START":
        return tuple(items)
    if kind == "SET_START":
        return frozenset(items)
    if len(items) % 2:
        raise ValueError("a key without a value")
    value = ImmutableDict(zip(items[::2], items[1::2], strict=True))
    return value if namespace is None else _reduced(edn_parse.p_map_with_namespace_tag, namespace, value)


def _put(stack: list[_Open], value: object) -> None:
    """Put a form where it belongs, and the marks before it with it."""
    while (mark := stack[-1]).kind in _MARKS:
        if mark.kind == "MAP_NAMESPACE_TAG":
            raise ValueError("a namespace without a map")
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
    """Return what a rule of edn-format's grammar makes of a mark and the form behind it."""
    production = [None, mark, value]
    rule(production)
    return production[0]
