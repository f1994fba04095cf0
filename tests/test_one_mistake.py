"""A mistake of ours in one game of a hundred: the others end as they should, through real connections."""

from collections.abc import Sequence

import pytest
import trio
from players import Player, gateway

from gateway.game.results import Finished
from gateway.hub.seats import Seated

pytestmark = pytest.mark.trio

GAMES = 100
HIT = 57
FIRST_WINS = (0, 1, 0, 1, 0, 1, 0)


class Failing:
    """A session that makes a mistake with its third move."""

    def __init__(self, session: object) -> None:
        self._session = session
        self._moves = 0

    def __getattr__(self, name: str) -> object:
        if name == "play":
            self._moves += 1
            if self._moves == 3:
                raise ZeroDivisionError
        return getattr(self._session, name)


def ending(finished: Finished) -> tuple[str, str, int | None]:
    first, _ = finished.players
    return first.name, finished.reason.name, finished.winner


async def test_ninety_nine_games_of_a_hundred_end_as_they_should(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with gateway() as room:
        room.faults = faults = list[Sequence[str | None]]()
        tables: list[list[Player]] = [[] for _ in range(GAMES)]
        for letter in "ab":
            for number, table in enumerate(tables):
                table.append(await room.connect("droidcon", f"{letter}{number}", f"t{number}"))
                await table[-1].enter()
            await table[-1].told()
        (hit,) = (seat for seat in room.hub.seats() if seat.name == f"a{HIT}")
        assert isinstance(hit.situation, Seated)
        hit.situation.series.session = Failing(hit.situation.series.session)  # type: ignore[assignment]
        for ply, column in enumerate(FIRST_WINS):
            for table in tables:
                if ply <= 2 or table is not tables[HIT]:
                    await table[ply % 2].play(column)
            await tables[0][0].told()
        assert sorted(map(ending, room.finished)) == sorted(
            (f"a{number}", "STOPPED", None) if number == HIT else (f"a{number}", "FOUR", 0)
            for number in range(GAMES)
        )
        assert [sorted(map(str, names)) for names in faults] == [[f"a{HIT}", f"b{HIT}"]]
        for number, (first, second) in enumerate(tables):
            assert ("closed" in first._told) == ("closed" in second._told) == (number == HIT)
        assert len(room.hub) == 2 * GAMES - 2
