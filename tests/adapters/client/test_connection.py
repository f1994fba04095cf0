"""A client's connection: what it says is carried out, it is told what happens, its mistakes are its own."""

import gc
import logging
import weakref
from collections.abc import Iterator

import pytest
import trio
import trio.testing
from worlds.connection import (
    BEGIN,
    BINARY,
    CLOSE,
    GO_ON,
    IDLE,
    PING,
    TEXT,
    Framing,
    ToyTranslator,
    answered,
    connections,
    frame,
)

from gateway.game.commands import Introduce
from gateway.game.events import Dismissed, Entered, Event, Introduced, Why

pytestmark = pytest.mark.trio


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


# Reading and telling.


async def test_what_one_does_the_other_is_told(framing: Framing) -> None:
    async with connections() as world:
        ann, bob = await world.game(framing)
        ann.say("play 3")
        await world.quiet()
        assert (ann.texts, bob.texts) == (["Moved"], ["Moved"])


async def test_commands_of_one_packet_are_carried_out_and_answered_in_order(framing: Framing) -> None:
    async with connections() as world:
        ann = await world.connect(framing)
        ann.say("x", "enter ann", "y", "what!", "z")
        await world.quiet()
        assert ann.texts == [
            "Refused NOT_ENTERED|UNFIT x",
            "Entered",
            "Refused WAITING|UNFIT y",
            "Refused WAITING|UNREADABLE what!",
            "Refused WAITING|UNFIT z",
        ]


async def test_what_happened_at_once_is_sent_at_once(framing: Framing) -> None:
    async with connections() as world:
        await world.connect(framing, "ann")
        bob = await world.connect(framing, "bob")
        assert bob.packets == [["Entered", "Started"]]


@pytest.mark.parametrize("texts", [["enter ann", "x", "y"], ["enter ann"]])
async def test_client_is_not_read_until_it_is_decided_whether_it_may_enter(
    framing: Framing, texts: list[str], autojump_clock: trio.testing.MockClock
) -> None:
    async with connections() as world:
        ann, bob = await world.connect(framing), await world.connect(framing)
        world.matchmaker.thinks = True
        ann.say(*texts)
        await world.quiet()
        ann.say("z")
        bob.say("what!")
        await world.quiet()
        assert (ann.texts, len(bob.texts)) == ([], 1)
        world.matchmaker.thinks = False
        await trio.sleep(1)
        assert [ann.texts[0], *answered(ann.texts)] == ["Entered", *texts[1:], "z"]


async def test_client_that_is_hung_up_on_while_nobody_has_decided_on_it_is_gone(framing: Framing) -> None:
    async with connections() as world:
        ann = await world.connect(framing)
        world.matchmaker.thinks = True
        ann.say("enter ann", "x")
        await world.quiet()
        world.hub.close(trio.current_time())
        await world.quiet()
        assert ann.texts == []
        assert ann.is_dismissed(1000, "server stopped")
        assert len(world.hub) == 0


# Leaving.


async def test_end_of_input_is_leaving_after_all_before_it_was_done_and_told(framing: Framing) -> None:
    async with connections() as world:
        ann, bob = await world.game(framing)
        ann.say("play 3", "x", "y!")
        ann.hangs_up()
        await world.quiet()
        assert ann.texts == ["Moved", "Refused PLAYING|UNFIT x", "Refused PLAYING|UNREADABLE y!", "Ended"]
        assert ann.is_hung_up_on
        assert bob.texts == ["Moved", "Ended"]
        assert len(world.hub) == 1


async def test_last_words_are_heard_however_much_there_was_to_answer(framing: Framing) -> None:
    async with connections() as world:
        ann = await world.connect(framing)
        ann.say(*(f"a{number}" for number in range(1000)), "enter ann")
        ann.hangs_up()
        await world.quiet()
        assert [*answered(ann.texts), ann.texts[-1]] == [*(f"a{number}" for number in range(1000)), "Entered"]
        assert ann.is_hung_up_on


async def test_client_that_vanishes_has_left_and_that_is_no_mistake_of_ours(
    framing: Framing, caplog: pytest.LogCaptureFixture
) -> None:
    async with connections() as world:
        ann, bob = await world.game(framing)
        cid, dan = await world.connect(framing), await world.connect(framing)
        for each in (ann, cid):
            each.resets()
        dan.resets(unnoticed=True)
        world.tell(dan, Dismissed(Why.LEFT))
        await world.quiet()
        assert bob.texts == ["Ended"]
        assert all(each.socket.is_closed for each in (ann, cid, dan))
        assert len(world.hub) == 1
    assert warnings(caplog) == []


