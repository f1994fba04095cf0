"""Frames as clients send them, and as no client should: for properties of whatever reads websockets."""

from hypothesis import strategies as st

_payloads = st.one_of(
    st.text(max_size=40).map(str.encode),
    st.binary(max_size=40),
    st.integers(124, 130).map(lambda size: b"x" * size),
    st.sampled_from([b"", b"\x03\xe8", b"\x03\xe8bye", b"\xc3", b"\xa9", b'{"type":"move","move":3}']),
)
_opcodes = st.one_of(st.sampled_from([0, 0, 1, 1, 1, 2, 9, 10]), st.integers(0, 15))
_masks = st.one_of(
    *[st.binary(min_size=4, max_size=4)] * 3, st.just(b"\0\0\0\0"), st.sampled_from([None, b"\1\2\3\4"])
)


@st.composite
def frames(draw: st.DrawFn) -> bytes:
    """One frame of any kind, now and then unmasked, unfinished, or with reserved bits set."""
    payload, mask = draw(_payloads), draw(_masks)
    first = draw(_opcodes) | draw(st.sampled_from([0x80, 0x80, 0x80, 0x00, 0x00, 0xC0]))
    size = len(payload)
    length = bytes([size]) if size < 126 else b"\x7e" + size.to_bytes(2, "big")
    if mask is None:
        return bytes([first]) + length + payload
    masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
    return bytes([first, length[0] | 0x80]) + length[1:] + mask + masked


streams = st.builds(
    lambda parts, cut: b"".join(parts)[: -cut or None],
    st.lists(frames(), max_size=8),
    st.sampled_from([0, 0, 0, 1, 2, 5]),
)
"""Some frames, the last one sometimes not whole."""
