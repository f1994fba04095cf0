"""What the page says of games, players and standings: which facts, and how they are counted."""

from collections.abc import Sequence
from urllib.parse import parse_qsl

import pytest
from game_records import BEGAN, DRAW, FOUR, drawn, game

from adapters.web.page import sentences
from adapters.web.page.sentences import Part, plain
from adapters.web.page.timeline import timeline
from gateway.game.events import Objection, Reason, Spoken
from gateway.store.evidence import Both, recorded, stored, unpack
from gateway.store.games import COUNTED
from gateway.store.presentation import outcome, refusal
from gateway.store.records import GameRecord, Participant
from gateway.store.statistics import Score
from gateway.store.totals import Rating

HOUSE = Participant("aima", "house", house=True)
PUT_9 = (0.5, "in", "PUT 9", Objection.OUTSIDE)
MADE = ((0.1, "in", "PUT 3", None), (0.3, "out", "PUT 3", None))
HUNG_UP = ((0.1, "note", "", "hung up"), (0.2, "note", "", "lost by leaving"))
HEARD = ((0.1, "out", "genmove", None), (0.3, "in", "playmove 3", None))


def two(moves: str, winner: int | None, reason: Reason) -> GameRecord:
    """Return a game of ann, by Droidcon, against bob, by nac4."""
    players = (Participant("ann", "droidcon"), Participant("bob", "nac4"))
    return game(players=players, moves=moves, winner=winner, reason=reason)


def lost(note: str) -> tuple[Spoken, ...]:
    """Return what was said on the side of ann, whose last message was refused."""
    return *MADE, PUT_9, (0.6, "note", "", note)


def evidence(*both: Sequence[Spoken]) -> Both:
    first, second = (unpack(stored(recorded(each))) for each in both)
    return first, second


@pytest.mark.parametrize(
    ("record", "both", "words"),
    [
        (game(), (), ["Move 7", "column 0"]),
        (game(counted=False), (), ["Move 7", "column 0", "count"]),
        (drawn(), (), ["full"]),
        (two("33", 1, Reason.TIME), (), ["ann", "ran out of time", "move 3"]),
        (
            two("33", 1, Reason.TIME),
            (lost("lost on time"), HEARD),
            ["ann", "made no move for 1.2 s after move 2", "PUT 9", "outside the board"],
        ),
        (two("3", 0, Reason.LEFT), (), ["bob", "move 2"]),
        (two("", 1, Reason.LEFT), (HUNG_UP, ()), ["ann", "move 1", "hung up"]),
        (
            two("33", 1, Reason.LEFT),
            (lost("lost by leaving"), HEARD),
            ["ann", "move 3", "PUT 9", "outside the board"],
        ),
        (two("3", 0, Reason.ILLEGAL), (), ["Move 2", "bob", "[nac4]"]),
        (
            two("33", 1, Reason.ILLEGAL),
            (lost("lost by an illegal move"), HEARD),
            ["move 3", "ann", "PUT 9", "outside the board", "[droidcon]"],
        ),
        (two("3", None, Reason.ABORTED), (), ["aborted"]),
        (two("", None, Reason.STOPPED), (), ["server"]),
        (two("33", None, Reason.REPLAYED), (), ["connection", "again"]),
    ],
)
def test_end_of_a_game_has_its_reason(
    record: GameRecord, both: Sequence[Sequence[Spoken]], words: list[str]
) -> None:
    found: Both = evidence(*both) if both else (None, None)
    why = plain(sentences.why(record, timeline(record, found), refusal(record, found), "[{}]".format))
    assert [each for each in words if each not in why] == []
    assert ("PUT 9" in why) == ("PUT 9" in words)
    assert ("count" in why) == ("count" in words)


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
        (two("33", None, Reason.REPLAYED), ["", ""]),
    ],
)
def test_each_side_has_its_badge(record: GameRecord, badges: list[str]) -> None:
    assert [sentences.badge(record, 0), sentences.badge(record, 1)] == badges


