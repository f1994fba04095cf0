"""Playing transcripts against small servers made for the purpose; above all, the words of a failure."""

import pytest
import trio
import trio_websocket
from runner_fakes import FIRST, HEAD, TcpHandler, perform, script, steps_of, tcp_server, websocket_server

from conformance.outcome import Failed, Outcome, Passed
from conformance.play import Setting, play
from conformance.targets import Address

pytestmark = pytest.mark.trio

SHORT = 0.05


def failed(outcome: Outcome) -> Failed:
    assert isinstance(outcome, Failed)
    return outcome


def answering(answer: bytes) -> TcpHandler:
    """A TCP server that says one thing at once and then listens until the client has left."""

    async def handler(stream: trio.SocketStream) -> None:
        await stream.send_all(answer)
        async for _ in stream:
            pass

    return handler


async def against_tcp(answer: bytes, text: str, patience: float = 5.0) -> Outcome:
    async with tcp_server(answering(answer)) as address:
        return await perform(text, "droidcon", address, patience)


async def against_websocket(messages: list[str | bytes], text: str, dialect: str = "nac4") -> Outcome:
    async def handler(websocket: trio_websocket.WebSocketConnection) -> None:
        for message in messages:
            await websocket.send_message(message)
        with pytest.raises(trio_websocket.ConnectionClosed):
            await websocket.get_message()

    async with websocket_server(handler) as address:
        return await perform(text, dialect, address)


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


async def test_wrong_line_is_told_beside_the_one_expected() -> None:
    outcome = failed(await against_tcp(b"Error NO_NAME_SET\n", "a connects\na < SUCCESS\n"))
    assert outcome.line == FIRST + 1
    assert outcome.expected == "a < SUCCESS"
    assert outcome.got == "a < Error NO_NAME_SET"
    assert outcome.why == "they differ from character 1 on"


async def test_exchange_is_told_as_it_went_with_names_filled_in() -> None:
    outcome = failed(
        await against_tcp(b"ONE\nTWO \nTHREE\n", "a < ONE\na > NAME {a}\na >bytes x\\n\na < TWO\n")
    )
    assert steps_of(outcome)[0] == "a connects"
    assert sorted(steps_of(outcome)[1:]) == sorted(
        ["a < ONE", "a > NAME ax1", "a >bytes x\\n", 'a <bytes "TWO \\n"', "a < THREE"]
    )
    assert outcome.got == 'a <bytes "TWO \\n"'


async def test_wrong_line_ending_is_told() -> None:
    outcome = failed(await against_websocket(["connected\n"], "a < connected\n"))
    assert outcome.got == 'a <text "connected\\n"'
    assert outcome.why == 'it does not end in "\\r\\n"'


async def test_nothing_within_patience_is_told() -> None:
    outcome = failed(await against_tcp(b"", "a < SUCCESS\n", SHORT))
    assert (outcome.expected, outcome.got) == ("a < SUCCESS", "nothing within 0.05 s")


async def test_half_a_line_is_told_as_what_it_is() -> None:
    outcome = failed(await against_tcp(b"SUCC", "a < SUCCESS\n", 0.5))
    assert outcome.got == 'only a <bytes "SUCC", then nothing within 0.5 s'


async def test_bytes_are_taken_in_the_number_expected() -> None:
    assert await against_tcp(b"Error X \nPUT 1\n", 'a <bytes "Error X \\n"\na < PUT 1\n') == Passed()
    outcome = failed(await against_tcp(b"Error X\n", 'a <bytes "Error Y\\n"\n'))
    assert (outcome.got, outcome.why) == ('a <bytes "Error X\\n"', "they differ from byte 7 on")


async def test_bytes_cut_short_by_the_end_are_told() -> None:
    async def handler(stream: trio.SocketStream) -> None:
        await stream.send_all(b"SUCC")

    async with tcp_server(handler) as address:
        outcome = failed(await perform('a <bytes "SUCCESS\\n"\n', "droidcon", address))
        assert (outcome.got, outcome.why) == ('a <bytes "SUCC"', "only 4 of 8 bytes came")
        outcome = failed(await perform("a < SUCCESS\n", "droidcon", address))
        assert (outcome.got, outcome.why) == ('a <bytes "SUCC"', "the stream ended within a line")


async def test_hangup_in_place_of_a_message_is_told() -> None:
    async def handler(stream: trio.SocketStream) -> None:
        await stream.aclose()

    async with tcp_server(handler) as address:
        outcome = failed(await perform("a < SUCCESS\n", "droidcon", address))
    assert (outcome.expected, outcome.got, outcome.why) == ("a < SUCCESS", "a closed", "")


async def test_message_that_no_line_expected_fails_at_the_end() -> None:
    outcome = failed(await against_tcp(b"ONE\nTWO\n", "a < ONE\n"))
    assert outcome.line == FIRST
    assert outcome.expected == "nothing more for a"
    assert outcome.got == "a < TWO"
    assert outcome.why == "received but not expected"


