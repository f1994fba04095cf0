"""Playing transcripts against small servers made for the purpose; above all, the words of a failure."""

from collections.abc import Sequence

import pytest
import trio
import trio_websocket
from runner_fakes import FIRST, HEAD, TcpHandler, perform, script, steps_of, tcp_server, websocket_server

from conformance.outcome import Failed, Outcome, Passed
from conformance.play import Setting, play
from conformance.targets import Address

pytestmark = pytest.mark.trio

SHORT = 0.05
TWO = HEAD["droidcon"] + "client b droidcon\n"
LOT = "lot p q from a b on first\n"


def failed(outcome: Outcome) -> Failed:
    assert isinstance(outcome, Failed)
    return outcome


def told(outcome: Outcome) -> tuple[str, str, str] | None:
    """Return what a failure says was expected, what came, and why that does not fit; None for a pass."""
    if outcome == Passed():
        return None
    found = failed(outcome)
    return found.expected, found.got, found.why


def answering(answer: bytes, *, hangs_up: bool = False) -> TcpHandler:
    """A TCP server that says one thing at once and then listens until the client has left, or hangs up."""

    async def handler(stream: trio.SocketStream) -> None:
        await stream.send_all(answer)
        if not hangs_up:
            async for _ in stream:
                pass

    return handler


async def at_websocket(
    messages: Sequence[str | bytes], text: str, dialect: str, *, raw: bytes = b"", code: int | None = None
) -> Outcome:
    """Play at a server that sends messages, then bytes as they are; it closes with a code, or waits."""

    async def handler(websocket: trio_websocket.WebSocketConnection) -> None:
        for message in messages:
            await websocket.send_message(message)
        await websocket._stream.send_all(raw)
        if code is not None:
            await websocket.aclose(code, "already used")
        else:
            with pytest.raises(trio_websocket.ConnectionClosed):
                await websocket.get_message()

    async with websocket_server(handler) as address:
        return await perform(text, dialect, address)


async def played_by_two(text: str, handler: TcpHandler) -> Outcome:
    async with tcp_server(handler) as address:
        return await play(script(text, TWO), Setting({"droidcon": address}, 5.0), "x1")


async def test_transcript_that_happens_as_written_passes() -> None:
    async def handler(stream: trio.SocketStream) -> None:
        assert await stream.receive_some() == b"NAME ax1\n"
        await stream.send_all(b"SUCCESS\nSUC")
        await stream.send_all(b"CESS\n")
        await stream.send_eof()
        assert await stream.receive_some() == b""

    async with tcp_server(handler) as address:
        text = "a > NAME {a}\na < SUCCESS\na < SUCCESS\na closed\n"
        assert await perform(text, "droidcon", address) == Passed()


@pytest.mark.parametrize(
    ("answer", "text", "outcome"),
    [
        (
            b"Error NO_NAME_SET\n",
            "a < SUCCESS\n",
            ("a < SUCCESS", "a < Error NO_NAME_SET", "they differ from character 1 on"),
        ),
        (b"", "a < SUCCESS\n", ("a < SUCCESS", "nothing within 0.05 s", "")),
        (b"SUCC", "a < SUCCESS\n", ("a < SUCCESS", 'only a <bytes "SUCC", then nothing within 0.05 s', "")),
        (b"Error X \nPUT 1\n", 'a <bytes "Error X \\n"\na < PUT 1\n', None),
        (
            b"Error X\n",
            'a <bytes "Error Y\\n"\n',
            ('a <bytes "Error Y\\n"', 'a <bytes "Error X\\n"', "they differ from byte 7 on"),
        ),
        (b"ONE\nTWO\n", "a < ONE\n", ("nothing more for a", "a < TWO", "received but not expected")),
        (b"ONE\nTWO\n", "a < ONE\na ignores the rest\n", None),
        (b"", "a silent 0.01\n", None),
        (b"YOU_WON\n", "a closed\n", ("a closed", "a < YOU_WON", "")),
        (b"10.0\n", "a < {clock}\n", None),
        (b"42.0\n", "a < {clock}\n", ("a < 10.0", "a < 42.0", "they differ from character 1 on")),
    ],
)
async def test_what_a_stream_brings_is_told_beside_what_was_expected(
    answer: bytes, text: str, outcome: tuple[str, str, str] | None
) -> None:
    """The clock of the server is 10 s."""
    async with tcp_server(answering(answer)) as address:
        patience = SHORT if outcome and "nothing within" in outcome[1] else 5.0
        setting = Setting({"droidcon": address}, patience, 10.0)
        assert told(await play(script(text, HEAD["droidcon"]), setting, "x1")) == outcome


