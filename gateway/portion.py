"""How many of those who wait are served in one turn of the event loop.

Knows the length of a turn as an argument. Does not know what they wait for. They are few, as games wait for
the end of the turn. Where thousands play as fast as they can a turn is long, and a few in each would be too
few: then they are a share of the turn.
"""

EACH = 0.004
"""Seconds of a turn for each that is served in the next."""


def portion(least: int, turn: float) -> int:
    """Return how many to serve after a turn that took so many seconds, at least `least`."""
    return max(least, int(turn / EACH))
