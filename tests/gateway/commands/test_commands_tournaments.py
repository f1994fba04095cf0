"""The commands ``c4gateway tournament``."""

import json
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from empty_database import open_empty
from sqlalchemy import Engine, event
from tournament_news import SWISS, SWISS_GAMES, add, begun
from worlds.tournaments import file_of

from gateway.store import tournaments
from gateway.store.database import Database, open_to_read, open_to_write
from gateway.tournament import acts
from gateway.tournament.log import (
    Announced,
    Awarded,
    Begun,
    Ended,
    Entered,
    Entry,
    Forbidden,
    Known,
    Paired,
    Paused,
    Replayed,
    RequestedTest,
    Resumed,
    Returned,
    Signed,
    StartRequested,
    Voided,
    Withdrawn,
    written,
)
from gateway.tournament.report import described
from gateway.tournament.tournament import Tournament

DATABASE, AUDIT, FILE = Path("c4gateway.db"), Path("c4gateway.audit"), Path("cup.toml")
Run = Callable[..., tuple[int, str, str]]
ACTS: dict[str, list[str]] = {
    "start": [],
    "pause": [],
    "resume": [],
    "end": [],
    "withdraw": ["ann"],
    "readmit": ["ann"],
    "enter": ["eve"],
    "house": ["random"],
    "award": ["1.1", "ann"],
    "void": ["1.1"],
    "replay": ["1.1"],
    "forbid": ["ann", "bob"],
    "next": ["ann - bob"],
    "announce": ["Lunch"],
    "test": ["ann", "random"],
    "undo": [],
}
"""The commands for the acts of a director, with possible arguments."""
ENTERED: list[Entry] = [Entered("ann"), Entered("bob")]
PAIRED: list[Entry] = [*begun(), Paired([[0, 1, 1]])]  # type: ignore[list-item]  as it is read


def stored(entries: Sequence[Entry] = (), **settings: object) -> None:
    """Store a tournament called cup, unless the settings say otherwise, with this log."""
    with closing(database()) as there:
        add(there, file_of(**settings), entries)


def database() -> Database:
    return open_to_write(str(DATABASE)) if DATABASE.exists() else open_empty(DATABASE)


def found(key: str = "cup") -> Tournament:
    with closing(open_to_read(str(DATABASE))) as there, there.reading() as connection:
        return Tournament.of(*tournaments.news(connection, {}, key))


def entries(key: str = "cup") -> list[Entry]:
    return [each.entry for each in found(key).log]


def audited() -> list[list[str]]:
    """Return the lines of the audit log, without their times."""
    return [line.split("\t")[1:] for line in AUDIT.read_text().splitlines()] if AUDIT.exists() else []


def acting(act: str, name: str = "cup") -> list[str]:
    return [act, name, *ACTS[act]]


def test_there_is_a_command_for_each_act() -> None:
    assert {*ACTS} == {*acts.ACTS}


# New ones.


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "c4gateway tournament start cup begins it\n"),
        ({"players": 4}, "it begins when 4 players are here\n"),
        ({"start": 2026}, ""),
    ],
)
def test_new_tournament_is_the_file_and_how_to_enter_and_begin_is_said(
    run: Run, settings: dict[str, object], said: str
) -> None:
    text = file_of(**settings).replace("2026", "2026-11-28T10:00:00+01:00") + "\n# \u5c0f"
    FILE.write_text(text)
    opened = "the tournament cup is open\n"
    ways = "bots enter at its table: JOIN cup, ?table=cup, or c4bot --table cup\n"
    assert run("new", "cup.toml") == (0, opened + ways + said, "")
    with closing(open_to_read(str(DATABASE))) as there, there.reading() as connection:
        assert [each[:-1] for each in tournaments.news(connection, {})] == [("cup", text, [], [])]
    assert audited() == [["op", "tournament new", "cup"]]


def test_name_is_quoted_as_it_is_to_be_typed(run: Run) -> None:
    FILE.write_text(file_of(name="My Cup & more"))
    _, out, _ = run("new", "cup.toml")
    assert out == (
        "the tournament My Cup & more is open\n"
        "bots enter at its table: JOIN My Cup & more, ?table=My%20Cup%20%26%20more,"
        " or c4bot --table 'My Cup & more'\n"
        "c4gateway tournament start 'My Cup & more' begins it\n"
    )
    assert run("show", "MY CUP & MORE")[0] == 0


