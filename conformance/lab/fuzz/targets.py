"""All that is fuzzed. A further reader is a function that takes bytes, and a line here."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from conformance.lab.fuzz import seeds, texts, values, visits

GOALS = {4096: 2.0, 65_536: 15.0}
"""Milliseconds that an input of so many bytes may take, at best."""


@dataclass(frozen=True, slots=True)
class Target:
    """A reader, and what it is given."""

    try_: Callable[[bytes], None]
    """Reads as the gateway does, and looks whether that was right. Whatever it raises is a fault."""
    seeds: Callable[[bool], Iterator[bytes]]
    """Yields what it is given first, of up to 4 KB, or of up to 64 KB for True."""
    share: int
    """How many of the inputs are for it, beside the others' shares: more for one that is quick."""
    reads: Callable[[bytes], object] | None = None
    """The part of it that the process that plays does at once, for which there are bounds of time."""
    hard: Callable[[int], Iterator[bytes]] | None = None
    """Yields inputs up to a length that may take long, made by hand."""

    @property
    def name(self) -> str:
        """What it is called."""
        return self.try_.__name__


def _dialect(try_: Callable[[bytes], None], share: int) -> Target:
    name = try_.__name__
    return Target(try_, seeds.of_texts(name), share, texts.read(name), partial(seeds.hard, name))


_ALL = (
    _dialect(texts.nac4, 50),
    _dialect(texts.arena, 24),
    _dialect(texts.droidcon, 40),
    Target(texts.lines, seeds.of_talks("droidcon"), 24, texts.lines),
    Target(texts.frames, seeds.frames, 8, texts.websocket),
    Target(values.events, seeds.events, 40, values.events),
    Target(values.facts, seeds.facts, 40),
    Target(values.messages, seeds.messages, 40),
    Target(values.games, seeds.games, 30),
    Target(values.exchanges, seeds.exchanges, 60),
    Target(values.requests, seeds.requests, 40),
    Target(visits.heads, seeds.of_talks("nac4", "arena", "web"), 3),
    Target(visits.visits, seeds.visits, 1),
)
TARGETS: Mapping[str, Target] = {target.name: target for target in _ALL}
"""By name."""