@pytest.mark.parametrize(
    ("answer", "text", "outcome"),
    [
        (
            b"SUCC",
            'a <bytes "SUCCESS\\n"\n',
            ('a <bytes "SUCCESS\\n"', 'a <bytes "SUCC"', "only 4 of 8 bytes came"),
        ),
        (b"SUCC", "a < SUCCESS\n", ("a < SUCCESS", 'a <bytes "SUCC"', "the stream ended within a line")),
        (b"", "a < SUCCESS\n", ("a < SUCCESS", "a closed", "")),
    ],
)
async def test_stream_that_ends_too_early_is_told(
    answer: bytes, text: str, outcome: tuple[str, str, str]
) -> None:
    async with tcp_server(answering(answer, hangs_up=True)) as address:
        assert told(await perform(text, "droidcon", address)) == outcome


@pytest.mark.parametrize(
    ("messages", "raw", "code", "text", "outcome"),
    [
        (
            ["connected\n"],
            b"",
            None,
            "a < connected",
            ('a <text "connected\\n"', 'it does not end in "\\r\\n"'),
        ),
        (
            [b"connected\r\n"],
            b"",
            None,
            "a < connected",
            ('a <binary "connected\\r\\n"', "a text frame was expected, not a binary one"),
        ),
        ([], b"\x01\x03con\x80\x02\r\n", None, "a < con", None),
        (
            [],
            b"\x81\x01\xff",
            None,
            "a < con",
            ("a closed (the server broke the websocket: a text frame that is no UTF-8)", ""),
        ),
        (
            [],
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
            None,
            "a < con",
            ("a closed (the server broke the websocket: a frame with reserved bits set)", ""),
        ),
        ([], b"", 1008, "a closed 1008", None),
        ([], b"", 1008, "a closed", None),
        ([], b"", 1008, "a closed 1002", ("a closed 1008 (already used)", "")),
        (
            [],
            b"",
            1011,
            "a connects\nwait 0.01",
            ("a closed 1011 (already used)", "received but not expected"),
        ),
    ],
)
async def test_what_a_websocket_brings_is_told(
    messages: Sequence[str | bytes],
    raw: bytes,
    code: int | None,
    text: str,
    outcome: tuple[str, str] | None,
) -> None:
    found = told(await at_websocket(messages, f"{text}\n", "nac4", raw=raw, code=code))
    assert (None if found is None else found[1:]) == outcome


async def test_pings_are_answered() -> None:
    async def handler(websocket: trio_websocket.WebSocketConnection) -> None:
        await websocket.ping(b"still there?")  # waits for the answer
        await websocket.send_message("con\r\n")
        with pytest.raises(trio_websocket.ConnectionClosed):
            await websocket.get_message()

    async with websocket_server(handler) as address:
        assert await perform("a < con\n", "nac4", address) == Passed()


async def test_exchange_is_told_as_it_went_with_names_filled_in() -> None:
    async with tcp_server(answering(b"ONE\nTWO \nTHREE\n")) as address:
        text = "a < ONE\na > NAME {a}\na >bytes x\\n\na < TWO\n"
        outcome = failed(await perform(text, "droidcon", address))
    assert (outcome.line, outcome.got) == (FIRST + 3, 'a <bytes "TWO \\n"')
    assert steps_of(outcome)[0] == "a connects"
    assert sorted(steps_of(outcome)[1:]) == sorted(
        ["a < ONE", "a > NAME ax1", "a >bytes x\\n", 'a <bytes "TWO \\n"', "a < THREE"]
    )


async def test_silence_broken_is_told_with_its_time() -> None:
    async with tcp_server(answering(b"ONE\n")) as address:
        outcome = failed(await perform("a silent 3\n", "droidcon", address))
    assert outcome.expected == "a silent 3"
    assert outcome.got.startswith("a < ONE after 0.")


async def test_reset_is_no_hangup_in_good_order() -> None:
    async def handler(stream: trio.SocketStream) -> None:
        # What is left unread when a socket is closed turns the good-bye into a reset.
        await stream.socket.recv(1)

    async with tcp_server(handler) as address:
        outcome = await perform("a > HELLO\na closed\n", "droidcon", address)
    assert told(outcome) == ("a closed", "a closed (the connection was reset)", "")


async def test_nac4_lines_are_text_frames_ending_in_crlf() -> None:
    async def handler(websocket: trio_websocket.WebSocketConnection) -> None:
        for expected in ("connect ax1\r\n", b"\xff", "no ending", "con\r\n"):
            assert await websocket.get_message() == expected
        await websocket.send_message("connected hello ax1\r\n")
        with pytest.raises(trio_websocket.ConnectionClosed):
            await websocket.get_message()

    by_hand = r'a >bytes "\x01\x83\0\0\0\0con"' + "\n" + r'a >bytes "\x80\x82\0\0\0\0\r\n"' + "\n"
    async with websocket_server(handler) as address:
        text = f'a > connect {{a}}\na >binary \\xff\na >text "no ending"\n{by_hand}'
        assert await perform(f"{text}a < connected hello {{a}}\n", "nac4", address) == Passed()


