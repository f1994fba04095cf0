"""What the operator is told while the database fails."""

import json

import pytest
from game_records import game

from gateway.store import StoreError
from gateway.store.formats.jsonl import from_object
from gateway.store.open_games import Count, Outage, log_unstored
from gateway.store.records import GameRecord


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [record.getMessage() for record in caplog.records]
    caplog.clear()
    return found


def test_outage_is_told_at_once_now_and_then_and_when_it_is_over(caplog: pytest.LogCaptureFixture) -> None:
    outage, error = Outage(remind=10), StoreError("disk is full")
    outage.over(1, 1, 0)
    assert messages(caplog) == []
    outage.failed(error, 3, 100)
    assert messages(caplog) == [
        "the database has failed for 0.0 s; play goes on, 3 results wait: disk is full"
    ]
    outage.failed(error, 4, 109.9)
    assert messages(caplog) == []
    outage.failed(error, 5, 110)
    assert messages(caplog) == [
        "the database has failed for 10.0 s; play goes on, 5 results wait: disk is full"
    ]
    outage.failed(StoreError("disk was moved"), 5, 110.5)
    assert messages(caplog) == [
        "the database has failed for 10.5 s; play goes on, 5 results wait: disk was moved"
    ]
    for number in range(20):
        outage.failed(StoreError(f"trouble {number % 10}"), 5, 111)
    assert len(messages(caplog)) == 8  # and more only when it is time
    outage.over(2, 5, 112)
    assert messages(caplog) == [
        "the database is back after 12.0 s: 2 results that waited are stored, 3 are next"
    ]
    outage.failed(error, 1, 113)
    assert len(messages(caplog)) == 1


def test_second_cause_of_an_outage_is_told_at_once(caplog: pytest.LogCaptureFixture) -> None:
    outage = Outage(remind=10)
    for cause in ("the process has ended", "disk was moved", "disk was moved"):
        outage.failed(StoreError(cause), 1, 100)
    assert [line.rpartition(": ")[2] for line in messages(caplog)] == [
        "the process has ended",
        "disk was moved",
    ]


def test_what_was_counted_is_said_at_once_now_and_then_and_at_the_end() -> None:
    said: list[int] = []
    count = Count(10, said.append)
    count.over()
    for now in (5, 6, 15, 16, 17):
        count.one_more(now)
    assert said == [1, 3]
    for _ in range(2):
        count.over()
    assert said == [1, 3, 5]


def test_unstored_games_are_logged_whole(caplog: pytest.LogCaptureFixture) -> None:
    record: GameRecord = game("a\nb", table="t")
    log_unstored([record])
    [line] = messages(caplog)
    assert "\n" not in line
    assert from_object(json.loads(line.removeprefix("not stored: "))[0]) == record


def test_game_with_more_than_json_can_say_is_logged_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    log_unstored([game("ann"), game(table=object())])
    one, two = json.loads(messages(caplog)[0].removeprefix("not stored: "))
    assert one["table"] is None
    assert two["table"].startswith("<object object")