async def test_client_that_is_gone_when_it_is_told_something_has_left(framing: Framing) -> None:
    async with connections() as world:
        ann, bob = await world.game(framing)
        bob.resets(unnoticed=True)
        ann.say("play 3")
        await world.quiet()
        assert ann.texts == ["Moved", "Ended"]
        assert len(world.hub) == 1


@pytest.mark.parametrize("end", [b"", b"\nplay 3\n"])
async def test_line_of_more_than_4096_bytes_is_refused_and_then_hung_up_on(end: bytes) -> None:
    async with connections() as world:
        ann = await world.connect("lines")
        ann.send(b"x" * 4096 + b"\nenter ann\n" + b"x" * 4097 + end)
        await world.quiet()
        assert answered(ann.texts) == ["x" * 4096, ""]
        assert ann.texts[1:] == ["Entered", "Refused WAITING|UNREADABLE "]
        assert ann.is_hung_up_on
        assert len(world.hub) == 0


async def test_dismissed_client_hears_all_before_it_and_nothing_after_it(framing: Framing) -> None:
    async with connections() as world:
        ann, _ = await world.game(framing)
        ann.stops_reading()
        ann.say("x", "y")
        await world.quiet()
        world.hub.close(trio.current_time())
        await world.quiet()
        assert not ann.is_hung_up_on
        ann.say("z")
        ann.reads_on()
        await world.quiet()
        assert answered(ann.texts) == ["x", "y"]
        assert ann.is_dismissed(1000, "server stopped")


# Hanging up.


