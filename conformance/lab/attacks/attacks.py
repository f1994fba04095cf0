"""All attacks, in the order in which they are let loose. A further one is a class, and a line here."""

from conformance.lab.attacks.browsing import Exports, RapidResets, Readers, Upgrades
from conformance.lab.attacks.flooding import Flood, LongNames, Names, Storm
from conformance.lab.attacks.ground import Attack
from conformance.lab.attacks.holding import Files, Sips, Slow, Unread
from conformance.lab.attacks.parsing import Fragments, Junk, LongTexts, Pings, Texts
from conformance.lab.attacks.playing import HouseHog, Impostors

_ALL: tuple[Attack, ...] = (
    Texts(),
    LongTexts(),
    Unread(),
    Sips(),
    Fragments(),
    Pings(),
    Junk(),
    Slow(),
    Files(),
    RapidResets(),
    Upgrades(),
    HouseHog(),
    Impostors(),
    Flood(),
    Storm(),
    Names(),
    LongNames(),
    Readers(),
    Exports(),
)
ATTACKS: dict[str, Attack] = {attack.name: attack for attack in _ALL}
"""By name."""
