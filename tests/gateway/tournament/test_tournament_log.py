"""The entries of a tournament's log as texts."""

import json
from typing import get_args

import pytest

from gateway.tournament.log import (
    Announced,
    Awarded,
    Begun,
    Ended,
    Entered,
    Entry,
    Forbidden,
    Forfeited,
    NextSet,
    Paired,
    Paused,
    Replayed,
    RequestedTest,
    Resumed,
    Returned,
    Signed,
    StageBegun,
    StartRequested,
    Undone,
    Voided,
    Withdrawn,
    parsed,
    written,
)

ENTRIES: list[tuple[Entry, str]] = [
    (Entered("änn \u202e"), '{"entry": "Entered", "name": "\\u00e4nn \\u202e", "house": false}'),
    (Entered("aima", house=True), '{"entry": "Entered", "name": "aima", "house": true}'),
    (StartRequested(), '{"entry": "StartRequested"}'),
    (Begun([2, 0, 1]), '{"entry": "Begun", "order": [2, 0, 1]}'),
    (Paired([(0, 1, 1), (2, None, 1)]), '{"entry": "Paired", "pairings": [[0, 1, 1], [2, null, 1]]}'),
    (Forfeited(3, [0, 1], [2]), '{"entry": "Forfeited", "pairing": 3, "games": [0, 1], "absent": [2]}'),
    (
        Withdrawn(1, "3 faults in a row", may_return=True),
        '{"entry": "Withdrawn", "player": 1, "why": "3 faults in a row", "may_return": true}',
    ),
    (Returned(1), '{"entry": "Returned", "player": 1}'),
    (Paused(), '{"entry": "Paused"}'),
    (Resumed(), '{"entry": "Resumed"}'),
    (Awarded(1, 0, 2), '{"entry": "Awarded", "pairing": 1, "game": 0, "winner": 2}'),
    (Awarded(1, 0, None), '{"entry": "Awarded", "pairing": 1, "game": 0, "winner": null}'),
    (Voided(1, [0]), '{"entry": "Voided", "pairing": 1, "games": [0]}'),
    (Replayed(1, [0], ["a"]), '{"entry": "Replayed", "pairing": 1, "games": [0], "annulled": ["a"]}'),
    (Forbidden([0, 1], [(3, [1])]), '{"entry": "Forbidden", "players": [0, 1], "voided": [[3, [1]]]}'),
    (NextSet([(0, 1), (2, None)]), '{"entry": "NextSet", "pairings": [[0, 1], [2, null]]}'),
    (Announced("lunch"), '{"entry": "Announced", "text": "lunch"}'),
    (
        RequestedTest(0, "random", 7),
        '{"entry": "RequestedTest", "player": 0, "house": "random", "latest": 7}',
    ),
    (StageBegun([2, 0]), '{"entry": "StageBegun", "order": [2, 0]}'),
    (Undone(7), '{"entry": "Undone", "number": 7}'),
    (Ended(), '{"entry": "Ended", "by_director": false}'),
]

NO_ENTRY = "not an entry of the log of a tournament"


@pytest.mark.parametrize(("entry", "text"), ENTRIES, ids=lambda each: type(each).__name__)
def test_entry_is_read_as_it_was_written(entry: Entry, text: str) -> None:
    assert written(entry) == written(parsed(text).entry) == text
    assert type(parsed(text).entry) is type(entry)


def test_entry_of_a_person_has_the_name_and_the_reason() -> None:
    text = written(Returned(1), "nora", "she is back")
    assert json.loads(text) == {"entry": "Returned", "player": 1, "by": "nora", "reason": "she is back"}
    assert parsed(text) == Signed(Returned(1), "nora", "she is back")
    assert parsed(written(Returned(1))) == Signed(Returned(1))


def test_table_has_every_kind_of_entry() -> None:
    assert {type(entry) for entry, _ in ENTRIES} == {*get_args(Entry)}


@pytest.mark.parametrize("text", [text for _, text in ENTRIES])
def test_key_that_a_later_version_left_out_or_added_is_refused(text: str) -> None:
    fields = json.loads(text)
    optional = ("latest", "may_return", "by_director", "voided", *(["house"] if "name" in fields else []))
    required = [key for key in fields if key not in optional]
    for changed in [
        fields | {"further": 1},
        *({key: fields[key] for key in fields if key != left_out} for left_out in required),
    ]:
        with pytest.raises(ValueError, match=NO_ENTRY):
            parsed(json.dumps(changed))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "7", '{"entry": 7}', '{"entry": "Elsewhere"}', "{}"])
def test_text_that_is_no_entry_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=NO_ENTRY):
        parsed(text)
