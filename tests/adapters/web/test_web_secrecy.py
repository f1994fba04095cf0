"""Side lines of games that are over, and that they are of no use in a game that is on."""

import pytest
from game_records import FOUR, game
from hypothesis import given
from hypothesis import strategies as st
from web_world import Site, analyse, keep

from adapters.web.query import BadRequestError, line_of
from adapters.web.secrecy import is_near
from gateway.game.board import COLUMNS, boards_of
from gateway.game.events import Reason
from gateway.game.fact_encoding import encode_fact
from gateway.game.facts import GameStarted, Standing

STARTED = GameStarted("9k3fm-00002a", (1, 2), ("ann", "bob"), ("nac4", "arena"), None, 1, None)
DRAWS = [{"result": "draw", "at": None}] * 7
LINE = "/api/games/1/line?after=2&columns="


def test_line_leaves_the_game_after_so_many_moves() -> None:
    found = line_of(FOUR, {"after": "2", "columns": "334"})
    assert [each.moves for each in found] == [(0, 1, 3), (0, 1, 3, 3), (0, 1, 3, 3, 4)]
    assert line_of(FOUR, {"after": "6", "columns": "0"})[-1].winner == 0


@pytest.mark.parametrize(
    ("after", "columns", "why"),
    [
        ("", "3", "after is not a whole number from 0 to 7"),
        ("8", "3", "after is not"),
        ("-1", "3", "after is not"),
        ("\N{ARABIC-INDIC DIGIT ONE}", "3", "after is not"),
        ("1", "", "columns is missing"),
        ("1", "7", "column '7' cannot be played at move 2"),
        ("1", "\N{ARABIC-INDIC DIGIT ONE}", "cannot be played at move 2"),
        ("6", "1111", "column '1' cannot be played at move 10"),
        ("6", "03", "the game is over at move 8"),
        ("7", "3", "the game is over at move 8"),
    ],
)
def test_line_that_cannot_be_played_is_refused(after: str, columns: str, why: str) -> None:
    with pytest.raises(BadRequestError, match=why):
        line_of(FOUR, {"after": after, "columns": columns})


@pytest.mark.parametrize(
    ("asked", "on", "expected"),
    [
        ("3", "3", True),
        ("3344", "334", True),
        ("3443", "3", True),
        ("34435", "3", False),  # four moves ahead
        ("33", "3344", True),  # the game has gone on, and its move is one of the columns there
        ("55", "3344", False),
        ("3355", "3344", False),
        ("4332", "2334", True),  # the same discs, made in another order and mirrored
        ("0011", "6655", True),
        ("0011", "665", True),
        ("01", "10", False),  # the other side's discs
        ("334", "335", False),
        ("3", "", False),  # a game without a move is near everything
    ],
)
def test_line_is_near_a_game_that_may_reach_it_soon(asked: str, on: str, *, expected: bool) -> None:
    assert is_near([boards_of(asked)[-1]], [on]) == expected


@given(st.lists(st.integers(0, 6), max_size=6), st.lists(st.integers(0, 6), max_size=3))
def test_whoever_plays_on_is_near_where_it_comes_to_also_in_the_mirror(
    moves: list[int], more: list[int]
) -> None:
    one, mirrored = "".join(map(str, moves)), "".join(str(COLUMNS - 1 - each) for each in moves)
    further = (
        boards_of(one + "".join(map(str, more)))[-1] if len(moves) + len(more) < 7 else boards_of(one)[-1]
    )
    assert is_near([further], [one]) == is_near([further], [mirrored]) == bool(moves)


async def test_worth_of_a_side_line_is_that_of_each_of_its_positions(site: Site) -> None:
    keep(site.database, [game()])
    async with site.client() as client:
        answer = await client.get(f"{LINE}34")
        over = await client.get("/api/games/1/line?after=6&columns=0")
        absent = await client.get("/api/games/2/line?after=6&columns=0")
    assert (answer.status_code, answer.json()) == (200, {"positions": [DRAWS, DRAWS]})
    assert over.json() == {"positions": [[None] * 7]}
    assert absent.status_code == 404
    assert site.analysed == []


