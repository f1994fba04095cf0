"""One series between two players, whatever their manners: moves, refusals, time, leaving."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds.hub import DRAWN, FIRST_WINS, HANGING_UP, MANNERS, SECOND_WINS, STANDING_BY, STEPPING_OUT

from gateway.game.board import FIRST, SECOND, Board, other
from gateway.game.clock import GRACE, Terms
from gateway.game.commands import Play
from gateway.game.events import Ended, Moved, Objection, Reason, Refused, Shown, Started, ToMove
from gateway.game.manners import Manners
from gateway.game.results import Ending, Finished, Note, Number, Outcome, Player
from gateway.game.session import Phase, Session

GAME = "00007-00000a"
TERMS = Terms(clock=10.0, penalty=1.0, idle=60.0)
NOT_YOUR_TURN = Objection.NOT_YOUR_TURN

every = pytest.mark.parametrize("manners", MANNERS.values(), ids=MANNERS)


def session_of(one: Manners, two: Manners) -> Session:
    return Session((Player("ann", one), Player("bob", two)), TERMS)


def started(one: Manners = STEPPING_OUT, two: Manners = STEPPING_OUT, columns: str = "") -> Session:
    session = session_of(one, two)
    session.begin(GAME, 0)
    play(session, columns)
    return session


def asked(one: Manners, two: Manners, now: float = 0.0) -> Session:
    """Return a session whose first request has left for its client."""
    session = session_of(one, two)
    handed(session, request_in(session.begin(GAME, 0)), now)
    return session


def move(session: Session, number: Number, column: int | None, now: float = 0.0) -> Outcome:
    """Let a seat play a column; return what came of it, that of an ordinary move spelled out."""
    came = session.play(number, Play(column), now)
    if isinstance(came, Outcome):
        return came
    moved, request = came
    assert session.to_move == other(number)
    return Outcome([(number, moved), (other(number), moved), (other(number), request)])


def play(session: Session, columns: str, now: float = 0.0) -> Outcome:
    """Let whoever's move it is play the columns; return what came of the last."""
    outcome = Outcome()
    for column in columns:
        assert session.to_move is not None
        outcome = move(session, session.to_move, int(column), now)
    return outcome


def request_in(outcome: Outcome | list[Note]) -> ToMove:
    """Return the request to move, which comes last."""
    notes = outcome.notes if isinstance(outcome, Outcome) else outcome
    request = notes[-1][1]
    assert isinstance(request, ToMove)
    return request


def handed(session: Session, request: ToMove, now: float) -> float | None:
    """Let a request leave for its client."""
    return session.handed(request.game, request.number, now)


def ending(outcome: Outcome) -> Ending:
    """Return what has come to an end."""
    assert outcome.ending is not None
    return outcome.ending


def finished(outcome: Outcome) -> Finished:
    """Return the game that is over."""
    game = ending(outcome).finished
    assert game is not None
    return game


# A game.


def test_game_opens_with_both_told_and_the_first_mover_asked() -> None:
    session = session_of(STEPPING_OUT, STEPPING_OUT)
    assert session.phase is Phase.BETWEEN
    assert session.begin(GAME, 0) == [
        (0, Started(GAME, FIRST, ("ann", "bob"))),
        (1, Started(GAME, SECOND, ("ann", "bob"))),
        (0, ToMove(GAME, 1, Board(), None)),
    ]
    assert (session.phase, session.round, session.to_move) == (Phase.PLAYING, 1, 0)
    board = Board().drop(3)
    assert move(session, 0, 3) == Outcome(
        [
            (0, Moved(GAME, FIRST, 3, board)),
            (1, Moved(GAME, FIRST, 3, board)),
            (1, ToMove(GAME, 2, board, None)),
        ]
    )
    assert session.show() == Shown(GAME, board)


@pytest.mark.parametrize(
    ("columns", "winner", "reason"),
    [
        (FIRST_WINS, FIRST, Reason.FOUR),
        (SECOND_WINS, SECOND, Reason.FOUR),
        (DRAWN, None, Reason.FULL),
    ],
)
def test_last_move_ends_the_game_and_is_told_with_the_end_alone(
    columns: str, winner: int | None, reason: Reason
) -> None:
    outcome = play(started(), columns)
    end = finished(outcome).as_event()
    assert (end.game, end.winner, end.reason, end.column) == (GAME, winner, reason, int(columns[-1]))
    assert (list(outcome.notes), ending(outcome).asked) == ([], None)


