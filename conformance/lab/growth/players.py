"""Bots that play as fast as they can, and the tally that they share.

Know what they hear. Do not know the time, nor who polls the sockets. Who asks for each game by itself comes
back under the next of its names, and whom the server hangs up on after a series comes back to another table,
so that whatever a server remembers by name, by table or by connection is put to use.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from conformance.lab.crowd.dialects import speech_of
from conformance.lab.crowd.member import Look, Member
from conformance.lab.crowd.speech import Heard, Wish

Address = tuple[str, int]

NAMES = 50
"""Names that each player who asks for each game by itself has, in turn."""


@dataclass(slots=True)
class Tally:
    """What all players together have heard."""

    entered: int = 0
    begun: int = 0
    """Players who were told of a game's beginning."""
    ended: int = 0
    """Players who were told of a game's end."""


class Player(Member):
    """Answers every request at once."""

    def __init__(
        self,
        address: Address,
        kind: str,
        wish: Wish,
        tally: Tally,
        come_back: Callable[["Player"], None] | None = None,
    ) -> None:
        """`come_back` is called when the server has hung up after a series; without it that is an error."""
        self.kind = kind
        self._wish = wish
        self._tally = tally
        self._come_back = come_back
        self._games = 0
        self._plays = False
        super().__init__(*address, speech_of(kind, self._next_wish()))

    def hears(self, heard: Heard, look: Look) -> None:
        """Play."""
        match heard:
            case Heard.ASKED:
                self.say(self.speech.move())
            case Heard.BEGUN:
                self._plays = True
                self._tally.begun += 1
            case Heard.ENTERED:
                self._tally.entered += 1
            case Heard.WON | Heard.LOST:
                self._plays = False
                self._games += 1
                self._tally.ended += 1
            case Heard.FREE:
                self.speech.wish = self._next_wish()
                self.say(self.speech.opening())
            case Heard.LATE:
                raise self.wrong("was told that it had lost on time")

    def is_left(self) -> None:
        """Come back after a series. Raises OutOfStep at any other time."""
        if self._come_back is None or self._plays or not self._games:
            super().is_left()
        else:
            self._come_back(self)

    def next_life(self) -> "Player":
        """Return the same player at another table."""
        table, _, life = (self._wish.table or "").partition("-")
        wish = replace(self._wish, table=f"{table}-{int(life or 0) + 1}")
        return Player(self._address, self.kind, wish, self._tally, self._come_back)

    def _next_wish(self) -> Wish:
        """Return what it wants of its next game; the two of a pair count alike."""
        if self._wish.against is None:
            return self._wish
        return renamed(self._wish, self._games % NAMES)


def renamed(wish: Wish, number: int) -> Wish:
    """Return a wish of the same two players under others of their names."""
    return replace(wish, name=f"{wish.name}-{number}", against=f"{wish.against}-{number}")


def couple(name: str, *, at_table: bool) -> tuple[Wish, Wish]:
    """Return the wishes of two who want to meet: at a table of their own, or by name."""
    one, two = f"{name}a", f"{name}b"
    if at_table:
        return Wish(one, table=name), Wish(two, table=name)
    return Wish(one, against=two), Wish(two, against=one)
