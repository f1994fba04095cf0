"""The command ``c4gateway health``, which checks whether a running server serves its clients.

It gets the server's address from the server's options, and requests ``/healthz``. If the server has no page,
any answer counts as healthy. Containers run the command every half minute, so it loads no part of the server.
"""

import os
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from gateway.options.description import Description
from gateway.options.kinds import count
from gateway.options.server import ServerOptions, parse, port_with_page
from gateway.options.table import Parser, option, read_some
from gateway.options.terminal import in_one_line

PATIENCE = 9.0
"""The number of seconds for each step.

The page's process needs less time to detect that the server does not answer.
"""

_REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
_NOBODY = b"PROXY UNKNOWN\r\n"
"""The PROXY header of a connection that a proxy makes without a client."""
_BUSY = "\nretry-after:"
_LONGEST = 4096
_PROGRAM = "c4gateway"
_DESCRIPTION = "Ask a running server whether it is well: exit status 0 if it is, 1 if it is not."
_EPILOG = "Give the options of that server, too, or have them in the environment as it has."


def main(arguments: Sequence[str], dialects: Sequence[Description]) -> int:
    """Ask a running server; return 0 if it is healthy, otherwise print a line to stderr and return 1.

    If options are invalid, the process exits with status 2.
    """
    own, others = read_some(Parser("c4gateway health", _DESCRIPTION, _EPILOG), _Options, arguments)
    try:
        theirs = [] if own.pid is None else _options_of(own.pid)
        answer = _asked(parse([*theirs, *others], dialects))
    except (OSError, ValueError) as error:
        print(f"c4gateway: unhealthy: {in_one_line(error)}", file=sys.stderr)
        return 1
    print(answer)
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    pid: int | None = option(
        "take the options with which this process was started (on Linux)", count(1, 2**31, "PID")
    )


def _options_of(pid: int) -> list[str]:
    """Return the arguments of a running server's command line. Raises OSError or ValueError."""
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        words = os.fsdecode(file.read()).split("\0")[:-1]
    names = [word.rpartition("/")[2] for word in words]
    if _PROGRAM not in names:
        raise ValueError(f"process {pid} is not {_PROGRAM}; give the options of the server instead of --pid")
    return words[names.index(_PROGRAM) + 1 :]


def _asked(options: ServerOptions) -> str:
    """Return the first line of an answer that shows a healthy server. Raises OSError for any other answer.

    ``/healthz`` never answers with Retry-After. If an answer has it, the server has refused this client
    because of a limit, and is healthy.
    """
    host, (port, has_page) = options.host[0], _port(options)
    try:
        answer = _answer(options, host, port)
    except OSError as error:
        raise OSError(f"{host}, port {port}: {error.strerror or error}") from error
    first = answer.partition("\n")[0].strip()
    is_well = first.split()[1:2] == ["200"] or _BUSY in answer.lower() if has_page else first
    if not is_well:
        raise OSError(f"{host}, port {port}: {first or 'no answer'}")
    return first


def _answer(options: ServerOptions, host: str, port: int) -> str:
    """Return the head of the server's answer; empty if the server closes the connection without an answer."""
    with socket.create_connection((host, port), PATIENCE) as plain:  # 0.0.0.0 and :: reach this machine
        if options.proxy_protocol:
            plain.sendall(_NOBODY)
        with _secured(plain) if options.tls_only else plain as sock:
            sock.sendall(_REQUEST)
            return _head(sock)


def _port(options: ServerOptions) -> tuple[int, bool]:
    """Return a port of the server, and whether the page is on that port."""
    if not options.no_web:
        return port_with_page(options), True
    ports = [options.port, *options.ports.values()]
    return next(port for port in ports if port is not None), False


def _secured(sock: socket.socket) -> socket.socket:
    """Return a TLS connection over `sock`. The certificate is not verified: the server is on this machine."""
    import ssl  # noqa: PLC0415  rarely needed

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(sock)


def _head(sock: socket.socket) -> str:
    """Read the head of an HTTP answer, or the first line of any other answer."""
    data = b""
    while b"\r\n\r\n" not in data and len(data) < _LONGEST and (more := sock.recv(_LONGEST)):
        data += more
        if b"\n" in data and not data.startswith(b"HTTP/"):
            break
    return data.decode("ascii", "backslashreplace")
