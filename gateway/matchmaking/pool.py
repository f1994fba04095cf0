"""Seekers of the lobby, filed so that those who may suit each other are found quickly.

Seekers of one kind have the same name, wish and standing: a seeker that may meet one of them may meet any.
They make a queue, and only its head is looked at. Queues are filed by everything that a seeker can look for:
the name that their seekers wish for, their own name, or both. So the cost of finding partners grows with the
number of queues that suit and not with the number of seekers. Does not know who has met or who plays.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple, TypeAlias

from gateway.game.commands import Wish

Wanted: TypeAlias = str
"""What a wish asks for: a name after ``=``, a casefolded name after ``~``, one of a player of the server's
own, which no player here has, after ``@``. A text, because its hash is cached."""


class Kind(NamedTuple):
    """What interchangeable seekers have in common."""

    name: str
    wanted: Wanted | None
    asked: bool
    counted: bool


class Hold(NamedTuple):
    """How long a seeker that waits is held back from those whom it has met too often."""

    until: float
    least: int | None
    """How often it has met the player it met least among those who are soon free; None if there is none."""


@dataclass(eq=False, slots=True)
class Seeker:
    """Somebody in the lobby, waiting or playing."""

    name: str
    wish: Wish | None = None
    asked: bool = True
    """Whether the seeker asked for this game, rather than standing by for any."""
    counted: bool = True
    """Whether its games count; two uncounted players may meet though their names are the same."""
    since: float = 0.0
    """When it began to wait."""
    waiting: bool = False
    seat: int = 0
    """The number of its seat."""
    home: str = ""
    """Which node of a cluster it is on. Among equals two of one node meet."""
    paired: float | None = None
    """When it was paired, if it has not waited again since."""
    hold: Hold | None = None
    """None before it could have met somebody, in this wait, whom it has met before."""
    kind: Kind = field(init=False, repr=False)
    answers: tuple[Wanted, Wanted] = field(init=False, repr=False)
    """All that can be wanted by which the seeker is found."""

    def __post_init__(self) -> None:
        self.rename(self.name, counted=self.counted)

    def rename(self, name: str, *, counted: bool) -> None:
        """Rename the seeker. MUST NOT be called while it is in a pool."""
        self.name, self.counted = name, counted
        wanted = None if self.wish is None else _wanted(self.wish)
        self.kind = Kind(name, wanted, self.asked, counted)
        self.answers = _answers(name)


@dataclass(eq=False, slots=True)
class _Queue:
    """All seekers of one kind."""

    kind: Kind
    seekers: OrderedDict[Seeker, None] = field(default_factory=OrderedDict)

    def head(self) -> Seeker:
        return next(iter(self.seekers))


_Shelf: TypeAlias = tuple[Wanted | None, Wanted | None]
"""What the seekers are, or anything; what they want, or nothing."""


class Pool:
    """Seekers in order of arrival."""

    def __init__(self) -> None:
        self._queues: dict[Kind, _Queue] = {}
        self._shelves: dict[_Shelf, dict[_Queue, None]] = {}

    def add(self, seeker: Seeker, *, ahead: bool = False) -> None:
        """Add a seeker behind all others, or ahead of those of its kind."""
        queue = self._queues.get(seeker.kind)
        if queue is None:
            queue = self._queues[seeker.kind] = _Queue(seeker.kind)
            for shelf in _shelves(seeker):
                self._shelves.setdefault(shelf, {})[queue] = None
        queue.seekers[seeker] = None
        if ahead:
            queue.seekers.move_to_end(seeker, last=False)

    def discard(self, seeker: Seeker) -> None:
        """Remove a seeker, if it is here."""
        queue = self._queues.get(seeker.kind)
        if queue is None:
            return
        queue.seekers.pop(seeker, None)
        if not queue.seekers:
            del self._queues[seeker.kind]
            for shelf in _shelves(seeker):
                del self._shelves[shelf][queue]
                if not self._shelves[shelf]:
                    del self._shelves[shelf]

    def partners(self, seeker: Seeker) -> Iterator[Seeker]:
        """Yield whom `seeker` wishes for, if they wish for it or for nobody; these come first.

        Of several of a kind it is the first come. One of the seeker's own name is its partner only where the
        games of neither count.
        """
        for wanted in (None, *seeker.answers):
            for queue in self._shelves.get((seeker.kind.wanted, wanted), ()):
                if queue.kind.name != seeker.name:
                    yield queue.head()
                elif not seeker.counted and not queue.kind.counted:
                    yield from islice((other for other in queue.seekers if other is not seeker), 1)

    def has_namesake(self, seeker: Seeker) -> bool:
        """Whether another seeker is here that would meet this one, were it not of the same name."""
        own, folded = seeker.answers
        queues = [queue for want in (None, own, folded) for queue in self._shelves.get((own, want), ())]
        return any(
            (seeker.counted or queue.kind.counted) and (len(queue.seekers) > 1 or queue.head() is not seeker)
            for queue in queues
        )

    def bearers(self, name: str, partner: str) -> list[Seeker]:
        """Return who is called `name`, and may wish for one called `partner`; the longest here first.

        Of several of a kind it is the first come.
        """
        answer, _ = _answers(name)
        wanted = (None, *_answers(partner))
        heads = [queue.head() for want in wanted for queue in self._shelves.get((answer, want), ())]
        return sorted(heads, key=lambda seeker: seeker.since)


def _shelves(seeker: Seeker) -> tuple[_Shelf, ...]:
    """Return where seekers of this one's kind are looked for."""
    wanted, (exact, folded) = seeker.kind.wanted, seeker.answers
    return (None, wanted), (exact, wanted), (folded, wanted)


def _answers(name: str) -> tuple[Wanted, Wanted]:
    return f"={name}", f"~{name.casefold()}"


def _wanted(wish: Wish) -> Wanted:
    if wish.is_for_house:
        return f"@{wish.name.casefold()}"
    return f"~{wish.name.casefold()}" if wish.any_case else f"={wish.name}"
