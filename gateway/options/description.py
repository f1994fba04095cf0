"""A dialect, as options and help texts present it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NoOptions:
    """The options of a dialect that has none of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A dialect, as options and help texts present it."""

    name: str
    """Its name in logs, in start lines and for c4bot."""
    title: str
    """Its name in a sentence about the server, with what carries it."""
    bots: str
    """The help for the option that opens a port for its bots."""
    option: str
    """That option without its dashes; c4bot takes it as a name of the dialect, too."""
    port: int
    """The port where none is given."""
    rules: frozenset[str] = frozenset()
    """The rules of play that concern its players, as their options are called, such as ``clock``."""
    options: type = NoOptions
    """Its own options, as a dataclass of `gateway.options.table`."""
