"""All attacks, in the order in which they are let loose. A further one is a class, and a line here."""

from collections.abc import Sequence

from conformance.lab.abuse.breaking import Frames, Halves, Hellos, Resets
from conformance.lab.abuse.browsing import Exports, Pages, RapidResets, Readers, Upgrades
from conformance.lab.abuse.flooding import Flood, LongNames, Names, Storm
from conformance.lab.abuse.ground import Attack
from conformance.lab.abuse.holding import Files, Sips, Slow, Unread
from conformance.lab.abuse.parsing import Fragments, Junk, LongTexts, Pings, Texts
from conformance.lab.abuse.playing import Guesses, HouseHog, Impostors
from conformance.lab.abuse.pouring import Commands, Garbage, Maps, Million

_ALL: tuple[Attack, ...] = (
    Texts(),
    LongTexts(),
    Unread(),
    Sips(),
    Frames(),
    Fragments(),
    Pings(),
    Junk(),
    Slow(),
    Halves(),
    Hellos(),
    Resets(),
    Files(),
    RapidResets(),
    Upgrades(),
    HouseHog(),
    Impostors(),
    Guesses(),
    Flood(),
    Commands(),
    Garbage(),
    Maps(),
    Million(),
    Storm(),
    Names(),
    LongNames(),
    Readers(),
    Exports(),
    Pages(),
)
ATTACKS: dict[str, Attack] = {attack.name: attack for attack in _ALL}
"""By name."""


def at_once(names: Sequence[str]) -> list[str]:
    """Return those of some attacks that leave room for others; all where none does."""
    return [name for name in names if not ATTACKS[name].is_alone] or [*names]
