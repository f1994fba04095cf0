"""The program of the process that, with ``--log-json``, makes JSON of what is written to stderr as text.

The server's own log does not come this way. What does: lines of its children, of Redis, of libraries in C,
and of Python as it crashes. Knows the socket that they write to, and loads little. The rules it keeps:

- A line that is a JSON object in ASCII stays as it is. Any other becomes the message of one, if not empty.
- It reads until all writers have closed the pipe, also where stderr takes nothing.
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
"""Bytes of a line. What is longer becomes several."""
_NOT_STARTED = {"level": "error", "logger": __name__, "event": "not_started"}
_SAID = {"level": "warning", "logger": "gateway.stderr", "event": "stderr"}


def json_line(message: str, fields: Mapping[str, object]) -> str:
    """Return a line as those of the log, for what is said apart from it."""
    now = time.time()
    moment = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03}Z"
    return json_text({"time": moment, **fields, "message": message}) + "\n"


def complain(error: str, *, as_json: bool) -> None:
    """Say on standard error, in one line, why the server ends."""
    line = json_line(error, _NOT_STARTED) if as_json else None
    with suppress(OSError):  # nobody is there to be told
        sys.stderr.write(line or f"c4gateway: error: {error}\n")
        sys.stderr.flush()


def main() -> None:
    """Serve the process that started this one."""
    relay(socket.socket(fileno=int(sys.argv[1])), 2)


def relay(source: socket.socket, target: int) -> None:
    """Write each line that comes from the socket to a file descriptor, as JSON, until there are no more."""
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
    with suppress(OSError):  # nobody is there to be told
        write_all(target, b"".join(_as_json(line) for line in lines if line.strip()))


def _as_json(line: bytes) -> bytes:
    if line.startswith(b"{") and line.isascii():
        with suppress(ValueError, RecursionError):
            json.loads(line)
            return line + b"\n"
    return json_line(line.decode(errors="backslashreplace").rstrip("\r"), _SAID).encode()


if __name__ == "__main__":
    main()
