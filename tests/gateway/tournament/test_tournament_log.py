"""The entries of a tournament's log as texts."""

import json
from typing import get_args

import pytest

from gateway.tournament.log import (
    Begun,
    Ended,
    Entered,
    Entry,
    Forfeited,
    Paired,
    Paused,
    Resumed,
    Returned,
    StartRequested,
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
    (Ended(), '{"entry": "Ended", "by_organiser": false}'),
]

NO_ENTRY = "not an entry of the log of a tournament"


@pytest.mark.parametrize(("entry", "text"), ENTRIES, ids=lambda each: type(each).__name__)
def test_entry_is_read_as_it_was_written(entry: Entry, text: str) -> None:
    assert written(entry) == written(parsed(text)) == text
    assert type(parsed(text)) is type(entry)


def test_table_has_every_kind_of_entry() -> None:
    assert {type(entry) for entry, _ in ENTRIES} == {*get_args(Entry)}


@pytest.mark.parametrize("text", [text for _, text in ENTRIES])
def test_key_that_a_later_version_left_out_or_added_is_refused(text: str) -> None:
    fields = json.loads(text)
    required = [key for key in fields if key not in ("house", "may_return", "by_organiser")]
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
