import random
from collections.abc import Iterable
from functools import reduce
from operator import or_

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import Told, observed, refused

from adapters.arena.messages import (
    ClientMessage,
    Disconnected,
    Encoding,
    End,
    Ignored,
    Move,
    Other,
    Said,
    ServerMessage,
    Start,
    State,
    StateRequest,
)
from adapters.arena.translator import ArenaTranslator
from adapters.client.contract import Farewell
from gateway.game.board import CELLS, COLUMNS, FIRST, SECOND, Board, Side, other
from gateway.game.clock import Terms
from gateway.game.commands import HOUSE_PLAYERS, Ask, AtTable, Enter, InLobby, Play, Unfit, Unreadable, Wish
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
from gateway.hub.hub import Hub
from gateway.matchmaking.standard import LobbyAndTables

GAME = "00007-00000a"

ONLY_START = "Only start messages allowed in current state"
NO_ID = "You need to include an id"
WAITING = "Waiting for match"
UNKNOWN = "Unknown message type"
MALFORMED = "Malformed message"

SAID = Said('{"some": "map"}', Encoding.JSON)
START = Start(SAID, "ann")
MOVE = Move(SAID, 3)
STATE_REQUEST = StateRequest(SAID)
OTHER = Other(SAID)

NOT_ENTERED, PLAYING = Objection.NOT_ENTERED, Objection.PLAYING


def board_of(columns: Iterable[int]) -> Board:
    board = Board()
    for column in columns:
        board = board.drop(column)
    return board


def told(translator: ArenaTranslator, *events: Told) -> list[ServerMessage]:
    return [message for event in events for message in observed(translator, event)]


def started(you: Side) -> ArenaTranslator:
    translator = ArenaTranslator()
    told(translator, Entered("ann"), Started(GAME, you, ("ann", "bob")))
    return translator


def reason_for(message: object, objections: Objection) -> str:
    [ignored] = told(ArenaTranslator(), refused(objections, message))
    assert isinstance(ignored, Ignored)
    return ignored.reason


def place_of(translator: ArenaTranslator, start: Start) -> object:
    command = translator.receive(start)
    assert isinstance(command, Enter)
    return command.place


# What a client asks for.


def test_start_enters_under_its_id() -> None:
    assert ArenaTranslator().receive(START, 5) == Enter(InLobby(), "ann", 5)


def test_id_is_the_name_as_it_is_spelled() -> None:
    start = Start(SAID, " Ann\n\u2603 ")
    assert ArenaTranslator().receive(start, 5) == Enter(InLobby(), " Ann\n\u2603 ", 5)


def test_state_request_asks_and_other_maps_are_unfit() -> None:
    assert ArenaTranslator().receive(STATE_REQUEST, 5) == Ask(5)
    assert ArenaTranslator().receive(OTHER, 5) == Unfit(5)


@pytest.mark.parametrize("move", [0, 6, 7, -1, 10**30])
def test_move_plays_any_integer(move: int) -> None:
    message = Move(SAID, move)
    assert ArenaTranslator().receive(message, 5) == Play(move, 5)


@pytest.mark.parametrize("move", [None, "3", 3.0, 1.5, True, False, [3], {}])
def test_move_that_is_no_integer_plays_no_column(move: object) -> None:
    message = Move(SAID, move)
    assert ArenaTranslator().receive(message, 5) == Play(None, 5)


def test_against_is_a_wish_that_minds_the_case() -> None:
    assert place_of(ArenaTranslator(), Start(SAID, "ann", "Bob")) == InLobby(Wish("Bob"))


def test_against_null_is_nobody_and_against_empty_is_somebody() -> None:
    assert place_of(ArenaTranslator(), Start(SAID, "ann", None)) == InLobby()
    assert place_of(ArenaTranslator(), Start(SAID, "ann", "")) == InLobby(Wish(""))


def test_opponent_of_the_url_is_wished_for_by_a_start_that_names_none() -> None:
    translator = ArenaTranslator(None, "bob")
    assert place_of(translator, START) == InLobby(Wish("bob"))
    assert place_of(translator, Start(SAID, "ann", "eve")) == InLobby(Wish("eve"))


