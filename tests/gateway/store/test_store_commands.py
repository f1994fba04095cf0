"""What the commands print."""

import json
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from game_records import drawn, game, numbered, packed, rows
from sqlalchemy import Connection
from store_world import enclosure, keep, recounted

from gateway.commands import standings
from gateway.commands import stored_games as commands
from gateway.commands.standings import Form, Wanted
from gateway.game.events import Objection, Reason, Spoken
from gateway.game.text import is_visible
from gateway.store import StoreError, games, presentation, statistics, storing
from gateway.store.database import Database, open_to_write
from gateway.store.evidence import recorded
from gateway.store.formats import FORMATS, jsonl
from gateway.store.games import Filter, Page
from gateway.store.records import Enclosure, GameRecord, Participant
from gateway.store.schema import players
from gateway.store.totals import Totals

SAID: tuple[Spoken, ...] = (
    (0.0, "out", "genmove ...\r\n", 41.5),
    (0.012, "in", "playmove 9\r\n", Objection.OUTSIDE),
    (1.5, "in", "\x1b[2J", None),
    (2.0, "note", "", "hung up"),
)


def jsonl_line(record: GameRecord) -> str:
    return "".join(jsonl.write([record]))


def test_profile_as_json_has_reasons_and_opponents(database: Database) -> None:
    keep(database, [game(), game("carol", "alice", winner=1, reason=Reason.TIME)])
    with database.reading() as connection:
        found = presentation.of_profile(statistics.profile(connection, "alice"))
    assert json.loads(json.dumps(found)) == found
    assert {reason: record["won"] for reason, record in found["reasons"].items()} == {"four": 1, "time": 1}
    assert [each["name"] for each in found["opponents"]] == ["bob", "carol"]


def test_game_is_shown_with_board_moves_reason_and_both_exchanges(database: Database) -> None:
    with database.writing() as connection:
        players = (Participant("alice", "nac4"), Participant("aima", "house", house=True))
        record = game(players=players, table="corner", round=2)
        storing.store(connection, rows([record]))
        storing.enclose(connection, packed([Enclosure("1", 0, recorded(SAID))]))
    assert "".join(commands.show(database, "1")).splitlines() == [
        "game 1: alice beat aima with four in a row",
        "2023-11-14T22:13:20.000Z, 1.500 s, table corner, round 2",
        "",
        "X  alice  nac4   moved first   4 moves  thought 0.120 s",
        "O  aima   house  moved second  3 moves  thought 0.340 s",
        "",
        "  . . . . . . .",
        "  . . . . . . .",
        "  X . . . . . .",
        "  X O . . . . .",
        "  X O . . . . .",
        "  X O . . . . .",
        "  0 1 2 3 4 5 6",
        "",
        "moves 0101010",
        "position 1212121 (columns from 1)",
        "",
        "alice -> said, <- heard, in milliseconds since the game began:",
        "         0  <-  genmove ...",
        "         0  --  41.500 s left",
        "        12  ->  playmove 9",
        "        12  --  refused: outside the board",
        r"      1500  ->  \x1b[2J",
        "      2000  --  hung up",
        "",
        "aima: one of the server's own players, without a connection",
    ]


@pytest.mark.parametrize(
    ("record", "headline"),
    [
        (drawn(), "alice and bob drew on a full board"),
        (game(winner=1, reason=Reason.LEFT), "alice lost to bob by leaving"),
        (game(reason=Reason.ILLEGAL), "bob lost to alice by an illegal move"),
        (game(winner=1, reason=Reason.TIME), "alice lost to bob on time"),
        (
            game(moves="", winner=None, reason=Reason.STOPPED),
            "alice and bob were cut off by the server",
        ),
        (
            game(moves="3", winner=None, reason=Reason.ABORTED),
            "alice and bob did not finish: one left before both had moved",
        ),
    ],
)
def test_headline_says_who_won_and_why(database: Database, record, headline: str) -> None:
    keep(database, [record])
    text = "".join(commands.show(database, "1"))
    assert text.startswith(f"game 1: {headline}\n")
    assert f"moves {record.moves or 'none'}\n" in text
    assert text.count("nothing is kept") == 2
    assert text.count("nothing is kept yet") == 0
    keep(database, [game(ended=round(1000 * time.time()))], start=2)  # its evidence may be under way
    assert "".join(commands.show(database, "2")).count("nothing is kept yet\n") == 2


def test_no_name_reaches_the_terminal_with_its_control_characters(database: Database) -> None:
    nasty = "\x1b[31m\n\u202e\x9b\u200b\u3164\ufe0f"
    players = (Participant(nasty, nasty), Participant("bob", "arena"))
    keep(database, [game(players=players, table=nasty), drawn("bob", nasty)])
    forms: list[Form] = ["text", "json", "csv"]
    texts = [standings.standings(database, Wanted(form=form)) for form in forms]
    texts += [standings.grades(database, Wanted(form=form)) for form in forms]
    texts += [commands.show(database, "1"), commands.show(database, "2")]
    texts += [commands.export(database, form, Filter()) for form in FORMATS]
    for text in texts:
        assert all(is_visible(char) or char in "\r\n" for char in "".join(text))


