"""What clients of a cluster were told, compared with each other and with what is stored. Pure.

In some dialects nothing says whether a game was won on the board or by the other's leaving. Where the board
is the same, such a client was told of either. A game that its node has lost has no winner, and no client is
told of one.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from conformance.dialects.script import LEFT
from conformance.lab.cluster_faults.load import VAGUE, Course, Member
from conformance.lab.kills.games import Result

ENDED_EARLY = (LEFT, "stopped", "aborted")
"""How an export says that nobody won on the board."""
LATE = "time"


@dataclass(slots=True)
class Verdict:
    """What came of a run; each of the lists should be empty."""

    told: int = 0
    """Results."""
    cut_off: int = 0
    """Players who were told that their opponent has left."""
    stored: int = 0
    missing: list[str] = field(default_factory=list)
    """Told and not stored."""
    twice: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    """Told as left, and stored, or told to the other side, with a result."""
    late: list[str] = field(default_factory=list)
    """Stored as lost on time."""


def judge(courses: Iterable[Course], stored: Sequence[Result]) -> Verdict:
    """Compare."""
    times = Counter(stored)
    verdict = Verdict(stored=len(times))
    verdict.twice += [str(result) for result, count in times.items() if count > 1 and result.game.moves]
    verdict.late += [str(result) for result in times if result.game.reason == LATE]
    left = {result for result in times if result.game.reason == LEFT}
    for course in courses:
        for member in course.members:
            _look(verdict, course, member, (times, left))
    return verdict


def _look(
    verdict: Verdict, course: Course, member: Member, stored: tuple[Counter[Result], set[Result]]
) -> None:
    times, left = stored
    verdict.told += len(member.results)
    for result in member.results:
        if result not in times and not (member.dialect in VAGUE and _was_left(result, left)):
            verdict.missing.append(f"{member}: {result}; stored: {_of_table(result, times)}")
    if not member.is_cut_off:
        return
    verdict.cut_off += 1
    game = course.games[len(member.results)]
    names = {each.wish.name for each in course.members}
    if any({each.first, each.second} == names and each.game == game for each in times):
        verdict.different.append(f"{member} was told that its opponent left in {game}")
    elif member.winner is not None and not any(
        {each.first, each.second} == names
        and each.game.reason in ENDED_EARLY
        and each.game.winner == member.winner
        and game.moves.startswith(each.game.moves)
        for each in times
    ):
        verdict.different.append(f"{member} was told that {member.winner} won {game} by the other's leaving")


def _was_left(result: Result, left: set[Result]) -> bool:
    """Whether the game was stored as left, at its end or up to two moves before."""
    moves, sides = result.game.moves, (result.first, result.second)
    known = {moves[: len(moves) - missing] for missing in range(3)}
    return any((each.first, each.second) == sides and each.game.moves in known for each in left)


def _of_table(result: Result, times: Counter[Result]) -> str:
    names = {result.first, result.second}
    return "; ".join(str(each) for each in times if {each.first, each.second} == names) or "nothing"