def test_table_of_a_start_goes_before_the_table_of_the_url() -> None:
    translator = ArenaTranslator("blue", None)
    assert place_of(translator, START) == AtTable("blue")
    assert place_of(translator, Start(SAID, "ann", table="red")) == AtTable("red")


@pytest.mark.parametrize("blank", [None, "", " \t"])
def test_blank_table_is_none(blank: str | None) -> None:
    start = Start(SAID, "ann", table=blank)
    assert place_of(ArenaTranslator(), start) == InLobby()
    assert place_of(ArenaTranslator("blue"), start) == AtTable("blue")


@pytest.mark.parametrize("table", ["blue", "lobby", "LOBBY"])
def test_table_goes_before_a_wish_wherever_the_two_are_named(table: str) -> None:
    place = InLobby() if table.lower() == "lobby" else AtTable(table)
    assert place_of(ArenaTranslator(table, "bob"), START) == place
    assert place_of(ArenaTranslator(table), Start(SAID, "ann", "bob")) == place
    assert place_of(ArenaTranslator(None, "bob"), Start(SAID, "ann", None, table)) == place
    assert place_of(ArenaTranslator(), Start(SAID, "ann", "bob", table)) == place


def test_receive_is_a_function_of_the_message_alone() -> None:
    translator = started(SECOND)
    before = [translator.receive(message) for message in (START, MOVE, STATE_REQUEST, OTHER)]
    told(translator, Moved(GAME, FIRST, 3, board_of([3])), refused(NOT_ENTERED, STATE_REQUEST))
    assert [translator.receive(message) for message in (START, MOVE, STATE_REQUEST, OTHER)] == before


def test_manners_let_illegal_moves_be_tried_again_and_step_out_after_a_game() -> None:
    manners = ArenaTranslator().manners
    assert (manners.illegal, manners.afterwards, manners.rounds) == (Illegal.RETRY, Afterwards.STEP_OUT, 1)
    assert manners.entry_limit == 300
    assert not manners.clocked


# What a start may be refused for.

NO_STRINGS: list[object] = [5, False, ["x"], {}]
BAD_STARTS: list[tuple[Start, str]] = [
    *((Start(SAID, id), NO_ID) for id in (None, "", "  \t", 5, 0, True, False, ["x"], {"a": 1}, 1.5)),
    *(
        (Start(SAID, name), f'"{name}" is a reserved id used for a reference player')
        for name in (*sorted(HOUSE_PLAYERS), "Random", "PERFECT", " aima ", "ai\0ma")
    ),
    *((Start(SAID, "ann", against), "against has to be an id or null") for against in NO_STRINGS),
    *((Start(SAID, "ann", None, table), "table has to be a string") for table in NO_STRINGS),
]


@pytest.mark.parametrize(("start", "reason"), BAD_STARTS)
def test_bad_start_is_unfit_and_told_what_is_wrong_with_it(start: Start, reason: str) -> None:
    assert ArenaTranslator().receive(start, 5) == Unfit(5)
    assert reason_for(start, NOT_ENTERED | Objection.UNFIT) == reason


@pytest.mark.parametrize(("start", "reason"), BAD_STARTS)
def test_bad_start_is_told_of_the_wait_or_the_game_first(start: Start, reason: str) -> None:
    assert reason_for(start, Objection.WAITING | Objection.UNFIT) == WAITING
    assert reason_for(start, PLAYING | Objection.UNFIT) == UNKNOWN


def test_faults_of_a_start_come_id_first_then_against_then_table() -> None:
    unfit = NOT_ENTERED | Objection.UNFIT
    assert reason_for(Start(SAID, None, 5, 5), unfit) == NO_ID
    assert "reserved" in reason_for(Start(SAID, "aima", 5, 5), unfit)
    assert reason_for(Start(SAID, "ann", 5, 5), unfit) == "against has to be an id or null"


def test_table_or_opponent_that_is_too_long_is_told_the_limit() -> None:
    words = "table and against have to be at most 256 characters"
    assert reason_for(Start(SAID, "ann"), Objection.TOO_LONG) == words


# What is ignored, and why.


