"""Integers as clients write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.client.contract import to_column


@given(st.sampled_from(["", "+", "-"]), st.integers(0, 99), st.integers(0, 5))
def test_integer_of_two_digits_is_itself_whatever_stands_before_it(sign: str, value: int, zeros: int) -> None:
    digits = f"{sign}{'0' * zeros}{value}"
    assert to_column(digits) == int(digits)


@given(st.integers().filter(lambda value: not 0 <= value <= 6))
def test_what_is_no_column_never_becomes_one(value: int) -> None:
    assert not 0 <= to_column(str(value)) <= 6


@pytest.mark.parametrize("digits", ["9" * 5000, "-" + "3" * 5000, "1" + "0" * 100_000, "100", "-100"])
def test_integer_of_any_length_is_read_and_is_no_column(digits: str) -> None:
    assert not 0 <= to_column(digits) <= 6
    assert to_column("0" * 100_000 + "5") == 5


@pytest.mark.parametrize("text", ["", "+", "-", "x", "1.0", " 1", "1 ", "+-1", "1_0", "٣", "1\n", "1e1"])
def test_what_is_no_integer_raises(text: str) -> None:
    with pytest.raises(ValueError):
        to_column(text)
