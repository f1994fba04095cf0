"""Migrations, and the odd texts that a column has to hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, inspect, text

from gateway.store import VERSION
from gateway.store.database import Database
from gateway.store.schema import MIGRATIONS, Spelled, bring_up_to_date, version_of


def add_column(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE games ADD COLUMN weather TEXT"))


def add_another(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE games ADD COLUMN humour TEXT"))


def columns(database: Database) -> set[str]:
    with database.reading() as connection:
        return {column["name"] for column in inspect(connection).get_columns("games")}


def test_older_database_goes_through_what_it_lacks_and_only_once(database: Database) -> None:
    for more in ((add_column,), (add_column,), (add_column, add_another)):
        with database.writing() as connection:
            bring_up_to_date(connection, (*MIGRATIONS, *more))
    assert columns(database) >= {"weather", "humour"}
    with database.reading() as connection:
        assert version_of(connection) == VERSION + 2


def test_migration_that_fails_leaves_the_database_as_it_was(database: Database) -> None:
    def fail(connection: Connection) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), database.writing() as connection:
        bring_up_to_date(connection, (*MIGRATIONS, add_column, fail))
    assert "weather" not in columns(database)
    with database.reading() as connection:
        assert version_of(connection) == VERSION


@given(st.text(st.sampled_from("\0\N{SYMBOL FOR NULL}0a")))
def test_spelling_survives_and_has_no_null_on_the_way(spelling: str) -> None:
    column = Spelled()
    kept = column.process_bind_param(spelling, None)  # type: ignore[arg-type]
    assert "\0" not in kept
    assert column.process_result_value(kept, None) == spelling  # type: ignore[arg-type]
