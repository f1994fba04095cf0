"""Values as text for people: filters for templates."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from gateway.game.text import printable
from gateway.store.records import moment

REASONS = {
    "four": "four in a row",
    "full": "full board",
    "time": "time",
    "left": "left",
    "aborted": "aborted",
    "illegal": "illegal move",
    "stopped": "stopped",
}
"""The stored words for how a game ended, and the text for people."""


def number(value: float) -> str:
    """Return ``12,345``."""
    return f"{value:,.0f}"


def signed(value: float) -> str:
    """Return a figure with one decimal, and a true minus sign."""
    return f"{value:.1f}".replace("-", "\N{MINUS SIGN}")


def thought(milliseconds: float) -> str:
    """Return a thinking time: ``812 ms``, ``3.9 s`` or ``4:05``."""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f} s"
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    return f"{minutes}:{seconds:02}"


def sentence(text: str) -> str:
    """Return text as a sentence: a capital first, a full stop last."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def address(name: str) -> str:
    """Return what follows ``/player/`` in the address of a player.

    Browsers take the names ``.`` and ``..`` for folders even when they are encoded, so these are parameters.
    """
    quoted = quote(name, safe="", errors="surrogatepass")
    return f"?name={quoted}" if name in {".", ".."} else quoted


FILTERS: Mapping[str, Callable[..., Any]] = {
    "number": number,
    "signed": signed,
    "thought": thought,
    "sentence": sentence,
    "printable": printable,
    "moment": moment,
    "address": address,
    "reason": lambda word: REASONS.get(word, word),
}
