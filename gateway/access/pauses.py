"""How long wrong tokens wait for their answers.

Knows addresses, names and times as arguments. Does not know what a token is. What is remembered is bounded.
"""

FIRST_PAUSE = 0.25
"""Seconds until the first wrong token is answered; each further one takes twice as long."""
LONGEST_PAUSE = 8.0
FORGOTTEN = 600.0
"""Seconds without a wrong token after which the pauses begin anew."""
REMEMBERED = 4096
"""Pairs of an address and a name whose wrong tokens are counted."""


class Pauses:
    """How long clients wait for the answer to a wrong token, by address and name."""

    def __init__(self) -> None:
        self._wrong: dict[tuple[str, str], tuple[int, float]] = {}
        """How many wrong ones came, and when the last did; the latest at the end."""

    def __len__(self) -> int:
        """Return for how many pairs of an address and a name wrong tokens are counted."""
        return len(self._wrong)

    def wrong(self, origin: str, key: str, now: float) -> float:
        """Count a wrong token; return for how many seconds its answer is to wait."""
        count, last = self._wrong.pop((origin, key), (0, now))
        count = 0 if now > last + FORGOTTEN else count
        self._wrong[origin, key] = count + 1, now
        if len(self._wrong) > REMEMBERED:
            del self._wrong[next(iter(self._wrong))]
        return float(min(FIRST_PAUSE * 2 ** min(count, 16), LONGEST_PAUSE))

    def right(self, origin: str, key: str) -> None:
        """Let the pauses begin anew."""
        self._wrong.pop((origin, key), None)