async def test_hangup_that_no_line_expected_fails_at_the_end() -> None:
    async def handler(websocket: trio_websocket.WebSocketConnection) -> None:
        await websocket.aclose(1011, "oops")

    async with websocket_server(handler) as address:
        outcome = failed(await perform("a connects\nwait 0.01\n", "nac4", address))
    assert (outcome.expected, outcome.got) == ("nothing more for a", "a closed 1011 (oops)")


async def test_client_that_ignores_the_rest_may_receive_anything() -> None:
    assert await against_tcp(b"ONE\nTWO\n", "a < ONE\na ignores the rest\n") == Passed()


async def test_silence_broken_is_told_with_its_time() -> None:
    outcome = failed(await against_tcp(b"ONE\n", "a silent 3\n"))
    assert outcome.expected == "a silent 3"
    assert outcome.got.startswith("a < ONE after 0.")


async def test_silence_kept_passes() -> None:
    assert await against_tcp(b"", "a silent 0.01\n") == Passed()


async def test_message_in_place_of_a_hangup_is_told() -> None:
    outcome = failed(await against_tcp(b"YOU_WON\n", "a closed\n"))
    assert (outcome.expected, outcome.got) == ("a closed", "a < YOU_WON")


async def test_other_close_code_is_told_with_its_reason() -> None:
    async def handler(websocket: trio_websocket.WebSocketConnection) -> None:
        await websocket.aclose(1008, "already used")

    async with websocket_server(handler) as address:
        assert await perform("a closed 1008\n", "nac4", address) == Passed()
        assert await perform("a closed\n", "nac4", address) == Passed()
        outcome = failed(await perform("a closed 1002\n", "nac4", address))
    assert (outcome.expected, outcome.got) == ("a closed 1002", "a closed 1008 (already used)")


async def test_reset_is_no_hangup_in_good_order() -> None:
    async def handler(stream: trio.SocketStream) -> None:
        # What is left unread when a socket is closed turns the good-bye into a reset.
        await stream.socket.recv(1)

    async with tcp_server(handler) as address:
        outcome = failed(await perform("a > HELLO\na closed\n", "droidcon", address))
    assert (outcome.expected, outcome.got) == ("a closed", "a closed (the connection was reset)")


async def test_binary_frame_is_no_text_frame() -> None:
    outcome = failed(await against_websocket([b"connected\r\n"], "a < connected\n"))
    assert outcome.got == 'a <binary "connected\\r\\n"'
    assert outcome.why == "a text frame was expected, not a binary one"


async def test_what_is_no_websocket_frame_is_told() -> None:
    async def handler(websocket: trio_websocket.WebSocketConnection) -> None:
        await websocket._stream.send_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        with pytest.raises(trio_websocket.ConnectionClosed):
            await websocket.get_message()

    async with websocket_server(handler) as address:
        outcome = failed(await perform("a < connected\n", "nac4", address))
    assert outcome.got == "a closed (the server broke the websocket: a frame with reserved bits set)"


async def test_nac4_lines_are_text_frames_ending_in_crlf() -> None:
    async def handler(websocket: trio_websocket.WebSocketConnection) -> None:
        for expected in ("connect ax1\r\n", b"\xff", "no ending"):
            assert await websocket.get_message() == expected
        await websocket.send_message("connected hello ax1\r\n")
        with pytest.raises(trio_websocket.ConnectionClosed):
            await websocket.get_message()

    async with websocket_server(handler) as address:
        text = 'a > connect {a}\na >binary \\xff\na >text "no ending"\na < connected hello {a}\n'
        assert await perform(text, "nac4", address) == Passed()


async def test_fragments_can_be_written_by_hand() -> None:
    async def handler(websocket: trio_websocket.WebSocketConnection) -> None:
        await websocket.send_message(await websocket.get_message())
        with pytest.raises(trio_websocket.ConnectionClosed):
            await websocket.get_message()

    async with websocket_server(handler) as address:
        text = r'a >bytes "\x01\x83\0\0\0\0con"' + "\n" + r'a >bytes "\x80\x82\0\0\0\0\r\n"' + "\na < con\n"
        assert await perform(text, "nac4", address) == Passed()


async def test_arena_message_is_compared_by_value_and_told_by_key() -> None:
    message = '{"state":[' + "0," * 41 + '0],"turn":1,"you":2,"moves":[],"type":"state"}'
    line = 'a < {"type":"state","turn":1,"moves":[],"state":{cells},"you":1}\n'
    outcome = failed(await against_websocket([message], line, "arena"))
    assert outcome.expected == line.replace("{cells}", "[" + "0," * 41 + "0]").rstrip()
    assert outcome.got == f"a < {message}"
    assert outcome.why == '"you" is 2, not 1'