@pytest.mark.parametrize("counted", [True, False])
def test_result_has_who_played_and_how(counted: bool) -> None:
    players = Player("ann", HANGING_UP), Player("bob", HANGING_UP, counted=counted)
    session = Session(players, TERMS, 17, "round")
    for number, names in enumerate((["ann", "bob"], ["bob", "ann"]), 1):
        session.begin(GAME, number * 5.0)
        game = finished(play(session, FIRST_WINS, number * 5.0 + 1))
        assert [player.name for player in game.players] == names
        assert (game.game, game.series, game.table, game.round) == (GAME, 17, "round", number)
        assert (game.began, game.ended) == (number * 5.0, number * 5.0 + 1)
        assert ("".join(map(str, game.board.moves)), game.counted) == (FIRST_WINS, counted)


def test_no_game_ends_before_it_began() -> None:
    session = session_of(STEPPING_OUT, STEPPING_OUT)
    session.begin(GAME, 5.0)
    game = finished(session.leave(0, 4.9))
    assert (game.began, game.ended) == (5.0, 5.0)


# Rounds.


@every
@pytest.mark.parametrize("two", MANNERS.values(), ids=MANNERS)
def test_longer_wish_of_two_counts_the_rounds_and_first_move_swaps_with_each(
    manners: Manners, two: Manners
) -> None:
    session = session_of(manners, two)
    rounds = max(manners.rounds, two.rounds)
    for number in range(rounds):
        assert session.phase is Phase.BETWEEN
        notes, opener = session.begin(GAME, 0), number % 2
        assert (session.round, session.to_move) == (number + 1, opener)
        assert session.names == (("ann", "bob"), ("bob", "ann"))[opener]
        assert notes[0] == (opener, Started(GAME, FIRST, session.names))
        assert notes[2][0] == opener
        assert ending(play(session, FIRST_WINS)).broken is None
    assert session.phase is Phase.OVER


# Refused moves.


@every
@pytest.mark.parametrize(
    ("column", "objection"),
    [
        (None, Objection.NOT_A_COLUMN),
        (7, Objection.OUTSIDE),
        (-1, Objection.OUTSIDE),
        (10**40, Objection.OUTSIDE),
        (3, Objection.COLUMN_FULL),
    ],
)
def test_refusal_names_the_objection_and_the_message(
    manners: Manners, column: int | None, objection: Objection
) -> None:
    session = started(manners, manners, "333333")
    outcome = session.play(0, Play(column, 17), 0)
    assert isinstance(outcome, Outcome)
    assert outcome.notes[0] == (0, Refused(objection, 17, GAME))
    assert not [event for number, event in outcome.notes if number == 1 and isinstance(event, Refused)]


@pytest.mark.parametrize(
    ("column", "objection"),
    [
        (0, NOT_YOUR_TURN),
        (None, NOT_YOUR_TURN | Objection.NOT_A_COLUMN),
        (9, NOT_YOUR_TURN | Objection.OUTSIDE),
        (3, NOT_YOUR_TURN | Objection.COLUMN_FULL),
    ],
)
def test_refusal_names_all_that_stands_against_a_move(column: int | None, objection: Objection) -> None:
    assert move(started(columns="333333"), 1, column) == Outcome([(1, Refused(objection, 0, GAME))])


def test_refused_move_of_who_retries_leaves_board_and_clock_alone() -> None:
    session = asked(STEPPING_OUT, STANDING_BY)
    shown = session.show()
    for column in (7, -1, None):
        assert len(move(session, 0, column, 3).notes) == 1
    assert (session.show(), session.deadline, session.to_move) == (shown, 10, 0)


@pytest.mark.parametrize("manners", [STEPPING_OUT, STANDING_BY])
def test_move_out_of_turn_costs_nothing_where_illegal_moves_do_not_lose(manners: Manners) -> None:
    session = asked(manners, manners)
    assert move(session, 1, 0, 5) == Outcome([(1, Refused(NOT_YOUR_TURN, 0, GAME))])
    assert session.phase is Phase.PLAYING
    assert request_in(move(session, 0, 0, 6)).rest in (None, 10.0)


def test_illegal_column_costs_thinking_and_penalty_and_the_same_is_asked_again() -> None:
    session = asked(STANDING_BY, STANDING_BY, 100)
    outcome = move(session, 0, 7, 102)
    assert outcome == Outcome([(0, Refused(Objection.OUTSIDE, 0, GAME)), (0, ToMove(GAME, 2, Board(), 7.0))])
    assert session.deadline is None
    handed(session, request_in(outcome), 103)
    assert session.deadline == 110
    assert request_in(move(session, 0, 0, 103)).rest == 10  # the opponent's clock pays nothing


