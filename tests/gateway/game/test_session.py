from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds.hub import DRAWN, FIRST_WINS, HANGING_UP, SECOND_WINS, STANDING_BY, STEPPING_OUT

from gateway.game.board import FIRST, SECOND, Board, other
from gateway.game.clock import GRACE, Terms
from gateway.game.commands import Play
from gateway.game.events import Ended, Event, Moved, Objection, Reason, Refused, Shown, Started, ToMove
from gateway.game.manners import Manners
from gateway.game.results import Ending, Finished, Note, Number, Outcome, Player
from gateway.game.session import Phase, Session

GAME = "00007-00000a"

TERMS = Terms(clock=10.0, penalty=1.0, idle=60.0)


def session_of(one: Manners, two: Manners) -> Session:
    return Session((Player("ann", one), Player("bob", two)), TERMS)


def started(one: Manners = STEPPING_OUT, two: Manners = STEPPING_OUT) -> Session:
    session = session_of(one, two)
    session.begin(GAME, 0)
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


def heard(outcome: Outcome, number: Number) -> list[Event]:
    return [event for to, event in outcome.notes if to == number]


def ending(outcome: Outcome) -> Ending:
    """Return what has come to an end."""
    assert outcome.ending is not None
    return outcome.ending


def finished(outcome: Outcome) -> Finished:
    """Return the game that is over."""
    game = ending(outcome).finished
    assert game is not None
    return game


def only_end(outcome: Outcome) -> Ended:
    """Return what both seats are told of the end of the game."""
    return finished(outcome).as_event()


# A game.


def test_a_game_opens_with_both_told_and_the_first_mover_asked() -> None:
    session = session_of(STEPPING_OUT, STEPPING_OUT)
    assert session.phase is Phase.BETWEEN
    assert session.begin(GAME, 0) == [
        (0, Started(GAME, FIRST, ("ann", "bob"))),
        (1, Started(GAME, SECOND, ("ann", "bob"))),
        (0, ToMove(GAME, 1, Board(), None)),
    ]
    assert (session.phase, session.round, session.to_move) == (Phase.PLAYING, 1, 0)


def test_a_legal_move_is_told_to_both_and_the_other_is_asked() -> None:
    session = started()
    board = Board().drop(3)
    outcome = move(session, 0, 3, 0)
    assert list(outcome.notes) == [
        (0, Moved(GAME, FIRST, 3, board)),
        (1, Moved(GAME, FIRST, 3, board)),
        (1, ToMove(GAME, 2, board, None)),
    ]
    assert outcome.ending is None


def test_four_in_a_row_ends_the_game() -> None:
    end = only_end(play(started(), FIRST_WINS))
    assert (end.winner, end.reason, end.column) == (FIRST, Reason.FOUR, 0)


def test_the_second_mover_can_win() -> None:
    assert only_end(play(started(), SECOND_WINS)).winner == SECOND


def test_a_full_board_ends_the_game_without_a_winner() -> None:
    end = only_end(play(started(), DRAWN))
    assert (end.winner, end.reason, end.column) == (None, Reason.FULL, int(DRAWN[-1]))


def test_the_last_move_is_told_with_the_end_alone() -> None:
    assert list(play(started(), FIRST_WINS).notes) == []


def test_asking_shows_the_board_as_it_stands() -> None:
    session = started()
    play(session, "34")
    assert session.show() == Shown(GAME, Board().drop(3).drop(4))


def test_a_result_tells_who_played_and_how() -> None:
    session = Session((Player("ann", STANDING_BY), Player("bob", STANDING_BY)), TERMS, 17, "round")
    session.begin(GAME, 5.0)
    game = finished(play(session, FIRST_WINS, 9.0))
    assert [player.name for player in game.players] == ["ann", "bob"]
    assert (game.winner, game.reason, game.round) == (FIRST, Reason.FOUR, 1)
    assert (game.series, game.table, game.began, game.ended) == (17, "round", 5.0, 9.0)
    assert "".join(map(str, game.board.moves)) == FIRST_WINS
    assert game.counted


def test_a_result_names_the_first_mover_first() -> None:
    session = started(HANGING_UP, HANGING_UP)
    play(session, FIRST_WINS)
    session.begin(GAME, 3.0)
    game = finished(play(session, FIRST_WINS, 4.0))
    assert [player.name for player in game.players] == ["bob", "ann"]
    assert (game.winner, game.round, game.began, game.ended) == (FIRST, 2, 3.0, 4.0)


