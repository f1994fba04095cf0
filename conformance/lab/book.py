"""What received bytes mean, looked up where possible.

Bots play the same games over and over, so the same bytes come again and again. The first bot that receives
a chunk of bytes somewhere has its script read it; what it came to is noted in the book that all bots of
that kind share, and from then on a chunk costs one look into a dict. Does not know sockets.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.dialects.script import Outcome, OutOfStep, Place, Script, Step

_SHOWN = 200
_MOST_KNOWN = 2000
"""Chunks that are remembered in one place: new ones without end must not fill the memory."""

Known = dict[bytes, "Turn"]


@dataclass(frozen=True, slots=True)
class Turn:
    """What a chunk of bytes does to a bot."""

    place: Place
    known: Known
    """The chunks that are known in that place."""
    told: int
    """How many moves of the opponent: 2 where one game ends and the next begins."""
    outcome: Outcome | None
    answer: bytes
    """The bytes to send at once, such as answers to pings."""
    move: bytes
    again: bool
    entered: bool
    begun: bool
    opponent: str | None


class Book:
    """The known chunks that one kind of bot receives."""

    def __init__(self, kind: str, script: Script) -> None:
        self.kind = kind
        self.script = script
        self._pages: dict[Place, Known] = {}

    def page(self, place: Place) -> Known:
        """Return what is known in a place, which grows."""
        return self._pages.setdefault(place, {})

    def read(self, place: Place, data: bytes, name: str) -> tuple[Turn, bytes]:
        """Return what `data` does to the bot of this name, and the message it leaves unfinished.

        Raises OutOfStep.
        """
        cut = self.script.cut(data)
        steps: list[Step] = []
        here = place
        for message in cut.messages:
            step = self.script.advance(here, message, name)
            if step is None:
                raise OutOfStep(f"was told {shown(message)} when it was {here}")
            steps.append(step)
            here = step.place
        turn = self._sum(steps, here, cut.answer)
        # The last move of a game and the first of the next can come together.
        if turn.told > 1 + (turn.outcome is not None):
            raise OutOfStep(f"was told of two moves at once when it was {place}")
        return turn, cut.rest

    def remember(self, place: Place, data: bytes, turn: Turn) -> None:
        """Note what a chunk does to any bot in this place."""
        page = self.page(place)
        if len(page) < _MOST_KNOWN:
            page[self.script.key(data)] = turn

    def _sum(self, steps: Sequence[Step], place: Place, answer: bytes) -> Turn:
        return Turn(
            place=place,
            known=self.page(place),
            told=sum(step.told for step in steps),
            outcome=next((step.outcome for step in steps if step.outcome), None),
            answer=answer,
            move=b"".join(step.move for step in steps),
            again=any(step.again for step in steps),
            entered=any(step.entered for step in steps),
            begun=any(step.begun for step in steps),
            opponent=next((step.opponent for step in reversed(steps) if step.opponent), None),
        )


def shown(message: bytes) -> str:
    """Return a message in quotes, cut where it is long."""
    text = repr(message)[1:]
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
