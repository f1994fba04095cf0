"""How RPI's messages are written, on both sides."""

import pytest

from adapters.client.contract import WireError
from adapters.rpi.codec import RpiClientCodec, RpiCodec
from adapters.rpi.messages import (
    Began,
    Came,
    Connect,
    Error,
    Games,
    Get,
    Invalid,
    ListGames,
    ListPlayers,
    Moved,
    Observing,
    Opponent,
    Over,
    Ping,
    Play,
    Players,
    Ready,
    Reconnect,
    ServerMessage,
    Setting,
    Start,
    Waits,
    Watch,
    Watched,
    Went,
    Word,
)

AUTH = Invalid("ERROR:INVALID:AUTH")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CONNECT:ann", Connect("ann")),
        ("CONNECT:ann:secret:more", Connect("ann", "secret")),
        ("CONNECT:", Connect("")),
        ("CONNECT", Invalid("ERROR:INVALID:CONNECT:")),
        ("RECONNECT:ann", Reconnect("ann")),
        ("RECONNECT", Invalid("ERROR:INVALID:RECONNECT:")),
        ("CONNECT:\udcff", Connect("\ufffd")),
        ("READY", Ready()),
        ("READY:x", Ready()),
        ("PING", Ping()),
        ("PLAYER:LIST", ListPlayers()),
        ("PLAYER", Invalid("ERROR:INVALID:PLAYER")),
        ("GAME:LIST:x", ListGames()),
        ("GAME:WATCH:+05", Watch(5)),
        ("GAME:WATCH:4294967295", Watch(2**32 - 1)),
        ("GAME:WATCH:4294967296", Invalid("ERROR:INVALID:WATCH")),
        ("GAME:WATCH:-1", Invalid("ERROR:INVALID:WATCH")),
        ("GAME:TERMINATE:1", AUTH),
        ("GAME:AWARD:1:ann", AUTH),
        ("GAME:AWARD:1", Invalid("ERROR:INVALID:GAME")),
        ("GET:MOVE_WAIT", Get("MOVE_WAIT")),
        ("GET", Invalid("ERROR:INVALID:GET")),
        ("SET:a:b", AUTH),
        ("SET:a", Invalid("ERROR:INVALID:SET")),
        ("RESERVATION:ADD:a,b", AUTH),
        ("RESERVATION:ADD:a,b,c", Invalid("ERROR:INVALID:RESERVATION")),
        ("RESERVATION:GET", AUTH),
    ],
)
def test_message_of_a_client_is_read(text: str, message: object) -> None:
    assert repr(RpiCodec().decode(text)) == repr(message)
    assert getattr(RpiCodec().decode(text), "token", None) == getattr(message, "token", None)


@pytest.mark.parametrize(
    ("word", "column"),
    [
        ("3", 3),
        ("+3", 3),
        ("003", 3),
        ("99", 99),
        ("100", -1),
        (str(2**64 - 1), -1),
        ("0" * 5000 + "4", 4),
        *(
            (word, None)
            for word in ("", "-1", " 3", "3 ", "x", "3.0", "0x3", "\u0663", str(2**64), "9" * 5000)
        ),
    ],
)
def test_column_is_an_unsigned_number_of_64_bits(word: str, column: int | None) -> None:
    assert RpiCodec().decode(f"PLAY:{word}") == Play(column)


@pytest.mark.parametrize("text", ["", "connect:ann", "READY\n", " READY", "HELLO", "GAMES:LIST", "\0"])
def test_other_texts_are_no_messages(text: str) -> None:
    with pytest.raises(WireError):
        RpiCodec().decode(text)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (Word.CONNECTED, "CONNECT:ACK"),
        (Start(True), "GAME:START:1"),
        (Start(False), "GAME:START:0"),
        (Opponent(3), "OPPONENT:3"),
        (Error("ERROR:INVALID:MOVE"), "ERROR:INVALID:MOVE"),
        (Observing(True), "OBSERVE:ACK:1"),
        (Came("ann"), "CONNECT:ann"),
        (Went("ann"), "DISCONNECT:ann"),
        (Waits("ann", False), "READY:ann:false"),
        (Began(5, ("ann", "bob")), "GAME:START:5,ann,bob"),
        (Moved(5, "ann", 3), "GAME:5:MOVE:ann:3"),
        (Over(5, "ann"), "GAME:5:WIN:ann"),
        (Over(5, None, True), "GAME:5:DRAW"),
        (Over(5, None), "GAME:5:TERMINATED"),
        (Players(()), "PLAYER:LIST:"),
        (Players((("ann", True, False), ("bob", False, True))), "PLAYER:LIST:ann,true,false|bob,false,true"),
        (Games(((5, ("ann", "bob")), (6, ("cid", "dan")))), "GAME:LIST:5,ann,bob|6,cid,dan"),
        (Watched(5, ("ann", "bob"), (3, 4)), "GAME:WATCH:ACK:5,ann,bob|ann,3|bob,4"),
        (Setting("MOVE_WAIT", "0"), "GET:MOVE_WAIT:0"),
    ],
)
def test_message_of_a_server_is_written(message: ServerMessage, text: str) -> None:
    assert RpiCodec().encode(message) == text


@pytest.mark.parametrize("message", [*Word, Start(True), Start(False), Opponent(6), Error("ERROR:UNKNOWN")])
def test_player_reads_what_a_server_writes(message: Word) -> None:
    assert RpiClientCodec().decode(RpiCodec().encode(message)) == message


@pytest.mark.parametrize("text", ["", "GAME:START:2", "GAME:5:MOVE:ann:3", "OPPONENT:x", "READY:ann:true"])
def test_player_reads_nothing_else(text: str) -> None:
    with pytest.raises(WireError):
        RpiClientCodec().decode(text)