def test_recount_finds_nothing_wrong_or_puts_it_right(database: Database) -> None:
    keep(database, [game(), drawn("carol", "bob"), game(counted=False)])
    assert list(commands.recount(database)) == ["totals and ratings of 3 players in 2 games: as kept\n"]
    with database.writing() as connection:
        connection.execute(players.update().values(mean=1.0))
    text = "totals and ratings of 3 players in 2 games: not as kept; now they are\n"
    assert list(commands.recount(database)) == [text]
    assert "games: as kept\n" in "".join(commands.recount(database))


def imported(database: Database, lines: Iterable[str]) -> str:
    return "".join(commands.add(database, [line.encode() for line in lines]))


def test_export_is_imported_into_another_database_once(database: Database, tmp_path: Path) -> None:
    kept = numbered(
        [game(), drawn("\0", "\N{SYMBOL FOR NULL}"), game("bob", "alice", counted=False), drawn()]
    )
    other = open_to_write(str(tmp_path / "other.db"))
    keep(other, kept)
    lines = list(commands.export(other, "jsonl", Filter()))
    assert imported(database, lines[:1]) == "1 game imported, 0 stored already\n"
    only_in_the_log = f"[{','.join(lines[1:3])}]"
    assert imported(database, [only_in_the_log]) == "2 games imported, 0 stored already\n"
    assert imported(database, lines * 200) == "1 game imported, 799 stored already\n"
    assert list(commands.export(database, "jsonl", Filter())) == lines
    with database.reading() as here, other.reading() as there:
        assert games_and_totals(here) == games_and_totals(there)
    other.close()


def games_and_totals(connection: Connection) -> tuple[list[GameRecord], Totals, Totals]:
    stored = games.page(connection, Filter(), Page())
    return stored, storing.totals_kept(connection), recounted(connection)


@pytest.mark.parametrize(
    ("faulty", "why"),
    [
        ("", "line 3: Expecting value"),
        ("{}", "line 3: not an object with the keys"),
        (jsonl_line(game("carol")), "line 3: another game has the id 1, or this one was corrected since"),
        (jsonl_line(game(game="2", series=5)), "line 3: another game has the id 2"),
    ],
)
def test_line_that_cannot_be_imported_is_named_and_all_others_are(
    database: Database, faulty: str, why: str
) -> None:
    keep(database, [game()])
    lines = [jsonl_line(each) for each in numbered([game(), game("bob", "alice"), drawn()])]
    said = list[str]()
    with pytest.raises(commands.RefusedError, match=why) as refused:
        said.extend(commands.add(database, [line.encode() for line in (*lines[:2], faulty, lines[2], "[")]))
    assert said == ["2 games imported, 1 stored already\n"]
    assert [line.partition(":")[0] for line in str(refused.value).splitlines()] == ["line 3", "line 5"]
    assert len(list(commands.export(database, "arena", Filter()))) == 3
    with database.reading() as connection:
        _, kept, counted = games_and_totals(connection)
    assert kept == counted
    with pytest.raises(commands.RefusedError) as refused:
        list(commands.add(database, [b"?"] * 30))
    assert str(refused.value).splitlines()[19:] == [  # of many the first are named
        "line 20: Expecting value: line 1 column 1 (char 0)",
        "and 10 lines more",
        "import reads JSON lines: make them with export --format jsonl",
    ]


@pytest.mark.parametrize("form", ["csv", "pgn", "arena"])
def test_export_that_cannot_be_imported_is_known_by_its_first_line(database: Database, form: str) -> None:
    keep(database, [game(), drawn()])
    lines = "".join(commands.export(database, form, Filter())).encode().splitlines(keepends=True)
    with pytest.raises(StoreError) as refused:
        list(commands.add(database, lines))
    text = f"this is a {form} export, which only goes out; "
    assert str(refused.value) == f"{text}import reads JSON lines: make them with export --format jsonl"


def test_game_that_the_database_will_never_take_keeps_no_other_from_being_imported(
    database: Database,
) -> None:
    longest = 2**63 - 1
    lines = [jsonl_line(game(game=str(number), thought=(longest, longest))) for number in (1, 2)]
    lines.append(jsonl_line(game(game="3")))
    with pytest.raises(commands.RefusedError, match=r"^line 2: the database will never take it") as refused:
        list(commands.add(database, [line.encode() for line in lines]))
    assert len(str(refused.value).splitlines()) >= 1


def test_result_that_was_told_takes_the_place_of_none_because_the_node_was_lost(database: Database) -> None:
    lost = game(game="2", moves="010", winner=None, reason=Reason.STOPPED, counted=False)
    with database.writing() as connection:
        storing.store(connection, rows([game(game="1"), lost, game(game="3")]))
        storing.enclose(connection, packed([enclosure(2), enclosure(2, 1)]))
    told = game(game="2")
    line = jsonl_line(told).encode()
    assert list(commands.add(database, [line])) == [
        "1 game imported, 1 of them in place of one without a result, 0 stored already\n"
    ]
    assert list(commands.add(database, [line])) == ["0 games imported, 1 stored already\n"]
    assert list(commands.add(database, [jsonl_line(lost).encode()])) == [
        "0 games imported, 1 stored already\n",
        "game 2 has an end in the database, and none here\n",
    ]
    with database.reading() as connection:
        stored, kept, counted = games_and_totals(connection)
        evidence = games.evidence_of(connection, "2")
    assert {each.game: each for each in stored}["2"] == told
    assert kept == counted
    assert None not in evidence
