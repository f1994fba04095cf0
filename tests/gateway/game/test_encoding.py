"""Every event and command goes through bytes and back, and nothing else comes out of them."""

import json
from functools import reduce
from operator import or_
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trials import FEW
from worlds.hub import DRAWN, FIRST_WINS

from gateway.game.board import FIRST, Board
from gateway.game.commands import (
    LONGEST_NAME,
    Ask,
    AtTable,
    Command,
    Denied,
    Enter,
    InLobby,
    Introduce,
    Leave,
    Nothing,
    Play,
    Unfit,
    Unreadable,
    Wish,
)
from gateway.game.encoding import LONGEST, EncodingError, decode_command, decode_event, encode
from gateway.game.events import (
    NOTHING,
    Dismissed,
    Ended,
    Entered,
    Event,
    Introduced,
    Moved,
    Objection,
    Overlooked,
    Reason,
    Refused,
    Resumed,
    Shown,
    Started,
    ToMove,
    Why,
)
from gateway.game.ids import RUNS, game_ids

GAME = "00007-00000a"
TOO_LONG = "a" * (LONGEST_NAME + 1)
games = st.integers(0, RUNS - 1).map(lambda run: next(game_ids(run)))
sides = st.sampled_from((0, 1))
columns = st.integers(0, 6)
numbers = st.integers(min_value=0)
names = st.text(st.characters(), max_size=LONGEST_NAME) | st.text(
    st.sampled_from("\ud800\udcff\udbff\udc00\x00"), max_size=9
)
seconds = st.floats(0, 1e9)
boards = st.sampled_from([DRAWN, FIRST_WINS]).flatmap(
    lambda game: st.integers(0, len(game)).map(
        lambda count: reduce(Board.drop, map(int, game[:count]), Board())
    )
)
objections = st.lists(st.sampled_from(Objection)).map(lambda some: reduce(or_, some, NOTHING))
wishes = st.none() | st.builds(Wish, names, st.booleans())
places = st.builds(InLobby, wishes) | st.builds(AtTable, names)

EVENTS: dict[type, st.SearchStrategy[Event]] = {
    Introduced: st.builds(Introduced, names),
    Entered: st.builds(Entered, names, st.booleans()),
    Started: st.builds(Started, games, sides, st.tuples(names, names)),
    Resumed: st.builds(Resumed, games, sides, st.tuples(names, names), boards, seconds),
    ToMove: st.builds(ToMove, games, st.integers(1), boards, st.none() | seconds),
    Moved: st.builds(Moved, games, sides, columns, boards),
    Shown: st.builds(Shown, games, boards),
    Refused: st.builds(Refused, objections, numbers, st.none() | games),
    Overlooked: st.builds(Overlooked, games),
    Ended: st.builds(
        Ended,
        games,
        boards,
        st.none() | sides,
        st.sampled_from(Reason),
        st.none() | columns,
        st.none() | sides,
    ),
    Dismissed: st.builds(Dismissed, st.sampled_from(Why), objections),
}
COMMANDS: dict[type, st.SearchStrategy[Command]] = {
    Introduce: st.builds(Introduce, names, st.booleans(), numbers),
    Enter: st.builds(Enter, places, st.none() | names, numbers, waits=st.booleans(), resumes=st.booleans()),
    Play: st.builds(Play, st.none() | st.integers(), numbers),
    Ask: st.builds(Ask, numbers),
    Nothing: st.builds(Nothing, numbers),
    Unfit: st.builds(Unfit, numbers),
    Unreadable: st.builds(Unreadable, numbers),
    Denied: st.builds(Denied, objections, seconds, numbers),
    Leave: st.builds(Leave, st.booleans()),
}


DECODED = {**dict.fromkeys(get_args(Event), decode_event), **dict.fromkeys(get_args(Command), decode_command)}


@pytest.mark.parametrize("kind", DECODED)
@settings(max_examples=FEW)  # of each kind
@given(data=st.data())
def test_event_or_command_is_read_back_as_it_was_and_as_nothing_else(kind: type, data: st.DataObject) -> None:
    value = data.draw({**EVENTS, **COMMANDS}[kind])
    written = encode(value)
    decode, other = DECODED[kind], {decode_event, decode_command} - {DECODED[kind]}
    assert decode(written) == value
    assert len(written) <= LONGEST
    with pytest.raises(EncodingError):
        other.pop()(written)


def test_form_is_one_object_with_a_version_the_kind_and_the_fields() -> None:
    assert json.loads(encode(ToMove(GAME, 3, Board().drop(3), 41.5))) == {
        "version": 1,
        "class": "ToMove",
        "game": GAME,
        "number": 3,
        "board": "3",
        "rest": 41.5,
    }
    place = {"class": "InLobby", "wish": {"class": "Wish", "name": "bob", "any_case": False}}
    about = {"version": 1, "class": "Enter", "place": place, "name": None, "to": 5, "proven": False}
    about |= {"waits": True, "resumes": True}
    assert json.loads(encode(Enter(InLobby(Wish("bob")), None, 5))) == about
    refused = {"version": 1, "class": "Refused", "objections": ["WAITING", "UNFIT"], "to": 2, "game": None}
    assert json.loads(encode(Refused(Objection.UNFIT | Objection.WAITING, 2))) == refused


