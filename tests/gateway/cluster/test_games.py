"""What another node sends about a game is read as strictly as a client's text."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from two_nodes import TwoNodes
from worlds.hub import STANDING_BY, Client

from gateway.game.commands import Leave
from gateway.game.encoding import EncodingError
from gateway.game.events import Reason

NAMES = st.sampled_from([b"1.1", b"1.2", b"", b"x"])
KINDS = st.sampled_from([*(b"%c" % kind for kind in b"mteqpcfdwba"), b"mt", b""])
PARTS = st.sampled_from(
    [b"0", b"1", b"3", b"33", b"9", b"-1", b"1e9999", b"nan", b"0.5", b"-", b"{}", b'{"version": 1}', b""]
)
FRAMES = st.one_of(
    st.binary(max_size=40),
    st.tuples(KINDS, NAMES, st.lists(PARTS, max_size=5).map(b" ".join)).map(b" ".join),
)


def lobby(pairs: int) -> tuple[TwoNodes, list[tuple[Client, Client]]]:
    """Return as many games between two nodes, each with its players, the host first."""
    way, playing = TwoNodes(), []
    for number in range(pairs):
        pair = way.host.client(STANDING_BY), way.remote.client(STANDING_BY)
        for player, name in zip(pair, ("ann", "bob"), strict=True):
            player.enter(name=f"{name} {number}")
        way.meet(*pair)
        playing.append(pair)
    return way, playing


def playing() -> TwoNodes:
    return lobby(1)[0]


@given(frames=st.lists(FRAMES, max_size=20), at_host=st.booleans())
def test_whatever_arrives_is_carried_out_or_an_encoding_error(frames: list[bytes], at_host: bool) -> None:
    way = playing()
    node = way.host if at_host else way.remote
    for frame in frames:
        with suppress(EncodingError):
            way.games[node].receive("other", frame, node.now)


@pytest.mark.parametrize("frame", [b"m 1.1 7", b"m 1.1 ", b"m 1.1 0000000", b"t 1.1 2", b"e 1.1 {}", b"m"])
def test_frame_of_a_host_that_says_nothing_is_an_error(frame: bytes) -> None:
    way = playing()
    with pytest.raises(EncodingError):
        way.games[way.remote].receive("other", frame, 0.0)


@pytest.mark.parametrize(
    "frame", [b"p 1.1 7 0 1 0.5", b"p 1.1 3 0 1 nan", b"p 1.1 3 0 1 -1", b"f 1.1 1", b"c 1.1 0 0 {}"]
)
def test_frame_of_a_remote_player_that_says_nothing_is_an_error(frame: bytes) -> None:
    way = playing()
    with pytest.raises(EncodingError):
        way.games[way.host].receive("other", frame, 0.0)


def test_frames_of_a_series_that_is_over_are_void() -> None:
    way = playing()
    way.cut()
    for node in (way.host, way.remote):
        for frame in (b"m 1.1 3", b"p 1.1 3 0 1 0.5"):
            way.games[node].receive("other", frame, 0.0)
    assert len(way.host.results) == 1


def test_each_node_forgets_a_series_that_is_over() -> None:
    way = playing()
    way.cut()
    assert all(games.is_empty for games in way.games.values())


@pytest.mark.parametrize("at_host", [True, False])
def test_games_with_a_lost_node_end_a_few_at_a_time(at_host: bool) -> None:
    way, _ = lobby(17)
    node = way.host if at_host else way.remote
    games = way.games[node]
    games.lose("other")
    over = []
    while not games.is_empty:
        over.append((games.end_lost(node.now), len(node.results)))
    assert over == [(True, 8), (True, 16), (False, 17)]
    assert {result.reason for result in node.results} == {Reason.STOPPED}


@pytest.mark.parametrize("at_host", [True, False])
def test_who_leaves_a_lost_game_before_it_ends_leaves_it_once_and_tells_nobody(at_host: bool) -> None:
    way, [pair] = lobby(1)
    node, player = (way.host, pair[0]) if at_host else (way.remote, pair[1])
    way.games[node].lose("other")
    player.say(Leave())
    assert way.games[node].is_empty
    assert not way.games[node].end_lost(node.now)
    assert not way.under_way


def test_of_a_lost_game_nothing_reaches_another_run_of_its_node() -> None:
    way, [(ann, _)] = lobby(1)
    way.games[way.host].lose("other")
    ann.play(3)
    assert not way.under_way
