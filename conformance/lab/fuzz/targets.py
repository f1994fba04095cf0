"""All that is fuzzed. A further reader is a function that takes bytes, and a line here."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from conformance.lab.fuzz import seeds, texts, values, visits


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

    @property
    def name(self) -> str:
        """What it is called."""
        return self.try_.__name__


_ALL = (
    Target(texts.nac4, seeds.of_texts("nac4"), 50, texts.read("nac4")),
    Target(texts.arena, seeds.of_texts("arena"), 24, texts.read("arena")),
    Target(texts.droidcon, seeds.of_texts("droidcon"), 40, texts.read("droidcon")),
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