# What is not read.

GOOD = {
    "Moved": {"game": GAME, "mover": 0, "column": 3, "board": "3"},
    "ToMove": {"game": GAME, "number": 1, "board": "", "rest": 1.5},
    "Ended": {"game": GAME, "board": "", "winner": 1, "reason": "LEFT", "column": None, "leaver": 0},
    "Started": {"game": GAME, "you": 1, "names": ["ann", "bob"]},
    "Refused": {"objections": ["UNFIT"], "to": 1, "game": None},
    "Dismissed": {"why": "LEFT", "objections": []},
    "Enter": {
        "place": {"class": "InLobby", "wish": None},
        "name": None,
        "to": 0,
        "proven": False,
        "waits": True,
        "resumes": True,
    },
}
WISH = {"class": "Wish", "name": "a"}


def written(of: str, **about: object) -> bytes:
    return json.dumps({"version": 1, "class": of, **GOOD[of], **about}).encode()


def read(data: bytes) -> Event | Command:
    return (decode_command if b'"Enter"' in data else decode_event)(data)


@pytest.mark.parametrize("kind", GOOD)
def test_fields_are_all_there_and_no_others(kind: str) -> None:
    read(written(kind))
    with pytest.raises(EncodingError):
        read(written(kind, more=1))
    for name in ("version", "class", *GOOD[kind]):
        found = json.loads(written(kind))
        del found[name]
        with pytest.raises(EncodingError):
            read(json.dumps(found).encode())


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        *(("Moved", "version", value) for value in (0, 2, True, 1.0, "1", None, [])),
        *(("Moved", "class", value) for value in ("", "moved", "Play", "Wish", 5, None, ["Moved"])),
        *(("Moved", "game", value) for value in ("", "12", GAME.upper(), GAME + " ", 7, None)),
        *(("Moved", "mover", value) for value in (-1, 2, True, 0.0, "0", None)),
        *(("Moved", "column", value) for value in (-1, 7, 10**30, True, 3.0, "3", None, [3])),
        *(("Moved", "board", value) for value in ("7", "-", "3333333", "01010106", "\u0663", "3 ", 3, [3])),
        *(("ToMove", "number", value) for value in (0, -1, True, 1.0, "1", None)),
        *(("ToMove", "rest", value) for value in (-0.1, 10**400, True, "1", float("nan"), float("inf"), [])),
        *(("Ended", "reason", value) for value in ("", "left", "four in a row", "name", 1, None, ["LEFT"])),
        *(("Ended", "leaver", value) for value in (2, True, "0")),
        *(("Started", "names", value) for value in ([], ["a"], ["a", "b", "c"], ["a", 1], "ab", None)),
        ("Started", "names", ["ann", TOO_LONG]),
        *(("Refused", "objections", value) for value in (1, "UNFIT", ["unfit"], [1], [["UNFIT"]], None, {})),
        *(("Refused", "to", value) for value in (-1, True, 1.0, "1", None)),
        *(("Dismissed", "why", value) for value in ("STEPPED", 1, None, {})),
        *(("Enter", "place", value) for value in (None, "lobby", {}, {**WISH, "any_case": True})),
        *(("Enter", "place", {"class": "AtTable", "name": name}) for name in (None, 5, TOO_LONG)),
        *(("Enter", "place", {"class": "InLobby", "wish": wish}) for wish in (5, {}, WISH)),
    ],
)
def test_value_of_a_wrong_type_or_out_of_its_range_is_not_read(kind: str, name: str, value: object) -> None:
    with pytest.raises(EncodingError):
        read(written(kind, **{name: value}))


@pytest.mark.parametrize(
    "data",
    [
        *(
            b"",
            b"{",
            b"null",
            b"[]",
            b"1",
            b'"Leave"',
            b"\xff",
            b'{"version": 1, "class": "L\xe9ave"}',
        ),
        b'{"version": 1, "class": "Leave", "class": "Leave"}',
        b'{"version": 1, "class": "Leave"} ' + b" " * LONGEST,
        *(b"[" * 10_000, b'{"a":' * 3_000, b'{"version": %s}' % (b"9" * 5_000)),
    ],
)
def test_what_is_no_object_of_this_form_is_not_read(data: bytes) -> None:
    for decode in (decode_event, decode_command):
        with pytest.raises(EncodingError):
            decode(data)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=9,
)


@given(st.binary(max_size=99) | json_values.map(lambda value: json.dumps(value).encode()))
def test_garbage_raises_only_encoding_error(data: bytes) -> None:
    for decode in (decode_event, decode_command):
        with pytest.raises(EncodingError):
            decode(data)


@pytest.mark.parametrize(
    "value",
    [
        Introduce(TOO_LONG),
        Entered(TOO_LONG),
        Play(10**5000),
        Play(3, -1),
        Moved(GAME, FIRST, 9, Board()),
        Moved("12", FIRST, 3, Board()),
        ToMove(GAME, 1, Board(), float("nan")),
        Shown(GAME, Board((3,))),
    ],
)
def test_value_that_could_not_be_read_back_is_not_written(value: Event | Command) -> None:
    with pytest.raises(EncodingError):
        encode(value)
