"""Games that the core reports reach the database, with the times of the wall clock."""

import time
from pathlib import Path

import pytest
import trio
import trio.testing
from game_records import stored
from store_in_thread import begun_in_thread

from gateway.game.board import Board
from gateway.game.events import Reason
from gateway.game.ids import RUNS
from gateway.game.manners import Afterwards, Illegal, Manners
from gateway.game.results import Finished, Player
from gateway.runtime.turns import Turns
from gateway.server import archive
from gateway.store.batcher import SHARED, Batcher, Pace
from gateway.store.database import open_to_read
from gateway.store.games import Filter, every
from gateway.store.process import JournalProcess, Opened, StoreProcess
from gateway.store.records import TakenUp

CLIENT = Manners(Illegal.RETRY, Afterwards.STAND_BY)


@pytest.fixture
def clock() -> trio.testing.MockClock:
    """Let the loop's time be another than the system's, and run as fast."""
    return trio.testing.MockClock(rate=1.0)


def finished(lasted: float) -> Finished:
    now = trio.current_time()
    return Finished(
        game="00007-00000a",
        players=(Player("ann", CLIENT), Player("bob", CLIENT)),
        board=Board().drop(3).drop(3),
        winner=0,
        reason=Reason.LEFT,
        thought=(0.0, 0.0),
        round=1,
        began=now - lasted,
        ended=now,
    )


@pytest.mark.trio
async def test_times_are_the_wall_clocks_at_the_end_of_the_game_even_if_that_was_set_meanwhile(
    tmp_path: Path, clock: trio.testing.MockClock
) -> None:
    async with archive.keeping(str(tmp_path / "c4.db"), 0, begun_in_thread()) as kept:
        clock.jump(3600)  # as if the wall clock had been set back
        over, wall = finished(lasted=90), time.time()
        kept.keep(over)
        await stored(kept, over.game)
        assert not kept.is_open(over.game)
    database = open_to_read(str(tmp_path / "c4.db"))
    (game,) = every(database.reading, Filter())
    database.close()
    assert game.ended - game.began == 90_000
    assert game.ended / 1000 == pytest.approx(wall, abs=60)


@pytest.mark.trio
async def test_each_run_of_a_server_has_a_number_of_its_own(tmp_path: Path) -> None:
    runs = []
    for _ in range(2):
        async with archive.keeping(str(tmp_path / "c4.db"), 0, begun_in_thread()) as kept:
            runs.append(kept.opened.run)
    assert [(run - runs[0]) % RUNS for run in runs] == [0, 1]


@pytest.mark.trio
@pytest.mark.parametrize(("file", "pace"), [((1, 2), None), (None, SHARED)])
async def test_servers_that_share_a_database_leave_each_other_time(
    file: tuple[int, int] | None, pace: Pace | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Process:
        def __init__(self, where: str, keep_wire: float, journal: str | None, *, shared: bool) -> None: ...

        async def open(self, begun: object) -> Opened:
            return Opened("here", "here", file, 1)

        async def close(self) -> None: ...

        async def take_up(self) -> TakenUp:
            return TakenUp()

        async def tidy(self) -> bool:
            return False

    given = list[Pace | None]()

    class Paced(Batcher):
        def __init__(
            self, store: StoreProcess, journal: JournalProcess, *, pace: Pace | None, turns: Turns | None
        ) -> None:
            given.append(pace)
            super().__init__(store, journal, pace=pace, turns=turns)

    monkeypatch.setattr(archive, "StoreProcess", Process)
    monkeypatch.setattr(archive, "Batcher", Paced)
    async with archive.keeping("here", 0):
        pass
    assert given == [pace]
