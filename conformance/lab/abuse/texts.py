"""The worst that can be said to a reader of JSON, EDN and lines; pure.

A family is a text of any length that some reader finds hard: long numbers and symbols, many tokens, deep
nesting, what is dropped after it was read. Lengths are in characters, all of them ASCII.
"""

import json
from collections.abc import Callable, Mapping

Family = Callable[[int], str]

SHORT, LONG = 4_096, 65_000
"""Lengths of texts: the longest EDN that is read, and near the longest frame."""


def _repeated(text: str, before: str = "", behind: str = "") -> Family:
    def family(length: int) -> str:
        times = (length - len(before) - len(behind)) // len(text)
        return before + text * times + behind

    return family


def _around(opening: str, closing: str, middle: str = "") -> Family:
    def family(length: int) -> str:
        depth = (length - len(middle)) // len(opening + closing)
        return opening * depth + middle + closing * depth

    return family


EDN: Mapping[str, Family] = {
    "zeros": _repeated("0"),
    "nines": _repeated("9", "{:a ", "}"),
    "minus signs": _repeated("-"),
    "points": _repeated("."),
    "digits and points": _repeated("1."),
    "exponents": _repeated("1e9 ", "[", "]"),
    "ratios": _repeated("1/"),
    "backslashes": _repeated("\\"),
    "characters": _repeated("\\a ", "[", "]"),
    "hashes": _repeated("#"),
    "tags": _repeated("#a "),
    "discards": _repeated("#_ "),
    "discarded pairs": _repeated("#_ 1 ", "{:a ", "}"),
    "comments": _repeated(";\n", "", "{}"),
    "open lists": _repeated("("),
    "nested vectors": _around("[", "]"),
    "nested maps": _around("{:a ", "}", "1"),
    "keywords": _repeated(":a ", "[", "]"),
    "one keyword": _repeated("a", "{:", " 1}"),
    "symbols": _repeated("a/", "", "a"),
    "strings": _repeated('"" ', "[", "]"),
    "quotes": _repeated('"'),
    "commas": _repeated(",", "", "{}"),
    "sets": _repeated("#{} ", "[", "]"),
}
"""What EDN has that can be long."""

JSON: Mapping[str, Family] = {
    "padded": _repeated("x", '{"type":"x","pad":"', '"}'),
    "empty lists": _repeated("[],", "[", "[]]"),
    "lists in a map": _repeated("[],", '{"type":"x","pad":[', "[]]}"),
    "maps in a map": _repeated("{},", '{"type":"x","pad":[', "{}]}"),
    "nested lists": _around("[", "]"),
    "nested in a map": lambda length: '{"type":"x","pad":' + _around("[", "]")(length - 20) + "}",
    "digits": _repeated("9", '{"type":"move","move":', "}"),
    "fractions": _repeated("0.1,", '{"type":"x","pad":[', "1]}"),
    "escapes": _repeated("\\u0000", '{"type":"x","pad":"', '"}'),
    "controls": _repeated("\\u202e", '{"type":"start","id":"', '"}'),
    "keys": lambda length: json.dumps({f"k{number}": 0 for number in range(length // 12)}),
    "same keys": _repeated('"a":0,', "{", '"type":"x"}'),
    "true": _repeated("true,", '{"type":"x","pad":[', "true]}"),
}
"""What JSON has that can be long."""

NAMES = (
    "a" * 256,
    "a" * 4_000,
    "\U0001f600" * 256,
    "a" * 60_000,
    '=HYPERLINK("http://127.0.0.1/","look")',
    "@SUM(1+1)*cmd|'/C calc'!A0",
    "<script>alert(1)</script>",
    "\x1b[2J\x1b[31mred",
    "\u202egnp.exe",
    "a\r\n2026-11-22 ERROR all is lost",
    "\x00nul",
    "%0d%0a%00",
    "../../../../etc/passwd",
    "aima",
    "' OR 1=1 --",
)
"""Names that are long, or that a log, a page, a terminal or a spreadsheet may take for something else."""
