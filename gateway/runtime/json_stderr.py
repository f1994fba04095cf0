"""The program that converts text on stderr to lines of JSON. The server uses it with ``--log-json``.

The text comes from child processes, Redis, C libraries, and Python when it crashes. The server's log is JSON
already. The program reads the text from a socket, and loads few modules.
"""

import json
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from gateway.game.text import json_text
from gateway.runtime.disk import write_all

LONGEST = 1 << 20
"""The maximum length of a line, in bytes. Longer lines are split."""
_NOT_STARTED = {"level": "error", "logger": __name__, "event": "not_started"}
_LEFT_OUT = {"level": "warning", "logger": __name__, "event": "plugin_left_out"}
_SAID = {"level": "warning", "logger": "gateway.stderr", "event": "stderr"}


def json_line(message: str, fields: Mapping[str, object]) -> str:
    """Return a line in the format of the JSON log, for a message that is not logged by `logging`."""
    now = time.time()
    moment = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03}Z"
    return json_text({"time": moment, **fields, "message": message}) + "\n"


def complain(error: str, *, as_json: bool) -> None:
    """Write the error that ends the server to standard error, in one line."""
    _write_text(json_line(error, _NOT_STARTED) if as_json else f"c4gateway: error: {error}\n")


def leave_out(fault: str, *, as_json: bool) -> None:
    """Write to standard error, in one line, why a plug-in is left out."""
    _write_text(json_line(fault, _LEFT_OUT) if as_json else f"c4gateway: warning: {fault}\n")


def _write_text(line: str) -> None:
    with suppress(OSError):  # stderr may be closed
        sys.stderr.write(line)
        sys.stderr.flush()


def main() -> None:
    """Relay text to stderr from the socket whose descriptor is the first argument."""
    relay(socket.socket(fileno=int(sys.argv[1])), 2)


def relay(source: socket.socket, target: int) -> None:
    """Write each line from a socket to a file descriptor as JSON, until all writers have closed it."""
    rest = b""
    with source:
        while data := source.recv(65_536):
            *lines, rest = (rest + data).split(b"\n")
            if len(rest) > LONGEST:
                lines.append(rest)
                rest = b""
            _write(lines, target)
    _write([rest], target)


def _write(lines: Sequence[bytes], target: int) -> None:
    with suppress(OSError):  # if stderr is closed, go on reading, so that no writer blocks
        write_all(target, b"".join(_as_json(line) for line in lines if line.strip()))


def _as_json(line: bytes) -> bytes:
    """Return a line as JSON. A JSON object in ASCII is unchanged; other text becomes a record's message."""
    if line.startswith(b"{") and line.isascii():
        with suppress(ValueError, RecursionError):
            json.loads(line)
            return line + b"\n"
    return json_line(line.decode(errors="backslashreplace").rstrip("\r"), _SAID).encode()


if __name__ == "__main__":
    main()
