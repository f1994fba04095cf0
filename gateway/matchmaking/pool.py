"""The seekers of the lobby, indexed so that partners are found quickly.

Seekers of the same `Kind` are interchangeable. They form a queue, and only its head is examined. Queues are
indexed by name and wish. So the cost of finding partners grows with the number of matching queues, not with
the number of seekers. Does not know past meetings or current games.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple, TypeAlias

from gateway.game.commands import Wish

Wanted: TypeAlias = str
"""The name in a wish, after a prefix: ``=`` for an exact name, ``~`` for a casefolded one, ``@`` for a house
player, which matches no seeker. It is a string because Python caches the hashes of strings."""


class Kind(NamedTuple):
    """The properties by which seekers are paired: seekers of one kind are interchangeable."""

    name: str
    wanted: Wanted | None
    asked: bool
    counted: bool
    opens: bool


class Hold(NamedTuple):
    """How long a waiting seeker is held back from partners that it has met often."""

    until: float
    least: int | None
    """The number of games with the least-met partner that will be free soon; None without such a partner."""


@dataclass(eq=False, slots=True)
class Seeker:
    """A player of the lobby, waiting or playing."""

    name: str
    wish: Wish | None = None
    asked: bool = True
    """Whether the player has asked for this game. If not, it stands by for any opponent."""
    counted: bool = True
    """Whether the player's games count. Two uncounted players may meet even with the same name."""
    since: float = 0.0
    """When the player began to wait."""
    waiting: bool = False
    seat: int = 0
    """The number of the player's seat."""
    home: str = ""
    """The player's node in a cluster. Among equal partners, partners on the same node are preferred."""
    opens: bool = False
    """Whether the player always has the first move, so that it cannot meet another such player."""
    paired: float | None = None
    """When the player was paired; None if it has waited again since."""
    hold: Hold | None = None
    """The hold of this wait. None until the first partner that the seeker has met before is examined."""
    kind: Kind = field(init=False, repr=False)
    answers: tuple[Wanted, Wanted] = field(init=False, repr=False)
    """The values of `Wanted` that match this seeker."""

    def __post_init__(self) -> None:
        self.rename(self.name, counted=self.counted)

    def rename(self, name: str, *, counted: bool) -> None:
        """Rename the seeker. It must not be in a pool."""
        self.name, self.counted = name, counted
        wanted = None if self.wish is None else _wanted(self.wish)
        self.kind = Kind(name, wanted, self.asked, counted, self.opens)
        self.answers = _answers(name)


@dataclass(eq=False, slots=True)
class _Queue:
    """All seekers of one kind."""

    kind: Kind
    seekers: OrderedDict[Seeker, None] = field(default_factory=OrderedDict)

    def head(self) -> Seeker:
        return next(iter(self.seekers))


_Shelf: TypeAlias = tuple[Wanted | None, Wanted | None, bool]
"""A key of the index. Its first element is one of the seekers' `answers`, or None for all seekers. The second
is the name that the seekers want, or None for no wish. The third is `Seeker.opens`."""


class Pool:
    """Queues of seekers, in order of arrival."""

    def __init__(self) -> None:
        self._queues: dict[Kind, _Queue] = {}
        self._shelves: dict[_Shelf, dict[_Queue, None]] = {}

    def add(self, seeker: Seeker, *, ahead: bool = False) -> None:
        """Add a seeker after all others, or with `ahead` before the other seekers of its kind."""
        queue = self._queues.get(seeker.kind)
        if queue is None:
            queue = self._queues[seeker.kind] = _Queue(seeker.kind)
            for shelf in _shelves(seeker):
                self._shelves.setdefault(shelf, {})[queue] = None
        queue.seekers[seeker] = None
        if ahead:
            queue.seekers.move_to_end(seeker, last=False)

    def discard(self, seeker: Seeker) -> None:
        """Remove a seeker, if it is in the pool."""
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
        """Yield the partners of `seeker`, one of each kind. Partners fit each other's wishes.

        Partners without a wish come first. Seekers with the same name are partners only if the games of
        neither count.
        """
        for wanted in (None, *seeker.answers):
            for queue in self._shelved(seeker.kind.wanted, wanted, beside=seeker):
                if queue.kind.name != seeker.name:
                    yield queue.head()
                elif not seeker.counted and not queue.kind.counted:
                    yield from islice((other for other in queue.seekers if other is not seeker), 1)

    def has_namesake(self, seeker: Seeker) -> bool:
        """Whether another seeker in the pool could meet this one if their names were different."""
        own, folded = seeker.answers
        wants = (None, own, folded)
        queues = [queue for want in wants for queue in self._shelved(own, want, beside=seeker)]
        return any(
            (seeker.counted or queue.kind.counted) and (len(queue.seekers) > 1 or queue.head() is not seeker)
            for queue in queues
        )

    def bearers(self, name: str, partner: str) -> list[Seeker]:
        """Return the seekers called `name` that accept `partner`, the longest waiting first.

        A seeker with a wish accepts only the wished player. Of each kind only one seeker is returned.
        """
        answer, _ = _answers(name)
        wanted = (None, *_answers(partner))
        heads = [queue.head() for want in wanted for queue in self._shelved(answer, want)]
        return sorted(heads, key=lambda seeker: seeker.since)

    def _shelved(
        self, answer: Wanted | None, wanted: Wanted | None, beside: Seeker | None = None
    ) -> Iterator[_Queue]:
        """Yield the queues of seekers with this answer and wish, if given only of those that may meet one."""
        yield from self._shelves.get((answer, wanted, False), ())
        if beside is None or not beside.opens:
            yield from self._shelves.get((answer, wanted, True), ())


def _shelves(seeker: Seeker) -> tuple[_Shelf, ...]:
    """Return the keys under which the seeker's kind is indexed."""
    wanted, (exact, folded), opens = seeker.kind.wanted, seeker.answers, seeker.opens
    return (None, wanted, opens), (exact, wanted, opens), (folded, wanted, opens)


def _answers(name: str) -> tuple[Wanted, Wanted]:
    return f"={name}", f"~{name.casefold()}"


def _wanted(wish: Wish) -> Wanted:
    if wish.is_for_house:
        return f"@{wish.name.casefold()}"
    return f"~{wish.name.casefold()}" if wish.any_case else f"={wish.name}"