def test_a_game_of_an_uncounted_player_does_not_count() -> None:
    session = Session((Player("ann", HANGING_UP), Player("TEST", HANGING_UP, counted=False)), TERMS)
    session.begin(GAME, 0)
    assert not finished(play(session, FIRST_WINS)).counted


def test_result_and_end_name_their_game() -> None:
    result = finished(play(started(), FIRST_WINS))
    assert (result.game, result.as_event().game) == (GAME, GAME)


# Rounds.


@pytest.mark.parametrize(
    ("one", "two", "rounds"),
    [
        (STEPPING_OUT, STEPPING_OUT, 1),
        (STANDING_BY, STEPPING_OUT, 1),
        (STANDING_BY, STANDING_BY, 1),
        (HANGING_UP, HANGING_UP, 4),
        (HANGING_UP, STANDING_BY, 4),
        (STEPPING_OUT, HANGING_UP, 4),
    ],
)
def test_the_longer_wish_of_two_counts_the_rounds(one: Manners, two: Manners, rounds: int) -> None:
    session = session_of(one, two)
    for number in range(rounds):
        assert session.phase is Phase.BETWEEN
        session.begin(GAME, 0)
        assert session.round == number + 1
        outcome = play(session, FIRST_WINS)
        assert ending(outcome).broken is None
    assert session.phase is Phase.OVER


def test_first_move_swaps_with_every_round() -> None:
    session = session_of(HANGING_UP, HANGING_UP)
    openers, names = [], []
    for _ in range(4):
        notes = session.begin(GAME, 0)
        openers.append(session.to_move)
        names.append(session.names)
        assert notes[0] == (session.to_move, Started(GAME, FIRST, session.names))
        assert notes[2][0] == session.to_move
        play(session, FIRST_WINS)
    assert openers == [0, 1, 0, 1]
    assert names == [("ann", "bob"), ("bob", "ann")] * 2


def test_the_winner_is_named_by_its_side_in_that_round() -> None:
    session = started(HANGING_UP, HANGING_UP)
    play(session, FIRST_WINS)
    session.begin(GAME, 0)
    play(session, "33")
    assert only_end(session.leave(0, 0.0)).winner == FIRST


# Refused moves.


@pytest.mark.parametrize("manners", [STEPPING_OUT, STANDING_BY, HANGING_UP])
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
def test_refusal_names_the_objection_and_names_the_message(
    manners: Manners, column: int | None, objection: Objection
) -> None:
    session = started(manners, manners)
    play(session, "333333")
    message = 17
    outcome = session.play(0, Play(column, message), 0)
    assert outcome.notes[0] == (0, Refused(objection, message, GAME))
    assert not [event for event in heard(outcome, 1) if isinstance(event, Refused)]


@pytest.mark.parametrize(
    ("column", "objection"),
    [
        (0, Objection.NOT_YOUR_TURN),
        (None, Objection.NOT_YOUR_TURN | Objection.NOT_A_COLUMN),
        (9, Objection.NOT_YOUR_TURN | Objection.OUTSIDE),
        (3, Objection.NOT_YOUR_TURN | Objection.COLUMN_FULL),
    ],
)
def test_refusal_names_all_that_stands_against_a_move(column: int | None, objection: Objection) -> None:
    session = started()
    play(session, "333333")
    assert move(session, 1, column, 0) == Outcome([(1, Refused(objection, 0, GAME))])


def test_refused_move_leaves_board_and_clock_alone() -> None:
    session = session_of(STEPPING_OUT, STANDING_BY)
    request = request_in(session.begin(GAME, 0))
    handed(session, request, 0)
    shown = session.show()
    for column in (7, -1, None):
        assert len(move(session, 0, column, 3).notes) == 1
    assert session.show() == shown
    assert session.deadline == 10
    assert session.to_move == 0


def test_out_of_turn_costs_nothing_with_a_player_who_retries_or_pays() -> None:
    for manners in (STEPPING_OUT, STANDING_BY):
        session = session_of(manners, manners)
        handed(session, request_in(session.begin(GAME, 0)), 0)
        assert move(session, 1, 0, 5) == Outcome([(1, Refused(Objection.NOT_YOUR_TURN, 0, GAME))])
        assert session.phase is Phase.PLAYING
        moved = move(session, 0, 0, 6)
        assert request_in(moved).rest in (None, 10.0)


