"""What a client's commands ask of the hub, and how each event is worded to it."""

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import Told, observed, refused
from trials import FEW

from adapters.client.contract import Farewell
from adapters.droidcon.codec import DroidconCodec
from adapters.droidcon.messages import Error, Join, Name, Put, ServerMessage, Word
from adapters.droidcon.translator import DroidconTranslator
from gateway.game.board import FIRST, SECOND, Board, Side, other
from gateway.game.commands import AtTable, Enter, InLobby, Introduce, Place, Play, Unfit, Wish
from gateway.game.events import (
    NOTHING,
    Dismissed,
    Ended,
    Entered,
    Event,
    Introduced,
    Moved,
    Objection,
    Overlooked,
    Reason,
    Shown,
    Started,
    ToMove,
    Why,
)
from gateway.game.manners import Afterwards, Illegal

GAME = "00007-00000a"

NAMES = ("ann", "bob")
PUT = Put(3)
JOIN = Join("green")


def played(columns: Iterable[int]) -> Board:
    board = Board()
    for column in columns:
        if not board.over and board.has_room(column):
            board = board.drop(column)
    return board


def joined(some: Iterable[Objection]) -> Objection:
    result = NOTHING
    for each in some:
        result |= each
    return result


sides: st.SearchStrategy[Side] = st.sampled_from([FIRST, SECOND])
boards = st.lists(st.integers(0, 6), max_size=42).map(played)
objections = st.lists(st.sampled_from(Objection)).map(joined)
client_messages = st.one_of(
    st.text().map(Name), st.text().map(Join), st.one_of(st.none(), st.integers()).map(Put)
)
events: st.SearchStrategy[Told] = st.one_of(
    st.builds(Introduced, st.text()),
    st.builds(Entered, st.text()),
    st.builds(Started, st.just(GAME), sides, st.just(NAMES)),
    st.builds(ToMove, st.just(GAME), st.integers(1), boards, st.one_of(st.none(), st.floats(0, 42))),
    st.builds(Moved, st.just(GAME), sides, st.integers(0, 6), boards),
    st.builds(Shown, st.just(GAME), boards),
    st.builds(refused, objections, st.one_of(client_messages, st.text(), st.none())),
    st.builds(
        Ended,
        st.just(GAME),
        boards,
        st.one_of(st.none(), sides),
        st.sampled_from(Reason),
        st.one_of(st.none(), st.integers(0, 6)),
    ),
    st.builds(Dismissed, st.sampled_from(Why), objections),
)


def told(*events: Told, side: Side | None = None) -> list[ServerMessage]:
    """What a client hears of `events`; with a `side`, after a game on that side began."""
    translator = DroidconTranslator()
    if side is not None:
        list(translator.observe(Started(GAME, side, NAMES)))
    return [message for event in events for message in observed(translator, event)]


# Manners.


def test_illegal_move_forfeits() -> None:
    assert DroidconTranslator().manners.illegal is Illegal.FORFEIT


def test_series_ends_with_a_hang_up() -> None:
    assert DroidconTranslator().manners.afterwards is Afterwards.HANG_UP


def test_series_has_four_rounds_unless_told_otherwise() -> None:
    assert DroidconTranslator().manners.rounds == 4
    assert DroidconTranslator(7).manners.rounds == 7


def test_client_brings_no_clock_and_shares_its_name() -> None:
    manners = DroidconTranslator().manners
    assert not manners.clocked
    assert not manners.unique_name
    assert manners.entry_limit == 300


# Commands.


def test_name_introduces() -> None:
    assert DroidconTranslator().receive(Name("Ann"), 5) == Introduce("Ann", True, 5)


@pytest.mark.parametrize("nick", ["TEST", "test", "TeSt"])
def test_games_of_a_tester_do_not_count(nick: str) -> None:
    assert DroidconTranslator().receive(Name(nick), 5) == Introduce(nick, False, 5)


@pytest.mark.parametrize(
    ("channel", "place"),
    [
        ("green", AtTable("green")),
        ("two words", AtTable("two words")),
        ("lobby", InLobby()),
        ("LoBBy", InLobby()),
        ("@Bob", InLobby(Wish("Bob", any_case=True))),
        ("@ bob", InLobby(Wish("bob", any_case=True))),
        ("@lobby", InLobby(Wish("lobby", any_case=True))),
    ],
)
def test_join_enters_under_the_name_given_before(channel: str, place: Place) -> None:
    assert DroidconTranslator().receive(Join(channel), 5) == Enter(place, None, 5)


def test_wish_that_names_nobody_asks_for_nothing() -> None:
    assert DroidconTranslator().receive(Join("@"), 5) == Unfit(5)


