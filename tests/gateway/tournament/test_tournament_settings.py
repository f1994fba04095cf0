"""The file of a tournament: its keys and defaults, and the one line that says what is wrong with it."""

import tomllib
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.tournament.settings import EXAMPLE, LONGEST, MOST_PLAYERS, Settings, parse

SMALLEST = 'name = "cup"\nformat = "round-robin"\n'
SWISS = 'name = "cup"\nformat = "swiss"\n'
KNOCKOUT = 'name = "cup"\nformat = "knockout"\n'

NO_NAME = "not a name: it has to be a text in quotes, without blanks around it"
TOO_FAR = "start: not a time from the year 2000 to 9998"
NO_TIME = "start: not a time with a zone, such as 2026-11-28T10:00:00+01:00, without quotes"

BAD = [
    ("", "the key name is missing; c4gateway tournament new --example shows a file"),
    ('name = "cup"', "the key format is missing; c4gateway tournament new --example shows a file"),
    ("name = cup", "Invalid value (at line 1, column 8)"),
    (SMALLEST + 'name = "again"', "Cannot overwrite a value (at end of document)"),
    (SMALLEST + "games = " + 2000 * "[", "arrays or tables are nested too deeply"),
    ("#" * (LONGEST + 1), "the file has more than 16384 characters"),
    (SMALLEST + "walk-over = 4", "there is no key 'walk-over'; did you mean 'walkover'?"),
    (SMALLEST + "tie_breaks = []", "there is no key 'tie_breaks'; did you mean 'tie-breaks' or 'break'?"),
    (SMALLEST + "[swiss]\nrounds = 3", "there is no key 'swiss'"),
    ('format = "swiss"\nname = 7', "name: " + NO_NAME),
    ('format = "swiss"\nname = " "', "name: " + NO_NAME),
    ('format = "swiss"\nname = "cup "', "name: " + NO_NAME),
    ('format = "swiss"\nname = "a\\u202eb"', "name: not a name of up to 256 visible characters"),
    (f'format = "swiss"\nname = "{257 * "a"}"', "name: not a name of up to 256 visible characters"),
    (
        'format = "swiss"\nname = "Lobby"',
        "name: the table called lobby is the lobby; choose another name",
    ),
    ('format = "swiss"\nname = "@cup"', "name: '@cup' cannot be the name of a table; choose another name"),
    ('format = "swiss"\nname = "."', "name: '.' cannot be the name of a table; choose another name"),
    ('format = "swiss"\nname = ".."', "name: '..' cannot be the name of a table; choose another name"),
    (
        'name = "cup"\nformat = "swis"',
        "format: 'swis' is none of round-robin, gauntlet, swiss, knockout, ladder; did you mean 'swiss'?",
    ),
    ('name = "cup"\nformat = 4', "format: 4 is none of round-robin, gauntlet, swiss, knockout, ladder"),
    (SMALLEST + "players = 1", "players: 1 is not a whole number from 2 to 128"),
    (SMALLEST + "players = 129", "players: 129 is not a whole number from 2 to 128"),
    (SMALLEST + 'players = "4"', "players: '4' is not a whole number from 2 to 128"),
    (SMALLEST + "players = 4.0", "players: 4.0 is not a whole number from 2 to 128"),
    (SMALLEST + "cycles = true", "cycles: True is not a whole number from 1 to 100"),
    (SMALLEST + "games = 0", "games: 0 is not a whole number from 2 to 1000"),
    (
        SMALLEST + "games = 3",
        "games: 3 is odd; it has to be even, since the first move is swapped each game",
    ),
    (SMALLEST + 'start = "2026-11-28T10:00:00+01:00"', NO_TIME),
    (SMALLEST + "start = 2026-11-28T10:00:00", NO_TIME),
    (SMALLEST + "start = 2026-11-28", NO_TIME),
    (SMALLEST + "start = 10:00:00", NO_TIME),
    (SMALLEST + "start = 1999-12-31T23:59:59Z", TOO_FAR),
    (SMALLEST + "start = 9999-01-01T00:00:00Z", TOO_FAR),
    (SMALLEST + "start = 0001-01-01T00:00:00+14:00", TOO_FAR),
    (
        SMALLEST + "players = 4\nstart = 2026-11-28T10:00:00Z",
        "players and start exclude each other: give one of them",
    ),
    (SMALLEST + "rounds = 3", "rounds: a round-robin has no rounds that can be chosen; only swiss has"),
    (KNOCKOUT + "rounds = 3", "rounds: a knockout has no rounds that can be chosen; only swiss has"),
    (SWISS + "players = 6\nrounds = 7", "6 players can play 5 Swiss rounds without meeting twice, not 7"),
    (SWISS + "players = 5\nrounds = 6", "5 players can play 5 Swiss rounds without meeting twice, not 6"),
    (SMALLEST + "walkover = nan", "walkover: nan is not a number of seconds from 1 to 86400"),
    (SMALLEST + "walkover = 0.5", "walkover: 0.5 is not a number of seconds from 1 to 86400"),
    (SMALLEST + "walkover = true", "walkover: True is not a number of seconds from 1 to 86400"),
    (SMALLEST + "rated = 1", "rated: 1 is neither true nor false"),
    (SMALLEST + 'late = "yes"', "late: 'yes' is neither true nor false"),
    (SMALLEST + "faults = 0", "faults: 0 is not a whole number from 1 to 1000"),
    (SMALLEST + "players = 64\ncycles = 10", "players: with 10 cycles 44 at most"),
    (SMALLEST + 'house = "random"', 'house: not a list of texts, such as ["one", "two"]'),
    (
        SMALLEST + 'house = ["Random"]',
        "house: 'Random' is none of aima, aima10, aimafast, perfect, random; did you mean 'random'?",
    ),
    (SMALLEST + 'house = ["aima", "aima"]', "house: 'aima' is there twice"),
    (SMALLEST + 'expected = ["ann", "bob", "ann"]', "expected: 'ann' is there twice"),
    (
        SMALLEST + 'expected = ["Random"]',
        "expected: 'Random' is a player of the server, which belongs in the key house",
    ),
    (SMALLEST + 'expected = [""]', "expected: " + NO_NAME),
    (SMALLEST + f"expected = {[str(each) for each in range(129)]}", "expected: more than 128"),
    (SMALLEST + 'seeds = "elo"', 'seeds: not a list of texts, such as ["one", "two"]'),
    (SMALLEST + 'seeds = ["ann", "ann"]', "seeds: 'ann' is there twice"),
    (
        SMALLEST + 'players = 2\nhouse = ["aima"]\nexpected = ["ann", "bob"]',
        "players: 3 players are named in the file, more than 2",
    ),
    (
        SMALLEST + 'tie-breaks = ["bucholz"]',
        "tie-breaks: 'bucholz' is none of game-points, direct, buchholz, sonneborn-berger, faults; "
        "did you mean 'buchholz'?",
    ),
    (SMALLEST + 'tie-breaks = ["direct", "direct"]', "tie-breaks: 'direct' is there twice"),
]


