"""The description of a dialect for options and help texts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NoOptions:
    """The options of a dialect that has none of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """The description of a dialect for options and help texts."""

    name: str
    """Its name in logs, in start lines and for c4bot."""
    title: str
    """Its name in a sentence about the server, with its transport."""
    bots: str
    """The help text of the option that opens a port for its bots."""
    option: str
    """The name of that option, without dashes; c4bot accepts it as a name of the dialect, too."""
    port: int
    """The default port."""
    rules: frozenset[str] = frozenset()
    """The names of options for rules of play that apply to its players, such as ``clock``."""
    options: type = NoOptions
    """Its own options, as a dataclass of `gateway.options.table`."""
