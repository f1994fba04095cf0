"""What the operator is told while the database fails."""

import json

import pytest
from game_records import game

from gateway.store import StoreError
from gateway.store.formats.jsonl import from_object
from gateway.store.open_games import Count, Outage, log_unstored
from gateway.store.records import GameRecord


def test_outage_is_told_at_once_now_and_then_for_a_new_cause_and_when_it_is_over(
    caplog: pytest.LogCaptureFixture,
) -> None:
    failing = "the database has failed for %.1f s; play goes on, %d results wait: %s"
    outage, full = Outage(remind=10), StoreError("disk is full")
    outage.over(1, 1, 0)
    outage.failed(full, 3, 100)
    outage.failed(full, 4, 109.9)
    outage.failed(full, 5, 110)
    for now in (110.5, 110.6):
        outage.failed(StoreError("disk was moved"), 5, now)
    assert caplog.messages == [
        failing % (0, 3, "disk is full"),
        failing % (10, 5, "disk is full"),
        failing % (10.5, 5, "disk was moved"),
    ]
    for number in range(20):
        outage.failed(StoreError(f"trouble {number % 10}"), 5, 111)
    assert len(caplog.messages) == 3 + 8  # and more only when it is time
    outage.over(2, 5, 112)
    outage.failed(full, 1, 113)
    assert caplog.messages[11:] == [
        "the database is back after 12.0 s: 2 results that waited are stored, 3 are next",
        failing % (0, 1, "disk is full"),
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


def test_unstored_games_are_logged_whole_also_with_more_than_json_can_say(
    caplog: pytest.LogCaptureFixture,
) -> None:
    record: GameRecord = game("a\nb", table="t")
    log_unstored([record, game(table=object())])
    [line] = caplog.messages
    assert "\n" not in line
    one, two = json.loads(line.removeprefix("not stored: "))
    assert from_object(one) == record
    assert two["table"].startswith("<object object")
