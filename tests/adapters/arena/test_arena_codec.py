import json
import math
import threading
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import edn_format
import pytest
from edn_format import Char, ImmutableDict, ImmutableList, Keyword, MetadataValue, Symbol
from hypothesis import given, settings
from hypothesis import strategies as st
from trials import FEW

from adapters.arena import edn, forms, maps
from adapters.arena.codec import BEFORE_TOKEN, ArenaClientCodec, ArenaCodec, TokenCodec
from adapters.arena.messages import (
    ClientMessage,
    Disconnected,
    Encoding,
    End,
    Ignored,
    Move,
    Other,
    Said,
    ServerMessage,
    Start,
    State,
    StateRequest,
)
from adapters.client.contract import WireError
from adapters.client.name_check import without_tokens

JSON, EDN = Encoding.JSON, Encoding.EDN
EMPTY = bytes(42)
LIMIT = 65_536


def codec_set_to(encoding: Encoding) -> ArenaCodec:
    codec = ArenaCodec()
    codec.decode('{"hello": 1}' if encoding is JSON else "{:hello 1}")
    return codec


def decode(text: str) -> ClientMessage:
    return ArenaCodec().decode(text)


def unreadable(text: str) -> bool:
    try:
        decode(text)
    except WireError:
        return True
    return False


def loads(text: str) -> Any:
    return edn_format.loads(text, write_ply_tables=False)


def loads_json(text: str) -> Any:
    return json.loads(text)


BEGINNINGS = {JSON: '{"msg":', EDN: "{:msg "}
READERS: dict[Encoding, Callable[[str], Any]] = {JSON: loads_json, EDN: loads}


def value_of(said: Said) -> Any:
    """Return what any reader makes of a map as a copy of it is written."""
    return READERS[said.encoding](said.text) if said.encoding else {}


def copy_of(message: ClientMessage, codec: ArenaCodec | None = None) -> Any:
    """Return what a client reads as the copy of its message."""
    text = (codec or ArenaCodec()).encode(Ignored(message.said, "Not your turn"))
    text.encode()
    if text.startswith('{"'):
        return loads_json(text)["msg"]
    return loads(text)[Keyword("msg")]


# Reading


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ('{"type": "move", "move": 3}', 3),
        ('\r\n {"type":"move",\r\n"move":3}\r\n', 3),
        ('{"move":3,"type":"move","extra":[1,{"k":null}]}', 3),
        ("{:type :move :move 3}", 3),
        ('{"type" "move" "move" 3}', 3),
        ('{:move 3 ; the middle\n :type "move" #_ {:not "this"}}', 3),
        # A keyword as a key comes before a string of its name.
        ('{"type" "start", :type "move", :move 1, "move" 2}', 1),
        ('{:move 1 :type :move "move" 2}', 1),
        ('{"type":"move"}', None),
        ('{"type":"move","move":true}', True),
        ('{"type":"move","move":"x"}', "x"),
        ('{"type":"move","move":3.0}', 3.0),
        ('{"type":"move","move":' + "1" * 30 + "}", int("1" * 30)),
        # Of a value that may be large nothing is kept.
        ('{"type":"move","move":[[],[]]}', ()),
        ('{"type":"move","move":{"a":1}}', ()),
        ("{:type :move, :move #{1}}", ()),
    ],
)
def test_a_move_is_read_however_it_is_written_and_has_its_value(text: str, move: object) -> None:
    message = decode(text)
    assert isinstance(message, Move)
    assert repr(message.move) == repr(move)


@pytest.mark.parametrize(
    ("text", "id", "against", "table"),
    [
        ('{"type":"start"}', None, None, None),
        ('{"type":"start","id":"a","against":null,"table":""}', "a", None, ""),
        ('{"type":"start","id":5,"against":["b"],"table":false}', 5, (), False),
        ("{:type :start, :id :alice, :against :bob, :table :t/1}", "alice", "bob", "t/1"),
        ("{:type :start, :id alice}", (), None, None),
    ],
)
def test_a_start_has_text_and_numbers_as_they_are_and_keywords_as_names(
    text: str, id: object, against: object, table: object
) -> None:
    message = decode(text)
    assert isinstance(message, Start)
    assert (message.id, message.against, message.table) == (id, against, table)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *((text, StateRequest) for text in ('{"type":"state_request"}', "{:type :state_request}")),
        *((text, Other) for text in ("{}", '{"type":"START","id":"x"}', '{"type":null}', '{":type":"move"}')),
        *(
            (text, Other)
            for text in ("{:type move}", "{:x/type :move}", "{:type #{:move}}", "{[1 2] {:a #{1}}}")
        ),
    ],
)
def test_any_other_map_is_a_state_request_or_other(text: str, kind: type[object]) -> None:
    assert isinstance(decode(text), kind)