@given(st.one_of(st.none(), st.integers()))
def test_put_plays_whatever_column_it_names(column: int | None) -> None:
    assert DroidconTranslator().receive(Put(column), 5) == Play(column, 5)


@settings(max_examples=FEW)
@given(st.lists(events), client_messages)
def test_what_a_client_asks_for_does_not_depend_on_what_it_was_told(
    before: list[Told], message: Name | Join | Put
) -> None:
    translator = DroidconTranslator()
    for event in before:
        list(observed(translator, event))
    assert translator.receive(message) == DroidconTranslator().receive(message)


# Events of a game.


@pytest.mark.parametrize("event", [Introduced("ann"), Entered("ann")])
def test_what_was_asked_for_and_done_is_a_success(event: Event) -> None:
    assert told(event) == [Word.SUCCESS]


@given(sides)
def test_start_is_a_new_game_for_either_side(side: Side) -> None:
    assert told(Started(GAME, side, NAMES)) == [Word.NEW_GAME]


@given(boards, st.one_of(st.none(), st.floats(0, 42)))
def test_request_to_move_is_said_without_the_time(board: Board, rest: float | None) -> None:
    assert told(ToMove(GAME, 1, board, rest)) == [Word.YOUR_MOVE]


@given(sides, st.integers(0, 6))
def test_opponents_move_is_passed_on(side: Side, column: int) -> None:
    assert told(Moved(GAME, other(side), column, Board()), side=side) == [Put(column)]


@given(sides, st.integers(0, 6))
def test_own_move_is_not_answered(side: Side, column: int) -> None:
    assert told(Moved(GAME, side, column, Board()), side=side) == []


def test_side_is_that_of_the_latest_game() -> None:
    moved = Moved(GAME, FIRST, 3, Board())
    assert told(Started(GAME, SECOND, NAMES), moved, side=FIRST) == [Word.NEW_GAME, Put(3)]
    assert told(Started(GAME, FIRST, NAMES), moved, side=SECOND) == [Word.NEW_GAME]


@pytest.mark.parametrize(
    "event", [Shown(GAME, Board()), Overlooked(GAME), Dismissed(Why.STOPPED), Dismissed(Why.SERIES_OVER)]
)
def test_nothing_is_said_of_what_the_dialect_has_no_word_for(event: Event) -> None:
    assert told(event, side=FIRST) == []


WON_BY_FIRST = Ended(GAME, played([0, 1, 0, 1, 0, 1, 0]), FIRST, Reason.FOUR, 0)
WON_BY_SECOND = Ended(GAME, played([0, 1, 2, 1, 0, 1, 2, 1]), SECOND, Reason.FOUR, 1)
FULL = Ended(
    GAME, played([int(c) for c in "000000111111222222533333344444466666655555"]), None, Reason.FULL, 5
)


@pytest.mark.parametrize(
    ("ended", "side", "messages"),
    [
        (WON_BY_FIRST, FIRST, [Word.YOU_WON]),
        (WON_BY_FIRST, SECOND, [Put(0), Word.YOU_LOST]),
        (WON_BY_SECOND, SECOND, [Word.YOU_WON]),
        (WON_BY_SECOND, FIRST, [Put(1), Word.YOU_LOST]),
        (FULL, SECOND, [Word.DRAW]),
        (FULL, FIRST, [Put(5), Word.DRAW]),
    ],
)
def test_last_move_is_told_to_the_one_who_did_not_make_it(
    ended: Ended, side: Side, messages: list[ServerMessage]
) -> None:
    assert ended.board.over
    assert told(ended, side=side) == messages


@pytest.mark.parametrize("reason", [Reason.LEFT, Reason.TIME, Reason.ILLEGAL])
@given(boards, sides)
def test_end_without_a_move_is_one_word(reason: Reason, board: Board, winner: Side) -> None:
    ended = Ended(GAME, board, winner, reason)
    assert told(ended, side=winner) == [Word.YOU_WON]
    assert told(ended, side=other(winner)) == [Word.YOU_LOST]


@given(sides)
def test_aborted_game_is_told_as_won_by_who_stayed(leaver: Side) -> None:
    ended = Ended(GAME, Board(), None, Reason.ABORTED, leaver=leaver)
    assert told(ended, side=other(leaver)) == [Word.YOU_WON]
    assert told(ended, side=leaver) == [Word.YOU_LOST]


@given(sides, st.one_of(st.none(), sides))
def test_nobody_is_told_the_end_of_a_game_that_its_server_has_lost(side: Side, leaver: Side | None) -> None:
    assert told(Ended(GAME, Board(), None, Reason.STOPPED, leaver=leaver), side=side) == []


# Refusals.