def test_illegal_column_costs_thinking_and_penalty_and_the_same_is_asked_again() -> None:
    session = session_of(STANDING_BY, STANDING_BY)
    handed(session, request_in(session.begin(GAME, 0)), 100)
    outcome = move(session, 0, 7, 102)
    assert outcome == Outcome([(0, Refused(Objection.OUTSIDE, 0, GAME)), (0, ToMove(GAME, 2, Board(), 7.0))])
    assert session.deadline is None
    handed(session, request_in(outcome), 103)
    assert session.deadline == 110


def test_a_penalty_that_uses_up_the_rest_is_a_time_loss_at_once() -> None:
    session = session_of(STANDING_BY, STANDING_BY)
    handed(session, request_in(session.begin(GAME, 0)), 0)
    outcome = move(session, 0, 7, 9)
    end = only_end(outcome)
    assert (end.winner, end.reason, end.column) == (SECOND, Reason.TIME, None)
    assert list(outcome.notes) == [(0, Refused(Objection.OUTSIDE, 0, GAME))]
    assert ending(outcome).broken is None


def test_a_penalty_that_ends_the_game_leaves_no_move_owed() -> None:
    session = session_of(STANDING_BY, STANDING_BY)
    handed(session, request_in(session.begin(GAME, 0)), 0)
    assert ending(move(session, 0, 7, 9)).asked is None


def test_the_opponents_clock_pays_no_penalty() -> None:
    session = started(STANDING_BY, STANDING_BY)
    move(session, 0, 7, 0)
    assert request_in(move(session, 0, 0, 0)).rest == 10


@pytest.mark.parametrize("column", [None, 7, 3])
@pytest.mark.parametrize("opponent", [STEPPING_OUT, STANDING_BY, HANGING_UP])
def test_illegal_move_forfeits_game_and_series(column: int | None, opponent: Manners) -> None:
    session = started(HANGING_UP, opponent)
    play(session, "333333")
    outcome = move(session, 0, column, 0)
    end = only_end(outcome)
    assert (end.winner, end.reason, end.column) == (SECOND, Reason.ILLEGAL, None)
    assert session.phase is Phase.OVER
    assert ending(outcome).broken == (0, Reason.ILLEGAL)


def test_out_of_turn_forfeits_where_illegal_moves_do() -> None:
    session = started(HANGING_UP, HANGING_UP)
    outcome = move(session, 1, 0, 0)
    assert only_end(outcome).winner == FIRST
    assert ending(outcome).broken == (1, Reason.ILLEGAL)
    assert ending(outcome).asked == 0


def test_manners_stay_ones_own_whoever_the_opponent_is() -> None:
    session = started(STEPPING_OUT, HANGING_UP)
    refusal = move(session, 0, 7, 0)
    assert (len(refusal.notes), refusal.ending) == (1, None)
    play(session, "0")
    assert ending(move(session, 1, 7, 0)).broken == (1, Reason.ILLEGAL)


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
def test_a_game_has_a_clock_where_one_player_wants_it(
    one: Manners, two: Manners, rest: float | None, flag: float
) -> None:
    session = session_of(one, two)
    request = request_in(session.begin(GAME, 0))
    assert (request.rest, handed(session, request, 0)) == (rest, flag)


def test_the_clock_runs_from_the_handing_over_to_the_reading() -> None:
    session = session_of(STANDING_BY, STEPPING_OUT)
    request = request_in(session.begin(GAME, 0))
    assert session.deadline is None
    assert handed(session, request, 5) == 15
    second = request_in(move(session, 0, 0, 7))
    assert second.rest == 10
    assert handed(session, second, 20) == 30
    assert request_in(move(session, 1, 0, 24)).rest == 8
    assert session.to_move == 0


def test_a_request_that_is_answered_starts_no_clock() -> None:
    session = session_of(STANDING_BY, STANDING_BY)
    stale = request_in(session.begin(GAME, 0))
    fresh = request_in(move(session, 0, 0, 1))
    assert handed(session, stale, 2) is None
    assert session.deadline is None
    assert handed(session, fresh, 3) == 13


def test_a_request_withdrawn_by_the_end_starts_no_clock() -> None:
    session = session_of(HANGING_UP, STANDING_BY)
    request = request_in(session.begin(GAME, 0))
    session.leave(1, 0.0)
    assert handed(session, request, 2) is None
    assert session.deadline is None


