"""What is on, as it is told: games, their clocks, those that are over, those who wait."""

from typing import Any

import pytest
from live_world import away, back, game, hindered, identity, move, over, stands, waits

from adapters.web.live.state import HELD, LOBBY, LOBBY_TEXT, MINUTE, NAMESAKES, State
from gateway.game.events import Reason
from gateway.game.facts import AwayFor, Came, Cause, Left, Obstacle, Shown, Standing, Waits


def state(*told: Shown, now: float = 0.0) -> State:
    made = State()
    for each in told:
        made.hear(each, now)
    return made


def lobby(made: State, now: float = 0.0) -> list[tuple[str, str | None, float]]:
    return [(each["name"], each["table"], each["waited"]) for each in made.counts(now)["lobby"]]


def shown(made: State, number: int = 1, now: float = 0.0) -> dict[str, Any]:
    found = {**made.over, **made.games}[identity(number)]
    return dict(found.shown(0, now))


def test_game_is_shown_from_its_first_move_to_its_end() -> None:
    made = state(game(1, table="x"))
    assert shown(made) == {
        "game": identity(1),
        "place": 0,
        "players": [{"name": "ann", "kind": "one"}, {"name": "bob", "kind": "two"}],
        "table": "x",
        "round": 1,
        "pairing": None,
        "number": None,
        "clock": None,
        "moves": "",
        "position": "",
        "to_move": 0,
        "left": None,
        "thinking": 0.0,
        "thought": [0.0, 0.0],
        "ratings": [None, None],
        "away": [None, None],
        "winner": None,
        "reason": None,
    }
    made.hear(move(1, 0, 3), 1.0)
    made.hear(move(1, 1, 4), 2.0)
    found = shown(made, now=2.5)
    assert (found["moves"], found["to_move"], found["thinking"]) == ("34", 0, 0.5)
    assert found["position"] == "45"
    made.hear(over(1, 1, Reason.TIME), 3.0)
    found = shown(made, now=9.0)
    assert (found["to_move"], found["winner"], found["reason"], found["thinking"]) == (None, 1, "time", 0.0)
    assert (made.counts(3.0)["playing"], made.counts(3.0)["moves"]) == (0, 2)


def test_clocks_stand_as_the_latest_moves_left_them() -> None:
    made = state(game(1, clock=10.0))
    assert shown(made)["left"] == (10.0, 10.0)
    made.hear(move(1, 0, left=9.5), 0.5)
    made.hear(move(1, 1, left=8.0), 1.0)
    assert shown(made)["left"] == (9.5, 8.0)
    made.hear(over(1, 1, Reason.TIME, (10.0, 2.0)), 12.0)
    assert shown(made)["left"] == (0.0, 8.0)


def test_game_that_stood_already_is_shown_as_it_stands() -> None:
    standing = Standing((3, 3, 2), (0.5, 0.25, 1.0), (5.0, 6.0), 1.5)
    made = state((game(1, clock=10.0), standing), now=100.0)
    found = shown(made, now=101.0)
    assert (found["moves"], found["to_move"], found["left"], found["thinking"]) == ("332", 1, (5.0, 6.0), 2.5)


def test_absence_of_a_player_is_shown_until_it_is_back_or_the_game_is_over() -> None:
    made = state(game(1))
    made.hear(away(1, 1), 5.0)
    assert shown(made, now=17.04)["away"] == [None, {"seconds": 12.0, "grace": 30.0}]
    made.hear(away(1, 0, 2.5, seconds=0.5), 20.0)
    made.hear(back(1, 1), 21.0)
    assert shown(made, now=21.0)["away"] == [{"seconds": 1.5, "grace": 2.5}, None]
    made.hear(over(1, 1, Reason.LEFT), 22.5)
    assert shown(made, now=23.0)["away"] == [None, None]


def test_absence_that_began_before_the_state_was_told_is_shown_from_its_beginning() -> None:
    standing = Standing((3,), (0.5,), None, 0.0, (AwayFor(4.0, 30.0), None))
    made = state((game(1), standing), now=100.0)
    assert shown(made, now=101.0)["away"] == [{"seconds": 5.0, "grace": 30.0}, None]


