"""The server's standard output and standard error.

Knows file descriptors, and Python's own output to stderr. The server goes on if a stream is closed or full.
With ``--log-json`` every line on stderr is a JSON object.
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
"""The environment variable that has the number of the file descriptor for a worker's log."""

logger = logging.getLogger(__name__)


@contextmanager
def prepared(*, as_json: bool) -> Iterator[None]:
    """Open closed standard streams as /dev/null; with `as_json`, convert all text on stderr to JSON.

    If a standard stream stayed closed, the next socket would get its number, and children would write to that
    socket. Raises OSError if the process that converts stderr cannot be started.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # gets the lowest free number
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115
    with _json_stderr() if as_json else nullcontext():
        yield


@contextmanager
def _json_stderr() -> Iterator[None]:
    """Convert text on standard error to JSON in a child process. This process's log bypasses the child."""
    if (number := os.environ.pop(OF_LOG, None)) is not None:  # the supervisor's child converts already
        _log_to(int(number))
        yield
        return
    os.environ.pop(LOG_JSON, None)  # otherwise the child would load this module
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
            child.socket.shutdown(socket.SHUT_WR)  # ends the stream even if other processes have it open
        ended(child.process, FLUSH_LIMIT)


def _log_to(descriptor: int) -> None:
    os.set_inheritable(descriptor, False)
    sys.stderr = open(descriptor, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    _speak_json()


def main() -> None:
    """Run a module as ``python -m`` does, but log its warnings and uncaught exceptions as JSON.

    The first argument on the command line is the module's name. The module gets the other arguments.
    """
    _speak_json()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


def write(text: str) -> None:
    """Write a text to standard output in a thread, since a full pipe would block."""
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
    """Log warnings and uncaught exceptions as JSON in place of Python's own output."""
    set_up_logging("warning", as_json=True)  # until the options are parsed and set the level
    logging.captureWarnings(True)
    warnings.formatwarning = lambda message, category, *_: f"{category.__name__}: {message}"
    sys.excepthook = _log_end
    sys.unraisablehook = lambda args: _log_error(
        args.err_msg or "an error is ignored", args.exc_type, args.exc_value, args.exc_traceback
    )
    threading.excepthook = lambda args: _log_error(
        "a thread has ended", args.exc_type, args.exc_value, args.exc_traceback
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