async def test_arena_message_is_compared_by_value_and_told_by_key() -> None:
    message = '{"state":[' + "0," * 41 + '0],"turn":1,"you":2,"moves":[],"type":"state"}'
    line = 'a < {"type":"state","turn":1,"moves":[],"state":{cells},"you":1}\n'
    assert told(await at_websocket([message], line, "arena")) == (
        line.replace("{cells}", "[" + "0," * 41 + "0]").rstrip(),
        f"a < {message}",
        '"you" is 2, not 1',
    )


async def test_arena_message_in_the_wrong_encoding_is_told() -> None:
    outcome = failed(await at_websocket(['{:type "end"}'], 'a < {"type":"end"}\n', "arena"))
    assert outcome.why.startswith("it is no JSON: ")
    assert await at_websocket(['{:type "end"}'], 'a <edn {:type "end"}\n', "arena") == Passed()


async def test_long_payloads_are_cut_short_in_the_report() -> None:
    async with tcp_server(answering(b"x" * 5000 + b"\n")) as address:
        outcome = failed(await perform("a < {repeat x 4999}\n", "droidcon", address))
    assert outcome.expected.endswith("x... (5003 characters)")
    assert len(outcome.got) < 500
    assert outcome.why == "they differ from character 5000 on"


@pytest.mark.parametrize("first", ["a", "b"])
async def test_lot_gives_each_the_part_that_was_drawn(first: str) -> None:
    head = HEAD["nac4"] + "client b nac4\n"
    text = f"a connects\nb connects\n{LOT}p < first\nq < second\np > {{p}}\np < {{p}}\nq closed\n"

    async def handler(websocket: trio_websocket.WebSocketConnection) -> None:
        is_first = arrivals.pop(0) == first
        await websocket.send_message("first\r\n" if is_first else "second\r\n")
        if is_first:
            await websocket.send_message(await websocket.get_message())
            with pytest.raises(trio_websocket.ConnectionClosed):
                await websocket.get_message()

    arrivals = ["a", "b"]
    async with websocket_server(handler) as address:
        assert await play(script(text, head), Setting({"nac4": address}, 5.0), "x1") == Passed()


@pytest.mark.parametrize(
    ("answer", "hangs_up", "text", "outcome"),
    [
        (b"second\n", False, f"{LOT}p < first\n", ("b < first", "b < second")),
        (b"", True, LOT, ("a < (a message to draw the lot by)", "a closed")),
        (b"first\n", False, f"{LOT}p leaves\na > X\n", ("a > X", "a has left")),
    ],
)
async def test_failure_behind_a_lot_is_told_by_the_clients_names(
    answer: bytes, hangs_up: bool, text: str, outcome: tuple[str, str]
) -> None:
    found = failed(await played_by_two(text, answering(answer, hangs_up=hangs_up)))
    assert (found.expected, found.got) == outcome
    assert ("lot: p is b, q is a" in steps_of(found)) == (answer == b"second\n")


@pytest.mark.parametrize(
    ("answer", "hangs_up", "got"),
    [
        (
            b"HTTP/1.1 404 Not Found\r\n\r\n",
            False,
            "no websocket to nac4 at {}: the handshake was answered 'HTTP/1.1 404 Not Found'",
        ),
        (
            b"",
            True,
            "no websocket to nac4 at {}: the server hung up instead of answering the handshake",
        ),
        (b"", False, "nothing within 0.05 s"),
    ],
)
async def test_handshake_that_fails_is_told(answer: bytes, hangs_up: bool, got: str) -> None:
    async def handler(stream: trio.SocketStream) -> None:
        await stream.receive_some()
        await answering(answer, hangs_up=hangs_up)(stream)

    async with tcp_server(handler) as address:
        outcome = await perform("a connects\n", "nac4", address, SHORT if "within" in got else 5.0)
    assert told(outcome) == ("a connects", got.format(address.authority), "")


async def test_server_that_is_not_there_is_told() -> None:
    with trio.socket.socket() as unused:
        await unused.bind(("127.0.0.1", 0))
        address = Address("127.0.0.1", unused.getsockname()[1])
        outcome = await perform("a > NAME {a}\n", "droidcon", address)
    got = f"no connection to droidcon at {address.authority}: connection refused"
    assert told(outcome) == ("a connects", got, "")