def test_penalty_that_uses_up_the_rest_is_a_time_loss_at_once() -> None:
    outcome = move(asked(STANDING_BY, STANDING_BY), 0, 7, 9)
    end = finished(outcome)
    assert (end.winner, end.reason, end.as_event().column) == (SECOND, Reason.TIME, None)
    assert list(outcome.notes) == [(0, Refused(Objection.OUTSIDE, 0, GAME))]
    assert (ending(outcome).broken, ending(outcome).asked) == (None, None)


@pytest.mark.parametrize(("number", "column"), [(0, None), (0, 7), (0, 3), (1, 0)])
@every
def test_illegal_move_forfeits_game_and_series_of_who_hangs_up(
    number: Number, column: int | None, manners: Manners
) -> None:
    players = (HANGING_UP, manners) if number == 0 else (manners, HANGING_UP)
    session = started(*players, "333333")
    outcome = move(session, number, column)
    end = finished(outcome).as_event()
    assert (end.winner, end.reason, end.column) == (other(number), Reason.ILLEGAL, None)
    assert session.phase is Phase.OVER
    assert (ending(outcome).broken, ending(outcome).asked) == ((number, Reason.ILLEGAL), 0)


# Time.


@pytest.mark.parametrize(
    ("one", "two", "rest", "flag"),
    [
        (STEPPING_OUT, STEPPING_OUT, None, 60),
        (HANGING_UP, STEPPING_OUT, None, 60),
        (STANDING_BY, STEPPING_OUT, 10, 10),
        (HANGING_UP, STANDING_BY, 10, 10),
    ],
)
def test_game_has_a_clock_where_one_player_wants_it(
    one: Manners, two: Manners, rest: float | None, flag: float
) -> None:
    session = session_of(one, two)
    request = request_in(session.begin(GAME, 0))
    assert (request.rest, handed(session, request, 0)) == (rest, flag)


def test_clock_runs_from_the_handing_over_to_the_reading() -> None:
    session = asked(STANDING_BY, STEPPING_OUT, 5)
    assert session.deadline == 15
    second = request_in(move(session, 0, 0, 7))
    assert (second.rest, session.deadline) == (10, None)
    assert handed(session, second, 20) == 30
    assert request_in(move(session, 1, 0, 24)).rest == 8


def test_request_starts_the_clock_once_and_while_it_is_open() -> None:
    session = session_of(HANGING_UP, STANDING_BY)
    first = request_in(session.begin(GAME, 0))
    handed(session, first, 0)
    assert handed(session, first, 5) is None
    assert session.deadline == 10
    fresh = request_in(move(session, 0, 0, 1))
    assert handed(session, first, 2) is None  # it was answered
    assert session.deadline is None
    assert handed(session, fresh, 3) == 13
    play(session, FIRST_WINS[1:])
    session.begin("00007-00000b", 0)
    assert handed(session, first, 2) is None  # it is of the round before
    last = request_in(move(session, 1, 0))
    session.leave(1, 0.0)
    assert handed(session, last, 2) is None
    assert session.deadline is None


def test_every_game_has_the_whole_budget() -> None:
    session = asked(HANGING_UP, STANDING_BY)
    play(session, FIRST_WINS, 5)
    assert request_in(session.begin(GAME, 0)).rest == 10


@every
@pytest.mark.parametrize("sleeper", MANNERS.values(), ids=MANNERS)
def test_sleeper_loses_the_round_and_who_hangs_up_the_series(sleeper: Manners, manners: Manners) -> None:
    session = asked(sleeper, manners)
    deadline = session.deadline
    assert deadline is not None
    for number, now in ((0, deadline - 0.1), (1, 1000)):
        assert session.flag(number, now) == Outcome()  # before its time, or for the wrong seat
    outcome = session.flag(0, deadline)
    end = finished(outcome)
    assert (end.winner, end.reason, ending(outcome).asked) == (SECOND, Reason.TIME, 0)
    is_broken = sleeper is HANGING_UP
    assert ending(outcome).broken == ((0, Reason.TIME) if is_broken else None)
    goes_on = not is_broken and manners is HANGING_UP
    assert session.phase is (Phase.BETWEEN if goes_on else Phase.OVER)
    if goes_on:
        session.begin(GAME, 0)
        assert ending(play(session, FIRST_WINS)).asked is None