@pytest.mark.parametrize(
    ("message", "objections", "reason"),
    [
        (MOVE, NOT_ENTERED, ONLY_START),
        (MOVE, NOT_ENTERED | Objection.NOT_A_COLUMN, ONLY_START),
        (STATE_REQUEST, NOT_ENTERED, ONLY_START),
        (OTHER, NOT_ENTERED | Objection.UNFIT, ONLY_START),
        (MOVE, Objection.WAITING, WAITING),
        (MOVE, Objection.WAITING | Objection.NOT_A_COLUMN, WAITING),
        (STATE_REQUEST, Objection.WAITING, WAITING),
        (OTHER, Objection.WAITING | Objection.UNFIT, WAITING),
        (START, Objection.WAITING, WAITING),
        (START, Objection.WAITING | Objection.TABLE_FULL, WAITING),
        (START, PLAYING, UNKNOWN),
        (START, PLAYING | Objection.TABLE_FULL, UNKNOWN),
        (OTHER, PLAYING | Objection.UNFIT, UNKNOWN),
        (START, Objection.TABLE_FULL, "Table is full"),
        (START, Objection.TOKEN_WRONG, "The token for this id is missing or wrong"),
        (START, Objection.NOT_REGISTERED, "Only registered ids are let in"),
        (START, Objection.BANNED, "This player is banned"),
        (START, Objection.WAITING | Objection.TOKEN_WRONG, WAITING),
        (START, PLAYING | Objection.TOKEN_WRONG, UNKNOWN),
        (MOVE, Objection.NOT_YOUR_TURN, "Not your turn"),
        (MOVE, Objection.NOT_YOUR_TURN | Objection.NOT_A_COLUMN, "Not your turn"),
        (MOVE, Objection.NOT_YOUR_TURN | Objection.OUTSIDE, "Not your turn"),
        (MOVE, Objection.NOT_YOUR_TURN | Objection.COLUMN_FULL, "Not your turn"),
        (MOVE, Objection.NOT_A_COLUMN, "Invalid move"),
        (MOVE, Objection.OUTSIDE, "Invalid move"),
        (MOVE, Objection.COLUMN_FULL, "Invalid move"),
    ],
)
def test_reason_is_the_first_of_all_that_apply(
    message: ClientMessage, objections: Objection, reason: str
) -> None:
    assert reason_for(message, objections) == reason


@pytest.mark.parametrize("standing", [NOT_ENTERED, Objection.WAITING, PLAYING])
def test_unreadable_text_is_malformed_in_whatever_state(standing: Objection) -> None:
    no = refused(standing | Objection.UNREADABLE, "{broken")
    assert told(ArenaTranslator(), no) == [Ignored("{broken", MALFORMED)]


@pytest.mark.parametrize("message", [START, MOVE, STATE_REQUEST, OTHER])
def test_ignored_carries_what_was_said(message: ClientMessage) -> None:
    [ignored] = told(ArenaTranslator(), refused(NOT_ENTERED, message))
    assert isinstance(ignored, Ignored)
    assert ignored.said is SAID


# The repeated state_request.

REPEATED = refused(NOT_ENTERED, STATE_REQUEST)


def test_state_request_outside_a_game_is_answered_once() -> None:
    translator = ArenaTranslator()
    assert len(told(translator, REPEATED)) == 1
    assert told(translator, REPEATED, REPEATED, refused(NOT_ENTERED, StateRequest(Said("{}")))) == []


@pytest.mark.parametrize(
    "between",
    [
        refused(NOT_ENTERED, MOVE),
        refused(NOT_ENTERED | Objection.UNREADABLE, "{broken"),
        refused(NOT_ENTERED | Objection.UNFIT, OTHER),
        Entered("ann"),
        Started(GAME, FIRST, ("ann", "bob")),
        Shown(GAME, Board()),
        Ended(GAME, Board(), SECOND, Reason.LEFT),
    ],
)
def test_state_request_is_answered_again_after_anything_else(between: Told) -> None:
    translator = ArenaTranslator()
    told(translator, REPEATED, REPEATED, between)
    assert len(told(translator, REPEATED)) == 1
    assert told(translator, REPEATED) == []


def test_nothing_is_said_of_a_move_for_a_game_that_was_over() -> None:
    assert told(started(FIRST), Overlooked(GAME)) == []


