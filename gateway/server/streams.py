"""Standard output and standard error of a server, in whatever state they are.

Knows file descriptors and what Python itself writes to stderr. The rules it keeps: a stream that is closed,
full, or read by nobody stops no server; and with ``--log-json`` every line is a JSON object.
"""

import logging
import os
import runpy
import socket
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from types import TracebackType

from gateway.runtime.processes import LOG_JSON, ended, start
from gateway.server.logs import FLUSH_LIMIT, set_up_logging

OF_LOG = "_C4GATEWAY_LOG"
"""The number of the descriptor to which a worker writes its log, in its environment."""

logger = logging.getLogger(__name__)


@contextmanager
def prepared(*, as_json: bool) -> Iterator[None]:
    """Open what is closed of the standard streams, to nowhere; let processes started from here do as asked.

    Otherwise the next socket would have the number of a standard stream, and children would write to it.

    With `as_json` all that anybody writes to standard error while the block lasts is JSON. Raises OSError
    where the process that makes it so cannot be started.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # it has the lowest free number
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115
    with _json_stderr() if as_json else nullcontext():
        yield


@contextmanager
def _json_stderr() -> Iterator[None]:
    """Have a process make JSON of what is written to standard error, but for this process's own log."""
    if (number := os.environ.pop(OF_LOG, None)) is not None:  # the supervisor of this worker has
        _log_to(int(number))
        yield
        return
    os.environ.pop(LOG_JSON, None)  # or that process would load all that is loaded here
    child = start("gateway.runtime.json_stderr")
    ours = os.dup(2)
    os.dup2(child.socket.fileno(), 2)
    os.environ[LOG_JSON] = "true"
    _log_to(ours)
    try:
        yield
    finally:
        os.dup2(ours, 2)
        with suppress(OSError), child.socket:
            child.socket.shutdown(socket.SHUT_WR)  # whoever else has it open
        ended(child.process, FLUSH_LIMIT)


def _log_to(descriptor: int) -> None:
    os.set_inheritable(descriptor, False)
    sys.stderr = open(descriptor, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    _speak_json()


def main() -> None:
    """Run the module that the first argument names, as a program; log as JSON what goes wrong with it."""
    _speak_json()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


def write(text: str) -> None:
    """Write a text to standard output, by a thread of its own: perhaps nobody reads it."""
    data = text.encode(getattr(sys.stdout, "encoding", None) or "utf-8", "backslashreplace")

    def write_all() -> None:
        left = data
        try:
            while left:
                left = left[os.write(1, left) :]
        except OSError as error:
            logger.warning(
                "standard output takes nothing: %s",
                error,
                extra={"event": "not_printed", "error": str(error)},
            )

    threading.Thread(target=write_all, name="stdout", daemon=True).start()


def _speak_json() -> None:
    """Log warnings, and errors that nobody caught, as JSON in place of what Python writes about them."""
    set_up_logging("warning", as_json=True)  # until a server's options, or its orders, say the level
    logging.captureWarnings(True)
    warnings.formatwarning = lambda message, category, *_: f"{category.__name__}: {message}"
    sys.excepthook = _log_end
    sys.unraisablehook = lambda said: _log_error(
        said.err_msg or "an error is ignored", said.exc_type, said.exc_value, said.exc_traceback
    )
    threading.excepthook = lambda said: _log_error(
        "a thread has ended", said.exc_type, said.exc_value, said.exc_traceback
    )


def _log_end(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    _log_error("the process ends after an internal error", kind, error, traceback)


def _log_error(
    text: str, kind: type[BaseException], error: BaseException | None, traceback: TracebackType | None
) -> None:
    exc_info = (kind, error or kind(), traceback)
    logger.critical("%s", text, exc_info=exc_info, extra={"event": "python_error"})


if __name__ == "__main__":
    main()