def test_a_control_character_in_a_string_of_json_need_not_be_escaped() -> None:
    every = "".join(map(chr, range(0x20))) + "\x7f\x85"
    message = decode(f'{{"type":"start","id":"t{every}ab"}}')
    assert isinstance(message, Start)
    assert message.id == f"t{every}ab"
    assert copy_of(message) == {"type": "start", "id": f"t{every}ab"}
    assert not any(char < " " for char in message.said.text)


def test_a_control_character_in_json_outside_strings_is_unreadable_unless_it_is_blank() -> None:
    for char in map(chr, range(0x20)):
        assert unreadable(f'{{"type":{char}"move"}}') == (char not in " \t\r\n")


@pytest.mark.parametrize(
    "text",
    [
        *("", " \r\n", "; nothing", "5", '"move"', "null", "nil", "[]", '["type","move"]', "hello"),
        '{"type":"move","move":3',
        '{"type":"move","move":3}}',
        '{"move":3} x',
        '{"move":true} {}',
        "{:type :move :move}",
        '{"a":NaN}',
        '{"a":-Infinity}',
        '{"a":1e400}',
        '{"a":' + "9" * 5000 + "}",
        '{"a":"\\ud800"}',
        '{"\\udfff":[1]}',
        '{"a":[{"b":"\\udc80"}]}',
        '{"a":"\udc80"}',
        '{:a "\udc80"}',
        '{"\\udfff" 1}',
        "{:a \\ud800}",
        "{:a \\\U0001d4b3}",
        "{:a 1/0}",
        "{:a 0x" + "f" * 5000 + "}",
        "{:a 1e9999999999M}",
        '{:a "\\xzz"}',
        '{:a "\\N{NO SUCH NAME}"}',
        '{:a #inst "yesterday"}',
        "{:a #inst 5}",
        "{:a #uuid 5}",
        "{:a #what 5}",
        "^:meta {:type :move}",
    ],
)
def test_what_is_no_map_or_could_not_be_copied_is_unreadable(text: str) -> None:
    assert unreadable(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            around % (bracket * LIMIT)
            for bracket in "[({"
            for around in ("{%s", "{:a %s", "#{%s", "#_ %s {:a 1}")
        ),
        *(
            "{:a " + mark * (LIMIT // len(mark)) + "}"
            for mark in ("^:a ", "#_ ", "#a ", "#_ 1 #_ ", '#{"', "^{:a ")
        ),
        '{"a":' + "[" * LIMIT,
    ],
    ids=lambda text: text[:20],
)
def test_endless_nesting_is_unreadable_also_on_a_small_stack(text: str) -> None:
    results: list[bool] = []
    before = threading.stack_size(512 * 1024)
    try:
        reader = threading.Thread(target=lambda: results.append(unreadable(text)))
        reader.start()
    finally:
        threading.stack_size(before)
    reader.join()
    assert results == [True]


@pytest.mark.parametrize("opening", ['{"a":', "["])
def test_nesting_is_read_and_copied_up_to_a_limit(opening: str) -> None:
    closing = "}" if opening.startswith("{") else "]"

    def nested(depth: int) -> str:
        return '{"a":' + opening * (depth - 2) + "[]" + closing * (depth - 2) + "}"

    for depth in (2, 50, maps.MAX_DEPTH):
        assert copy_of(decode(nested(depth))) == loads_json(nested(depth))
    for depth in (maps.MAX_DEPTH + 1, 900, 9_000):
        assert unreadable(nested(depth))


