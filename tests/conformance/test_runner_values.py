"""Arena payloads: strict reading, comparison by value, and the words for a difference."""

import pytest

from conformance.placeholders import Names, PlaceholderError
from conformance.values import Encoding, ValueSyntaxError, difference, expected_value, read

NAMES = Names("x7", {"a": "a"})


def why(encoding: Encoding, expected: str, got: str) -> str | None:
    return difference(expected_value(encoding, expected, NAMES), read(encoding, got))


def test_order_of_keys_and_blanks_do_not_count() -> None:
    assert why(Encoding.JSON, '{"a":1, "b":[1,2]}', '{ "b":[1,2],"a":1}') is None
    assert why(Encoding.EDN, "{:a 1, :b [1 2]}", "{:b [1,2] :a 1}") is None


def test_boards_read_the_same_in_both_encodings() -> None:
    assert (
        why(Encoding.JSON, '{"state":{cells 3}}', '{"state":' + str([0] * 18 + [1] + [0] * 23) + "}") is None
    )
    assert why(Encoding.EDN, "{:moves {moves 31}}", "{:moves [3 1]}") is None


@pytest.mark.parametrize(
    ("expected", "got", "complaint"),
    [
        ('{"turn":1}', '{"turn":2}', '"turn" is 2, not 1'),
        ('{"turn":1}', '{"turn":1.0}', '"turn" is 1.0, not 1'),
        ('{"turn":1}', '{"turn":true}', '"turn" is true, not 1'),
        ('{"turn":1,"winner":0}', '{"turn":1}', 'key "winner" is missing'),
        ('{"turn":1}', '{"turn":1,"last-move":3}', 'key "last-move" was not expected'),
        ('{"msg":{"move":1}}', '{"msg":{"move":2}}', '"msg" "move" is 2, not 1'),
        ('{"msg":{"move":1}}', '{"msg":{}}', 'key "move" is missing in "msg"'),
        ('{"moves":{moves 31}}', '{"moves":[3,2]}', '"moves"[1] is 2, not 1'),
        ('{"moves":{moves 31}}', '{"moves":[3]}', '"moves" is of length 1, not 2'),
        ('{"moves":[]}', '{"moves":null}', '"moves" is null, not a list of 0'),
        ('{"type":"end"}', "[]", "it is a list of 0, not a map"),
        ('{"reason":"{a} left"}', '{"reason":"b left"}', '"reason" is "b left", not "ax7 left"'),
        ('{"reason":"no {any}!"}', '{"reason":"no"}', '"reason": they differ from character 3 on'),
        ('{"reason":"no {any}!"}', '{"reason":3}', '"reason" is 3, not text'),
    ],
)
def test_difference_is_told_with_its_place(expected: str, got: str, complaint: str) -> None:
    assert why(Encoding.JSON, expected, got) == complaint


def test_keyword_is_no_string() -> None:
    assert why(Encoding.EDN, "{:type :end}", '{:type "end"}') == ':type is "end", not :end'
    assert why(Encoding.EDN, "{:type 1}", '{"type" 1}') == "key :type is missing"


def test_any_fits_a_whole_value_or_the_text_of_a_string() -> None:
    assert (
        why(Encoding.JSON, '{"msg":{any},"reason":"{any}"}', '{"msg":{"a":[]},"reason":"two words"}') is None
    )
    assert (
        why(Encoding.EDN, '{:msg {any}, :reason "Only {any}"}', '{:msg nil :reason "Only this one"}') is None
    )


def test_only_any_stands_for_a_value() -> None:
    with pytest.raises(
        PlaceholderError, match=r"\{time\} stands outside of a string, where only \{any\} can"
    ):
        expected_value(Encoding.JSON, '{"x":{time}}', NAMES)


@pytest.mark.parametrize(
    ("encoding", "text", "message"),
    [
        (Encoding.JSON, '{"a":NaN}', "no JSON: NaN is not allowed"),
        (Encoding.JSON, '{"a":1e999}', "no JSON: 1e999 is out of range"),
        (Encoding.JSON, '{"a":1,"a":1}', "no JSON: a key stands twice in one map"),
        (Encoding.JSON, "{} {}", "no JSON: Extra data: line 1 column 4 (char 3)"),
        (Encoding.JSON, "", "no JSON: Expecting value: line 1 column 1 (char 0)"),
        (Encoding.EDN, "{:a 1} {:b 1}", "no EDN: 2 values, not one"),
        (Encoding.EDN, "", "no EDN: 0 values, not one"),
        (Encoding.EDN, "{:a 1 :a 2}", "no EDN: a key stands twice in one map"),
        (Encoding.EDN, "{:a", "no EDN: EOF Reached"),
        (Encoding.EDN, '{"type":"end"}', "no EDN: Illegal character ':'"),
        (Encoding.EDN, "#foo 1", "no EDN: Don't know how to handle tag ImmutableDict(foo)"),
    ],
)
def test_reading_is_strict(encoding: Encoding, text: str, message: str) -> None:
    with pytest.raises(ValueSyntaxError) as raised:
        read(encoding, text)
    assert str(raised.value) == message
