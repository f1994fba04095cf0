"""Standard output and standard error of a server, in whatever state they are.

Knows file descriptors and what Python itself writes to stderr. The rules it keeps: a stream that is closed,
full, or read by nobody stops no server; and with ``--log-json`` every line is a JSON object.
"""

import logging
import os
import runpy
import sys
import threading
import time
import warnings
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType

from gateway.game.text import json_text
from gateway.processes import LOG_JSON
from gateway.server.logs import set_up_logging

_NOT_STARTED = {"level": "error", "logger": __name__, "event": "not_started"}

logger = logging.getLogger(__name__)


def prepare(*, as_json: bool) -> None:
    """Open what is closed of the standard streams, to nowhere; let processes started from here do as asked.

    Otherwise the next socket would have the number of a standard stream, and children would write to it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # it has the lowest free number
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115
    if as_json:
        os.environ[LOG_JSON] = "true"
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
    about = (kind, error or kind(), traceback)
    logger.critical("%s", text, exc_info=about, extra={"event": "python_error"})


if __name__ == "__main__":
    main()