async def test_request_path_goes_behind_the_targets_own() -> None:
    paths = []

    async def handler(websocket: trio_websocket.WebSocketConnection) -> None:
        paths.append(websocket.path)
        with pytest.raises(trio_websocket.ConnectionClosed):
            await websocket.get_message()

    head = HEAD["nac4"] + "client b nac4 /?table={table}\n"
    async with websocket_server(handler) as address:
        for path in ("", "/ws"):
            target = Address(address.host, address.port, path)
            transcript = script("a connects\nb connects\n", head)
            assert await play(transcript, Setting({"nac4": target}, 5.0), "x1") == Passed()
    assert paths == ["/", "/?table=tablex1", "/ws", "/ws/?table=tablex1"]


async def test_raw_client_speaks_http_to_a_websocket_port() -> None:
    head = "clause nac4 1.1\nsource derived\nclient a nac4 raw\n"
    async with tcp_server(answering(b"HTTP/1.1 200 OK\r\n\r\n[]")) as address:
        text = 'a > GET / HTTP/1.1\na >\na < HTTP/1.1 200 {any}\na <\na <bytes "[]"\n'
        assert await play(script(text, head), Setting({"nac4": address}, 5.0), "x1") == Passed()


async def test_leaving_tcp_still_hears_what_is_owed() -> None:
    async def handler(stream: trio.SocketStream) -> None:
        async for _ in stream:
            pass
        await stream.send_all(b"BYE\n")

    async with tcp_server(handler) as address:
        assert await perform("a leaves\na < BYE\na closed\n", "droidcon", address) == Passed()


async def test_leaving_a_websocket_is_a_close_handshake() -> None:
    reasons = []

    async def handler(websocket: trio_websocket.WebSocketConnection) -> None:
        with pytest.raises(trio_websocket.ConnectionClosed) as closed:
            await websocket.get_message()
        assert closed.value.reason is not None
        reasons.append(closed.value.reason.code)

    async with websocket_server(handler) as address:
        assert await perform("a leaves\na closed 1000\n", "nac4", address) == Passed()
    assert reasons == [1000]


async def test_reset_reaches_the_server_as_one() -> None:
    seen = trio.Event()

    async def handler(stream: trio.SocketStream) -> None:
        with pytest.raises(trio.BrokenResourceError):
            await stream.receive_some()
        seen.set()

    async with tcp_server(handler) as address:
        assert await perform("a connects\na resets\n", "droidcon", address) == Passed()
        await seen.wait()


@pytest.mark.parametrize("line", ["a < ONE\n", "a < TWO\n"])
async def test_good_bye_waits_for_the_server_after_success_and_failure(line: str) -> None:
    events = []

    async def handler(stream: trio.SocketStream) -> None:
        await stream.send_all(b"ONE\n")
        async for _ in stream:
            pass
        await trio.lowlevel.checkpoint()
        events.append("the server has seen the end")

    async with tcp_server(handler) as address:
        await perform(line, "droidcon", address)
        assert events == ["the server has seen the end"]


async def test_websocket_dropped_without_a_close_frame_is_told() -> None:
    async def handler(websocket: trio_websocket.WebSocketConnection) -> None:
        await websocket._stream.aclose()

    async with websocket_server(handler) as address:
        outcome = failed(await perform("a closed 1001\n", "nac4", address))
        assert outcome.got == "a closed (without a close frame)"
        assert await perform("a closed\n", "nac4", address) == Passed()


async def test_line_that_cannot_be_sent_is_told() -> None:
    async def handler(stream: trio.SocketStream) -> None:
        await stream.socket.recv(1)

    async with tcp_server(handler) as address:
        # More than any socket buffers, so that the reset is met while it is sent.
        outcome = failed(await perform("a >bytes {repeat x 9999999}\n", "droidcon", address))
    assert outcome.expected.endswith("x... (10000008 characters)")
    assert outcome.got == "it could not be sent: the server had hung up"


async def test_server_that_does_not_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def handler(stream: trio.SocketStream) -> None:
        await trio.sleep_forever()

    monkeypatch.setattr("conformance.play.GOODBYE", SHORT)
    async with tcp_server(handler) as address:
        outcome = failed(await perform("a >bytes {repeat x 9999999}\n", "droidcon", address, SHORT))
    assert outcome.got == "the server did not read it within 0.05 s"


async def test_member_says_nothing_for_a_while_behind_its_handshake() -> None:
    """The original of arena loses what comes too early."""
    times = []

    async def handler(websocket: trio_websocket.WebSocketConnection) -> None:
        times.append(trio.current_time())
        await websocket.get_message()
        times.append(trio.current_time())
        await websocket.aclose()

    async with websocket_server(handler) as address:
        transcript = script('a > {"type":"state_request"}\n', HEAD["arena"])
        await play(transcript, Setting({"arena": address}, 5.0, delay=0.1), "x1")
    assert times[1] - times[0] > 0.05