@pytest.mark.parametrize("item", ["0", "[]", "{}", '"a,b"', '"\\",[["', '{"k":[0,0]}'])
def test_json_may_have_so_many_values_and_not_many_more(item: str) -> None:
    size = 1 + item.count("[0") + item.count("0,") + (item[0] in "[{")
    count = (maps.MAX_VALUES - 1) // size
    text = '{"a":[' + ",".join([item] * count) + "]}"
    assert copy_of(decode(text)) == loads_json(text)
    assert unreadable('{"a":[' + ",".join([item] * (count + 2)) + "]}")
    in_string = '{"a":"' + '\\",[' * 5000 + '"}'
    assert copy_of(decode(in_string)) == loads_json(in_string)


# The connection's encoding


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        *(
            (text, JSON)
            for text in ('{"type":', ' {\n"a":NaN}', '{"a":1} x', '{"type" :move', '{"', '{\t"\udc80')
        ),
        *((text, EDN) for text in ("", "{", "[1", '"x"', "{:type", "{]", "{'a", '#{"a', "nil", "{} {")),
    ],
)
def test_what_is_unreadable_is_answered_as_it_begins_before_a_map_was_said_and_then_as_that(
    text: str, answer: Encoding
) -> None:
    codec = ArenaCodec()
    assert unreadable(text)
    assert codec.encode(Ignored(text, "x")).startswith(BEGINNINGS[answer])
    assert codec.encode(End()) == '{:type "end"}'
    for encoding, beginning in BEGINNINGS.items():
        assert codec_set_to(encoding).encode(Ignored(text, "x")).startswith(beginning)


def test_the_first_map_that_says_something_sets_the_encoding_for_good() -> None:
    codec = ArenaCodec()
    codec.decode('{"x":1}')
    assert codec.encode(End()) == '{"type":"end"}'
    codec.decode("{:type :state_request}")
    assert codec.encode(End()) == '{"type":"end"}'


@pytest.mark.parametrize(
    "text", ["{}", " {\n} ", "{,}", "{;}\n}", "[1]", "5", '"x"', '{"type"', "NaN", "nil"]
)
def test_what_is_the_same_in_both_encodings_or_in_neither_sets_nothing(text: str) -> None:
    codec = ArenaCodec()
    try:
        message = codec.decode(text)
        assert message.said == Said("{}", None)
    except WireError:
        pass
    assert codec.encode(End()) == '{:type "end"}'
    codec.decode('{"x":1}')
    assert codec.encode(End()) == '{"type":"end"}'


def test_what_was_said_is_kept_as_its_copy_is_written() -> None:
    assert decode(' {"type":"move",\n "move":[1]} ').said == Said('{"type":"move","move":[1]}', JSON)
    assert decode("#_x {:type :move :move [1]} {}").said == Said("{:type :move, :move [1]}", EDN)


def test_one_connection_never_sees_the_encoding_of_another() -> None:
    codec_set_to(JSON).decode("{:type :move}")
    second = ArenaCodec()
    second.decode("{:type :move}")
    assert second.encode(End()) == '{:type "end"}'


# Writing


WON = bytes((1, 1, 1, 1, 0, 0, 2, 2, 2)) + bytes(33)


@pytest.mark.parametrize(
    ("encoding", "message", "text"),
    [
        (
            JSON,
            State(1, 2, EMPTY, ()),
            '{"type":"state","turn":1,"moves":[],"state":[' + ",".join("0" * 42) + '],"you":2}',
        ),
        (
            JSON,
            State(0, 1, WON, (0, 1, 0, 1, 0, 1, 0), last_move=0, winner=1),
            '{"type":"state","turn":0,"moves":[0,1,0,1,0,1,0],"state":[1,1,1,1,0,0,2,2,2,'
            + ",".join("0" * 33)
            + '],"you":1,"last-move":0,"winner":1}',
        ),
        (
            EDN,
            State(0, 2, b"\1\2" + bytes(40), (0, 1), last_move=1, winner=0),
            '{:type "state", :turn 0, :moves [0 1], :state [1 2'
            + " 0" * 40
            + "], :you 2, :last-move 1, :winner 0}",
        ),
        (JSON, Disconnected(), '{"type":"disconnected"}'),
        (JSON, End(), '{"type":"end"}'),
        (EDN, Disconnected(), '{:type "disconnected"}'),
    ],
)
def test_messages_are_written_as_the_original_wrote_them_and_read_back(
    encoding: Encoding, message: ServerMessage, text: str
) -> None:
    assert codec_set_to(encoding).encode(message) == text
    assert ArenaClientCodec(encoding).decode(text) == message