PLAYING = Objection.PLAYING
WAITING = Objection.WAITING
NOT_ENTERED = Objection.NOT_ENTERED
NOT_A_COLUMN = Objection.NOT_A_COLUMN
OUTSIDE = Objection.OUTSIDE
COLUMN_FULL = Objection.COLUMN_FULL
NOT_YOUR_TURN = Objection.NOT_YOUR_TURN
NO_NAME = Objection.NO_NAME
TABLE_FULL = Objection.TABLE_FULL


@pytest.mark.parametrize(
    ("against", "error"),
    [
        (NOT_ENTERED, Error.NOT_JOINED_TO_CHANNEL),
        (NOT_ENTERED | NOT_A_COLUMN, Error.NOT_JOINED_TO_CHANNEL),
        (NOT_A_COLUMN, Error.WRONG_COLUMN_FORMAT),
        (NOT_A_COLUMN | NOT_YOUR_TURN, Error.WRONG_COLUMN_FORMAT),
        (OUTSIDE, Error.INVALID_COLUMN),
        (OUTSIDE | NOT_YOUR_TURN, Error.INVALID_COLUMN),
        (COLUMN_FULL, Error.COLUMN_IS_FULL),
        (COLUMN_FULL | NOT_YOUR_TURN, Error.COLUMN_IS_FULL),
        (NOT_YOUR_TURN, Error.NOT_YOUR_TURN),
    ],
)
def test_refused_put_is_an_error_and_its_loss_is_the_games(against: Objection, error: Error) -> None:
    assert told(refused(against, PUT), side=FIRST) == [error]


@pytest.mark.parametrize(
    ("against", "error"),
    [
        (WAITING, Error.NOT_YOUR_TURN),
        (WAITING | OUTSIDE, Error.NOT_YOUR_TURN),
        (WAITING | NOT_A_COLUMN, Error.WRONG_COLUMN_FORMAT),
    ],
)
def test_put_without_a_game_loses_though_there_is_none(against: Objection, error: Error) -> None:
    assert told(refused(against, PUT)) == [error, Word.YOU_LOST]


@pytest.mark.parametrize(
    ("against", "error"),
    [
        (NO_NAME, Error.NO_NAME_SET),
        (NO_NAME | TABLE_FULL, Error.NO_NAME_SET),
        (TABLE_FULL, Error.CHANNEL_IS_FULL),
        (TABLE_FULL | WAITING, Error.CHANNEL_IS_FULL),
        (TABLE_FULL | PLAYING, Error.CHANNEL_IS_FULL),
        (WAITING, Error.ALREADY_IN_CHANNEL),
        (PLAYING, Error.ALREADY_IN_CHANNEL),
    ],
)
def test_refused_join_is_an_error_and_no_loss(against: Objection, error: Error) -> None:
    assert told(refused(against, JOIN)) == [error]


@pytest.mark.parametrize("against", [Objection.NAME_RESERVED, Objection.TOO_LONG, Objection.TOKEN_WRONG])
def test_refused_name_is_an_invalid_command(against: Objection) -> None:
    assert told(refused(against, Name("aima"))) == [Error.INVALID_COMMAND]


@pytest.mark.parametrize("standing", [NOTHING, WAITING, PLAYING, NO_NAME])
def test_channel_that_is_too_long_is_an_invalid_command(standing: Objection) -> None:
    assert told(refused(standing | Objection.TOO_LONG, JOIN)) == [Error.INVALID_COMMAND]


@pytest.mark.parametrize("standing", [NOT_ENTERED, WAITING, PLAYING])
def test_wish_that_names_nobody_is_an_invalid_command_at_any_time(standing: Objection) -> None:
    assert told(refused(standing | Objection.UNFIT, Join("@"))) == [Error.INVALID_COMMAND]


@pytest.mark.parametrize("standing", [NOT_ENTERED, WAITING, PLAYING])
def test_unreadable_line_is_an_invalid_command_at_any_time(standing: Objection) -> None:
    assert told(refused(standing | Objection.UNREADABLE, "hello"), side=FIRST) == [Error.INVALID_COMMAND]


# Whatever comes.


@given(st.lists(events, max_size=30))
def test_events_in_any_order_are_worded_as_whole_lines(some: list[Told]) -> None:
    translator, codec = DroidconTranslator(), DroidconCodec()
    for event in some:
        for message in observed(translator, event):
            assert "\n" not in codec.encode(message)


@given(events, sides)
def test_no_event_takes_more_than_two_lines(event: Told, side: Side) -> None:
    is_refusal = isinstance(event, tuple)
    assert len(told(event, side=side)) <= (2 if is_refusal or isinstance(event, Ended) else 1)


@given(st.sampled_from(Why), objections)
def test_hanging_up_needs_no_words(why: Why, against: Objection) -> None:
    assert DroidconTranslator().farewell(Dismissed(why, against)) == Farewell()