@pytest.mark.parametrize(
    ("answers", "goes_on", "seconds"), [(True, False, 0), (False, False, 2), (False, True, 2)]
)
async def test_client_that_is_hung_up_on_is_gone_at_once_if_it_takes_note_or_else_within_two_seconds(
    framing: Framing, answers: bool, goes_on: bool, seconds: float, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections() as world:
        ann = await world.connect(framing, "ann")
        ann.answers = answers
        world.tell(ann, Dismissed(Why.LEFT))
        await world.quiet()
        assert ann.socket.is_closed == answers
        for _ in range(int(seconds * 10)):
            if goes_on:
                ann.say("x" * 100)
            await trio.sleep(0.1)
        assert ann.socket.is_closed
        assert ann.texts == ["Entered"]
        assert ann.is_dismissed(1000, "left")


async def test_what_a_client_sent_unread_does_not_destroy_its_last_words(
    framing: Framing, autojump_clock: trio.testing.MockClock
) -> None:
    """A system answers bytes that nobody reads with a reset, which overtakes what was sent."""
    async with connections(rate=1, burst=2) as world:
        ann = await world.connect(framing, "ann")
        ann.say(*("x" * 100 for _ in range(1000)))
        await world.quiet()
        assert ann.unread > 50_000
        world.hub.close(trio.current_time())
        await world.quiet()
        assert ann.is_dismissed(1000, "server stopped")
        assert (ann.socket.is_closed, ann.socket.was_cut_off) == (True, False)


async def test_connections_are_closed_where_the_server_ends_without_a_word(framing: Framing) -> None:
    async with connections() as world:
        ann, bob = await world.game(framing)
        bob.stops_reading()
        ann.say("play 3")
        await world.quiet()
    assert (ann.socket.is_closed, bob.socket.is_closed) == (True, True)


# A websocket's end. What is a frame is held by test_framing.py.


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"\x81\x05hello", 1002), (frame(TEXT, b"\xff"), 1007), (frame(TEXT, "x" * 1_000_000), 1009)],
)
async def test_texts_before_a_broken_frame_are_answered_and_its_close_code_says_why(
    data: bytes, code: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with connections() as world:
        ann = await world.connect("websocket")
        ann.send(frame(TEXT, "a") + frame(BINARY, "b") + data + frame(TEXT, "c"))
        await world.quiet()
        assert answered(ann.texts) == ["a", "b"]
        assert ann.frames == [(CLOSE, code.to_bytes(2))]
        assert (ann.socket.is_closed, ann.socket.was_cut_off) == (True, False)
    assert warnings(caplog) == []


async def test_client_that_has_closed_its_websocket_is_told_nothing_more() -> None:
    async with connections() as world:
        ann, bob = await world.game("websocket")
        world.results.hold()
        bob.send(frame(CLOSE, b"\x03\xe8"))
        await world.quiet()
        ann.say("x")
        world.results.store()
        await world.quiet()
        assert bob.texts == []
        assert bob.frames == [(CLOSE, b"\x03\xe8")]
        assert ann.texts[0] == "Ended"


@pytest.mark.parametrize(
    "said",
    [
        frame(PING) * 3,
        frame(TEXT, "x" * 70_000),
        frame(BEGIN) + frame(GO_ON) * 1100,
        frame(0x83),
        frame(TEXT, "hello"),
    ],
    ids=["pings", "too long", "fragments", "junk", "text"],
)
@pytest.mark.parametrize("then", [b"", frame(CLOSE, b"\x03\xe8")], ids=["", "close"])
@pytest.mark.parametrize("closes_first", [True, False], ids=["server closes", "client closes"])
async def test_after_a_close_frame_of_either_side_nothing_is_read_or_said(
    said: bytes, then: bytes, closes_first: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async with connections() as world:
        ann = await world.connect("websocket", "ann")
        ann.answers = False
        if closes_first:
            world.tell(ann, Dismissed(Why.STOPPED))
            await world.quiet()
        else:
            ann.send(frame(CLOSE, b"\x03\xe8"))
        ann.send(said + then)
        ann.hangs_up()
        await world.quiet()
        assert ann.frames == [(CLOSE, b"\x03\xe8" + (b"server stopped" if closes_first else b""))]
        assert ann.texts == ["Entered"]
        assert ann.socket.is_closed
    assert warnings(caplog) == []


async def test_text_counts_though_the_pong_to_what_came_before_it_cannot_be_sent() -> None:
    async with connections() as world:
        ann, bob = await world.game("websocket")
        ann.socket.is_deaf = True
        ann.send(frame(PING) + frame(TEXT, "play 3"))
        await world.quiet()
        assert bob.texts[0] == "Moved"


# Time.


async def test_clock_runs_from_when_the_request_to_move_has_left(
    framing: Framing, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections() as world:
        ann = await world.connect(framing, "ann")
        ann.stops_reading()
        bob = await world.connect(framing, "bob")
        await trio.sleep(4)
        ann.reads_on()
        await trio.sleep(IDLE - 0.1)
        assert (ann.texts, bob.texts) == (["Entered", "Started"], ["Entered", "Started"])
        await trio.sleep(1)
        assert (ann.texts[2:], bob.texts[2:]) == (["Ended"], ["Ended"])


async def test_clock_stops_when_the_move_arrived(
    framing: Framing, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections() as world:
        ann, bob = await world.game(framing)
        await trio.sleep(2)
        ann.say("play 3")
        await world.quiet()
        await trio.sleep(3)
        bob.hangs_up()
        await world.quiet()
        assert [finished.thought for finished in world.results.kept.values()] == [(2, 3)]


@pytest.mark.parametrize("before", [0, 3000])
async def test_flag_falls_after_all_that_had_arrived_was_carried_out(
    framing: Framing, before: int, mock_clock: trio.testing.MockClock
) -> None:
    """As when the server has stood still."""
    async with connections() as world:
        ann, bob = await world.game(framing)
        ann.say(*("x" for _ in range(before)), "play 3")
        mock_clock.jump(IDLE + 1)
        while "Moved" not in bob.texts and "Ended" not in bob.texts:
            await world.quiet()
            mock_clock.jump(0.001)
        assert bob.texts == ["Moved"]


async def test_client_that_never_stops_sending_puts_its_flag_off_by_no_more_than_a_second(
    framing: Framing, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections() as world:
        ann, bob = await world.game(framing)
        begin = trio.current_time()
        await trio.sleep(IDLE - 0.1)
        while "Ended" not in bob.texts:
            ann.say("x")
            await trio.sleep(0.0005)
        assert IDLE <= trio.current_time() - begin <= IDLE + 1.5


# The boundary.


class FailsAtTelling(ToyTranslator):
    """Fails at what is neither an entrance nor a refusal."""

    error: type[BaseException] = ZeroDivisionError

    def observe(self, event: Event, asked: str | None = None) -> Iterator[str]:
        if not isinstance(event, Entered):
            raise self.error
        yield "Entered"


class FailsAtReading(ToyTranslator):
    """Fails at the word ``boom``."""

    error: type[BaseException] = ZeroDivisionError

    def receive(self, message: str, number: int = 0) -> object:  # type: ignore[override]
        if message == "boom":
            raise self.error
        return super().receive(message, number)


@pytest.mark.parametrize("error", [ZeroDivisionError, SystemExit])
async def test_mistake_in_telling_one_client_costs_its_own_connection_alone(
    framing: Framing, error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    async with connections() as world:
        ann = await world.connect(framing, "ann")
        translator = FailsAtTelling()
        translator.error = error
        bob = await world.connect(framing, "bob", translator=translator)
        assert ann.texts == ["Entered", "Started", "Ended"]
        assert not ann.is_hung_up_on
        assert bob.is_dismissed(1011, "internal error")
        assert len(world.hub) == 1
    (message,) = warnings(caplog)
    assert "closed after an internal error" in message


@pytest.mark.parametrize("error", [ZeroDivisionError, OSError, SystemExit])
async def test_mistake_in_reading_one_client_costs_its_own_connection_alone(
    framing: Framing, error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    async with connections() as world:
        ann = await world.connect(framing)
        translator = FailsAtReading()
        translator.error = error
        bob = await world.connect(framing, translator=translator)
        bob.say("x", "boom", "y")
        await world.quiet()
        ann.say("z")
        await world.quiet()
        assert answered(ann.texts) == ["z"]
        assert bob.socket.is_closed
        assert bob.is_dismissed(1011, "internal error")
        assert len(world.hub) == 1
    assert len(warnings(caplog)) == 1


@pytest.mark.parametrize("how", ["hangs up", "closes", "resets", "is told of nothing more"])
async def test_connection_that_is_over_leaves_nothing_to_the_garbage_collector(
    framing: Framing, how: str
) -> None:
    async with connections() as world:
        gc.disable()
        try:
            translator = ToyTranslator()
            kept = weakref.ref(translator)
            ann = await world.connect(framing, translator=translator)
            del translator
            ann.stops_reading()
            ann.say(*("x" * 1000 for _ in range(1000)))
            await world.quiet()
            if how == "resets":
                ann.resets()
            elif how == "is told of nothing more":
                ann.resets(unnoticed=True)
            else:
                ann.reads_on()
                if framing == "websocket" and how == "closes":
                    ann.send(frame(CLOSE, b"\x03\xe8"))
                ann.hangs_up()
            ann.reads_on()
            await world.quiet()
            assert ann.socket.is_closed
            assert kept() is None
        finally:
            gc.enable()


# What the operator is told.


async def test_log_names_connections_by_number_and_never_by_what_they_say(
    framing: Framing, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with connections() as world:
        ann = await world.connect(framing)
        ann.say("s3cret", "WARNING forged")
        ann.hangs_up()
        await world.quiet()
    assert "s3cret" not in caplog.text
    assert "forged" not in caplog.text
    numbers = [vars(record)["connection"] for record in caplog.records if hasattr(record, "connection")]
    assert len(numbers) == 2
    assert len({*numbers}) == 1
    assert partings(caplog) == [(None, "hung up", 0, None)]
    assert {each.levelno for each in caplog.records} == {logging.DEBUG}  # strangers cannot fill the log


def partings(caplog: pytest.LogCaptureFixture) -> list[tuple[str | None, str, int, str | None]]:
    """Return of each line about a connection who it was, why it ended, how many games, and the last one."""
    records = [vars(each) for each in caplog.records if each.name == "gateway.connections"]
    return [(each["player"], each["cause"], each["games"], each["game"]) for each in records]


@pytest.mark.parametrize(
    ("framing", "data", "cause"),
    [
        ("websocket", b"\x81\x01a", "broke the websocket protocol (1002)"),
        ("websocket", frame(TEXT, b"a" * 70_000), "sent a message that is too long (1009)"),
        ("websocket", frame(CLOSE, b"\x03\xea"), "hung up"),
        ("lines", b"x" * 5000, "sent too much without an end of the message"),
        ("lines", b"", "hung up"),
        ("websocket", b"", "hung up"),
    ],
    ids=["unmasked", "too long", "close with 1002", "flood", "end of lines", "end of a websocket"],
)
async def test_line_about_a_connection_says_who_why_and_the_last_game(
    framing: Framing, data: bytes, cause: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with connections() as world:
        ann, bob = await world.game(framing)
        ann.send(data)
        if not data:
            ann.hangs_up()
        await world.quiet()
        bob.resets(unnoticed=True)
        world.tell(bob, Introduced("x"))
        await world.quiet()
        [finished] = world.results.kept
        assert partings(caplog) == [("ann", cause, 1, finished), ("bob", "vanished", 1, finished)]


async def test_line_about_a_connection_is_one_line_whatever_the_name(
    framing: Framing, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with connections() as world:
        ann = await world.connect(framing)
        assert ann.seat is not None
        world.hub.submit(ann.seat, Introduce("a\nb\u202e'"), 0.0)
        world.tell(ann, Dismissed(Why.STOPPED))
        await world.quiet()
    [record] = [each for each in caplog.records if each.name == "gateway.connections"]
    assert record.getMessage().startswith(r": 'a\nb\u202e\'' at 192.0.2.1 is gone after ")
    assert record.getMessage().endswith(" s: server stopped; games: 0")


async def test_connections_and_refusals_are_counted(framing: Framing) -> None:
    async with connections() as world:
        ann, bob = await world.game(framing)
        counts = world.hub.feed.counts
        assert (counts["connections", ""], counts["connections_over", ""]) == (2, 0)
        bob.say("play 9", "x!")
        await world.quiet()
        ann.hangs_up()
        await world.quiet()
        assert (counts["connections", ""], counts["connections_over", ""]) == (2, 1)
        assert {kind for what, kind in counts if what == "refused"} == {
            "not_your_turn|outside",
            "playing|unreadable",
        }
