"""All attacks, in the order in which they are let loose. A further one is a class and a line here."""

from conformance.attacks.browsing import Exports, RapidResets, Readers, Upgrades
from conformance.attacks.flooding import Flood, LongNames, Names, Storm
from conformance.attacks.ground import Attack
from conformance.attacks.holding import Files, Sips, Slow, Unread
from conformance.attacks.parsing import Fragments, Junk, LongTexts, Pings, Texts
from conformance.attacks.playing import HouseHog, Impostors

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
