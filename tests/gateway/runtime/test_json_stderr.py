"""What is written to standard error as text becomes JSON, line by line."""

import json
import socket
from tempfile import TemporaryFile
from threading import Thread

import pytest

from gateway.runtime.json_stderr import LONGEST, relay

OURS = b'{"time": "2026-11-21T12:00:00.250Z", "message": "a\\n"}'


def relayed(*parts: bytes) -> list[bytes]:
    """Return the lines that come out, each of which is an object, where these bytes come in parts."""
    ours, theirs = socket.socketpair()

    def send() -> None:
        with ours:
            for part in parts:
                ours.sendall(part)

    with TemporaryFile() as file:
        sender = Thread(target=send)
        sender.start()
        relay(theirs, file.fileno())
        sender.join()
        file.seek(0)
        lines = file.read().splitlines()
    assert all(isinstance(json.loads(line), dict) for line in lines)
    return lines


def messages(*parts: bytes) -> list[str]:
    return [json.loads(line)["message"] for line in relayed(*parts)]


def test_line_of_the_log_stays_as_it_is() -> None:
    assert relayed(OURS + b"\n" + OURS + b"\n") == [OURS, OURS]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"Fatal Python error: Aborted", "Fatal Python error: Aborted"),
        (b"  indented\r", "  indented"),
        (b"\xff\xc3\xa9\x1b[2J", "\\xff\u00e9\x1b[2J"),
        (b"[1, 2]", "[1, 2]"),
        (b"{not: json}", "{not: json}"),
        (b'{"a": "\xc3\xa9"}', '{"a": "\u00e9"}'),
        (b"{" * 100_000, "{" * 100_000),
        (b'{"a":' + b"[" * 10_000, '{"a":' + "[" * 10_000),
    ],
)
def test_any_other_line_is_the_message_of_one(line: bytes, message: str) -> None:
    assert messages(line + b"\n") == [message]
    record = json.loads(relayed(line)[0])
    assert (record["event"], record["level"], record["logger"]) == ("stderr", "warning", "gateway.stderr")
    assert relayed(line)[0].isascii()


def test_line_may_come_in_parts_and_an_empty_one_is_none() -> None:
    text = b"one\n\n \n" + OURS + b"\ntwo"
    for cut in range(len(text)):
        assert len(relayed(text[:cut], text[cut:])) == 3


def test_line_without_an_end_becomes_several() -> None:
    found = messages(b"x" * 2 * LONGEST)
    assert len(found) > 1
    assert "".join(found) == "x" * 2 * LONGEST


def test_standard_error_that_takes_nothing_stops_nobody_who_writes() -> None:
    ours, theirs = socket.socketpair()
    with ours, open("/dev/full", "wb") as full:
        ours.sendall(b"one\ntwo")
        ours.shutdown(socket.SHUT_WR)
        relay(theirs, full.fileno())
        assert ours.recv(1) == b""