def test_a_request_of_the_round_before_starts_no_clock() -> None:
    session = session_of(HANGING_UP, STANDING_BY)
    stale = request_in(session.begin(GAME, 0))
    play(session, FIRST_WINS)
    session.begin("00007-00000b", 0)
    assert handed(session, stale, 2) is None


def test_a_request_is_handed_over_once() -> None:
    session = session_of(STANDING_BY, STANDING_BY)
    request = request_in(session.begin(GAME, 0))
    handed(session, request, 0)
    assert handed(session, request, 5) is None
    assert session.deadline == 10


def test_every_game_has_the_whole_budget() -> None:
    session = session_of(HANGING_UP, STANDING_BY)
    handed(session, request_in(session.begin(GAME, 0)), 0)
    play(session, FIRST_WINS, 5)
    assert request_in(session.begin(GAME, 0)).rest == 10


@pytest.mark.parametrize("sleeper", [STEPPING_OUT, STANDING_BY])
def test_the_sleeper_loses_the_round_and_the_series_goes_on(sleeper: Manners) -> None:
    session = session_of(sleeper, HANGING_UP)
    deadline = handed(session, request_in(session.begin(GAME, 0)), 0)
    assert deadline is not None
    outcome = session.flag(0, deadline)
    end = only_end(outcome)
    assert (end.winner, end.reason) == (SECOND, Reason.TIME)
    assert session.phase is Phase.BETWEEN
    assert ending(outcome).broken is None


@pytest.mark.parametrize("opponent", [STEPPING_OUT, STANDING_BY, HANGING_UP])
def test_a_sleeper_who_hangs_up_ends_the_series(opponent: Manners) -> None:
    session = session_of(HANGING_UP, opponent)
    deadline = handed(session, request_in(session.begin(GAME, 0)), 0)
    assert deadline is not None
    outcome = session.flag(0, deadline)
    assert only_end(outcome).reason is Reason.TIME
    assert session.phase is Phase.OVER
    assert ending(outcome).broken == (0, Reason.TIME)


def test_no_flag_falls_before_its_time_or_for_the_wrong_seat() -> None:
    session = session_of(STANDING_BY, STANDING_BY)
    request = request_in(session.begin(GAME, 0))
    assert session.flag(0, 1000) == Outcome()
    handed(session, request, 0)
    assert session.flag(0, 9.9) == Outcome()
    assert session.flag(1, 1000) == Outcome()
    move(session, 0, 0, 10)
    assert session.flag(0, 1000) == Outcome()
    session.leave(0, 0.0)
    assert session.flag(1, 1000) == Outcome()


def test_a_move_read_after_the_deadline_but_before_the_flag_counts() -> None:
    session = session_of(STANDING_BY, STANDING_BY)
    handed(session, request_in(session.begin(GAME, 0)), 0)
    move(session, 0, 0, 10.4)
    assert session.phase is Phase.PLAYING
    assert request_in(move(session, 1, 0, 11)).rest == GRACE


def test_a_late_winning_move_wins() -> None:
    session = session_of(STANDING_BY, STANDING_BY)
    session.begin(GAME, 0)
    request = request_in(play(session, FIRST_WINS[:-1]))
    handed(session, request, 0)
    assert only_end(move(session, 0, 0, 11)).winner == FIRST


def test_a_result_tells_how_long_each_side_thought() -> None:
    session = session_of(HANGING_UP, STANDING_BY)
    session.begin(GAME, 0)
    play(session, FIRST_WINS)
    now = 0.0
    outcome = Outcome(session.begin(GAME, 0))
    for column in FIRST_WINS:
        handed(session, request_in(outcome), now)
        now += 1 if session.to_move == 1 else 0.25
        outcome = move(session, session.to_move, int(column), now)
    assert finished(outcome).thought == (4.0, 0.75)


# Leaving.


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("columns", ["33", "330"])
def test_who_leaves_a_game_loses_it(number: Number, columns: str) -> None:
    session = started(HANGING_UP, STEPPING_OUT)
    play(session, columns)
    outcome = session.leave(number, 0.0)
    end = only_end(outcome)
    assert (end.winner, end.reason, end.leaver) == (other(number), Reason.LEFT, number)
    assert session.phase is Phase.OVER
    assert ending(outcome).broken == (number, Reason.LEFT)


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("columns", ["", "3"])
def test_game_that_is_left_before_both_have_moved_is_aborted(number: Number, columns: str) -> None:
    session = started(HANGING_UP, STEPPING_OUT)
    play(session, columns)
    outcome = session.leave(number, 0.0)
    end = finished(outcome)
    assert (end.winner, end.reason, end.leaver) == (None, Reason.ABORTED, number)
    assert (len(end.board.moves), end.counted) == (len(columns), False)
    assert session.phase is Phase.OVER
    assert ending(outcome).broken == (number, Reason.LEFT)


