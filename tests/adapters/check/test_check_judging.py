"""What the record of a connection shows: tables of records, and of what is held against the bot."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from adapters.arena.messages import Move, Start, StateRequest
from adapters.arena.messages import Said as MapSaid
from adapters.check.checkup import Checkup
from adapters.check.judging import STUCK, judge
from adapters.check.record import (
    Began,
    Closed,
    Crashed,
    Late,
    Line,
    Mark,
    Overdue,
    Refusal,
    Returned,
    Task,
    What,
)
from adapters.check.scenarios import Conduct, Pace, Scenario, beat
from adapters.client.rules import ClientText, Topic, in_words
from adapters.dialects import DIALECTS
from adapters.droidcon.messages import Join, Name, Put
from adapters.nac4.messages import Connect, PlayMove
from gateway.game.board import FIRST, SECOND, Board
from gateway.game.events import Ended, Moved, Objection, Overlooked, Reason, Shown, ToMove
from gateway.game.manners import Afterwards

REQUIREMENTS = {each.name: each.requirements() for each in DIALECTS}
AFTERWARDS = {"nac4": Afterwards.STAND_BY, "arena": Afterwards.STEP_OUT, "droidcon": Afterwards.HANG_UP}


def scenario(topic: Topic = Topic.REPLY, conduct: Conduct = Conduct.PLAIN, **options) -> Scenario:
    return Scenario(topic, topic.name.lower(), beat, conduct=conduct, **options)


def began(place: int = 1, plays: Scenario | None = None, **options) -> Began:
    return Began(Task(plays or scenario()), place, place, **options)


def board(*columns: int) -> Board:
    made = Board()
    for column in columns:
        made = made.drop(column)
    return made


def asked(*columns: int) -> ToMove:
    return ToMove("g", 1, board(*columns), None)


def moved(*columns: int) -> Moved:
    made = board(*columns)
    return Moved("g", SECOND, columns[-1], made)


def ended(reason: Reason = Reason.FOUR, winner: int | None = FIRST, leaver: int | None = None) -> Ended:
    return Ended("g", Board(), winner, reason, leaver=leaver)


def refused(message: object, objections: Objection, text: str = "what it said") -> Refusal:
    return Refusal(ClientText(text, message), objections)


MAP = MapSaid("{}")
MOVE, START = Move(MAP), Start(MAP)
SHOWN = Shown("g", Board())
FULL = (0,) * 6
TURN = (asked(3), moved(3, 3))
IN_GAME = (Mark.ENTERED, began(), *TURN)
LOST = ended()
HANGS_UP = (Mark.HUNG_UP, ended(Reason.LEFT, FIRST, SECOND), Closed())
DISMISSED = (Mark.CLOSING, Mark.DISMISSED)


def checkup(dialect: str, *records: Sequence[What], scenarios: Sequence[Scenario] = (scenario(),)) -> Checkup:
    made = Checkup("ann", REQUIREMENTS[dialect].rules, scenarios, connections=len(records))
    for record in records:
        judge(record, REQUIREMENTS[dialect], AFTERWARDS[dialect], made)
    return made


def faults_of(dialect: str, *records: Sequence[What]) -> list[tuple[str, str, bool]]:
    """Return the clause of each fault, its words, and whether it is grave."""
    rules = REQUIREMENTS[dialect].rules
    faults = checkup(dialect, *records).conclude().faults
    return [(rules[each.topic].clause, each.seen, each.is_grave) for each in faults]


@pytest.mark.parametrize(
    ("dialect", "message", "objections", "clause"),
    [
        ("nac4", PlayMove(7), Objection.OUTSIDE, "5.3"),
        ("nac4", PlayMove(0), Objection.COLUMN_FULL, "5.3"),
        ("nac4", PlayMove(0), Objection.NOT_YOUR_TURN | Objection.COLUMN_FULL, "5.5"),
        ("nac4", PlayMove(0), Objection.WAITING, "5.5"),
        ("nac4", Connect("ann"), Objection.PLAYING, "5.6"),
        ("arena", MOVE, Objection.NOT_A_COLUMN, "3.3"),
        ("arena", MOVE, Objection.WAITING, "5.2"),
        ("arena", MOVE, Objection.NOT_YOUR_TURN, "5.10"),
        ("arena", MOVE, Objection.OUTSIDE, "5.11"),
        ("arena", START, Objection.UNFIT, "5.3"),
        ("droidcon", Put(None), Objection.NOT_A_COLUMN, "5.4"),
        ("droidcon", Put(9), Objection.OUTSIDE, "5.5"),
        ("droidcon", Put(0), Objection.COLUMN_FULL, "5.6"),
        ("droidcon", Put(1), Objection.NOT_YOUR_TURN, "5.7"),
        ("droidcon", Put(1), Objection.WAITING, "5.8"),
        ("droidcon", Name("aima"), Objection.NAME_RESERVED, "3.2"),
        ("droidcon", Join("x"), Objection.NO_NAME, "3.2"),
        ("droidcon", Join("x"), Objection.WAITING, "3.4"),
    ],
)
def test_message_that_is_refused_is_a_mistake_by_its_clause(dialect, message, objections, clause):
    words = f"it sent PUT 3, but {in_words(objections)}"
    assert faults_of(dialect, [*IN_GAME, refused(message, objections, "PUT 3\r\n")]) == [
        (clause, words, True)
    ]


@pytest.mark.parametrize(
    ("dialect", "text", "clause"),
    [
        ("nac4", "hello", "5.6"),
        ("nac4", "connect a.b", "3.2"),
        ("nac4", "playmove 1\nplaymove 2", "1.5"),
        ("arena", "{'type': 'move'}", "2.7"),
        ("droidcon", "HELLO", "2.10"),
    ],
)
def test_text_that_is_no_message_is_a_mistake_by_its_clause(dialect, text, clause):
    record = [*IN_GAME, refused(None, Objection.UNREADABLE, text)]
    assert faults_of(dialect, record) == [(clause, f"it sent '{text}', which is no message here", True)]


@pytest.mark.parametrize(
    ("dialect", "refusal"),
    [
        ("arena", refused(StateRequest(MAP), Objection.WAITING)),
        ("nac4", refused(Connect("ann"), Objection.TABLE_FULL)),
    ],
)
def test_what_any_bot_may_say_is_no_mistake(dialect, refusal):
    assert faults_of(dialect, [*IN_GAME, refusal]) == []


TWICE = refused(PlayMove(0), Objection.NOT_YOUR_TURN)
OUTSIDE = refused(PlayMove(7), Objection.OUTSIDE)
OVERLOOKED = Overlooked("g")
ARENA_FULL = refused(MOVE, Objection.COLUMN_FULL)
LATE_MOVE = refused(MOVE, Objection.NOT_ENTERED)


@pytest.mark.parametrize(
    ("dialect", "record", "clauses"),
    [
        ("nac4", [*IN_GAME, OUTSIDE, TWICE], ["5.3"]),
        ("nac4", [*IN_GAME, TWICE, LOST, began(2), TWICE], ["5.5", "5.5"]),
        ("nac4", [*IN_GAME, OUTSIDE, Overdue(Topic.REPLY, "no move came")], ["5.3"]),
        ("arena", [*IN_GAME, ARENA_FULL, ARENA_FULL], ["5.11"]),
        ("arena", [*IN_GAME, SHOWN, refused(MOVE, Objection.NOT_YOUR_TURN)], []),
        ("arena", [*IN_GAME, *[ARENA_FULL] * STUCK], ["5.11", "5.11"]),
    ],
    ids=[
        "one in a game",
        "another one in another game",
        "what follows",
        "remarked once",
        "excused",
        "for ever",
    ],
)
def test_one_mistake_is_told_once_for_each_game(dialect, record, clauses):
    assert [clause for clause, _, _ in faults_of(dialect, record)] == clauses


@pytest.mark.parametrize("conduct", [Conduct.PLAIN, Conduct.LEAVE_ASKED, Conduct.BOT_LOSES_ON_TIME])
def test_move_that_crosses_the_end_of_its_game_is_excused_where_a_bot_asks_for_each_game(conduct):
    record = [Mark.ENTERED, began(plays=scenario(conduct=conduct)), *TURN, asked(1, 2), LOST, LATE_MOVE]
    assert len(faults_of("arena", record)) == (conduct is Conduct.PLAIN)


@pytest.mark.parametrize(
    ("conduct", "whats", "clauses"),
    [
        (Conduct.LEAVE_ASKED, [TWICE], []),
        (Conduct.BOT_LOSES_ON_TIME, [TWICE], []),
        (Conduct.PLAIN, [TWICE], ["5.5"]),
        (Conduct.LEAVE_ASKED, [TWICE, TWICE], ["5.5"]),
        (Conduct.LEAVE_ASKED, [OVERLOOKED, TWICE], ["5.5"]),
        (Conduct.PLAIN, [OVERLOOKED, TWICE], ["5.5"]),
        (Conduct.LEAVE_ASKED, [OUTSIDE], ["5.3"]),
    ],
    ids=["left", "out of time", "nothing crosses", "one more", "dropped", "dropped anyway", "no column"],
)
def test_move_for_a_game_that_is_over_is_excused_once_in_the_next_one(conduct, whats, clauses):
    """The hub drops one that comes within half a second; a later one counts for the next game."""
    over = [Mark.ENTERED, began(plays=scenario(conduct=conduct)), *TURN, asked(1, 2), LOST]
    record = [*over, began(2), asked(), *whats, *TURN]
    assert [clause for clause, _, _ in faults_of("nac4", record)] == clauses


def stalls(*whats: What, place: int = 2, plays: Scenario | None = None, **options) -> list[What]:
    """Return the record of a bot that does not go on in a game."""
    return [Mark.ENTERED, began(place, plays, **options), *whats, Overdue(Topic.REPLY, "no move came")]


@pytest.mark.parametrize(
    ("record", "topic"),
    [
        (stalls(asked(), place=1), Topic.OPENING),
        (stalls(*TURN, asked(3, 3, 3), place=1), Topic.REPLY),
        (stalls(*TURN, asked(*FULL), place=1), Topic.FULL),
        (stalls(*TURN, place=1, plays=scenario(Topic.SPLIT, pace=Pace.BYTES)), Topic.SPLIT),
        (stalls(*TURN, Mark.ODD, place=1, plays=scenario(Topic.SLOW)), Topic.SLOW),
        (stalls(*TURN, place=1, plays=scenario(Topic.SLOW)), Topic.REPLY),
        (stalls(*TURN, place=1, plays=scenario(Topic.WAIT, Conduct.COME_LATE)), Topic.WAIT),
    ],
)
def test_bot_that_does_not_go_on_does_not_cope_with_what_is_odd_about_the_game(record, topic):
    assert checkup("nac4", record).faults == []  # it is played again first
    again = checkup("nac4", record, scenarios=[])
    task = again.next_task(is_first=True)
    assert task is not None
    assert task.suspected is not None
    assert task.suspected.topic is topic
    assert task.was_first


def test_bot_that_stops_where_its_move_was_refused_plays_full_columns_also_in_a_further_game():
    refusal = refused(PlayMove(0), Objection.COLUMN_FULL)
    record = [*IN_GAME, LOST, began(2), *TURN, SHOWN, refusal, *HANGS_UP]
    assert faults_of("nac4", record) == [("5.3", "it hung up before the game was over", True)]


@pytest.mark.parametrize(("dialect", "is_grave"), [("nac4", False), ("droidcon", True)])
def test_bot_that_leaves_between_two_games_is_only_remarked_unless_it_breaks_a_series(dialect, is_grave):
    record = [*IN_GAME, LOST, began(2), *HANGS_UP]
    ((_, seen, found),) = faults_of(dialect, record)
    assert (seen, found) == ("it hung up when the next game had begun", is_grave)


def test_bot_that_crashes_between_two_games_is_wrong_where_one_that_leaves_is_not():
    record = [*IN_GAME, LOST, began(2), *HANGS_UP, Crashed("status 1")]
    ((_, seen, is_grave),) = faults_of("nac4", record)
    assert (seen, is_grave) == ("it crashed when the next game had begun: status 1", True)


@pytest.mark.parametrize(
    ("record", "seen"),
    [
        ([Closed()], [("3.1", "it hung up before it had asked for a game", True)]),
        ([Overdue(Topic.ENTRY, "it asked for no game")], [("3.1", "it asked for no game", True)]),
        (
            [Overdue(Topic.ENTRY, "it asked for no game", b"connect")],
            [("1.5", "it asked for no game, only 'connect' without an end", True)],
        ),
        (
            [*IN_GAME, *DISMISSED, Closed(has_hung_up=False, limit=20.0)],
            [("1.11", "its end was still open after 20 s", True)],
        ),
        ([*IN_GAME, *DISMISSED, Closed(pings=1)], [("1.1", "no pong came", True)]),
        ([*IN_GAME, *DISMISSED, Closed(pings=1, has_ponged=True)], []),
        ([*IN_GAME, Late(7.0), LOST, *DISMISSED, Closed()], []),
        ([*IN_GAME, LOST, Mark.HUNG_UP, Closed()], []),
        ([*IN_GAME, LOST, Overdue(None, "it asked for no other game")], []),
        (
            [*IN_GAME, LOST, Mark.HUNG_UP, Closed(), Crashed("status 1")],
            [("5.9", "it crashed after the game: status 1", True)],
        ),
        (
            [*IN_GAME, LOST, Mark.ENTERED, Mark.DECLINED, Overdue(Topic.REFUSED, "it said nothing more")],
            [("4.3", "it said nothing more", False)],
        ),
    ],
)
def test_what_a_bot_does_outside_of_games(record, seen):
    assert faults_of("nac4", record) == seen


@pytest.mark.parametrize(
    ("record", "topics"),
    [
        ([Mark.ENTERED, began(), asked(), moved(1)], {Topic.ENTRY, Topic.OPENING}),
        ([*IN_GAME, LOST, began(2), *TURN], {Topic.ENTRY, Topic.REPLY, Topic.NEXT, Topic.LOSS}),
        ([*IN_GAME, ended(winner=SECOND), Mark.ENTERED], {Topic.ENTRY, Topic.REPLY, Topic.WIN}),
        ([*IN_GAME, ended(Reason.FULL, None), Mark.ENTERED], {Topic.ENTRY, Topic.REPLY, Topic.DRAW}),
        (
            [*IN_GAME, asked(*FULL), moved(*FULL, 1), LOST, Mark.ENTERED],
            {Topic.ENTRY, Topic.REPLY, Topic.FULL, Topic.LOSS},
        ),
        (
            [*IN_GAME, *DISMISSED, Closed(1, has_ponged=True)],
            {Topic.ENTRY, Topic.REPLY, Topic.PING, Topic.CLOSE},
        ),
        ([Mark.ENTERED, Mark.DECLINED, Mark.HUNG_UP, Closed()], {Topic.ENTRY, Topic.REFUSED}),
        ([Mark.ENTERED, Mark.DECLINED, Mark.ENTERED], {Topic.ENTRY, Topic.REFUSED}),
    ],
)
def test_what_a_bot_does_right(record, topics):
    assert checkup("nac4", record).rights == {Topic.TRANSPORT, *topics}


def test_bot_that_hangs_up_while_it_waits_for_an_opponent_does_not_cope_with_that():
    record = [Mark.ENTERED, Mark.KEPT_WAITING, Mark.HUNG_UP, Closed()]
    late = scenario(Topic.WAIT, Conduct.COME_LATE)
    (fault,) = checkup("nac4", record, record, scenarios=[late]).conclude().faults
    assert (fault.topic, fault.words) == (Topic.WAIT, "it hung up while it waited for an opponent")


def test_bot_that_the_original_s_words_confuse_plays_the_next_game_again():
    original = scenario(Topic.QUIRK, Conduct.LEAVE, as_original=True)
    record = [Mark.ENTERED, began(plays=original), *TURN, LOST, Mark.ENTERED, began(2), *HANGS_UP]
    found = checkup("arena", record, scenarios=[])
    assert found.faults == []
    task = found.next_task(is_first=False)
    assert task is not None
    assert (task.spoiled, task.suspected) == (1, None)


def test_game_lost_on_time_or_by_an_illegal_move_is_held_against_the_bot_as_what_it_is():
    out_of_time = checkup("nac4", [*IN_GAME, ended(Reason.TIME)], scenarios=[])
    task = out_of_time.next_task(is_first=True)
    assert task is not None
    assert task.suspected is not None
    assert task.suspected.words == "it did not move before its time was up"
    wanted = scenario(Topic.TIME, Conduct.BOT_LOSES_ON_TIME)
    record = [Mark.ENTERED, began(plays=wanted), *TURN, ended(Reason.TIME), began(2), *TURN]
    assert Topic.TIME in checkup("nac4", record).rights
    forfeited = checkup("droidcon", [*IN_GAME, refused(Put(9), Objection.OUTSIDE), ended(Reason.ILLEGAL)])
    assert [each.topic for each in forfeited.faults] == [Topic.COLUMN]
    assert forfeited.next_task(is_first=True) is not None  # it was cut short


def test_fault_shows_what_came_before_it_and_in_which_game():
    lines = [Line(number, "->", f"{number}" + "x" * 200 * (number == 2)) for number in range(20)]
    record = [*lines[:2], *IN_GAME, *lines[2:], OUTSIDE, Line(99.0, "<-", "and so on")]
    (fault,) = checkup("nac4", record).faults
    assert fault.scenario == "reply"
    assert len(fault.exchange) == 14
    assert fault.exchange[-1].split() == ["19000", "->", "19"]
    first = replace(lines[2], way="--")
    assert str(first) == f"   2000  --  2{'x' * 159}... (201 characters)"


CUT = [Mark.ENTERED, began(plays=scenario(Topic.BACK, Conduct.CUT)), *TURN, asked(3, 3, 3, 3), Mark.CUT]
AWAY = Overdue(Topic.BACK, "it did not come back within 10 s")
BACK = Returned(0.42)


@pytest.mark.parametrize(
    ("record", "seen"),
    [
        ([AWAY], "it did not come back within 10 s"),
        ([AWAY, Crashed("status 1")], "it did not come back: status 1"),
        ([BACK, Overdue(Topic.REPLY, "no move came")], "it came back after 0.4 s, but no move came"),
        ([BACK, *HANGS_UP], "it came back after 0.4 s, but it hung up before the game was over"),
        (
            [BACK, *HANGS_UP, Crashed("status 1")],
            "it came back after 0.4 s, but it hung up before the game was over",
        ),
        ([BACK, Late(7.0), ended(Reason.TIME)], "it came back after 0.4 s, but its time was up"),
        ([BACK, TWICE, ended(Reason.ILLEGAL)], "it came back after 0.4 s, but it made an illegal move"),
        ([BACK, Closed()], "it came back after 0.4 s, but it did not play the game to its end"),
        ([BACK, Overdue(None, "nothing"), Closed()], "it came back after 0.4 s, but nothing"),
    ],
)
def test_bot_that_does_not_go_on_after_its_connection_was_cut_is_only_remarked(record, seen):
    found = checkup("nac4", [*CUT, *record], scenarios=[])
    assert [(each.topic, each.seen, each.is_grave) for each in found.conclude().faults] == [
        (Topic.BACK, seen, False)
    ]
    assert found.back_after is None
    assert not found.plays_last


def test_bot_that_plays_the_game_to_its_end_after_its_connection_was_cut_has_come_back():
    record = [*CUT, BACK, asked(3, 3, 3, 3), TWICE, moved(3, 3, 3, 3, 0), LOST, began(2), TWICE, Closed()]
    found = checkup("nac4", record)
    assert (found.faults, found.back_after) == ([], 0.42)
    assert Topic.BACK in found.rights


def test_check_is_not_over_while_it_is_not_known_whether_a_bot_comes_back():
    for record, is_on in (([], True), ([BACK], True), ([AWAY], False), ([BACK, LOST], False)):
        assert checkup("nac4", [*CUT, *record], scenarios=[]).plays_last == is_on
