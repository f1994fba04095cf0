"""Every ordered pair of dialects plays, and each side is told what its own protocol says.

All on memory streams. At a table who sits down first moves first, so nothing here is left to chance.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import product
from typing import TypeAlias

import pytest
import trio
import trio.testing
from players import CLOCK, DIALECTS, IDLE, Gateway, Player, Told, dumped, entered, gateway, same

from gateway.game.events import Reason

pytestmark = pytest.mark.trio
Clock: TypeAlias = trio.testing.MockClock

PAIRS = [*product(DIALECTS, DIALECTS)]
GAMES = {
    "row": ([0, 0, 1, 1, 2, 2, 3], 0),
    "column": ([4, 5, 4, 5, 4, 5, 4], 0),
    "rising diagonal": ([0, 1, 1, 2, 2, 3, 2, 3, 3, 6, 3], 0),
    "falling diagonal": ([6, 5, 5, 4, 4, 3, 4, 3, 3, 0, 3], 0),
    "column of the second": ([0, 1, 0, 1, 0, 1, 6, 1], 1),
    "draw": ([*map(int, "436014551150160155104632660465204242223333")], None),
}
CROSSING = 0.5
PATIENCE = {True: CLOCK, False: IDLE}
"""How long a move may take, by whether a nac4 player sits at the table."""

pairs = pytest.mark.parametrize("dialects", PAIRS, ids="-".join)
sides = pytest.mark.parametrize("side", [0, 1], ids=["first", "second"])


class Table:
    """Two players in their first game, and what each is to be told of it."""

    def __init__(self, room: Gateway, one: Player, two: Player) -> None:
        self.room = room
        self.players = (one, two)
        self.dialects = (one.dialect, two.dialect)
        self.first = 0
        """Who of the two moves first in the game that is on."""
        self.moves: list[int] = []

    @property
    def has_arena(self) -> bool:
        return "arena" in self.dialects

    @property
    def patience(self) -> float:
        return PATIENCE["nac4" in self.dialects]

    def told(self, number: int) -> Told:
        """Return what player `number` is told of the game that is on."""
        names = (self.players[self.first].name, self.players[1 - self.first].name)
        return Told(self.dialects[number], int(number != self.first), names)

    def mover(self) -> Player:
        return self.players[(self.first + len(self.moves)) % 2]

    async def hear(self, one: Sequence[str], two: Sequence[str]) -> None:
        """Check that the players were told just that."""
        assert same(await self.players[0].told()) == [*one]
        assert same(await self.players[1].told()) == [*two]

    async def hear_nothing(self) -> None:
        await self.hear([], [])

    async def hear_start(self) -> None:
        await self.hear(self.told(0).started(), self.told(1).started())

    async def play(self, moves: Sequence[int]) -> None:
        """Play moves that do not end the game."""
        for column in moves:
            mover = self.mover()
            self.moves.append(column)
            await mover.play(column)
            await self.hear(self.told(0).moved(self.moves), self.told(1).moved(self.moves))

    async def play_last(self, column: int) -> None:
        mover = self.mover()
        self.moves.append(column)
        await mover.play(column)

    def endings(self, winner: int | None) -> tuple[list[str], list[str]]:
        """Return what both are told of the last move."""
        one, two = (self.told(number).won_or_drawn(self.moves, winner) for number in (0, 1))
        return one, two

    def swap(self) -> None:
        """Let the other one begin, in a new game."""
        self.first = 1 - self.first
        self.moves = []

    async def start_again(self) -> None:
        """Let the arena players ask for the next game."""
        for player in self.players:
            if player.dialect == "arena":
                await player.enter()


@asynccontextmanager
async def table(dialects: Sequence[str]) -> AsyncIterator[Table]:
    """Give a table where the first game has just begun."""
    async with gateway() as room:
        one, two = await room.sit(dialects[0], "ann"), await room.sit(dialects[1], "bob")
        seated = Table(room, one, two)
        await seated.hear_start()
        yield seated


def result(seated: Table) -> tuple[tuple[str, ...], int | None, Reason]:
    """Return who moved first, who won and why, of the last game that ended."""
    game = seated.room.finished[-1]
    return tuple(player.name for player in game.players), game.winner, game.reason


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
        one, two = seated.endings(winner)
        seated.swap()
        if not seated.has_arena:  # the others play on by themselves
            one, two = one + seated.told(0).started(), two + seated.told(1).started()
        await seated.hear(one, two)
        assert result(seated) == (("ann", "bob"), winner, Reason.FULL if winner is None else Reason.FOUR)


@pytest.mark.parametrize("dialects", [pair for pair in PAIRS if "droidcon" in pair], ids="-".join)
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
                if seated.has_arena:
                    await seated.hear(*endings)
                    await seated.start_again()
                    endings = ([], [])
                starts = [seated.told(index).started() for index in (0, 1)]
                await seated.hear(endings[0] + starts[0], endings[1] + starts[1])
        closed = [["closed"] if dialect == "droidcon" else [] for dialect in dialects]
        await seated.hear(endings[0] + closed[0], endings[1] + closed[1])
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
        endings = [seated.told(number).timed_out(seated.moves, 1 - side) for number in (0, 1)]
        if dialects[side] == "droidcon":
            endings[side].append("closed")
            if dialects[1 - side] == "droidcon":
                endings[1 - side].append("closed")
        await seated.hear(*endings)
        assert result(seated) == (("ann", "bob"), 1 - side, Reason.TIME)
        await trio.sleep(CROSSING)
        if "closed" in endings[side] or seated.has_arena:
            await seated.hear_nothing()
        else:
            seated.swap()
            await seated.hear_start()


# Leaving.


@pairs
@sides
@pytest.mark.parametrize("how", ["close", "reset"])
@pytest.mark.parametrize("moves", [[3], [3, 3]], ids=["aborted", "lost"])
async def test_who_leaves_does_not_win_and_the_other_is_told_so(
    dialects: Sequence[str], side: int, how: str, moves: Sequence[int], autojump_clock: Clock
) -> None:
    async with table(dialects) as seated:
        await seated.play(moves)
        leaver, other = seated.players[side], seated.players[1 - side]
        if how == "close":
            await leaver.leave()
        else:
            leaver.reset()
        assert same(await other.told()) == seated.told(1 - side).left(seated.moves)
        won, why = (1 - side, Reason.LEFT) if len(moves) == 2 else (None, Reason.ABORTED)
        assert result(seated) == (("ann", "bob"), won, why)
        assert seated.room.finished[-1].leaver == side
        assert len(seated.room.hub) == 1
        await trio.sleep(1)
        assert await other.told() == []


# Illegal moves.


def refusal(seated: Table, side: int, column: int, what: str) -> list[str]:
    """Return what the one who made an illegal move is told."""
    match seated.dialects[side], what:
        case "nac4", "turn":
            return []
        case "nac4", _:
            return seated.told(side).asked(seated.moves, CLOCK - 1)
        case "arena", _:
            reason = "Not your turn" if what == "turn" else "Invalid move"
            message = {"type": "move", "move": column}
            return [dumped({"type": "ignored", "msg": message, "reason": reason})]
    error = {"turn": "NOT_YOUR_TURN", "column": "INVALID_COLUMN", "full": "COLUMN_IS_FULL"}[what]
    return [f"Error {error}", "YOU_LOST", "closed"]


def consequence(seated: Table, side: int) -> list[str]:
    """Return what the other one is told of it."""
    if seated.dialects[side] != "droidcon":
        return []
    told = seated.told(1 - side).forfeited(seated.moves)
    return [*told, "closed"] if seated.dialects[1 - side] == "droidcon" else told


@pairs
@pytest.mark.parametrize(
    "case",
    [
        ("column", [], 0, 7),
        ("column", [3], 1, -1),
        ("full", [0, 0, 0, 0, 0, 0], 0, 0),
        ("full", [0, 0, 0, 0, 0, 0, 5], 1, 0),
        ("turn", [], 1, 3),
        ("turn", [3], 0, 3),
    ],
)
async def test_illegal_move_is_met_in_the_movers_manner(
    dialects: Sequence[str], case: tuple[str, list[int], int, int], autojump_clock: Clock
) -> None:
    what, moves, side, column = case
    async with table(dialects) as seated:
        await seated.play(moves)
        await seated.players[side].play(column)
        told = [refusal(seated, side, column, what), consequence(seated, side)]
        await seated.hear(*(told if side == 0 else reversed(told)))
        if dialects[side] == "droidcon":
            assert result(seated) == (("ann", "bob"), 1 - side, Reason.ILLEGAL)
            assert len(seated.room.hub) == int(dialects[1 - side] != "droidcon")
            await trio.sleep(1)
            assert await seated.players[1 - side].told() == []
        else:
            assert seated.room.finished == []
            mover = seated.mover()
            seated.moves.append(6)
            await mover.play(6)
            assert len(await seated.players[0].told() + await seated.players[1].told()) > 0


# A mistake of ours.


@pairs
async def test_mistake_of_ours_is_told_to_both_by_hanging_up_alone(
    dialects: Sequence[str], autojump_clock: Clock
) -> None:
    async with table(dialects) as seated:
        seated.room.spoil("ann")
        await seated.players[0].play(3)
        words = ["closed" if dialect == "droidcon" else "closed 1011" for dialect in dialects]
        await seated.hear([words[0]], [words[1]])
        assert result(seated) == (("ann", "bob"), None, Reason.STOPPED)
        assert len(seated.room.hub) == 0
        assert seated.room.faults == [["ann", "bob"]]


# The end of the server.


@pairs
async def test_stop_is_no_end_of_the_game_for_anybody(dialects: Sequence[str], autojump_clock: Clock) -> None:
    async with table(dialects) as seated:
        await seated.play([3])
        seated.room.hub.close(trio.current_time())
        words = ["closed" if dialect == "droidcon" else "closed 1001" for dialect in dialects]
        await seated.hear([words[0]], [words[1]])
        assert result(seated) == (("ann", "bob"), None, Reason.STOPPED)
        assert not seated.room.finished[0].counted


# The lobby.


@pairs
async def test_lobby_pairs_any_two_dialects(dialects: Sequence[str], autojump_clock: Clock) -> None:
    async with gateway() as room:
        one, two = await room.connect(dialects[0], "ann"), await room.connect(dialects[1], "bob")
        for player in (one, two):
            await player.enter()
        await trio.testing.wait_all_tasks_blocked()
        heard = [same(await player.told()) for player in (one, two)]
        for first in (0, 1):
            seated = Table(room, one, two)
            seated.first = first
            if heard == [entered(player) + seated.told(n).started() for n, player in enumerate((one, two))]:
                break
        else:
            pytest.fail(f"no start: {heard}")