async def test_arena_message_in_the_wrong_encoding_is_told() -> None:
    outcome = failed(await against_websocket(['{:type "end"}'], 'a < {"type":"end"}\n', "arena"))
    assert outcome.why.startswith("it is no JSON: ")
    assert await against_websocket(['{:type "end"}'], 'a <edn {:type "end"}\n', "arena") == Passed()


async def test_long_payloads_are_cut_short_in_the_report() -> None:
    outcome = failed(await against_tcp(b"x" * 5000 + b"\n", "a < {repeat x 4999}\n"))
    assert outcome.expected.endswith("x... (5003 characters)")
    assert len(outcome.got) < 500
    assert outcome.why == "they differ from character 5000 on"


@pytest.mark.parametrize("first", ["a", "b"])
async def test_lot_gives_each_the_part_that_was_drawn(first: str) -> None:
    head = HEAD["nac4"] + "client b nac4\n"
    lot = "a connects\nb connects\nlot p q from a b on first\n"
    text = lot + "p < first\nq < second\np > {p}\np < {p}\nq closed\n"

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


async def test_lot_is_told_in_the_exchange() -> None:
    head = HEAD["droidcon"] + "client b droidcon\n"
    async with tcp_server(answering(b"second\n")) as address:
        transcript = script("lot p q from a b on first\np < first\n", head)
        outcome = failed(await play(transcript, Setting({"droidcon": address}, 5.0), "x1"))
    assert "lot: p is b, q is a" in steps_of(outcome)
    assert (outcome.expected, outcome.got) == ("b < first", "b < second")


async def test_hangup_before_the_lot_is_told() -> None:
    async def handler(stream: trio.SocketStream) -> None:
        await stream.send_eof()
        assert await stream.receive_some() == b""

    head = HEAD["droidcon"] + "client b droidcon\n"
    async with tcp_server(handler) as address:
        transcript = script("lot p q from a b on first\n", head)
        outcome = failed(await play(transcript, Setting({"droidcon": address}, 5.0), "x1"))
    assert (outcome.expected, outcome.got) == ("a < (a message to draw the lot by)", "a closed")


async def test_server_that_is_not_there_is_told() -> None:
    with trio.socket.socket() as unused:
        await unused.bind(("127.0.0.1", 0))
        address = Address("127.0.0.1", unused.getsockname()[1])
        outcome = failed(await perform("a > NAME {a}\n", "droidcon", address))
    assert outcome.expected == "a connects"
    assert outcome.got == f"no connection to droidcon at {address.authority}: connection refused"


async def test_refused_websocket_is_told() -> None:
    async with tcp_server(answering(b"HTTP/1.1 404 Not Found\r\n\r\n")) as address:
        outcome = failed(await perform("a connects\n", "nac4", address))
    reason = "the handshake was answered 'HTTP/1.1 404 Not Found'"
    assert outcome.got == f"no websocket to nac4 at {address.authority}: {reason}"


async def test_hangup_during_the_handshake_is_told() -> None:
    async def handler(stream: trio.SocketStream) -> None:
        await stream.receive_some()

    async with tcp_server(handler) as address:
        outcome = failed(await perform("a connects\n", "nac4", address))
    reason = "the server hung up instead of answering the handshake"
    assert outcome.got == f"no websocket to nac4 at {address.authority}: {reason}"


async def test_handshake_without_an_answer_is_told() -> None:
    async with tcp_server(answering(b"")) as address:
        outcome = failed(await perform("a connects\n", "nac4", address, SHORT))
    assert (outcome.expected, outcome.got) == ("a connects", "nothing within 0.05 s")


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


async def test_pings_are_answered_and_fragments_joined() -> None:
    async def handler(websocket: trio_websocket.WebSocketConnection) -> None:
        await websocket.ping(b"still there?")
        await websocket._stream.send_all(b"\x01\x03con")
        await websocket._stream.send_all(b"\x80\x02\r\n")
        with pytest.raises(trio_websocket.ConnectionClosed):
            await websocket.get_message()

    async with websocket_server(handler) as address:
        assert await perform("a < con\n", "nac4", address) == Passed()


async def test_text_frame_that_is_no_utf8_is_told() -> None:
    async def handler(websocket: trio_websocket.WebSocketConnection) -> None:
        await websocket._stream.send_all(b"\x81\x01\xff")
        with pytest.raises(trio_websocket.ConnectionClosed):
            await websocket.get_message()

    async with websocket_server(handler) as address:
        outcome = failed(await perform("a < connected\n", "nac4", address))
    assert outcome.got == "a closed (the server broke the websocket: a text frame that is no UTF-8)"


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


async def test_part_whose_client_has_left_cannot_speak() -> None:
    head = HEAD["droidcon"] + "client b droidcon\n"
    async with tcp_server(answering(b"first\n")) as address:
        transcript = script("lot p q from a b on first\np leaves\na > X\n", head)
        outcome = failed(await play(transcript, Setting({"droidcon": address}, 5.0), "x1"))
    assert (outcome.expected, outcome.got) == ("a > X", "a has left")