def test_copies_are_written_as_the_original_wrote_them() -> None:
    codec = ArenaCodec()
    said = ' {"comment":"hé ☃ \\u00e9","f":1.0,"g":1e3,"h":12345678901234567890,"n":null}\r\n'
    assert codec.encode(Ignored(codec.decode(said).said, '"x" is')) == (
        '{"msg":{"comment":"hé ☃ é","f":1.0,"g":1000.0,"h":12345678901234567890,"n":null},'
        '"type":"ignored","reason":"\\"x\\" is"}'
    )


def test_a_copy_is_written_as_its_message_was_whatever_the_connection_speaks() -> None:
    codec = codec_set_to(JSON)
    said = codec.decode("{:type :move, :move [1 2]}").said
    assert codec.encode(Ignored(said, 'No "x"')) == (
        '{:msg {:type :move, :move [1 2]}, :type "ignored", :reason "No \\"x\\""}'
    )
    codec = codec_set_to(EDN)
    assert codec.encode(Ignored(codec.decode('{"a":[]}').said, "x")).startswith('{"msg":{"a":[]},')
    assert codec.encode(Ignored(codec.decode("{,}").said, "x")).startswith("{:msg {}, ")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (b'{"a": \xff\xfe "\xc3\xa9"'.decode("utf-8", "surrogateescape"), '{"a": \ufffd\ufffd "\xe9"'),
        ("".join(map(chr, range(0x100))), "".join(map(chr, range(0x100)))),
    ],
    ids=["no UTF-8", "control characters"],
)
def test_an_unreadable_text_is_copied_in_either_encoding(said: str, shown: str) -> None:
    for encoding, key in ((JSON, "msg"), (EDN, Keyword("msg"))):
        text = codec_set_to(encoding).encode(Ignored(said, "Malformed message"))
        assert not any(char < " " for char in text)
        assert READERS[encoding](text)[key] == shown
        assert ArenaClientCodec(encoding).decode(text) == Ignored(shown, "Malformed message")


# Round trips

columns = st.integers(0, 6)
states = st.builds(
    State,
    turn=st.integers(0, 2),
    you=st.integers(1, 2),
    cells=st.lists(st.integers(0, 2), min_size=42, max_size=42).map(bytes),
    moves=st.lists(columns, max_size=42).map(tuple),
    last_move=st.none() | columns,
    winner=st.none() | st.integers(0, 2),
)
encodings = st.sampled_from(Encoding)

strings = st.text(st.characters(exclude_categories=["Cs"]))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | strings,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(strings, inner, max_size=4),
    max_leaves=12,
)
json_maps = st.dictionaries(strings, json_values, min_size=1, max_size=5)

names = st.from_regex(r"[a-zé][a-z0-9é*+!_?<=>.-]{0,8}(/[a-z]{1,5})?", fullmatch=True)
zones = st.none() | st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@st.composite
def edn_leaf(draw: st.DrawFn) -> object:
    return draw(EDN_LEAVES)