@pytest.mark.parametrize(
    ("columns", "status"), [("3", 409), ("33", 409), ("44", 200), ("33455", 409), ("4453", 200)]
)
async def test_side_line_near_a_game_that_is_on_is_not_worked_out(
    site: Site, columns: str, status: int
) -> None:
    keep(site.database, [game()])
    site.on = [encode_fact((STARTED, Standing((0, 1, 3, 3), (0.0,) * 4, None, 0.0)))]
    async with site.client() as client:
        answer = await client.get(f"{LINE}{columns}")
    assert answer.status_code == status
    assert ("near this position" in answer.text) == (status == 409)


async def test_without_knowing_the_games_that_are_on_no_side_line_is_worked_out(
    site: Site, autojump_clock: object
) -> None:
    keep(site.database, [game()])
    site.is_silent = True
    async with site.client() as client:
        assert (await client.get(f"{LINE}3")).status_code == 503


@pytest.mark.parametrize(
    ("on", "withheld", "secret"),
    [
        ("33334455", [8, 9, 10], [9, 10]),
        ("33332211", [8, 9, 10], [9, 10]),  # the mirror image
        ("333344550", [9, 10], [10]),
        ("3333445", [7, 8, 9, 10], []),  # many games begin alike
        ("33334450", [], []),
    ],
)
async def test_positions_near_a_game_that_is_on_do_not_say_which_column_wins(
    site: Site, on: str, withheld: list[int], secret: list[int]
) -> None:
    keep(site.database, [game(moves="3333445500", winner=0, reason=Reason.LEFT)])
    site.on = [encode_fact((STARTED, Standing(tuple(map(int, on)), (0.0,) * len(on), None, 0.0)))]
    async with site.client() as client:
        found = (await client.get("/api/games/1/perfect")).json()
    assert found["withheld"] == withheld
    assert [number for number, each in enumerate(found["positions"]) if each is None] == withheld
    # Who wins where the game stands is no secret, but who would win after a further move is.
    assert [number for number, each in enumerate(found["evaluations"]) if each is None] == secret


async def test_who_wins_is_withheld_too_where_nobody_may_know_it(site: Site) -> None:
    keep(site.database, [game(moves="0133", winner=0, reason=Reason.LEFT)])
    analyse(site, 1, [0, 1, -1, 1, -1])
    site.on = [encode_fact((STARTED, Standing((0, 1, 3, 3), (0.0,) * 4, None, 0.0)))]
    async with site.client() as client:
        known = (await client.get("/api/games/1/perfect")).json()
    site.show(evaluations=None)
    async with site.client() as client:
        secret = (await client.get("/api/games/1/perfect")).json()
    assert (known["withheld"], secret["withheld"]) == ([4], [1, 2, 3, 4])
    assert [each["winner"] for each in known["evaluations"]] == [None, 1, 1, 1, 1]
    assert [len(each["turned"]) for each in (known, secret)] == [1, 0]
    assert secret["evaluations"][1:] == [None] * 4


async def test_move_that_turned_a_game_is_withheld_where_another_one_may_make_it(site: Site) -> None:
    keep(site.database, [game(moves="3333445500", winner=0, reason=Reason.LEFT)])
    analyse(site, 1, [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, -1])
    async with site.client() as client:
        open_to_all = (await client.get("/api/games/1/perfect")).json()
        site.tell(encode_fact((STARTED, Standing((3, 3, 3, 3, 4, 4, 5, 5), (0.0,) * 8, None, 0.0))))
        near = (await client.get("/api/games/1/perfect")).json()
    assert [each["move"] for each in open_to_all["turned"]] == [9]
    assert (near["turned"], near["withheld"]) == ([], [8, 9, 10])