def test_page_says_why_nothing_is_kept() -> None:
    """In other words for a game that ended just now, one that was stopped, and one of two house players."""
    told = [
        sentences.unkept(game(), is_new=False),
        sentences.unkept(game(), is_new=True),
        sentences.unkept(two("", None, Reason.STOPPED), is_new=True),
        sentences.unkept(game(players=(HOUSE, HOUSE)), is_new=True),
    ]
    assert len({*told}) == 4
    assert "--keep-wire" in told[0]
    assert "--keep-wire" in sentences.unkept(game(players=(HOUSE, Participant("ann", "nac4"))), is_new=False)


@pytest.mark.parametrize(
    ("table", "why", "words"),
    [
        (None, None, ["lobby"]),
        ("x", None, ["table x"]),
        (None, ("absent", "Ada", None), ["lobby", "Ada"]),
        (None, ("absent", "Ada", "ada"), ["lobby", "Ada", "ada"]),
        ("x", ("alone", "x", None), ["table x", "No other player"]),
        ("x", ("namesake", "ann", None), ["table x", "ann"]),
    ],
)
def test_player_that_waits_is_said_to_and_why(
    table: str | None, why: tuple[str, str, str | None] | None, words: list[str]
) -> None:
    about = None if why is None else dict(zip(("cause", "name", "alike"), why, strict=True))
    said = plain(sentences.waiting(table, BEGAN, about))
    assert [each for each in (*words, "2023-11-14T22:13:20.000Z") if each not in said] == []


@pytest.mark.parametrize(("name", "opponent"), [("ann", "bob"), ("bob", "ann")])
def test_player_that_plays_is_said_to(name: str, opponent: str) -> None:
    on = {"game": "1-2", "players": [{"name": "ann"}, {"name": "bob"}], "reason": None}
    found, over = sentences.playing(on, name), sentences.playing({**on, "reason": "four"}, name)
    assert "1-2" in plain(found)
    assert Part("linked", opponent) in found
    assert plain(over) != plain(found)


@pytest.mark.parametrize(
    ("score", "points", "games"),
    [
        (Score(2, 2, 0), "2 of 2", "2 games"),
        (Score(0, 0, 0), "0 of 0", "0 games"),
        (Score(1, 0, 1), "½ of 1", "1 game "),
        (Score(3, 1, 1), "1½ of 3", "3 games"),
        (Score(2000, 0, 0), "0 of 2000", "2,000 games"),
    ],
)
def test_score_is_worded(score: Score, points: str, games: str) -> None:
    assert sentences.points_of(score) == points
    assert sentences.games_that_count(score).startswith(games)


def test_number_that_rounds_to_zero_has_no_sign() -> None:
    assert [sentences.signed(value) for value in (-0.04, 0.04, -0.06)] == ["0.0", "0.0", "\N{MINUS SIGN}0.1"]


def test_score_against_a_player_has_the_points_of_both() -> None:
    assert sentences.against(Score(4, 2, 1)) == "2½ \N{EN DASH} 1½"
    assert sentences.against(Score(2, 0, 0)) == "0 \N{EN DASH} 2"


def test_results_are_counted() -> None:
    assert sentences.results(Score(2000, 1200, 1)) == "1,200 won, 1 drawn, 799 lost"


def test_standings_without_anybody_say_why() -> None:
    assert len({sentences.nobody(least, page) for least, page in ((1, 1), (5, 1), (5, 2))}) == 3
    assert "5" in sentences.nobody(5, 1)


def test_places_are_explained_where_they_are_not_those_of_the_rating() -> None:
    assert plain(sentences.places("rating", is_everything=True)) == ""
    assert "points" in plain(sentences.places("points", is_everything=True))
    assert "rating" in plain(sentences.places("share", is_everything=False))


