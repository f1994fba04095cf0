"""What a bot is told is divided into packets as the scenario asks for."""

import pytest

from adapters.check.wire import frame_end, line_end
from adapters.frames import text_frame


@pytest.mark.parametrize("size", [0, 5, 125, 126, 70_000])
def test_first_frame_ends_where_the_next_one_begins(size):
    one = text_frame("x" * size)
    assert frame_end(one + text_frame("next")) == len(one)
    assert frame_end(one) == len(one)


def test_answer_to_a_handshake_is_one_piece():
    answer = b"HTTP/1.1 101 Switching Protocols\r\n\r\n"
    assert frame_end(answer) == len(answer)


def test_first_line_ends_behind_its_newline():
    assert line_end(b"NEW_GAME\nYOUR_MOVE\n") == len(b"NEW_GAME\n")
    assert line_end(b"NEW") == 3
