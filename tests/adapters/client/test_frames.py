"""The usual frames, held against wsproto: what is recognised here means there the same."""

from frame_strategies import streams
from hypothesis import given
from hypothesis import strategies as st
from wsproto.connection import Connection, ConnectionType
from wsproto.events import TextMessage

from adapters.client.framing import text_frame, usual_frames
from conformance.lab.fuzz.texts import frames


def masked(text: str) -> bytes:
    return bytes([0x81, 0x80 | len(text.encode()), 0, 0, 0, 0]) + text.encode()


@given(streams)
def test_texts_and_rest_are_to_the_library_what_the_whole_is(data: bytes) -> None:
    frames(data)


@given(streams)
def test_what_is_left_begins_with_no_usual_frame(data: bytes) -> None:
    _, _, rest = usual_frames(data)
    assert usual_frames(rest) == ([], b"", rest)


@given(st.lists(st.text(max_size=20).filter(lambda text: len(text.encode()) < 126), max_size=5))
def test_short_texts_are_all_recognised(texts: list[str]) -> None:
    assert usual_frames(b"".join(masked(text) for text in texts)) == (texts, b"", b"")


def test_frame_that_is_not_whole_is_left_at_every_byte() -> None:
    frame = masked("playmove 3\r\n")
    for size in range(len(frame)):
        assert usual_frames(frame + frame[:size]) == (["playmove 3\r\n"], b"", frame[:size])


def test_text_that_is_no_utf8_is_left() -> None:
    frame = b"\x81\x82\x00\x00\x00\x00\xc3\x28"
    assert usual_frames(masked("a") + frame) == (["a"], b"", frame)


@given(st.one_of(st.text(), st.sampled_from([125, 126, 65_535, 65_536]).map(lambda size: "x" * size)))
def test_frame_of_a_text_is_what_the_library_would_send(text: str) -> None:
    assert text_frame(text) == Connection(ConnectionType.SERVER).send(TextMessage(data=text))