@pytest.mark.parametrize(
    ("addresses", "plays", "words"),
    [
        ([], True, ""),
        (["a"], False, "a (A)."),
        (["a", "b"], True, "a (A) or b (B), "),
        (["a", "b", "c"], False, "a (A), b (B) or c (C)."),
    ],
)
def test_bots_are_pointed_at_each_port(addresses: list[str], plays: bool, words: str) -> None:
    said = plain(sentences.offer([(each, each.upper()) for each in addresses], plays=plays))
    assert words in said
    assert bool(said) == bool(addresses)


@pytest.mark.parametrize(
    ("milliseconds", "text"), [(0, "0 ms"), (999.4, "999 ms"), (3_949, "3.9 s"), (245_000, "4:05")]
)
def test_thinking_time_is_worded(milliseconds: float, text: str) -> None:
    assert sentences.thought(milliseconds) == text


def test_place_is_an_ordinal() -> None:
    found = [sentences.ordinal(place) for place in (1, 2, 3, 4, 11, 12, 13, 21, 102, 113)]
    assert found == ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "113th"]


def test_drawn_game_is_one_of_a_full_board() -> None:
    assert sentences.result_for(drawn(moves=DRAW), 1) == "drawn"


@pytest.mark.parametrize(
    ("means", "words"),
    [
        ((25.0, 25.2), "By rating each of them wins 5 of 10."),
        ((20.0, 30.0), "By rating bob wins 8 of 10."),
        ((99.0, 10.0), "By rating ann wins more than 9 of 10."),
    ],
)
def test_ratings_say_how_often_the_stronger_player_wins(means: tuple[float, float], words: str) -> None:
    first, second = (Rating(mean, 2.0) for mean in means)
    assert plain(sentences.by_rating(("ann", "bob"), first, second)) == words


@pytest.mark.parametrize(
    ("minutes", "short", "in_sentence"),
    [
        (-1, "0 min", "0 min ago"),
        (59, "59 min", "59 min ago"),
        (60, "1 h", "1 h ago"),
        (1440, "yesterday", "yesterday"),
        (2880, "2 days", "2 days ago"),
        (14 * 1440 - 1, "13 days", "13 days ago"),
        (14 * 1440, "2023-10-31", "on 2023-10-31"),
    ],
)
def test_age_is_in_the_largest_unit_and_a_date_after_two_weeks(
    minutes: int, short: str, in_sentence: str
) -> None:
    at = 1_700_000_000_000 - 60_000 * minutes
    assert sentences.age(at, 1_700_000_000_000) == short
    assert sentences.ago(at, 1_700_000_000_000) == in_sentence


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (
            "player=ann&result=lost&since=yesterday&mistake=1",
            "lost by ann since yesterday, by a mistake of its own",
        ),
        ("player=ann&result=won&mistake=1", "won by ann, by a mistake of its opponent"),
        ("player=ann&moving=first&opponent=bob", "games of ann moving first against bob"),
        ("player=ann&result=drawn", "drawn by ann"),
        ("result=lost", "won by the second mover"),
        ("result=drawn&table=cup", "drawn at table cup"),
        ("mistake=1&table=lobby", "games in the lobby lost by a mistake"),
        ("reason=time&since=90m", "games that ended on time in the last 90 minutes"),
        ("reason=stopped&since=week", "games, stopped by the server in the last 7 days"),
        (
            "since=2026-11-01&until=2026-11-02&counted=1",
            "games since 2026-11-01 before 2026-11-02 that count",
        ),
    ],
)
def test_filters_of_games_read_as_one_sentence(query: str, words: str) -> None:
    given = dict(parse_qsl(query))
    assert plain(sentences.selection(given, 3, 1312)) == f"3 of 1,312: {words}"
    more = sentences.selection(given, COUNTED, 2 * COUNTED)
    assert plain(more).startswith("10,000 or more of 20,000: ")
