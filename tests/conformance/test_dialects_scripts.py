"""What bots answer: whole games, message for message, and everything that does not belong."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spoken_games import Told, entered, game, move
from trials import FEW

from conformance.boards import arena_cells, drops, nac4_board
from conformance.dialects.frames import frame
from conformance.dialects.i32cfsp import I32cfsp
from conformance.dialects.nac4 import without_time
from conformance.dialects.script import DRAWN as DRAWN_GAME
from conformance.dialects.script import SHORT, Cut, Game, Outcome, OutOfStep, Phase, Script, Wish
from conformance.lab.bots import KINDS, Readings, script_of
from conformance.lab.echo import ECHOES
from conformance.lab.load import MOVES

WRONG = (b"Error NOT_YOUR_TURN", b"YOU_WON", b"not-connected no", b"{}", b"\xff", b"[]")
DRAWN = DRAWN_GAME.moves


def sent(kind: str, messages: Sequence[Told]) -> bytes:
    """Return what a server sends."""
    if kind == "droidcon":
        return b"".join(told.message + b"\n" for told in messages)
    return b"".join(server_frame(told.message) for told in messages)


def server_frame(payload: bytes) -> bytes:
    size = len(payload)
    return b"\x81" + (bytes([size]) if size < 126 else b"\x7e" + size.to_bytes(2, "big")) + payload


def test_the_game_is_one() -> None:
    assert len(drops(DRAWN)) == MOVES == 42


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("opens", [True, False])
def test_bot_plays_game_after_game_and_counts_what_its_opponent_did(kind: str, opens: bool) -> None:
    readings = Readings(kind, script_of(kind))
    place, told, ended, again = readings.script.start, 0, 0, 0
    rounds = [*entered(kind), *game(kind, opens=opens), *game(kind, opens=not opens)]
    for said in rounds:
        reading, rest = readings.read(place, sent(kind, [said]), "me")
        place, told, again = reading.place, told + reading.told, again + reading.again
        ended += reading.outcome is Outcome.DRAWN
        assert rest == b""
        assert reading.move == (b"" if said.column is None else move(kind, said.column))
    assert (told, ended) == (MOVES, 2)
    assert again == (2 if kind.startswith(("arena", "rpi", "tutorial")) else 0)
    assert place.phase is Phase.WAITING


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=FEW)
@given(data=st.data())
def test_message_that_is_lost_or_comes_twice_or_is_changed_is_out_of_step(
    kind: str, data: st.DataObject
) -> None:
    messages = [*entered(kind), *game(kind, opens=data.draw(st.booleans()))]
    where = data.draw(st.integers(len(entered(kind)), len(messages) - 1))
    how = data.draw(st.sampled_from(["lost", "twice", "changed"]))
    wrong = messages[where].message
    # A column or a cell of another game; the name of another player.
    changed = wrong.replace(b"1", b"5").replace(b"R", b"Y").replace(b"me", b"us")
    instead = {"lost": [], "twice": [Told(wrong), Told(wrong)], "changed": [Told(changed)]}[how]
    heard = [*messages[:where], *instead, *messages[where + 1 :], *game(kind, opens=True)]
    if [told.message for told in heard[: len(messages)]] == [told.message for told in messages]:
        return
    readings = Readings(kind, script_of(kind))
    with pytest.raises(OutOfStep, match="was told"):
        hear_all(readings, kind, heard)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (b'"you":1', b'"you":2'),
        (b'"turn":1', b'"turn":2'),
        (b'"moves":[1,4]', b'"moves":[4,1]'),
        (b'"state":[0', b'"state":[1'),
        (b'"last-move":4', b'"last-move":4,"winner":0'),
        (b'"type":"state"', b'"type":"ignored"'),
    ],
)
def test_every_field_of_a_state_is_looked_at(right: bytes, wrong: bytes) -> None:
    messages = game("arena-json", opens=True)[:3]
    readings = Readings("arena-json", script_of("arena-json"))
    hear_all(readings, "arena-json", messages)
    changed = Told(messages[-1].message.replace(right, wrong))
    assert changed != messages[-1]
    with pytest.raises(OutOfStep):
        hear_all(readings, "arena-json", [*messages[:-1], changed])


def hear_all(readings: Readings, kind: str, messages: Sequence[Told]) -> None:
    place = readings.script.start
    for told in messages:
        reading, _ = readings.read(place, sent(kind, [told]), "me")
        place = reading.place


@pytest.mark.parametrize("kind", ["droidcon", "nac4"])
def test_last_move_of_a_game_and_first_of_the_next_may_come_together(kind: str) -> None:
    readings = Readings(kind, script_of(kind))
    place = readings.script.start
    before, (last, *ends) = game(kind, opens=True), game(kind, opens=True)[-1:]
    if kind == "droidcon":
        before, last, ends = before[:-2], before[-2], before[-1:]
    else:
        before = before[:-1]
    for said in [*entered(kind), *before]:
        place = readings.read(place, sent(kind, [said]), "me")[0].place
    second = game(kind, opens=False)
    reading, _ = readings.read(
        place, sent(kind, [last, *ends, *second[: 3 if kind == "droidcon" else 2]]), "me"
    )
    assert (reading.told, reading.outcome, reading.move) == (2, Outcome.DRAWN, move(kind, DRAWN[1]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("opens", [True, False])
def test_chunks_of_several_messages_mean_what_the_messages_mean(kind: str, opens: bool) -> None:
    readings = Readings(kind, script_of(kind))
    start, *rest = [*entered(kind), *game(kind, opens=opens)]
    alone, _ = readings.read(readings.script.start, sent(kind, [start]), "me")
    then, _ = readings.read(alone.place, sent(kind, rest[:1]), "me")
    both, _ = readings.read(readings.script.start, sent(kind, [start, *rest[:1]]), "me")
    assert both.place == then.place
    assert (both.told, both.move) == (alone.told + then.told, alone.move + then.move)


@pytest.mark.parametrize("kind", KINDS)
def test_chunk_torn_anywhere_leaves_its_rest(kind: str) -> None:
    readings = Readings(kind, script_of(kind))
    whole = sent(kind, [*entered(kind), *game(kind, opens=True)][:1])
    for at in range(1, len(whole)):
        reading, rest = readings.read(readings.script.start, whole[:at], "me")
        assert (reading.place, rest) == (readings.script.start, whole[:at])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("word", WRONG)
def test_what_no_message_is_or_goes_wrong_is_out_of_step(kind: str, word: bytes) -> None:
    with pytest.raises(OutOfStep, match="was told"):
        Readings(kind, script_of(kind)).read(script_of(kind).start, sent(kind, [Told(word)]), "me")


@pytest.mark.parametrize("kind", ["tcp", "websocket"])
def test_two_echoes_at_once_are_out_of_step(kind: str) -> None:
    script = ECHOES[kind]()
    readings = Readings(kind, script)
    echo = b"PUT 3\n" if kind == "tcp" else server_frame(b"playmove 3\r\n")
    assert readings.read(script.start, echo, "me")[0].told == 1
    with pytest.raises(OutOfStep, match="two moves"):
        readings.read(script.start, echo * 2, "me")


def test_opponent_is_whom_newgame_names() -> None:
    readings = Readings("nac4", script_of("nac4"))
    place = readings.read(readings.script.start, sent("nac4", entered("nac4")), "me")[0].place
    for names in (b"me you", b"you me"):
        assert readings.read(place, server_frame(b"newgame %s\r\n" % names), "me")[0].opponent == "you"


def test_time_of_a_genmove_makes_no_difference_and_everything_else_does() -> None:
    board = nac4_board("0101").encode()
    one = server_frame(b"genmove %s R PlayR 41.9\r\n" % board)
    assert without_time(one) == without_time(one.replace(b"41.9", b"40.0"))
    for other in (one.replace(b"R PlayR", b"Y PlayY"), one.replace(b"RY", b"R."), one * 2, one[:-1]):
        assert without_time(one) != without_time(other)


def test_bot_enters_at_its_table_or_with_its_wish() -> None:
    table, wish, lobby = Wish("me", table="here"), Wish("me", against="you"), Wish("me")
    droidcon, nac4, arena = (script_of(kind) for kind in ("droidcon", "nac4", "arena-json"))
    assert droidcon.opening(table) == b"NAME me\nJOIN here\n"
    assert droidcon.opening(wish) == b"NAME me\nJOIN @you\n"
    assert droidcon.opening(lobby) == b"NAME me\nJOIN lobby\n"
    assert droidcon.resource(table) is None
    assert [nac4.resource(one) for one in (table, wish, lobby)] == ["/?table=here", "/?against=you", "/"]
    assert [arena.resource(one) for one in (table, wish)] == ["/?table=here", "/"]
    assert arena.opening(table) == frame(b'{"type":"start","id":"me","against":null}')
    assert arena.opening(wish) == frame(b'{"type":"start","id":"me","against":"you"}')
    assert script_of("arena-edn").opening(wish) == frame(b'{:type "start", :id "me", :against "you"}')


# Bots that may lose on time, in a game of seven moves.


def outcome(script: Script, *messages: bytes) -> Outcome | None:
    """Return how a game ended with the last of these messages."""
    place, found = script.start, None
    for message in messages:
        step = script.advance(place, message, "me")
        assert step is not None
        place, found = step.place, step.outcome
    return found


def state(columns: str, you: int, **more: object) -> bytes:
    words = {"type": "state", "you": you, "turn": 1 + len(columns) % 2, "moves": [*map(int, columns)]}
    return json.dumps({**words, "state": json.loads(arena_cells(columns)), **more}).encode()


ENTERED = (b"SUCCESS", b"SUCCESS", b"NEW_GAME")


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        ([b"YOUR_MOVE", b"YOU_LOST"], Outcome.LATE),
        ([b"PUT 0", b"YOUR_MOVE", b"YOU_LOST"], Outcome.LATE),
        ([*[b"PUT 0", b"YOUR_MOVE"] * 3, b"YOU_LOST"], Outcome.LATE),
        ([*[b"YOUR_MOVE", b"PUT 1"] * 3, b"YOUR_MOVE", b"YOU_LOST"], Outcome.LATE),
        ([*[b"PUT 0", b"YOUR_MOVE"] * 3, b"PUT 0", b"YOU_LOST"], Outcome.LOST),
        ([*[b"YOUR_MOVE", b"PUT 1"] * 3, b"YOUR_MOVE", b"YOU_WON"], Outcome.WON),
        ([b"YOUR_MOVE", b"YOU_WON"], Outcome.WON),
    ],
)
def test_droidcon_loss_without_the_last_disc_is_one_on_time(messages: list[bytes], found: Outcome) -> None:
    assert outcome(script_of("droidcon", SHORT, timed=True), *ENTERED, *messages) is found


@pytest.mark.parametrize(
    ("status", "battle", "found"),
    [("WinR", "Timeout", Outcome.WON), ("WinY", "Timeout", Outcome.LATE)],
)
def test_nac4_loss_is_on_time_where_the_server_says_so(status: str, battle: str, found: Outcome) -> None:
    last = f"endgame {nac4_board('01')} R {status} {battle}".encode()
    script = script_of("nac4", SHORT, timed=True)
    assert outcome(script, b"connected hello me", b"newgame me you", last) is found


def test_arena_loss_is_on_time_where_no_column_brought_it_about() -> None:
    script = script_of("arena-json", SHORT, timed=True)
    moves = [state(SHORT.moves[:discs], 2, **({"last-move": 0} if discs else {})) for discs in range(3)]
    assert outcome(script, *moves, state("01", 2, turn=0, winner=1)) is Outcome.LATE
    assert outcome(script, *moves, state("01", 2, turn=0, winner=2)) is Outcome.WON


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_loses_on_time_where_bots_are_not_timed(kind: str) -> None:
    lost = {"droidcon": b"YOU_LOST", "nac4": f"endgame {nac4_board('')} R WinY Timeout".encode()}
    script = script_of(kind, SHORT)
    place = script.start
    for told in [*entered(kind), game(kind, opens=True)[0]]:
        step = script.advance(place, told.message, "me")
        assert step is not None
        place = step.place
    assert script.advance(place, lost.get(kind, state("", 1, turn=0, winner=2)), "me") is None


# The dialect in which a bot always opens, and a game has a connection of its own.


def i32cfsp_game(columns: str) -> list[bytes]:
    """Return all that a server says in a game, but for its end."""
    said = [b"WELCOME me", b"READY"]
    for ply, column in enumerate(columns):
        said += [b"OKAY"] if ply % 2 == 0 else [b"DROP %d" % (int(column) + 1), b"READY"]
    return said


@pytest.mark.parametrize(
    ("played", "ends", "found"),
    [
        (SHORT, [b"WINNER_RED"], Outcome.WON),
        (Game("60101010", 2, "four"), [b"DROP 1", b"WINNER_YELLOW"], Outcome.LOST),
        (DRAWN_GAME, [b"DROP 2"], Outcome.DRAWN),
    ],
)
def test_i32cfsp_game_is_told_to_its_end(played: Game, ends: list[bytes], found: Outcome) -> None:
    script, moves = I32cfsp(played), []
    place = script.start
    for message in [*i32cfsp_game(played.moves[:-1]), *ends]:
        step = script.advance(place, message, "me")
        assert step is not None
        place, moves = step.place, moves + ([step.move] if step.move else [])
    assert step.outcome is found
    assert moves == [b"DROP %d\r\n" % (int(column) + 1) for column in played.moves[::2]]
    assert script.cut(b"OKAY\r\nDR") == Cut([b"OKAY"], b"DR")


@pytest.mark.parametrize("word", [*WRONG, b"WELCOME you", b"OKAY", b"DROP 1", b"DROP 8", b"WINNER_RED"])
def test_i32cfsp_word_out_of_place_is_none(word: bytes) -> None:
    script = I32cfsp(SHORT)
    place = script.start
    for message in (b"WELCOME me", b"READY"):
        assert script.advance(place, word, "me") is None
        step = script.advance(place, message, "me")
        assert step is not None
        place = step.place
    assert script.advance(place, b"READY", "me") is None


def test_i32cfsp_loss_on_time_is_one_that_the_board_does_not_show() -> None:
    script = I32cfsp(SHORT, timed=True)
    assert outcome(script, b"WELCOME me", b"READY", b"OKAY", b"WINNER_YELLOW") is Outcome.LATE
    assert script.opening(Wish("me", token="secret")) == b"I32CFSP_HELLO me secret\r\nAI_GAME 7 6\r\n"
    assert script.resource(Wish("me")) is None


@pytest.mark.parametrize(
    ("kind", "opening"),
    [
        ("nac4", frame(b"connect me secret\r\n")),
        ("droidcon", b"NAME me secret\nJOIN here\n"),
        ("arena-json", frame(b'{"type":"start","id":"me","against":null,"token":"secret"}')),
        ("arena-edn", frame(b'{:type "start", :id "me", :against nil :token "secret"}')),
    ],
)
def test_token_stands_where_a_dialect_has_it(kind: str, opening: bytes) -> None:
    assert script_of(kind).opening(Wish("me", table="here", token="secret")) == opening