EDN_LEAVES: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**80), 10**80)
    | st.floats(allow_nan=False)
    | strings
    | names.map(Keyword)
    | names.filter(lambda name: name not in {"nil", "true", "false"}).map(Symbol)
    | st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=6)
    | st.sampled_from([Decimal("1E+300"), Decimal("-1.5E-300"), Decimal("-0"), Decimal("0E+9")])
    | st.fractions()
    | st.dates()
    | st.datetimes(timezones=zones)
    | st.uuids()
    | st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]).map(Char)
)
edn_leaves = edn_leaf()
edn_values = st.recursive(
    edn_leaves,
    lambda inner: (
        st.lists(inner, max_size=4).map(ImmutableList)
        | st.lists(inner, max_size=4).map(tuple)
        | st.frozensets(inner, max_size=4)
        | st.dictionaries(inner, inner, max_size=4).map(ImmutableDict)
        | st.builds(MetadataValue, inner, inner)
    ),
    max_leaves=8,
)
edn_maps = (
    st.dictionaries(edn_leaves, edn_values, min_size=1, max_size=3)
    .map(ImmutableDict)
    .filter(lambda value: len(edn.write(value).split()) < forms.MAX_TOKENS // forms.COSTS["RATIO"])
)


@given(st.lists(states, max_size=4), encodings, encodings)
def test_players_of_one_game_are_told_the_same_but_for_their_number(
    some: list[State], first: Encoding, second: Encoding
) -> None:
    told = [
        codec_set_to(encoding).encode(state._replace(you=you))
        for state in some
        for encoding, you in ((first, 1), (second, 2))
    ]
    alone = [
        ArenaClientCodec(encoding).decode(text)
        for text, encoding in zip(told, (first, second) * len(some), strict=True)
    ]
    assert alone == [state._replace(you=you) for state in some for you in (1, 2)]


@given(json_maps)
def test_the_copy_of_any_json_map_reads_back_equal(value: dict[str, Any]) -> None:
    message = decode(json.dumps(value))
    assert repr(copy_of(message)) == repr(value_of(message.said)) == repr(value)


@settings(max_examples=FEW)
@given(edn_maps)
def test_the_copy_of_any_edn_map_reads_back_equal(value: Any) -> None:
    message = decode(edn.write(value))
    assert message.said.encoding is EDN
    assert copy_of(message) == value
    assert written(copy_of(message)) == written(value)


def written(value: Any) -> object:
    """Return what tells apart values that are equal, but not the same: 1 and 1.0, all metadata."""
    match value:
        case ImmutableDict():
            return "map", sorted((repr(written(key)), repr(written(value[key]))) for key in value)
        case ImmutableList() | tuple():
            return type(value), [written(item) for item in value]
        case frozenset():
            return "set", sorted(repr(written(item)) for item in value)
        case MetadataValue():
            return "meta", written(value.metadata), written(value.value)
        case datetime():
            return value.isoformat()
        case _:
            return type(value), repr(value)


def test_nan_in_edn_is_copied() -> None:
    copied = copy_of(decode("{:a [##NaN ##-Inf 1e400]}"))[Keyword("a")]
    assert math.isnan(copied[0])
    assert list(copied[1:]) == [-math.inf, math.inf]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("\\newline", Char("\n")),
        ("\\u00E9", Char("é")),
        ('#inst "0001-01-01T00:00:00+14:00"', datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))),
        ('#inst "2020-01-01T00:00:00"', datetime(2020, 1, 1)),
        ('#inst "2020"', date(2020, 1, 1)),
        ('#uuid "01234567-0123-0123-0123-0123456789ab"', UUID("01234567-0123-0123-0123-0123456789ab")),
        ("-4/6", Fraction(-2, 3)),
        ("1.0000000000000000000000000000001M", Decimal(1)),
        ("0x1F", 31),
        ('"\\q\\u0041\\t"', "\\qA\t"),
        ("#:ns{:a 1 :_/b 2}", ImmutableDict({Keyword("ns/a"): 1, Keyword("b"): 2})),
    ],
)
def test_what_edn_can_also_say_is_copied(text: str, value: object) -> None:
    message = decode("{:a " + text + "}")
    assert copy_of(message) == ImmutableDict({Keyword("a"): value})


# Garbage

SPELLINGS = r"""
    { } [ ] ( ) ^ # , / \ " ' 5 : . + - *
    #{ #_ #inst #uuid #what #:ns ##NaN ## :a :type :move "type" "move"
    "a" ":" "\ud83d" "\u00e9" "\xzz" \a \u0041 \newline \u12 {"a":
    0x1f 1/2 1/0 -0 007 1.5 1e400 3M 1e5M 1e9999999M 12N 1e nil true null NaN Infinity
    "2020-01-01" "2020" "01234567-0123-0123-0123-0123456789ab"
"""
PIECES = [*SPELLINGS.split(), *"\r\n\t\x00\x85😀²", "; comment\n", "\\\U0001d4b3"]
soups = st.lists(st.sampled_from(PIECES), max_size=12).flatmap(
    lambda pieces: st.sampled_from(
        ["%s", "{%s}", "{:a [%s]}", '{:type "move" %s}', '{"a":[%s]}', "{:a #{%s}}"]
    ).map(lambda around: around % " ".join(pieces))
)
wild = st.text(st.characters() | st.characters(categories=["Cs"]))


