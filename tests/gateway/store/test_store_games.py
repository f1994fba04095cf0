"""Games read back, with filters and in pages, against the plain meaning of a filter."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from game_records import BEGAN, DRAW, FOUR, drawn, game, numbered, packed, rows
from sqlalchemy import insert, update
from store_world import enclosure, keep, keep_only

from gateway.commands import stored_games as commands
from gateway.game.events import Reason
from gateway.store import games, storing
from gateway.store.database import Database
from gateway.store.evidence import Line
from gateway.store.games import Filter, NoGameError, Page
from gateway.store.records import FAULTS, GameRecord
from gateway.store.schema import analyses, exchanges

NAMES, TABLES = ("a", "b", "c"), (None, "a", "A", "b", "straße")
ENDS: Sequence[tuple[Reason, str, int | None]] = [
    *((Reason.FOUR, FOUR, 0), (Reason.FOUR, "30101010", 1), (Reason.FULL, DRAW, None)),
    *((reason, "01", winner) for reason in FAULTS for winner in (0, 1)),
    (Reason.ABORTED, "", None),
]
CONDITIONS: Mapping[str, Sequence[object]] = {
    "since": (BEGAN + 1, BEGAN + 2),
    "until": (BEGAN + 1, BEGAN + 2),
    "reason": (*Reason,),
    "counted": (True, False),
    "result": ("won", "drawn", "lost"),
    "table": ("lobby", "a", "STRASSE"),
    "mistake": (True,),
}
OF_A_PLAYER: Mapping[str, Sequence[object]] = {"opponent": ("a", "b"), "side": (0, 1)}


def any_game(lots: Random) -> GameRecord:
    reason, moves, winner = lots.choice(ENDS)
    about = {"table": lots.choice(TABLES), "counted": lots.choice((True, False))}
    ended = BEGAN + lots.randrange(4)
    return game(*lots.choices(NAMES, k=2), reason=reason, moves=moves, winner=winner, ended=ended, **about)


def any_filter(lots: Random) -> Filter:
    """Return a filter of few conditions, since hardly any game matches many."""
    player = lots.choice((None, "a", "b", "nobody"))
    possible = {**CONDITIONS, **({} if player is None else OF_A_PLAYER)}
    chosen: Any = {name: lots.choice(possible[name]) for name in lots.sample([*possible], lots.randrange(4))}
    return Filter(player, **chosen)


def lets_through(wanted: Filter, record: GameRecord) -> bool:
    return (
        bool(sides_of(wanted, record))
        and (wanted.since is None or record.ended >= wanted.since)
        and (wanted.until is None or record.ended < wanted.until)
        and (wanted.reason is None or record.reason is wanted.reason)
        and (wanted.counted is None or record.counted is wanted.counted)
        and (wanted.result is None or has_result(wanted, record))
        and (wanted.table is None or wanted.table.casefold() == (record.table or "lobby").casefold())
        and (not wanted.mistake or record.reason in FAULTS)
    )


def sides_of(wanted: Filter, record: GameRecord) -> set[int]:
    """Return the sides from which a game is looked at: those of the player, or that of the first mover."""
    if wanted.player is None:
        return {0}
    names = [player.name for player in record.players]
    pairs = ((side, names[side], names[1 - side]) for side in (0, 1))
    return {
        side
        for side, own, other in pairs
        if own == wanted.player and wanted.opponent in (None, other) and wanted.side in (None, side)
    }


def has_result(wanted: Filter, record: GameRecord) -> bool:
    if record.winner is None:
        return wanted.result == "drawn" and record.reason is Reason.FULL
    return any(
        wanted.result == ("won" if side == record.winner else "lost") for side in sides_of(wanted, record)
    )


def filled(database: Database, kept: list[GameRecord]) -> list[GameRecord]:
    keep_only(database, kept)
    return numbered(kept)


def test_page_has_the_games_that_the_filter_lets_through(database: Database) -> None:
    lots = Random(1)
    kept = filled(database, [any_game(lots) for _ in range(60)])
    with database.reading() as connection:
        for _ in range(300):
            wanted, newest_first = any_filter(lots), lots.choice((True, False))
            expected = [each for each in kept[:: -1 if newest_first else 1] if lets_through(wanted, each)]
            part = Page(newest_first=newest_first)
            assert games.page(connection, wanted, part) == expected, wanted
            assert games.page(connection, wanted, replace(part, limit=2, skipped=1)) == expected[1:3], wanted
            assert games.count(connection, wanted) == len(expected), wanted
            assert games.count(connection, wanted, 1) == min(len(expected), 1)


@pytest.mark.parametrize("wanted", [Filter(), Filter("alice"), Filter("bob", "alice")])
@pytest.mark.parametrize("newest_first", [True, False])
def test_pages_follow_each_other_without_gap_or_repetition(
    database: Database, wanted: Filter, newest_first: bool
) -> None:
    filled(database, [game(), game("bob", "alice")] * 3)
    seen: list[str] = []
    with database.reading() as connection:
        while True:
            bound = {"before" if newest_first else "after": seen[-1]} if seen else {}
            found = games.page(connection, wanted, Page(limit=2, newest_first=newest_first, **bound))
            if not found:
                break
            seen += [each.game for each in found]
    assert seen == sorted("123456", reverse=newest_first)


@pytest.mark.parametrize("count", [0, 1, games.PAGE, games.PAGE + 1])
def test_all_games_are_read_page_by_page_and_those_that_are_stored_meanwhile(
    database: Database, count: int
) -> None:
    kept = filled(database, [game(series=number) for number in range(count)])
    reading = games.every(database.reading, Filter())
    assert [next(reading) for _ in range(count)] == kept
    if count == games.PAGE:
        keep(database, [drawn()], count + 1)
        assert next(reading).game == str(count + 1)
    assert [*reading] == []


def test_order_is_that_of_storing_whatever_the_ids(database: Database) -> None:
    stored = [game(game=each) for each in ("zzzzz-000000", "00000-000001", "12", "9", "00000-000000")]
    with database.writing() as connection:
        storing.store(connection, rows(stored))
        assert games.page(connection, Filter(), Page(newest_first=False)) == stored
        assert games.page(connection, Filter(), Page(after="12", newest_first=False)) == stored[3:]
        assert games.page(connection, Filter(), Page(before="12")) == stored[1::-1]


def test_game_that_bounds_a_page_and_is_not_there_is_an_error(database: Database) -> None:
    filled(database, [game()] * (games.PAGE + 1))
    reading = games.every(database.reading, Filter())
    for _ in range(games.PAGE):
        next(reading)
    with database.writing() as connection:
        storing.clear(connection)
    with pytest.raises(NoGameError, match=f"there is no game {games.PAGE}"):
        next(reading)


def test_mistake_is_a_fault_or_a_move_that_turned_the_game(database: Database) -> None:
    filled(database, [game(), game(), game(moves="01", reason=Reason.TIME), game(), drawn()])
    with database.reading() as connection:
        assert games.unanalysed(connection, Filter(mistake=True)) == 0, "there is no solver"
    with database.writing() as connection:
        for number, lost_by in ((1, 4), (2, None)):
            about = {"game": number, "scores": b"", "turned": 1, "lost_by": lost_by}
            connection.execute(insert(analyses).values(about))
        found = games.page(connection, Filter(mistake=True), Page(newest_first=False))
        assert [each.game for each in found] == ["1", "3"]
        assert games.unanalysed(connection, Filter(mistake=True)) == 1
        assert games.unanalysed(connection, Filter(mistake=True, reason=Reason.TIME)) == 0
        assert games.best(connection, 0) == "2"


def test_neighbours_are_the_games_stored_before_and_after(database: Database) -> None:
    filled(database, [game()] * 3)
    with database.reading() as connection:
        assert games.neighbours(connection, "1") == (None, "2")
        assert games.neighbours(connection, "2") == ("1", "3")
        assert games.neighbours(connection, "3") == ("2", None)
        with pytest.raises(NoGameError):
            games.neighbours(connection, "4")


def test_series_has_the_games_of_its_pair_and_run_in_the_order_of_play(database: Database) -> None:
    def stored(number: int, *names: str, **about: object) -> GameRecord:
        return game(*names, game=f"0000a-{number:06}", **({"series": 7} | about))

    first, second, third = stored(1), stored(2, "bob", "alice", round=2), stored(3, round=3)
    others = [
        stored(4, series=8),
        stored(5, "alice", "carl"),
        game(game="0000b-000001", series=7),
        game(game="1", series=7),
    ]
    with database.writing() as connection:
        storing.store(connection, rows([others[0], third, *others[1:], first, second]))
        for each in (first, second, third):
            assert games.series_of(connection, each) == [first, second, third]
        assert games.series_of(connection, others[3]) == [others[3]]


def test_tables_are_listed_once_each_in_any_spelling(database: Database) -> None:
    filled(database, [game(table=each) for each in ("b", None, "a", "B", "a", "\0", "b")])
    with database.reading() as connection:
        assert sorted(games.all_tables(connection)) == ["\0", "B", "a", "b"]
        assert sorted(games.spellings(connection, "b")) == ["B", "b"]
        assert games.spellings(connection, "LOBBY") == games.spellings(connection, "c") == []


def test_damaged_evidence_is_none_and_the_other_side_s_and_the_game_are_shown(database: Database) -> None:
    line, said = Line(1, "out", "genmove", "41.900 s left"), (0.001, "out", "genmove", 41.9)
    keep(database, [game()])
    with database.writing() as connection:
        storing.enclose(connection, packed([enclosure(1, 0, said), enclosure(1, 1, said)]))
        connection.execute(update(exchanges).where(exchanges.c.side == 0).values(body=b"\0\xff"))
    with database.reading() as connection:
        assert games.evidence_of(connection, "1") == (None, (line,))
    assert "".join(commands.show(database, "1")).count("nothing is kept") == 1


def test_opponent_of_nobody_is_no_filter() -> None:
    with pytest.raises(ValueError):
        Filter(opponent="alice")
