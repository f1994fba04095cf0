"""Lines out of any stream of bytes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.client.contract import Flooded
from adapters.client.framing import LINE_LIMIT, Lines, to_text

STREAM = (
    b"NAME ann\r\n\n  put 3 \nJOIN \xc3\xa4\xe2\x82\xac\n\xff\xfd\x01NAME \xff\xf4b\n"
    b"\xff\xfa\x18\x00xterm\xff\xf0PUT 1\n\xfe\xfa \xffPUT\n"
    b"PUT 1\rPUT 2\r\r\nPUT 3\r\0\r\0PUT 4\r\n\r\n\n\r\0\nlast"
)


def fed(*chunks: bytes) -> list[str]:
    lines = Lines()
    found = [line for chunk in chunks for line in lines.feed(chunk)]
    return found + lines.end()


def test_line_ends_with_lf_or_cr_lf() -> None:
    assert fed(b"NAME ann\r\nJOIN x\n") == ["NAME ann", "JOIN x"]


def test_lone_cr_ends_a_line_at_once() -> None:
    assert Lines().feed(b"NAME a\rJOIN x\rPUT 3\r") == ["NAME a", "JOIN x", "PUT 3"]


def test_telnet_writes_a_lone_cr_as_cr_nul() -> None:
    assert fed(b"NAME a\r\0JOIN x\r\0") == ["NAME a", "JOIN x"]


@pytest.mark.parametrize("tail", [b"\n", b"\0"])
def test_what_belongs_to_a_cr_may_come_in_the_next_packet(tail: bytes) -> None:
    lines = Lines()
    assert lines.feed(b"PUT 1\r") == ["PUT 1"]
    assert lines.feed(tail) == []
    assert lines.feed(tail + b"PUT 2\n") == (["", "PUT 2"] if tail == b"\n" else ["\0PUT 2"])


def test_every_cr_ends_a_line() -> None:
    assert fed(b"\r\r\n\n\rx") == ["", "", "", "", "x"]


def test_cr_at_the_end_of_a_packet_is_no_line_of_its_own_at_the_end() -> None:
    assert fed(b"PUT 1\r", b"") == ["PUT 1"]


def test_nul_that_is_behind_no_cr_is_a_character() -> None:
    assert fed(b"PUT\0 1\n\0\n") == ["PUT\0 1", "\0"]


def test_line_split_at_every_byte_reads_the_same() -> None:
    whole = fed(STREAM)
    assert fed(*(bytes([byte]) for byte in STREAM)) == whole
    for cut in range(len(STREAM)):
        assert fed(STREAM[:cut], STREAM[cut:]) == whole


_PIECES = st.lists(st.sampled_from([b"\r", b"\n", b"\0", b"\xff", b"x"]), max_size=8).map(b"".join)


@given(st.lists(st.binary(max_size=40) | _PIECES, max_size=12))
def test_however_a_stream_is_cut_its_lines_are_the_same(chunks: list[bytes]) -> None:
    *lines, rest = re.split(rb"\n|\r[\n\0]?", b"".join(chunks))
    expected = [to_text(line) for line in lines] + ([to_text(rest)] if rest else [])
    assert fed(*chunks) == expected


def test_many_lines_in_one_packet_come_in_order() -> None:
    numbers = [str(number) for number in range(1000)]
    assert fed("\n".join(numbers).encode()) == numbers


def test_empty_line_is_a_line() -> None:
    assert fed(b"\n\n") == ["", ""]


def test_last_line_needs_no_newline() -> None:
    assert fed(b"PUT 1\nPUT 2") == ["PUT 1", "PUT 2"]


def test_end_after_a_newline_leaves_nothing() -> None:
    assert fed(b"PUT 1\n") == ["PUT 1"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r", b"\r\0"])
def test_line_as_long_as_the_limit_is_read(end: bytes) -> None:
    assert fed(b"x" * LINE_LIMIT + end) == ["x" * LINE_LIMIT]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n", b"\nPUT 1\n"])
def test_line_longer_than_the_limit_is_a_flood(end: bytes) -> None:
    with pytest.raises(Flooded):
        Lines().feed(b"x" * (LINE_LIMIT + 1) + end)


def test_flood_in_small_pieces_is_a_flood() -> None:
    lines = Lines()
    for _ in range(LINE_LIMIT):
        assert lines.feed(b"x") == []
    with pytest.raises(Flooded):
        lines.feed(b"x")


def test_megabyte_without_a_newline_is_refused_long_before_it_is_read() -> None:
    lines = Lines()
    with pytest.raises(Flooded):  # noqa: PT012 - which of the reads it is does not matter
        for _ in range(2):
            lines.feed(b"x" * LINE_LIMIT)


def test_lines_before_a_flood_are_read_first() -> None:
    lines = Lines(limit=5)
    assert lines.feed(b"PUT 1\nPUT 2\n123456") == ["PUT 1", "PUT 2"]
    with pytest.raises(Flooded):
        lines.feed(b"\nPUT 3\n")
    assert lines.end() == []


def test_line_behind_a_flood_is_never_read() -> None:
    lines = Lines(limit=5)
    assert lines.feed(b"PUT 1\n123456\nPUT 2\n") == ["PUT 1"]
    with pytest.raises(Flooded):
        lines.feed(b"PUT 3\n")


@pytest.mark.parametrize("line", [b"\xc3", b"PUT \x80", b"\xed\xa0\x80", b"\xfe", b"\xf8\x88\x80\x80\x80"])
def test_bytes_that_are_no_utf8_stand_in_the_text_as_surrogates(line: bytes) -> None:
    (text,) = fed(line + b"\n")
    assert text.encode("utf-8", "surrogateescape") == line


@given(st.binary(max_size=60).filter(lambda line: not {*line} & {*b"\r\n"}))
def test_any_line_becomes_text_that_can_be_written_down(line: bytes) -> None:
    written = to_text(line).encode("utf-8", "surrogateescape")
    assert b"\xff" not in written


@pytest.mark.parametrize(
    "noise",
    [
        b"\xff\xf4\xff\xfd\x06",  # what Ctrl-C sends: interrupt process, do timing mark
        b"\xff\xfb\x1f\xff\xfd\x03",  # will window size, do suppress go-ahead
        b"\xff\xfa\x1f\x00\x50\x00\x18\xff\xf0",  # the window's size
        b"\xff\xfa\x1f\xff\xff\x00\x18\xff\xf0",  # the same, 65,280 columns wide
        b"\xff\xff",  # a byte 0xFF as telnet writes it
        b"\xff\xf1",
    ],
)
@pytest.mark.parametrize("place", range(6))
def test_telnet_commands_are_dropped_and_the_rest_of_the_line_counts(noise: bytes, place: int) -> None:
    line = b"PUT 3"
    assert fed(line[:place] + noise + line[place:] + b"\n") == ["PUT 3"]


@pytest.mark.parametrize("noise", [b"\xff", b"\xff\xfd", b"\xff\xfa\x1f\x00"])
def test_telnet_command_that_is_cut_off_is_dropped(noise: bytes) -> None:
    assert fed(b"PUT 3" + noise + b"\nPUT 4\n") == ["PUT 3", "PUT 4"]


def test_byte_ff_that_begins_no_telnet_command_costs_only_itself() -> None:
    assert fed(b"NAME \xffann\n") == ["NAME ann"]