@pytest.mark.parametrize("told", [move(1, 0), away(1, 0), back(1, 0), over(1), Left(7), Waits(7, None)])
def test_what_is_told_of_the_unknown_changes_nothing_that_is_shown(told: Shown) -> None:
    made = state(told)
    assert (made.games, made.over, lobby(made)) == ({}, {}, [])


def test_players_of_one_name_are_told_apart_and_bounded() -> None:
    made = state(*waits(1, "ann", "x", 3.0), Came(2, "ann", "two"), *waits(3, "bob"))
    assert made.named("ann", 1.0) == [
        {"kind": "one", "table": "x", "waited": 4.0, "why": None},
        {"kind": "two", "table": None, "waited": None, "why": None},
    ]
    made = state(*(Came(player, "ann", "one") for player in range(NAMESAKES + 1)))
    assert len(made.named("ann", 0.0)) == NAMESAKES


def test_who_waits_is_listed_until_a_game_or_leaving_ends_it() -> None:
    made = state(*waits(1, "ann"), *waits(2, "bob", "x"), *waits(3, "carol"), *waits(4, "dan"))
    assert [name for name, _, _ in lobby(made)] == ["dan", "carol", "bob", "ann"]
    made.hear(Left(1), 1.0)
    made.hear(Came(2, "robert", "one"), 1.0)
    made.hear(game(2), 1.0)  # in which 4 is
    assert lobby(made, 2.0) == [("carol", None, 2.0), ("robert", "x", 2.0)]
    assert made.counts(2.0)["waiting"] == 2


def test_longest_wait_is_listed_last_in_whichever_order_they_were_told() -> None:
    made = state(*waits(1, "ann", waited=5.0), *waits(2, "bob", waited=9.0), *waits(3, "carol"))
    made.complete()
    assert [name for name, _, _ in lobby(made)] == ["carol", "ann", "bob"]


def test_list_of_those_who_wait_is_bounded_in_number_and_length() -> None:
    many = [each for number in range(LOBBY + 1) for each in waits(number, f"p{number}")]
    assert len(lobby(state(*many))) == LOBBY
    assert state(*many).counts(0.0)["waiting"] == LOBBY + 1
    long = [each for number in range(99) for each in waits(number, "n" * 250, "t" * 250)]
    assert len(lobby(state(*long))) == LOBBY_TEXT // 500
    why = Obstacle(Cause.ABSENT, "n" * 250, "m" * 250)
    assert len(lobby(state(*long, *(hindered(number, why) for number in range(99))))) == LOBBY_TEXT // 1000


def test_why_a_player_waits_is_listed_until_it_is_so_no_more() -> None:
    made = state(*waits(1, "bob"), hindered(1, Obstacle(Cause.ABSENT, "Ada", "ada")), hindered(2, None))
    why = {"cause": "absent", "name": "Ada", "alike": "ada"}
    assert made.counts(0.0)["lobby"] == [
        {"name": "bob", "kind": "one", "table": None, "waited": 0.0, "why": why}
    ]
    assert made.named("bob", 0.0)[0]["why"] == why
    made.hear(hindered(1, None), 0.0)
    assert made.counts(0.0)["lobby"][0]["why"] is None
    made.hear(hindered(1, Obstacle(Cause.ALONE, "x")), 0.0)
    made.hear(Waits(1, "x"), 0.0)
    assert made.counts(0.0)["lobby"][0]["why"] is None


def test_moves_of_the_last_minute_are_counted() -> None:
    made = state(game(1))
    for second in range(10):
        made.hear(move(1, 0), float(second))
        made.hear(move(1, 1), second + 0.5)
    assert made.counts(10.0)["moves"] == 20
    assert made.counts(MINUTE + 4.5)["moves"] == 10
    assert made.counts(MINUTE + 10.0)["moves"] == 0


def test_game_that_is_over_is_known_for_some_seconds() -> None:
    made = state(stands(game(1)), stands(game(2)))
    made.hear(over(1), 5.0)
    assert made.drop_old(5.0 + HELD - 0.01) == []
    [gone] = made.drop_old(5.0 + HELD)
    assert gone.started == game(1)
    assert (made.over, [*made.games]) == ({}, [identity(2)])