def test_no_flag_falls_before_a_request_has_left_or_after_its_move() -> None:
    session = started(STANDING_BY, STANDING_BY)
    assert session.flag(0, 1000) == Outcome()
    session = asked(STANDING_BY, STANDING_BY)
    move(session, 0, 0, 10.4)  # which counts, as the flag has not fallen
    assert session.flag(0, 1000) == Outcome()
    assert request_in(move(session, 1, 0, 11)).rest == GRACE
    session.leave(0, 0.0)
    assert session.flag(1, 1000) == Outcome()


def test_late_winning_move_wins() -> None:
    session = started(STANDING_BY, STANDING_BY)
    handed(session, request_in(play(session, FIRST_WINS[:-1])), 0)
    assert finished(move(session, 0, 0, 11)).winner == FIRST


def test_result_has_how_long_each_side_thought() -> None:
    session = started(HANGING_UP, STANDING_BY, FIRST_WINS)
    now, outcome = 0.0, Outcome(session.begin(GAME, 0))
    for column in FIRST_WINS:
        handed(session, request_in(outcome), now)
        now += 1 if session.to_move == 1 else 0.25
        assert session.to_move is not None
        outcome = move(session, session.to_move, int(column), now)
    assert finished(outcome).thought == (4.0, 0.75)


# Leaving and stopping.


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("columns", ["", "3", "33", "330"])
@pytest.mark.parametrize("rounds", [0, 1])
def test_who_leaves_a_game_loses_it_once_both_have_moved(number: Number, columns: str, rounds: int) -> None:
    session = started(HANGING_UP, STEPPING_OUT)
    for _ in range(rounds):
        play(session, FIRST_WINS)
        session.begin(GAME, 0)
    play(session, columns)
    to_move, side = session.to_move, number ^ rounds
    outcome = session.leave(number, 0.0)
    end, is_lost = finished(outcome), len(columns) > 1
    assert (end.winner, end.reason) == ((1 - side, Reason.LEFT) if is_lost else (None, Reason.ABORTED))
    assert (end.leaver, end.round, end.counted) == (side, rounds + 1, is_lost)
    assert end.as_event().has_result == is_lost
    assert session.phase is Phase.OVER
    assert ending(outcome).broken == (number, Reason.LEFT)
    assert ending(outcome).asked == to_move


def test_who_leaves_between_rounds_ends_the_series_without_a_game() -> None:
    session = started(HANGING_UP, STEPPING_OUT, FIRST_WINS)
    assert session.leave(1, 0.0) == Outcome(ending=Ending(None, broken=(1, Reason.LEFT)))
    assert session.phase is Phase.OVER


@pytest.mark.parametrize("columns", ["3", FIRST_WINS])
def test_stop_cuts_off_the_game_that_is_on_without_a_winner_and_uncounted(columns: str) -> None:
    session = started(HANGING_UP, HANGING_UP, columns)
    game = session.stop(0.0)
    assert session.phase is Phase.OVER
    assert (game is None) == (columns == FIRST_WINS)
    assert game is None or (game.winner, game.reason, game.counted) == (None, Reason.STOPPED, False)


# Anything.


COMMAND = st.tuples(
    st.sampled_from((0, 1)),
    st.none() | st.integers(-1, 7),
    st.floats(0, 3),
    st.sampled_from(("hand", "keep", "flag")),
)
ANY_MANNERS = st.sampled_from([*MANNERS.values()])


@given(ANY_MANNERS, ANY_MANNERS, st.lists(COMMAND, max_size=60))
def test_any_move_is_played_or_refused_and_time_never_grows(
    one: Manners, two: Manners, commands: list[tuple[Number, int | None, float, str]]
) -> None:
    session = session_of(one, two)
    outcome = Outcome(session.begin(GAME, 0))
    rests: dict[Number, list[float]] = {0: [], 1: []}
    now = 0.0
    for number, column, seconds, way in commands:
        for to, event in outcome.notes:
            if isinstance(event, ToMove):
                assert to == session.to_move
                if event.rest is not None:
                    rests[to].append(event.rest)
                if way != "keep":
                    handed(session, event, now)
        now += seconds
        outcome = session.flag(session.to_move, now) if way == "flag" else Outcome()
        if session.phase is Phase.PLAYING:
            outcome = move(session, number, column, now)
            assert outcome.ending or isinstance(outcome.notes[0][1], Moved | Refused)
        assert (session.phase is Phase.PLAYING) == (outcome.ending is None)
        if outcome.ending is not None:
            assert isinstance(finished(outcome).as_event(), Ended)
            break
    for rest in rests.values():
        assert all(later <= sooner for sooner, later in pairwise(rest))
        assert all(seconds > 0 for seconds in rest)