@pytest.mark.parametrize(("text", "line"), BAD, ids=lambda each: each[-40:])
def test_bad_file_is_refused_in_one_line_that_names_the_key(text: str, line: str) -> None:
    assert _fault_of(text) == line


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ('groups = "roster"', 'groups: "roster" needs a roster in which each name has a group'),
        ('groups = "roster"\n[roster]', 'groups: "roster" needs a roster in which each name has a group'),
        ('then = "knockout"\nadvance = 1', "advance: one player cannot play a second stage"),
        ("advance = 2", "advance: there is no second stage; the key then gives its format"),
        ('[roster]\nAnn = ""\nann = ""', "roster: 'Ann' and 'ann' are the same name"),
        ("[roster]\nann = 0", "roster: not a name: it has to be a text in quotes, without blanks around it"),
        (
            'expected = ["draw"]',
            "expected: 'draw' is the word for a draw, and cannot be the name of a player",
        ),
    ],
)
def test_keys_that_do_not_fit_together_are_refused(keys: str, line: str) -> None:
    assert _fault_of(f"{SMALLEST}{keys}") == line


def test_second_stage_in_which_each_two_meet_limits_the_players() -> None:
    alone = parse(SMALLEST + "cycles = 50")
    both = parse('name = "cup"\nformat = "swiss"\nthen = "round-robin"\ncycles = 50')
    assert both.most_players == alone.most_players < MOST_PLAYERS