@pytest.mark.parametrize(
    ("columns", "reason"), [("", Reason.ABORTED), ("3", Reason.ABORTED), ("33", Reason.LEFT)]
)
def test_each_round_is_aborted_or_lost_by_itself(columns: str, reason: Reason) -> None:
    session = started(HANGING_UP, HANGING_UP)
    play(session, FIRST_WINS)
    session.begin(GAME, 0)
    play(session, columns)
    end = finished(session.leave(0, 0.0))
    assert (end.round, end.reason, end.leaver) == (2, reason, SECOND)
    assert end.as_event().has_result == (reason is Reason.LEFT)


@pytest.mark.parametrize("column", [None, 7])
def test_only_leaving_aborts_a_game(column: int | None) -> None:
    session = started(HANGING_UP, HANGING_UP)
    assert only_end(session.play(0, Play(column), 0.0)).reason is Reason.ILLEGAL
    session = session_of(HANGING_UP, HANGING_UP)
    handed(session, request_in(session.begin(GAME, 0)), 0)
    assert only_end(session.flag(0, 300)).reason is Reason.TIME


def test_who_leaves_between_rounds_ends_the_series_without_a_game() -> None:
    session = started(HANGING_UP, STEPPING_OUT)
    play(session, FIRST_WINS)
    assert session.leave(1, 0.0) == Outcome(ending=Ending(None, broken=(1, Reason.LEFT)))
    assert session.phase is Phase.OVER


def test_a_seat_that_was_asked_owes_a_move_when_the_other_leaves() -> None:
    session = started()
    play(session, "3")
    assert ending(session.leave(0, 0.0)).asked == 1


def test_nobody_owes_a_move_after_the_last_one() -> None:
    session = started()
    assert ending(play(session, FIRST_WINS)).asked is None


def test_a_sleeper_owes_its_move() -> None:
    session = session_of(STANDING_BY, STANDING_BY)
    handed(session, request_in(session.begin(GAME, 0)), 0)
    assert ending(session.flag(0, 10)).asked == 0


def test_a_new_round_forgets_what_was_owed() -> None:
    session = session_of(STANDING_BY, HANGING_UP)
    handed(session, request_in(session.begin(GAME, 0)), 0)
    session.flag(0, 10)
    session.begin(GAME, 0)
    assert ending(play(session, FIRST_WINS)).asked is None


# Stopping.


def test_stop_cuts_a_game_off_without_a_winner_and_uncounted() -> None:
    session = started(HANGING_UP, HANGING_UP)
    play(session, "3")
    game = session.stop(0.0)
    assert session.phase is Phase.OVER
    assert game is not None
    assert (game.winner, game.reason) == (None, Reason.STOPPED)
    assert not game.counted


def test_stop_between_rounds_finishes_no_game() -> None:
    session = started(HANGING_UP, HANGING_UP)
    play(session, FIRST_WINS)
    assert session.stop(0.0) is None
    assert session.phase is Phase.OVER


# Anything.


COMMAND = st.tuples(
    st.sampled_from((0, 1)),
    st.none() | st.integers(-1, 7),
    st.floats(0, 3),
    st.sampled_from(("hand", "keep", "flag")),
)
MANNERS = st.sampled_from((STEPPING_OUT, STANDING_BY, HANGING_UP))


@given(MANNERS, MANNERS, st.lists(COMMAND, max_size=60))
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
            only_end(outcome)
            break
    for rest in rests.values():
        assert all(later <= sooner for sooner, later in pairwise(rest))
        assert all(seconds > 0 for seconds in rest)


def test_no_game_ends_before_it_began() -> None:
    session = session_of(STEPPING_OUT, STEPPING_OUT)
    session.begin(GAME, 5.0)
    finished = ending(session.leave(0, 4.9)).finished
    assert finished is not None
    assert (finished.began, finished.ended) == (5.0, 5.0)
