"""What a Droidcon client asks for, and the words for what it is told. Whole games are in the transcripts."""

import pytest
from worlds.events import GAME, NAMES, Told, played, refused
from worlds.events import told as messages_told

from adapters.client.contract import Farewell
from adapters.droidcon.messages import ClientMessage, Error, Join, Name, Put, ServerMessage, Word
from adapters.droidcon.translator import DroidconTranslator
from gateway.game.board import FIRST, SECOND, Board, Side, other
from gateway.game.commands import AtTable, Command, Enter, InLobby, Introduce, Play, Unfit, Wish
from gateway.game.events import (
    NOTHING,
    Dismissed,
    Ended,
    Entered,
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

PUT = Put(3)
JOIN = Join("green")
sides = pytest.mark.parametrize("side", [FIRST, SECOND])


def told(*events: Told, side: Side | None = None) -> list[ServerMessage]:
    """What a client hears of `events`; with a `side`, after a game on that side began."""
    translator = DroidconTranslator()
    if side is not None:
        messages_told(translator, Started(GAME, side, NAMES))
    return messages_told(translator, *events)


def wish(name: str) -> Enter:
    return Enter(InLobby(Wish(name, any_case=True)), None, 5)


@pytest.mark.parametrize(
    ("message", "command"),
    [
        (Name("Ann"), Introduce("Ann", True, 5)),
        *((Name(nick), Introduce(nick, False, 5)) for nick in ("TEST", "test", "TeSt")),
        (Join("green"), Enter(AtTable("green"), None, 5)),
        (Join("two words"), Enter(AtTable("two words"), None, 5)),
        (Join("LoBBy"), Enter(InLobby(), None, 5)),
        (Join("@Bob"), wish("Bob")),
        (Join("@ bob"), wish("bob")),
        (Join("@lobby"), wish("lobby")),
        (Join("@"), Unfit(5)),
        (Join("@ "), Unfit(5)),
        (Put(None), Play(None, 5)),
        (Put(-9), Play(-9, 5)),
    ],
)
def test_message_asks_for_something(message: ClientMessage, command: Command) -> None:
    assert DroidconTranslator().receive(message, 5) == command


def test_series_has_four_rounds_unless_told_otherwise() -> None:
    assert [each.manners.rounds for each in (DroidconTranslator(), DroidconTranslator(7))] == [4, 7]


@sides
def test_start_and_requests_are_said_and_the_opponents_moves_but_not_the_own(side: Side) -> None:
    translator = DroidconTranslator()
    for you in (other(side), side):  # the side is that of the latest game
        assert messages_told(translator, Started(GAME, you, NAMES)) == [Word.NEW_GAME]
    moves = [Moved(GAME, side, 2, Board()), Moved(GAME, other(side), 3, Board())]
    assert messages_told(translator, *moves, ToMove(GAME, 1, Board(), 9.0)) == [Put(3), Word.YOUR_MOVE]


def test_what_was_asked_for_and_done_is_a_success_and_the_rest_has_no_words() -> None:
    assert told(Introduced("ann"), Entered("ann")) == [Word.SUCCESS] * 2
    assert told(Shown(GAME, Board()), Overlooked(GAME), *map(Dismissed, Why), side=FIRST) == []
    assert DroidconTranslator().farewell(Dismissed(Why.STOPPED)) == Farewell()


BY_FIRST, BY_SECOND = played("0101010"), played("01210121")
FULL = played("000000111111222222533333344444466666655555")


@pytest.mark.parametrize(
    ("ended", "to_first", "to_second"),
    [
        (Ended(GAME, BY_FIRST, FIRST, Reason.FOUR, 0), [Word.YOU_WON], [Put(0), Word.YOU_LOST]),
        (Ended(GAME, BY_SECOND, SECOND, Reason.FOUR, 1), [Put(1), Word.YOU_LOST], [Word.YOU_WON]),
        (Ended(GAME, FULL, None, Reason.FULL, 5), [Put(5), Word.DRAW], [Word.DRAW]),
        *(
            (Ended(GAME, played("3"), SECOND, reason), [Word.YOU_LOST], [Word.YOU_WON])
            for reason in (Reason.LEFT, Reason.TIME, Reason.ILLEGAL)
        ),
        (Ended(GAME, Board(), None, Reason.ABORTED, leaver=FIRST), [Word.YOU_LOST], [Word.YOU_WON]),
        (Ended(GAME, Board(), None, Reason.STOPPED, leaver=FIRST), [], []),
        (Ended(GAME, Board(), None, Reason.STOPPED), [], []),
    ],
)
def test_end_is_a_word_behind_the_last_move_if_the_other_made_it(
    ended: Ended, to_first: list[ServerMessage], to_second: list[ServerMessage]
) -> None:
    assert ended.column is None or ended.board.over
    assert [told(ended, side=side) for side in (FIRST, SECOND)] == [to_first, to_second]


NOT_ENTERED, WAITING, PLAYING = Objection.NOT_ENTERED, Objection.WAITING, Objection.PLAYING
NOT_A_COLUMN, OUTSIDE, COLUMN_FULL = Objection.NOT_A_COLUMN, Objection.OUTSIDE, Objection.COLUMN_FULL
NOT_YOUR_TURN, NO_NAME, TABLE_FULL = Objection.NOT_YOUR_TURN, Objection.NO_NAME, Objection.TABLE_FULL


@pytest.mark.parametrize(
    ("against", "message", "answer"),
    [
        (NOT_ENTERED | NOT_A_COLUMN, PUT, [Error.NOT_JOINED_TO_CHANNEL]),
        (NOT_A_COLUMN | NOT_YOUR_TURN, PUT, [Error.WRONG_COLUMN_FORMAT]),
        (OUTSIDE | NOT_YOUR_TURN, PUT, [Error.INVALID_COLUMN]),
        (COLUMN_FULL | NOT_YOUR_TURN, PUT, [Error.COLUMN_IS_FULL]),
        (NOT_YOUR_TURN, PUT, [Error.NOT_YOUR_TURN]),
        # There is no game whose end would say that it is lost.
        (WAITING | OUTSIDE, PUT, [Error.NOT_YOUR_TURN, Word.YOU_LOST]),
        (WAITING | NOT_A_COLUMN, PUT, [Error.WRONG_COLUMN_FORMAT, Word.YOU_LOST]),
        (NO_NAME | TABLE_FULL, JOIN, [Error.NO_NAME_SET]),
        (TABLE_FULL | WAITING, JOIN, [Error.CHANNEL_IS_FULL]),
        (TABLE_FULL | PLAYING, JOIN, [Error.CHANNEL_IS_FULL]),
        (WAITING, JOIN, [Error.ALREADY_IN_CHANNEL]),
        (PLAYING, JOIN, [Error.ALREADY_IN_CHANNEL]),
        (Objection.NOT_AVAILABLE, JOIN, [Error.PLAYER_NOT_AVAILABLE]),
        (Objection.NAME_TAKEN, JOIN, [Error.INVALID_COMMAND]),
        *(
            (standing | more, message, [Error.INVALID_COMMAND])
            for standing in (NOTHING, NOT_ENTERED, NO_NAME, WAITING, PLAYING)
            for more, message in (
                (Objection.TOO_LONG, JOIN),
                (Objection.UNFIT, Join("@")),
                (Objection.UNREADABLE, "hello"),
                (Objection.NAME_RESERVED, Name("aima")),
                (Objection.TOKEN_WRONG, Name("ann")),
            )
        ),
    ],
)
def test_refusal_is_the_first_of_all_errors_that_apply(
    against: Objection, message: object, answer: list[ServerMessage]
) -> None:
    assert told(refused(against, message)) == answer