def test_example_is_a_file_that_can_be_added(run: Run) -> None:
    status, example, _ = run("new", "--example")
    assert (status, DATABASE.exists(), audited()) == (0, False, [])
    FILE.write_text(example)
    assert run("new", "cup.toml")[0] == 0


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (None, "cup.toml: No such file or directory"),
        (b"\xff", "cup.toml: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
        (b"name = ", "cup.toml: Invalid value (at end of document)"),
        (b'nam = "x"', "cup.toml: there is no key 'nam'; did you mean 'name'?"),
        (
            b'name = "x"',
            "cup.toml: the key format is missing; c4gateway tournament new --example shows a file",
        ),
        (
            b'name = "x"\nformat = "knockout"\nplayers = 1',
            "cup.toml: players: 1 is not a whole number from 2",
        ),
        (
            b'name = "x"\nformat = "swiss"\nplayers = 4\nrounds = 5',
            "cup.toml: 4 players can play 3 Swiss rounds without meeting twice, not 5",
        ),
        (
            b'name = "x"\nformat = "gauntlet"\nexpected = ["ann", "ann"]',
            "cup.toml: expected: 'ann' is there twice",
        ),
    ],
)
def test_file_that_is_none_is_an_error_of_one_line_and_nothing_is_written(
    run: Run, content: bytes | None, error: str
) -> None:
    if content is not None:
        FILE.write_bytes(content)
    status, out, err = run("new", "cup.toml")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"c4gateway: error: {error}")
    assert (DATABASE.exists(), AUDIT.exists()) == (False, False)