@given(st.text() | st.text(alphabet='name="cup"\n[]{}.,=0123456789#').map(SMALLEST.__add__))
def test_any_text_is_settings_or_is_refused_in_one_line(text: str) -> None:
    assert len((_fault_of(text) or "none").splitlines()) == 1


def _fault_of(text: str) -> str | None:
    try:
        parse(text)
    except ValueError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("form", "cycles", "most"),
    [("round-robin", 1, 128), ("round-robin", 2, 100), ("round-robin", 100, 14), ("gauntlet", 100, 128)],
)
def test_cycles_of_a_round_robin_limit_its_players(form: str, cycles: int, most: int) -> None:
    assert parse(f'name = "cup"\nformat = "{form}"\ncycles = {cycles}').most_players == most


def test_smallest_file_has_the_defaults() -> None:
    assert parse(SMALLEST) == Settings(name="cup", format="round-robin")
    assert parse('name = "Cup 7"\nformat = "gauntlet"').key == "cup 7"


def test_example_parses_and_shows_every_key_with_its_default() -> None:
    """Those without a default are comments in it, or have a value that a reader will change."""
    example, shown = tomllib.loads(EXAMPLE), _uncommented(EXAMPLE)
    assert parse(EXAMPLE) == Settings(name="cup", format="round-robin", players=4)
    in_code = {each.name.strip("_").replace("_", "-"): each.default for each in fields(Settings)}
    assert shown.keys() == in_code.keys() - {"roster"} | {"alice"}  # the roster is a table with this name
    chosen = {"name", "format", "players", "start", "rounds", "seeds", "groups", "then", "advance"}
    chosen |= {"entry-test", "roster"}
    defaults = {key: value for key, value in in_code.items() if key not in chosen}
    assert {key: _listed(value) for key, value in defaults.items()} == {key: example[key] for key in defaults}
    assert parse(SMALLEST + 'seeds = "rating"').seeds is in_code["seeds"] is None
    for key in ("start", "rounds"):
        assert key not in example
        assert parse(SWISS + f"{key} = {shown[key]}")


def _uncommented(example: str) -> dict[str, str]:
    """Return the keys of the example, also those that are comments, and what stands there as their values."""
    lines = (line.removeprefix("# ") for line in example.splitlines())
    pairs = (line.split("#")[0].split(" = ", 1) for line in lines if " = " in line)
    return {pair[0].strip(): pair[1].strip() for pair in pairs}


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("players = 128", "players", MOST_PLAYERS),
        ("start = 2026-11-28T10:00:00+01:00", "start", datetime(2026, 11, 28, 9, tzinfo=UTC).timestamp()),
        ("start = 2000-01-01T00:00:00Z", "start", datetime(2000, 1, 1, tzinfo=UTC).timestamp()),
        ("start = 9998-12-31T23:59:59Z", "start", datetime(9998, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()),
        ("games = 1000", "games", 1000),
        ("rounds = 7", "rounds", 7),
        ("extra = 0", "extra", 0),
        ('house = ["random", "aima"]', "house", ("random", "aima")),
        ('expected = ["ann", "Ann", "lobby"]', "expected", ("ann", "Ann", "lobby")),
        ('seeds = ["lobby", "random"]', "seeds", ("lobby", "random")),
        ("walkover = 1", "walkover", 1.0),
        ("faults = 1", "faults", 1),
        ("tie-breaks = []", "tie_breaks", ()),
        ('tie-breaks = ["faults", "direct"]', "tie_breaks", ("faults", "direct")),
    ],
)
def test_value_of_a_key_is_taken_as_it_is(line: str, name: str, value: object) -> None:
    assert getattr(parse(SWISS + line), name) == value


@pytest.mark.parametrize(
    "text",
    [
        KNOCKOUT + 'late = false\nexpected = ["ann"]',
        SWISS + 'late = false\nrounds = 5\nexpected = ["ann", "bob"]',
        SWISS + "players = 5\nrounds = 5",
        KNOCKOUT + 'players = 2\nhouse = ["aima"]\nexpected = ["ann"]',
    ],
)
def test_whoever_is_not_named_may_still_enter_before_the_beginning(text: str) -> None:
    assert parse(text).name == "cup"