def test_state_request_in_a_game_is_answered_every_time() -> None:
    translator = started(FIRST)
    assert len(told(translator, Shown(GAME, Board()), Shown(GAME, Board()), Shown(GAME, Board()))) == 3


# What a game looks like.


@pytest.mark.parametrize("you", [FIRST, SECOND])
def test_game_starts_with_an_empty_state_and_nothing_for_the_request_to_move(you: Side) -> None:
    events = (Entered("ann"), Started(GAME, you, ("ann", "bob")), ToMove(GAME, 1, Board(), None))
    assert told(ArenaTranslator(), *events) == [State(1, you + 1, bytes(CELLS), ())]


@pytest.mark.parametrize("you", [FIRST, SECOND])
def test_every_move_is_told_with_its_column_to_both(you: Side) -> None:
    translator = started(you)
    [first] = told(translator, Moved(GAME, FIRST, 3, board_of([3])))
    [second] = told(translator, Moved(GAME, SECOND, 4, board_of([3, 4])))
    assert isinstance(first, State)
    assert isinstance(second, State)
    assert (first.turn, first.you, first.moves, first.last_move, first.winner) == (2, you + 1, (3,), 3, None)
    assert (second.turn, second.moves, second.last_move) == (1, (3, 4), 4)


def test_cells_go_column_by_column_from_the_bottom_up() -> None:
    [state] = told(started(FIRST), Shown(GAME, board_of([0, 0, 1, 6, 6])))
    assert isinstance(state, State)
    cells = [0] * CELLS
    cells[0], cells[1], cells[6], cells[36], cells[37] = 1, 2, 1, 2, 1
    assert state.cells == bytes(cells)


def test_shown_game_has_no_last_move() -> None:
    [state] = told(started(SECOND), Shown(GAME, board_of([3])))
    assert isinstance(state, State)
    assert (state.turn, state.you, state.last_move, state.winner) == (2, 2, None, None)


@pytest.mark.parametrize(
    ("reason", "column"), [(Reason.FOUR, 0), (Reason.TIME, None), (Reason.ILLEGAL, None)]
)
@pytest.mark.parametrize("winner", [FIRST, SECOND])
def test_result_is_told_by_a_state_with_a_winner_and_an_end(
    reason: Reason, column: int | None, winner: Side
) -> None:
    state, end = told(started(FIRST), Ended(GAME, board_of([0, 1]), winner, reason, column))
    assert isinstance(state, State)
    assert (state.turn, state.winner, state.last_move) == (0, winner + 1, column)
    assert end == End()


def test_draw_has_winner_0() -> None:
    state, end = told(started(FIRST), Ended(GAME, board_of([2]), None, Reason.FULL, 2))
    assert isinstance(state, State)
    assert (state.turn, state.winner, state.last_move) == (0, 0, 2)
    assert end == End()


@pytest.mark.parametrize("winner", [FIRST, SECOND])
def test_opponent_who_left_is_told_of_by_disconnected_alone(winner: Side) -> None:
    left = Ended(GAME, board_of([3]), winner, Reason.LEFT, leaver=other(winner))
    assert told(started(FIRST), left) == [Disconnected()]


def test_aborted_game_is_told_of_by_disconnected_alone() -> None:
    assert told(started(FIRST), Ended(GAME, Board(), None, Reason.ABORTED, leaver=SECOND)) == [Disconnected()]


def test_client_is_the_other_player_in_the_next_game() -> None:
    translator = started(FIRST)
    told(translator, Ended(GAME, Board(), FIRST, Reason.TIME))
    [state] = told(translator, Started(GAME, SECOND, ("bob", "ann")))
    assert isinstance(state, State)
    assert state.you == 2


@pytest.mark.parametrize("why", list(Why))
def test_close_code_says_why_the_server_hangs_up(why: Why) -> None:
    words = {
        Why.STOPPED: Farewell(1001, "server stops"),
        Why.FAULT: Farewell(1011, "internal error"),
        Why.SILENT: Farewell(1002, "start expected"),
    }
    assert ArenaTranslator().farewell(Dismissed(why)) == words.get(why, Farewell(1000))
    assert told(ArenaTranslator(), Dismissed(why)) == []


