"""What another node sends about a game is read as strictly as a client's text."""

from contextlib import suppress

import pytest
from hub_world import STANDING_BY
from hypothesis import given
from hypothesis import strategies as st
from two_nodes import TwoNodes

from gateway.game.encoding import EncodingError

NAMES = st.sampled_from([b"1.1", b"1.2", b"", b"x"])
KINDS = st.sampled_from([b"m", b"t", b"e", b"p", b"c", b"f", b"mt", b""])
PARTS = st.sampled_from(
    [b"3", b"33", b"9", b"-1", b"1e9999", b"nan", b"0.5", b"-", b"{}", b'{"version": 1}', b""]
)
FRAMES = st.one_of(
    st.binary(max_size=40),
    st.tuples(KINDS, NAMES, st.lists(PARTS, max_size=5).map(b" ".join)).map(b" ".join),
)


def playing() -> TwoNodes:
    way = TwoNodes()
    players = [node.client(STANDING_BY) for node in (way.host, way.guest)]
    for player, name in zip(players, ("ann", "bob"), strict=True):
        player.enter(name=name)
    way.meet(*players)
    return way


@given(frames=st.lists(FRAMES, max_size=20), at_host=st.booleans())
def test_whatever_arrives_is_carried_out_or_an_encoding_error(frames: list[bytes], at_host: bool) -> None:
    way = playing()
    node = way.host if at_host else way.guest
    for frame in frames:
        with suppress(EncodingError):
            way.games[node].receive("other", frame, node.now)


@pytest.mark.parametrize("frame", [b"m 1.1 7", b"m 1.1 ", b"m 1.1 0000000", b"t 1.1 2", b"e 1.1 {}", b"m"])
def test_frame_of_a_host_that_says_nothing_is_an_error(frame: bytes) -> None:
    way = playing()
    with pytest.raises(EncodingError):
        way.games[way.guest].receive("other", frame, 0.0)


@pytest.mark.parametrize(
    "frame", [b"p 1.1 7 0 1 0.5", b"p 1.1 3 0 1 nan", b"p 1.1 3 0 1 -1", b"f 1.1 1", b"c 1.1 0 0 {}"]
)
def test_frame_of_a_guest_that_says_nothing_is_an_error(frame: bytes) -> None:
    way = playing()
    with pytest.raises(EncodingError):
        way.games[way.host].receive("other", frame, 0.0)


def test_frames_of_a_series_that_is_over_are_void() -> None:
    way = playing()
    way.cut()
    for node in (way.host, way.guest):
        for frame in (b"m 1.1 3", b"p 1.1 3 0 1 0.5"):
            way.games[node].receive("other", frame, 0.0)
    assert len(way.host.results) == 1


def test_each_node_forgets_a_series_that_is_over() -> None:
    way = playing()
    way.cut()
    assert all(games.is_empty for games in way.games.values())
