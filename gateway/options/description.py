"""The description of a dialect for options and help texts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NoOptions:
    """The options of a dialect that has none of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """The description of a dialect for options and help texts."""

    name: str
    """The dialect's name in logs, in start lines and for c4bot."""
    title: str
    """The dialect's name, with the transport, for a sentence about the server."""
    bots: str
    """The help text of the option that opens a port for the dialect's bots."""
    option: str
    """The name of that option, without dashes. c4bot accepts this name for the dialect, too."""
    port: int
    """The default port."""
    scheme: str = ""
    """The scheme of a server's URL: ``ws`` for a websocket; empty if clients send lines over TCP."""
    names: str = ".+"
    """A regular expression for the names that the dialect's players can have."""
    name_rule: str = ""
    """What `names` requires, in words that complete the sentence "A name has ..."; empty if it allows all."""
    entering: tuple[str, ...] = ()
    """The messages with which a client enters under a protected name.

    They are templates with the fields `name`, `quoted` (the name as a string of JSON), `token` and `table`.
    The table of a websocket is in its URL.
    """
    has_places: bool = True
    """Whether a client can ask for a table, or for an opponent by name."""
    rules: frozenset[str] = frozenset()
    """The names of the options for rules of play that apply to the dialect's players, such as ``clock``."""
    options: type = NoOptions
    """The dialect's own options, as a dataclass for `gateway.options.table`."""
