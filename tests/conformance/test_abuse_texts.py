"""Texts that are hard to read: as long as they should be, and hard in the way that their names say."""

import json

import pytest

from conformance.lab.abuse.texts import EDN, JSON, LONG, NAMES, SHORT

FAMILIES = [*EDN.items(), *JSON.items()]


@pytest.mark.parametrize("length", [64, SHORT, LONG])
def test_family_fills_its_length_and_no_more(length: int) -> None:
    texts = {name: family(length) for name, family in FAMILIES}
    fit = [name for name, text in texts.items() if 0.6 * length - 30 <= len(text) <= length]
    assert fit == [*texts]
    assert all(map(str.isascii, texts.values()))


@pytest.mark.parametrize("name", [name for name in JSON if not name.startswith("nested")])
def test_json_is_json_so_that_it_is_read_to_its_end(name: str) -> None:
    json.loads(JSON[name](1_000))


def test_nested_lists_are_json_too_while_they_are_few() -> None:
    assert json.loads(JSON["nested lists"](8)) == [[[[]]]]
    assert json.loads(JSON["nested in a map"](24)) == {"type": "x", "pad": [[]]}


def test_names_are_long_or_mean_something() -> None:
    assert max(map(len, NAMES)) < LONG
    assert any("\x1b" in name for name in NAMES)
    assert any(name.startswith("=") for name in NAMES)