@given(wild | soups, encodings)
def test_garbage_raises_only_wire_error_and_is_always_copied(text: str, encoding: Encoding) -> None:
    codec = codec_set_to(encoding)
    try:
        message = codec.decode(text)
    except WireError:
        codec.encode(Ignored(text, "Malformed message")).encode()
    else:
        copied = copy_of(message, codec)
        if "NaN" not in text:
            assert copied == value_of(message.said)


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"move"}',
        "{}",
        '{"type":"state"}',
        '{:type "state", :turn 1, :you true, :state []}',
        '{:type "state", :turn 1, :you 2, :state 5}',
        '{"type":"state","turn":1,"you":2,"state":["0"]}',
        '{"type":"state","turn":1,"you":2,"state":[-1]}',
        '{"type":"state","turn":1,"you":2,"state":[256]}',
        '{"type":"state","turn":1,"you":2,"state":[],"winner":"1"}',
    ],
)
def test_a_client_finds_unreadable_what_no_server_says(text: str) -> None:
    with pytest.raises(WireError):
        ArenaClientCodec(JSON).decode(text)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (Start(Said(""), "A1"), '{"type":"start","id":"A1","against":null}'),
        (Start(Said(""), "A1", "random", "t"), '{"type":"start","id":"A1","against":"random","table":"t"}'),
        (Move(Said(""), 3), '{"type":"move","move":3}'),
        (StateRequest(Said("")), '{"type":"state_request"}'),
        (Other(Said('{"type":"bogus"}')), '{"type":"bogus"}'),
    ],
)
def test_a_client_writes_what_the_original_client_writes(message: ClientMessage, text: str) -> None:
    assert ArenaClientCodec(JSON).encode(message) == text


def test_a_client_does_without_the_moves_that_some_servers_leave_out() -> None:
    state = ArenaClientCodec(EDN).decode('{:type "state", :turn 1, :you 2, :state [0 1]}')
    assert state == State(1, 2, b"\0\1", ())


# Where ids are protected.


@pytest.mark.parametrize(
    ("text", "copy"),
    [
        ('{"type":"start","id":"ann","token":"secret"}', '{"type":"start","id":"ann","token":"..."}'),
        ('{"type":"start","id":"ann","t\\u006fken":"secret"}', '{"type":"start","id":"ann","token":"..."}'),
        ('{:type "start", :id "ann", :token "secret"}', '{:type "start", :id "ann", :token "..."}'),
        ('{:type "start", :id "ann", "token" :secret}', '{:type "start", :id "ann", "token" "..."}'),
    ],
)
def test_token_is_read_and_no_copy_shows_it(text: str, copy: str) -> None:
    start = TokenCodec().decode(text)
    assert isinstance(start, Start)
    assert (start.id, start.token) == ("ann", "secret")
    assert "secret" not in repr(start)
    assert start.said.text == copy


def test_token_in_any_other_message_is_shown_in_no_copy_either() -> None:
    codec = TokenCodec()
    for _ in range(2):
        said = codec.decode('{"type":"strat","token":{"a":"secret"}}').said
        assert said == Said('{"type":"strat","token":"..."}', JSON)
    assert codec.encode(End()) == '{"type":"end"}'


@pytest.mark.parametrize("text", ['{"type":"move","move":3}', "{:type :move, :move 3}", "{}", '{"a":"\\\\"}'])
def test_map_without_a_token_is_read_as_ever_where_ids_are_protected(text: str) -> None:
    codec, legacy = TokenCodec(), ArenaCodec()
    assert codec.decode(text) == legacy.decode(text)
    assert codec.encode(End()) == legacy.encode(End())


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ('{"type":"start","id":"ann","token":"secret"}', '{"type":"start","id":"ann","token...'),
        ('{"id":"ann","t\\u006fken":"secret"', '{"id":"ann","t\\...'),
        ("{:id :ann :token secret", "{:id :ann :token..."),
        ('{"type":"move","move":3}', '{"type":"move","move":3}'),
    ],
)
def test_token_in_a_text_is_hidden(text: str, hidden: str) -> None:
    assert without_tokens(BEFORE_TOKEN, text) == hidden
