"""Looks for a text that takes longer than the hand-made ones.

Builds texts from the same pieces, in another order and number, and lets hypothesis go on from those that took
long. The clock decides what is worth another try, so no two searches are the same.
"""

from collections.abc import Callable

from hypothesis import HealthCheck, Phase, given, seed, settings, target
from hypothesis import strategies as st

from conformance.lab.reading.families import FRAMES, PIECES, repeated

Cost = Callable[[str], float]


def searched(dialect: str, length: int, examples: int, number: int, cost: Cost) -> None:
    """Call `cost`, which returns milliseconds, with so many texts; `number` is the seed of the first ones."""

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.target],
        suppress_health_check=list(HealthCheck),
    )
    @given(texts(dialect, length))
    def one(text: str) -> None:
        target(cost(text))

    one()


@st.composite
def texts(draw: st.DrawFn, dialect: str, length: int) -> str:
    """Return a text of at most this length: a few kinds of pieces in a frame, repeated until it is full."""
    before, behind = draw(st.sampled_from(FRAMES[dialect]))
    room = length - len(before) - len(behind)
    parts: list[str] = []
    for piece in draw(st.lists(st.sampled_from(PIECES[dialect]), min_size=1, max_size=6)):
        share = draw(st.integers(1, length))
        part = repeated(piece, min(room, share), draw(st.none() | st.integers(1, 150)))
        parts.append(part)
        room -= len(part)
    unit = "".join(parts)
    filler = draw(st.sampled_from(["", unit, *PIECES[dialect]]))
    return before + unit + (repeated(filler, room) if filler else "") + behind
