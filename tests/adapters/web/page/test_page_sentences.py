"""How a game ended, what a player does, and what standings count, in words."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from game_records import BEGAN, DRAW, FOUR, drawn, game

from adapters.web.page import sentences
from adapters.web.page.sentences import Part, plain
from adapters.web.page.timeline import timeline
from gateway.game.events import Objection, Reason, Spoken
from gateway.store.evidence import Both, recorded, stored, unpack
from gateway.store.presentation import outcome, refusal
from gateway.store.records import GameRecord, Participant
from gateway.store.statistics import Score

HOUSE = Participant("aima", "house", house=True)
PUT_9 = (0.5, "in", "PUT 9", Objection.OUTSIDE)
MADE = ((0.1, "in", "PUT 3", None), (0.3, "out", "PUT 3", None))
ILLEGAL = (*MADE, PUT_9, (0.6, "note", "", "lost by an illegal move"))
LEFT = (*MADE, PUT_9, (0.6, "note", "", "lost by leaving"))
LATE = (*MADE, PUT_9, (0.6, "note", "", "lost on time"))
HUNG_UP = ((0.1, "note", "", "hung up"), (0.2, "note", "", "lost by leaving"))
HEARD = ((0.1, "out", "genmove", None), (0.3, "in", "playmove 3", None))


def two(moves: str, winner: int | None, reason: Reason) -> GameRecord:
    """Return a game of ann, by Droidcon, against bob, by nac4."""
    players = (Participant("ann", "droidcon"), Participant("bob", "nac4"))
    return game(players=players, moves=moves, winner=winner, reason=reason)


def evidence(*both: Sequence[Spoken]) -> Both:
    first, second = (unpack(stored(recorded(each))) for each in both)
    return first, second


@pytest.mark.parametrize(
    ("record", "both", "why"),
    [
        (game(), (), "Move 7, in column 0, made four in a row."),
        (game(counted=False), (), "{} It does not count in the standings."),
        (drawn(), (), "The board is full, and neither player has four in a row."),
        (
            two("33", 1, Reason.TIME),
            (),
            "ann ran out of time before move 3. It thought for 120 ms in this game.",
        ),
        (
            two("33", 1, Reason.TIME),
            (LATE, HEARD),
            "ann ran out of time before move 3. It thought for 120 ms in this game."
            " Its message PUT 9 had been refused: outside the board.",
        ),
        (two("3", 0, Reason.LEFT), (), "bob left the game before move 2."),
        (two("", 1, Reason.LEFT), (HUNG_UP, ()), "ann left the game before move 1: hung up."),
        (
            two("33", 1, Reason.LEFT),
            (LEFT, HEARD),
            "ann left the game before move 3. Its message PUT 9 had been refused: outside the board.",
        ),
        (
            two("3", 0, Reason.ILLEGAL),
            (),
            "Move 2 of bob was illegal. A [nac4] player loses the game by an illegal move.",
        ),
        (
            two("33", 1, Reason.ILLEGAL),
            (ILLEGAL, HEARD),
            "At move 3 ann sent PUT 9, which was refused: outside the board. "
            "A [droidcon] player loses the game by an illegal move.",
        ),
        (two("3", None, Reason.ABORTED), (), "An aborted game has no winner."),
        (two("", None, Reason.STOPPED), (), "The server stopped the game, so it has no winner."),
    ],
)
def test_end_of_a_game_has_its_reason(record: GameRecord, both: Sequence[Sequence[Spoken]], why: str) -> None:
    found: Both = evidence(*both) if both else (None, None)

    def said(each: GameRecord, exchanges: Both) -> str:
        lines = timeline(each, exchanges)
        return plain(sentences.why(each, lines, refusal(each, exchanges), "[{}]".format))

    assert said(record, found) == why.format(said(replace(record, counted=True), (None, None)))


@pytest.mark.parametrize("record", [game(), two("3", 0, Reason.LEFT), two("3", 0, Reason.ILLEGAL), drawn()])
def test_title_names_who_won_or_lost_first(record: GameRecord) -> None:
    names = [player.name for player in record.players]
    assert sentences.headline(names, None) == f"{names[0]} plays {names[1]}"
    end = outcome(record)
    first, second = names[end.subject], names[1 - end.subject]
    assert sentences.headline(names, end) == f"{first} {end.verb} {second} {end.how}"


@pytest.mark.parametrize(
    ("record", "badges"),
    [
        (game(), ["four", "lost"]),
        (game(winner=1, moves=FOUR[1:]), ["lost", "four"]),
        (two("3", 0, Reason.TIME), ["won", "time"]),
        (two("3", 1, Reason.LEFT), ["left", "won"]),
        (two("3", 1, Reason.ILLEGAL), ["illegal", "won"]),
        (drawn(), ["drawn", "drawn"]),
        (two("3", None, Reason.ABORTED), ["", ""]),
        (two("3", None, Reason.STOPPED), ["", ""]),
    ],
)
def test_each_side_has_its_badge(record: GameRecord, badges: list[str]) -> None:
    assert [sentences.badge(record, 0), sentences.badge(record, 1)] == badges


@pytest.mark.parametrize(
    ("record", "is_new", "words"),
    [
        (game(), False, "as long as its option --keep-wire says"),
        (game(), True, "stored a moment after the result"),
        (two("", None, Reason.STOPPED), True, "of a game that the server stopped"),
        (game(players=(HOUSE, HOUSE)), True, "there is nothing to keep"),
        (game(players=(HOUSE, Participant("ann", "nac4"))), False, "--keep-wire"),
    ],
)
def test_page_says_why_nothing_is_kept(record: GameRecord, is_new: bool, words: str) -> None:
    assert words in sentences.unkept(record, is_new=is_new)


@pytest.mark.parametrize(
    ("table", "why", "text"),
    [
        (None, None, "in the lobby since 2023-11-14T22:13:20.000Z."),
        ("x", None, "at table x since 2023-11-14T22:13:20.000Z."),
        (None, ("absent", "Ada", None), "{} It wishes for Ada, who is not here."),
        (None, ("absent", "Ada", "ada"), "{} It wishes for Ada, who is not here; ada is."),
        ("x", ("alone", "x", None), "{} No other player is at that table."),
        ("x", ("namesake", "ann", None), "{} Another ann waits too, and two players of one name never meet."),
    ],
)
def test_player_that_waits_is_said_to_and_why(
    table: str | None, why: tuple[str, str, str | None] | None, text: str
) -> None:
    about = None if why is None else dict(zip(("cause", "name", "alike"), why, strict=True))
    alone = plain(sentences.waiting(table, BEGAN, None))
    expected = text.format(alone) if about else f"It has waited {text}"
    assert plain(sentences.waiting(table, BEGAN, about)) == expected


@pytest.mark.parametrize(("name", "opponent"), [("ann", "bob"), ("bob", "ann")])
def test_player_that_plays_is_said_to(name: str, opponent: str) -> None:
    on = {"game": "1-2", "players": [{"name": "ann"}, {"name": "bob"}], "reason": None}
    found = sentences.playing(on, name)
    assert plain(found) == f"It plays game 1-2 against {opponent}."
    assert Part("linked", opponent) in found
    assert plain(sentences.playing({**on, "reason": "four"}, name)).startswith("It has just played game 1-2")


@pytest.mark.parametrize(
    ("score", "points", "words"),
    [
        (Score(2, 2, 0), "2 of 2", "2 games that count"),
        (Score(0, 0, 0), "0 of 0", "0 games that count"),
        (Score(1, 0, 1), "½ of 1", "1 game that counts"),
        (Score(3, 1, 1), "1½ of 3", "3 games that count"),
        (Score(2000, 0, 0), "0 of 2000", "2,000 games that count"),
    ],
)
def test_score_is_worded(score: Score, points: str, words: str) -> None:
    assert (sentences.points_of(score), sentences.games_that_count(score)) == (points, words)


def test_results_are_counted() -> None:
    assert sentences.results(Score(2000, 1200, 1)) == "1,200 won, 1 drawn, 799 lost"


@pytest.mark.parametrize(
    ("players", "first_movers", "words"),
    [
        (0, Score(0, 0, 0), "no games"),
        (1, Score(1, 1, 0), "1 player, 1 game; first movers won 100 %"),
        (1200, Score(3, 1, 1), "1,200 players, 3 games; first movers won 33 %"),
    ],
)
def test_standings_are_counted(players: int, first_movers: Score, words: str) -> None:
    assert sentences.count(players, first_movers) == words


@pytest.mark.parametrize(
    ("least", "page", "words"),
    [
        (1, 1, "No player has one of these games."),
        (5, 1, "No player has 5 or more of these games."),
        (5, 2, "There are fewer players."),
    ],
)
def test_standings_without_anybody_say_why(least: int, page: int, words: str) -> None:
    assert sentences.nobody(least, page) == words


@pytest.mark.parametrize(
    ("merit", "is_everything", "words"),
    [
        ("rating", True, ""),
        ("points", True, " The place is by points: 1 for a won game, ½ for a drawn one."),
        ("share", False, " The place is by points a game. The rating is that of all games."),
    ],
)
def test_places_are_explained(merit: str, is_everything: bool, words: str) -> None:
    assert plain(sentences.places(merit, is_everything=is_everything)) == words


@pytest.mark.parametrize(
    ("addresses", "plays", "words"),
    [
        ([], True, ""),
        (["a"], False, "Point a bot at a (A)."),
        (["a", "b"], True, "Point a bot at a (A) or b (B), or play yourself."),
        (["a", "b", "c"], False, "Point a bot at a (A), b (B) or c (C)."),
    ],
)
def test_bots_are_pointed_at_each_port(addresses: list[str], plays: bool, words: str) -> None:
    assert plain(sentences.offer([(each, each.upper()) for each in addresses], plays=plays)) == words


@pytest.mark.parametrize(
    ("milliseconds", "text"), [(0, "0 ms"), (999.4, "999 ms"), (3_949, "3.9 s"), (245_000, "4:05")]
)
def test_thinking_time_is_worded(milliseconds: float, text: str) -> None:
    assert sentences.thought(milliseconds) == text


def test_drawn_game_is_one_of_a_full_board() -> None:
    assert sentences.result_for(drawn(moves=DRAW), 1) == "drawn"