def test_swiss_is_refused_where_networkx_is_not_installed_but_stays_readable(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    FILE.write_text(file_of(format="swiss", name="other"))
    stored(format="swiss")
    monkeypatch.setitem(sys.modules, "networkx", None)
    fault = "Swiss needs networkx, which is not installed: pip install 'c4gateway[tournament]'"
    assert run("new", "cup.toml") == (1, "", f"c4gateway: error: cup.toml: {fault}\n")
    assert run("show", "cup")[0] == 0


def test_new_needs_a_file(run: Run) -> None:
    error = "c4gateway: error: give the file of the tournament; --example prints one\n"
    assert run("new") == (1, "", error)


def test_tournament_that_exists_is_not_added_again(run: Run) -> None:
    stored(ENTERED)
    FILE.write_text(file_of(name="CUP", format="knockout"))
    error = "there is a tournament 'cup' already; give this one another name"
    assert run("new", "cup.toml") == (1, "", f"c4gateway: error: {error}\n")
    assert (found().settings.format, entries(), audited()) == ("round-robin", ENTERED, [])


# What there is.


def test_list_has_all_tournaments_and_their_states_also_one_that_cannot_be_read(run: Run) -> None:
    stored(ENTERED, name="Open")
    stored([*ENTERED, Paused()], name="halted before the start")
    stored(begun(), name="Running", format="gauntlet")
    stored([*begun(), Paused()], name="Paused", format="swiss")
    stored([*begun(), Ended()], name="Over", format="knockout")
    stored(name="Odd")
    with closing(database()) as there, there.writing() as connection:
        tournaments.append(connection, "odd", Known(), ['{"entry": "Danced"}'])
    status, out, _ = run("list")
    assert status == 0
    assert [line.rstrip() for line in out.splitlines()] == [
        "tournament               format       state       players",
        "Open                     round-robin  open              2",
        "halted before the start  round-robin  open              2",
        "Running                  gauntlet     running           4",
        "Paused                   swiss        paused            4",
        "Over                     knockout     over              4",
        "odd                                   unreadable",
    ]
    for words in (["show", "odd"], *(acting(act, "odd") for act in ACTS)):
        status, out, err = run(*words)
        assert (status, out, err.count("\n")) == (1, "", 1)
        assert err.startswith(
            "c4gateway: error: the tournament 'odd' cannot be read: not an entry of the log"
        )


def test_show_has_standings_and_the_pairings_of_the_latest_round(run: Run) -> None:
    with closing(database()) as there:
        add(there, file_of(name="Cup", format="swiss", rounds=3, tie_breaks=["faults"]), SWISS, SWISS_GAMES)
    status, out, err = run("show", "CUP")
    assert (status, err) == (0, "")
    assert out == (
        "Cup: swiss, running\n"
        "\n"
        "   player  points  faults  won  drawn  lost\n"
        "1  ann          1       0    3      0     0\n"
        "1  cat          1       0    0      1     0\n"
        "1  eve          1       0    0      0     1\n"
        "4  bob          0       1    0      0     2\n"
        "4  dan          0       1    0      1     0  withdrawn: 3 faults in a row\n"
        "\n"
        "Round 2:\n"
        "\n"
        "4  ann  eve  1 : 0  waiting\n"
        "5  cat  bob  0 : 0  waiting\n"
    )
    assert json.loads(run("show", "cup", "--json")[1]) == json.loads(
        json.dumps(described(found(), time.time()))
    )


def test_show_of_a_tournament_without_players_says_so(run: Run) -> None:
    stored(name="Cup")
    assert run("show", "cup") == (0, "Cup: round-robin, open\nNobody has entered yet.\n", "")


def test_no_name_reaches_the_terminal_with_its_control_characters(run: Run) -> None:
    stored([Entered("\x1b[31m"), Entered("ann"), Withdrawn(0, "\x1b[32m")])
    _, out, _ = run("show", "cup")
    assert "\x1b" not in out
    assert r"\x1b[31m" in out
    assert r"\x1b[32m" in out
    assert r"'\x1b[31m' is withdrawn already" in run("withdraw", "cup", "\x1b[31m")[2]


# Acts.


@pytest.mark.parametrize(
    ("before", "words", "said", "entry"),
    [
        (ENTERED, ["start", "CUP"], "Asked to begin", StartRequested()),
        (begun(), ["pause", "cup"], "Paused", Paused()),
        ([*begun(), Paused()], ["resume", "cup"], "Resumed", Resumed()),
        (
            begun(),
            ["withdraw", "cup", "dan"],
            "Withdrew dan",
            Withdrawn(3, "by the director"),
        ),
        (
            [*ENTERED, Withdrawn(1, "3 faults in a row", may_return=True)],
            ["withdraw", "cup", "bob"],
            "Withdrew bob",
            Withdrawn(1, "by the director"),
        ),
        (begun(), ["end", "cup"], "Ended", Ended(by_director=True)),
        ([*begun(), Withdrawn(3, "")], ["readmit", "cup", "dan"], "Readmitted dan", Returned(3)),
        (begun(), ["enter", "cup", "eve"], "Entered eve", Entered("eve")),
        (
            begun(),
            ["house", "cup", "random"],
            "Added the house player random",
            Entered("random", house=True),
        ),
        (PAIRED, ["award", "cup", "1.2", "bob"], "Awarded game 1.2 (ann and bob) to bob", Awarded(0, 1, 1)),
        (
            PAIRED,
            ["award", "cup", "1.2", "draw"],
            "Awarded game 1.2 (ann and bob) as a draw",
            Awarded(0, 1, None),
        ),
        (PAIRED, ["void", "cup", "1.2"], "Voided game 1.2 (ann and bob)", Voided(0, [1])),
        (
            [*PAIRED, Awarded(0, 1, 1)],
            ["replay", "cup", "1.2"],
            "Replay of game 1.2 (ann and bob)",
            Replayed(0, [1], []),
        ),
        (
            PAIRED,
            ["forbid", "cup", "ann", "bob"],
            "Forbade ann and bob, 2 games void",
            Forbidden([0, 1], [[0, [0, 1]]]),
        ),
        (PAIRED, ["announce", "cup", "Lunch"], "Announced: Lunch", Announced("Lunch")),
        (
            [*PAIRED, Announced("Lunch")],
            ["announce", "cup", ""],
            "Ended the announcement",
            Announced(""),
        ),
        (
            PAIRED,
            ["test", "cup", "ann", "aima"],
            "Test game of ann against aima",
            RequestedTest(0, "aima"),
        ),
    ],
)
def test_act_is_added_to_the_log_of_the_tournament_and_to_the_audit_log(
    run: Run, before: list[Entry], words: list[str], said: str, entry: Entry
) -> None:
    stored(before)
    assert run(*words) == (0, f"{said}\n", "")
    assert entries() == [*before, entry]
    assert audited() == [["op", f"tournament {words[0]}", *filter(None, words[1:]), "by: op"]]


def test_act_is_logged_with_the_person_and_the_reason_and_can_be_taken_back(run: Run) -> None:
    stored(begun())
    assert run("withdraw", "cup", "dan", "--by", "nora", "--why", "cheated")[0] == 0
    assert found().log[-1].signed == Signed(Withdrawn(3, "cheated"), "nora", "cheated")
    number = len(begun()) + 1
    assert run("undo", "cup", "--number", "1") == (
        1,
        "",
        f"c4gateway: error: the last act is 'Withdrew dan' now, entry {number}\n",
    )
    assert run("undo", "cup", "--number", str(number)) == (0, "Undid “Withdrew dan”\n", "")
    assert found().entrants[3].withdrawn is None
    assert audited() == [
        ["op", "tournament withdraw", "cup", "dan", "by: nora", "why: cheated"],
        ["op", "tournament undo", "cup", str(number), "by: op"],
    ]


@pytest.mark.parametrize(
    ("settings", "before", "words", "error"),
    [
        (
            {},
            [],
            ["start", "cup"],
            "a round robin needs 2 players or more; 0 players entered so far",
        ),
        (
            {"format": "knockout"},
            [Entered("ann")],
            ["start", "cup"],
            "a knockout needs 2 players or more; 1 player entered so far",
        ),
        (
            {"format": "swiss", "rounds": 2},
            ENTERED,
            ["start", "cup"],
            "2 players can play 1 Swiss round without meeting twice, not 2; 2 players entered so far",
        ),
        ({"name": "Cup"}, begun(), ["start", "cup"], "'Cup' has begun already"),
        ({}, [Paused()], ["pause", "cup"], "'cup' is paused already"),
        ({}, [], ["resume", "cup"], "'cup' is not paused"),
        ({}, [Paused(), Resumed()], ["resume", "cup"], "'cup' is not paused"),
        ({}, begun(), ["withdraw", "cup", "eve"], "'eve' takes no part in 'cup'"),
        ({}, begun(), ["withdraw", "cup", "DAN"], "'DAN' takes no part in 'cup'; did you mean 'dan'?"),
        ({}, [*ENTERED, Withdrawn(0, "")], ["withdraw", "cup", "ann"], "'ann' is withdrawn already"),
        *(
            ({"name": "Cup"}, [*ENTERED, Ended()], acting(act), "the tournament 'Cup' is over")
            for act in ACTS
            if act not in acts.AFTER_THE_END
        ),
    ],
)
def test_act_that_cannot_be_is_an_error_of_one_line_and_changes_nothing(
    run: Run, settings: dict[str, Any], before: list[Entry], words: list[str], error: str
) -> None:
    stored(before, **settings)
    assert run(*words) == (1, "", f"c4gateway: error: {error}\n")
    assert (entries(), audited()) == (before, [])


@pytest.mark.parametrize("words", [["show", "Cap"], *(acting(act, "Cap") for act in ACTS)])
def test_tournament_that_does_not_exist_is_an_error_with_the_one_that_was_meant(
    run: Run, words: list[str]
) -> None:
    stored()
    error = "there is no tournament 'cap'; did you mean 'cup'?"
    assert run(*words) == (1, "", f"c4gateway: error: {error}\n")
    assert audited() == []


@pytest.mark.parametrize("words", [["list"], ["show", "cup"], *map(acting, ACTS)])
def test_database_that_does_not_exist_is_an_error_and_is_not_created(
    run: Run, folder: Path, words: list[str]
) -> None:
    error = f"{folder / DATABASE}: No such file or directory; --db says which database"
    assert run(*words) == (1, "", f"c4gateway: error: {error}\n")
    assert [*folder.iterdir()] == []


def test_nothing_is_changed_where_the_change_cannot_be_logged(run: Run, folder: Path) -> None:
    stored(ENTERED)
    FILE.write_text(file_of(name="other"))
    for words in (["new", "cup.toml"], *map(acting, ACTS)):
        error = f"c4gateway: error: {folder}: Is a directory\n"
        assert run(*words, "--audit", str(folder)) == (1, "", error)
    assert entries() == ENTERED
    assert "other" not in run("list")[1]


def test_act_takes_into_account_what_a_server_has_added_since_the_log_was_read(run: Run) -> None:
    """The server begins the tournament, which gives players other numbers, after the command has read it."""
    stored(ENTERED)
    server = database()
    begins = [Begun([1, 0])]

    def read(_: object, __: object, statement: str, *others: object) -> None:
        if "FROM tournament_games" in statement and begins:
            entry = written(begins.pop())
            with server.writing() as connection:
                assert tournaments.append(connection, "cup", Known(2), [entry])

    event.listen(Engine, "before_cursor_execute", read)
    try:
        assert run("withdraw", "cup", "bob")[0] == 0
    finally:
        event.remove(Engine, "before_cursor_execute", read)
        server.close()
    assert entries()[2:] == [Begun([1, 0]), Withdrawn(0, "by the director")]
    assert len(audited()) == 1
