"""What an I32CFSP client asks for, and the words for what it is told. Whole games are in the transcripts."""

import pytest
from worlds.events import GAME, NAMES, Told, played
from worlds.events import told as messages_told

from adapters.client.contract import Farewell
from adapters.i32cfsp.messages import (
    AiGame,
    Blank,
    ClientMessage,
    Drop,
    Hello,
    Pop,
    ServerMessage,
    Welcome,
    Word,
)
from adapters.i32cfsp.translator import I32cfspTranslator
from gateway.game.board import FIRST, SECOND, Board, Side
from gateway.game.commands import Command, Enter, InLobby, Introduce, Nothing, Play
from gateway.game.events import (
    Dismissed,
    Ended,
    Entered,
    Introduced,
    Moved,
    Objection,
    Overlooked,
    Reason,
    Refused,
    Shown,
    Started,
    ToMove,
    Why,
)

START = Started(GAME, FIRST, NAMES)
RED, YELLOW = Word.WINNER_RED, Word.WINNER_YELLOW


def told(*events: Told) -> list[ServerMessage]:
    """Return what a client hears of `events` after its game began."""
    translator = I32cfspTranslator()
    messages_told(translator, START)
    return messages_told(translator, *events)


@pytest.mark.parametrize(
    ("message", "command"),
    [
        (Hello("Ann", "secret"), Introduce("Ann", True, 5)),
        (AiGame(), Enter(InLobby(), None, 5)),
        (AiGame(sized=False), Enter(InLobby(), None, 5)),
        (Drop(1), Play(0, 5)),
        (Drop(8), Play(7, 5)),
        (Pop(1), Play(None, 5)),
        (Blank(), Nothing(5)),
    ],
)
def test_message_asks_for_a_command(message: ClientMessage, command: Command) -> None:
    assert I32cfspTranslator().receive(message, 5) == command


def test_client_is_welcomed_by_its_name_and_hears_of_its_turn_alone() -> None:
    assert told(Introduced("Ann"), Entered("Ann")) == [Welcome("Ann")]
    assert told(ToMove(GAME, 1, Board(), None)) == [Word.READY]
    assert told(Shown(GAME, Board()), Overlooked(GAME), Dismissed(Why.SERIES_OVER)) == []
    assert I32cfspTranslator().farewell(Dismissed(Why.SERIES_OVER)) == Farewell()


def test_moves_are_the_client_s_and_the_opponent_s() -> None:
    assert told(Moved(GAME, FIRST, 3, played([3]))) == [Word.OKAY]
    assert told(Moved(GAME, SECOND, 0, played([3, 0]))) == [Drop(1)]


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        (Ended(GAME, played([0, 1, 0, 1, 0, 1, 0]), FIRST, Reason.FOUR, 0), [RED]),
        (Ended(GAME, played([6, 0, 1, 0, 1, 0, 1, 0]), SECOND, Reason.FOUR, 0), [Drop(1), YELLOW]),
        (Ended(GAME, played([6, 0]), None, Reason.FULL, 0), [Drop(1)]),
        (Ended(GAME, played([3, 3]), FIRST, Reason.LEFT, leaver=SECOND), [RED]),
        (Ended(GAME, played([3, 3]), SECOND, Reason.TIME), [YELLOW]),
        (Ended(GAME, Board(), None, Reason.ABORTED, leaver=SECOND), [RED]),
        (Ended(GAME, Board(), None, Reason.ABORTED, leaver=FIRST), [YELLOW]),
        (Ended(GAME, played([3, 3]), None, Reason.STOPPED), []),
    ],
)
def test_end_has_a_winner_unless_nobody_won(ended: Ended, words: list[ServerMessage]) -> None:
    assert told(ended) == words


@pytest.mark.parametrize("side", [FIRST, SECOND])
def test_red_is_the_first_mover_whoever_that_is(side: Side) -> None:
    translator = I32cfspTranslator()
    messages_told(translator, Started(GAME, side, NAMES))
    assert messages_told(translator, Ended(GAME, played([3]), FIRST, Reason.TIME)) == [RED]


def refusal(objections: Objection, *, in_game: bool) -> Refused:
    return Refused(objections, 1, GAME if in_game else None)


@pytest.mark.parametrize(
    ("objections", "in_game", "words"),
    [
        (Objection.OUTSIDE, True, [Word.INVALID, Word.READY]),
        (Objection.COLUMN_FULL, True, [Word.INVALID, Word.READY]),
        (Objection.NOT_A_COLUMN, True, [Word.INVALID, Word.READY]),
        (Objection.NOT_YOUR_TURN | Objection.OUTSIDE, True, [Word.ERROR]),
        (Objection.WAITING, False, [Word.ERROR]),
        (Objection.NAME_RESERVED, False, [Word.ERROR]),
    ],
)
def test_refusal_of_a_column_allows_another_and_any_other_is_an_error(
    objections: Objection, in_game: bool, words: list[Word]
) -> None:
    assert told(refusal(objections, in_game=in_game)) == words
