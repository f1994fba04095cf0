"""Every ordered pair of dialects plays, and each side is told what its own protocol says.

All on memory streams, and nothing here is left to chance: `Gateway.meet` says who moves first.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import product
from typing import TypeAlias

import pytest
import trio
import trio.testing
from players import CLOCK, IDLE, PAIRS, PLAYERS, Gateway, Player, gateway

from adapters.dialects import DIALECTS
from gateway.game.events import Reason

pytestmark = pytest.mark.trio
Clock: TypeAlias = trio.testing.MockClock

GAMES = {
    "diagonal": ([6, 5, 5, 4, 4, 3, 4, 3, 3, 0, 3], 0),
    "column of the second": ([0, 1, 0, 1, 0, 1, 6, 1], 1),
    "draw": ([*map(int, "436014551150160155104632660465204242223333")], None),
}
CROSSING = 0.5

pairs = pytest.mark.parametrize("dialects", PAIRS, ids="-".join)
sides = pytest.mark.parametrize("side", [0, 1], ids=["first", "second"])


class Table:
    """Two players in their first game, and what each is to be told of it."""

    def __init__(self, room: Gateway, one: Player, two: Player, first: int = 0) -> None:
        self.room = room
        self.players = (one, two)
        self.moves: list[int] = []
        self._begin(first)

    def _begin(self, first: int) -> None:
        self.first = first
        """Who of the two moves first in the game that is on."""
        self.moves = []
        for number, player in enumerate(self.players):
            player.side = int(number != first)
            player.names = (self.players[first].name, self.players[1 - first].name)

    @property
    def plays_on(self) -> bool:
        """Whether the two play another game without asking for it."""
        return not any(player.asks or player.always_opens for player in self.players)

    @property
    def patience(self) -> float:
        """How long a move may take."""
        return CLOCK if any(player.is_clocked for player in self.players) else IDLE

    async def hear(self, one: Sequence[str], two: Sequence[str]) -> None:
        """Check that the players were told just that."""
        assert await self.players[0].told() == [*one]
        assert await self.players[1].told() == [*two]

    async def hear_nothing(self) -> None:
        await self.hear([], [])

    def starts(self) -> list[list[str]]:
        return [player.started() for player in self.players]

    async def play(self, moves: Sequence[int]) -> None:
        """Play moves that do not end the game."""
        for column in moves:
            await self.play_last(column)
            await self.hear(*(player.moved(self.moves) for player in self.players))

    async def play_last(self, column: int) -> None:
        """Play a move, whatever it does."""
        mover = self.players[(self.first + len(self.moves)) % 2]
        self.moves.append(column)
        await mover.play(column)

    def endings(self, winner: int | None) -> list[list[str]]:
        """Return what the two are told of the last move."""
        return [player.ended(self.moves, winner) for player in self.players]

    def swap(self) -> None:
        """Let the other one begin, in a new game."""
        self._begin(1 - self.first)

    async def ask_again(self) -> list[list[str]]:
        """Let those who have to ask for the next game do so; return what they are told of that."""
        for player in self.players:
            if player.asks:
                await player.enter()
        return [player.asked_again() for player in self.players]

    def fallen(self, side: int) -> list[list[str]]:
        """Return who is hung up on for a fault of the player on this side."""
        is_out = self.players[side].falls
        return [["closed"] if is_out and player.falls else [] for player in self.players]


@asynccontextmanager
async def table(dialects: Sequence[str]) -> AsyncIterator[Table]:
    """Give two players whose first game has just begun."""
    async with gateway() as room:
        seated = Table(room, *await room.meet(dialects))
        await seated.hear(*seated.starts())
        yield seated


def joined(*parts: Sequence[list[str]]) -> list[list[str]]:
    """Return what the two are told in several parts."""
    return [[word for part in parts for word in part[number]] for number in (0, 1)]


def result(seated: Table) -> tuple[tuple[str, ...], int | None, Reason]:
    """Return who moved first, who won and why, of the last game that ended."""
    game = seated.room.finished[-1]
    return tuple(player.name for player in game.players), game.winner, game.reason


async def test_every_dialect_has_a_player_here() -> None:
    assert [*PLAYERS] == [dialect.name for dialect in DIALECTS]


# Games to their end.


@pairs
@pytest.mark.parametrize("game", GAMES)
async def test_game_is_told_to_either_side_in_its_own_words(
    dialects: Sequence[str], game: str, autojump_clock: Clock
) -> None:
    moves, winner = GAMES[game]
    async with table(dialects) as seated:
        await seated.play(moves[:-1])
        await seated.play_last(moves[-1])
        endings = seated.endings(winner)
        seated.swap()
        await seated.hear(*joined(endings, seated.starts() if seated.plays_on else [[], []]))
        assert result(seated) == (("ann", "bob"), winner, Reason.FULL if winner is None else Reason.FOUR)


SERIES = [pair for pair in PAIRS if "droidcon" in pair and not PLAYERS[pair[0]].always_opens]


@pytest.mark.parametrize("dialects", SERIES, ids="-".join)
async def test_series_with_a_droidcon_player_has_four_rounds(
    dialects: Sequence[str], autojump_clock: Clock
) -> None:
    async with table(dialects) as seated:
        for number in range(4):
            await seated.play([3, 2, 3, 2, 3, 2])
            await seated.play_last(3)
            endings = seated.endings(0)
            if number < 3:
                seated.swap()
                if not seated.plays_on:
                    await seated.hear(*endings)
                    endings = await seated.ask_again()
                await seated.hear(*joined(endings, seated.starts()))
        closed = [["closed"] if player.rounds > 1 else [] for player in seated.players]
        await seated.hear(*joined(endings, closed))
        openers = [game.players[0].name for game in seated.room.finished]
        assert openers == ["ann", "bob", "ann", "bob"]
        await trio.sleep(1)
        await seated.hear_nothing()


# Time.


@pairs
@sides
async def test_sleeper_loses_and_either_side_is_told_so(
    dialects: Sequence[str], side: int, autojump_clock: Clock
) -> None:
    async with table(dialects) as seated:
        await seated.play([3][:side])
        await trio.sleep(seated.patience - 0.2)
        await seated.hear_nothing()
        await trio.sleep(0.4)
        told = [player.timed_out(seated.moves, 1 - side) for player in seated.players]
        await seated.hear(*joined(told, seated.fallen(side)))
        assert result(seated) == (("ann", "bob"), 1 - side, Reason.TIME)
        await trio.sleep(CROSSING)
        if seated.plays_on and not seated.players[side].falls:
            seated.swap()
            await seated.hear(*seated.starts())
        else:
            await seated.hear_nothing()


# Leaving.


@pairs
@sides
@pytest.mark.parametrize(
    ("how", "moves", "why"),
    [("close", [3], Reason.ABORTED), ("reset", [3, 3], Reason.LEFT)],
    ids=["aborted", "lost"],
)
async def test_who_leaves_does_not_win_and_the_other_is_told_so(
    dialects: Sequence[str], side: int, how: str, moves: Sequence[int], why: Reason, autojump_clock: Clock
) -> None:
    async with table(dialects) as seated:
        await seated.play(moves)
        leaver, other = seated.players[side], seated.players[1 - side]
        if how == "close":
            await leaver.leave()
        else:
            leaver.reset()
        assert await other.told() == other.left(moves)
        assert result(seated) == (("ann", "bob"), None if why is Reason.ABORTED else 1 - side, why)
        assert seated.room.finished[-1].leaver == side
        assert len(seated.room.hub) == (0 if other.always_opens else 1)
        await trio.sleep(1)
        assert await other.told() == []


# Illegal moves.


@pairs
@pytest.mark.parametrize(
    ("what", "moves", "side", "column"),
    [
        ("column", [3], 1, 7),
        ("full", [0, 0, 0, 0, 0, 0], 0, 0),
        ("turn", [], 1, 3),
        ("turn", [3], 0, 3),
    ],
)
async def test_illegal_move_is_met_in_the_movers_manner(
    dialects: Sequence[str], what: str, moves: list[int], side: int, column: int, autojump_clock: Clock
) -> None:
    async with table(dialects) as seated:
        await seated.play(moves)
        mover, other = seated.players[side], seated.players[1 - side]
        await mover.play(column)
        assert await mover.told() == mover.refused(what, column, moves) + seated.fallen(side)[side]
        if mover.forfeits(what):
            assert await other.told() == other.forfeited(moves) + seated.fallen(side)[1 - side]
            assert result(seated) == (("ann", "bob"), 1 - side, Reason.ILLEGAL)
            await trio.sleep(1)
            await seated.hear_nothing()
        else:
            assert await other.told() == []
            assert seated.room.finished == []
            await seated.play_last(6)
            assert await seated.players[0].told() + await seated.players[1].told() != []


# A mistake of ours, and the end of the server.


@pairs
async def test_mistake_of_ours_is_told_to_both_by_hanging_up_alone(
    dialects: Sequence[str], autojump_clock: Clock
) -> None:
    async with table(dialects) as seated:
        seated.room.spoil("ann")
        await seated.players[0].play(3)
        await seated.hear(*([player.hung_up(1011)] for player in seated.players))
        assert result(seated) == (("ann", "bob"), None, Reason.STOPPED)
        assert len(seated.room.hub) == 0
        assert seated.room.faults == [["ann", "bob"]]


@pairs
async def test_stop_is_no_end_of_the_game_for_anybody(dialects: Sequence[str], autojump_clock: Clock) -> None:
    async with table(dialects) as seated:
        await seated.play([3])
        seated.room.hub.close(trio.current_time())
        await seated.hear(*([player.hung_up(1001)] for player in seated.players))
        assert result(seated) == (("ann", "bob"), None, Reason.STOPPED)
        assert not seated.room.finished[0].counted


# The lobby.


@pytest.mark.parametrize("dialects", [*product(PLAYERS, PLAYERS)], ids="-".join)
async def test_lobby_pairs_any_two_dialects_unless_both_move_first(
    dialects: Sequence[str], autojump_clock: Clock
) -> None:
    async with gateway() as room:
        one, two = await room.connect(dialects[0], "ann"), await room.connect(dialects[1], "bob")
        for player in (one, two):
            await player.enter()
        heard = [await player.told() for player in (one, two)]
        welcome = [one.entered(), two.entered()]
        expected = {
            first: joined(welcome, Table(room, one, two, first).starts())
            for first, player in enumerate((one, two))
            if not (two, one)[first].always_opens
        }
        assert heard in (expected.values() if expected else [welcome])