# Whatever happens.

objections = st.sets(st.sampled_from(list(Objection))).map(lambda flags: reduce(or_, flags, NOTHING))
anything = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers())
said = st.builds(Said, st.just("{}") | st.text(), st.sampled_from(Encoding) | st.none())
client_messages: st.SearchStrategy[ClientMessage] = st.one_of(
    st.builds(Start, said, anything | st.sampled_from(sorted(HOUSE_PLAYERS)), anything, anything),
    st.builds(Move, said, anything),
    st.builds(StateRequest, said),
    st.builds(Other, said),
)
sides: st.SearchStrategy[Side] = st.sampled_from((FIRST, SECOND))
boards = st.lists(st.integers(0, COLUMNS - 1), max_size=6).map(board_of)
events: st.SearchStrategy[Told] = st.one_of(
    st.builds(Introduced, st.text()),
    st.builds(Entered, st.text()),
    st.builds(Started, st.just(GAME), sides, st.tuples(st.text(), st.text())),
    st.builds(ToMove, st.just(GAME), st.integers(1), boards, st.none() | st.floats()),
    st.builds(Moved, st.just(GAME), sides, st.integers(0, 6), boards),
    st.builds(Shown, st.just(GAME), boards),
    st.builds(refused, objections, client_messages | st.text() | st.none()),
    st.builds(
        Ended,
        st.just(GAME),
        boards,
        sides | st.none(),
        st.sampled_from(Reason),
        st.integers(0, 6) | st.none(),
    ),
    st.builds(Dismissed, st.sampled_from(Why), objections),
)


@given(st.lists(events))
def test_no_order_of_events_is_too_much(happened: list[Told]) -> None:
    translator = ArenaTranslator()
    for message in told(translator, *happened):
        assert isinstance(message, State | Ignored | Disconnected | End)


@given(client_messages, st.text() | st.none(), st.text() | st.none())
def test_every_message_asks_for_something(
    message: ClientMessage, table: str | None, against: str | None
) -> None:
    command = ArenaTranslator(table, against).receive(message, 5)
    assert isinstance(command, Enter | Play | Ask | Unfit)
    assert command.to == 5


class Client:
    """A player of a real hub, whose events go through a translator."""

    is_reachable = True

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.translator = ArenaTranslator()
        self.heard: list[ServerMessage] = []
        self._asked: ClientMessage | str = ""
        self.seat = hub.open(self, self.translator.manners, 0.0)

    def deliver(self, event: Event) -> None:
        self.heard += self.translator.observe(event, self._asked)

    async def settle(self) -> None:
        raise AssertionError

    def say(self, message: ClientMessage | str) -> None:
        self._asked = message
        command = Unreadable() if isinstance(message, str) else self.translator.receive(message)
        self.hub.submit(self.seat, command, 0.0)


sentences = st.one_of(
    st.sampled_from([MOVE, STATE_REQUEST, OTHER, "{broken", Start(SAID)]),
    st.just(None),  # a start under the client's own id
    st.integers(-1, 7).map(lambda column: Move(SAID, column)),
)


@given(st.lists(st.tuples(st.integers(0, 1), sentences), max_size=80))
def test_whatever_two_clients_say_each_hears_of_whole_games_in_order(
    said: list[tuple[int, ClientMessage | str | None]],
) -> None:
    hub = Hub(Terms(), LobbyAndTables(random.Random(1)))
    clients = (Client(hub), Client(hub))
    for number, message in ((0, None), (1, None), *said):
        clients[number].say(message or Start(SAID, f"client {number}"))
    for client in clients:
        moves: tuple[int, ...] | None = None
        ended = False
        for state in (heard for heard in client.heard if not isinstance(heard, Ignored)):
            if isinstance(state, End):
                assert ended
                moves, ended = None, False
                continue
            assert isinstance(state, State)
            assert not ended
            if moves is None or state.moves != moves:
                assert state.moves == (() if moves is None else (*moves, state.last_move))
            assert state.turn == (0 if state.winner is not None else 1 + len(state.moves) % 2)
            moves, ended = state.moves, state.winner is not None
