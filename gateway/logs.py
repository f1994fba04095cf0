"""What the operator reads: log lines, as text or as JSON.

No client's name or message reaches a line unquoted, so nobody can forge one. A thread of its own writes
them, so that a reader who stands still, a stopped terminal or a full pipe, does not stop the games.
"""

import contextlib
import json
import logging
import os
import queue
import sys
import threading
import time
from collections.abc import Sequence

from gateway.board import FIRST, other
from gateway.events import Reason
from gateway.results import Finished

LEVELS = ("debug", "info", "warning", "error")
BACKLOG = 10_000
"""Lines that may wait for whoever reads the log."""
FLUSH_LIMIT = 1.0
"""Seconds that the end of the process waits for them."""

logger = logging.getLogger("gateway.games")


class JsonFormatter(logging.Formatter):
    """One JSON object a line, with the keys time (ISO 8601, local), level, logger and message."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line for `record`."""
        line = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S") + f".{record.msecs:03.0f}",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class ThreadedHandler(logging.Handler):
    """Writes lines to a file descriptor, and drops what its reader leaves no room for."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._lines: queue.Queue[str | None] = queue.Queue(BACKLOG)
        self._dropped = 0
        threading.Thread(target=self._write, name="log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a line; never blocks."""
        try:
            if self._dropped:
                self._lines.put_nowait(f"{self._dropped} lines dropped: nobody read the log")
                self._dropped = 0
            self._lines.put_nowait(self.format(record))
        except queue.Full:
            self._dropped += 1

    def flush(self) -> None:
        """Wait until all lines are written, but not for a reader who stands still."""
        patience = time.monotonic() + FLUSH_LIMIT
        while self._lines.unfinished_tasks and time.monotonic() < patience:
            time.sleep(0.001)

    def close(self) -> None:
        """Write what waits, then no more."""
        self.flush()
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(None)
        super().close()

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            data = line.encode("utf-8", "backslashreplace") + b"\n"
            try:
                while data:
                    data = data[os.write(self._descriptor, data) :]
            except OSError:
                pass  # nobody is there to be told
            self._lines.task_done()


class _OnceAMinute(logging.Filter):
    """Lets a line through now and then, without its traceback: for one that may come many times a second."""

    def __init__(self) -> None:
        super().__init__()
        self._next = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        record.exc_info = None
        if time.monotonic() < self._next:
            return False
        self._next = time.monotonic() + 60
        return True


def set_up_logging(level: str, *, as_json: bool) -> None:
    """Log to stderr from `level`, one of `LEVELS`, upwards."""
    closed = sys.stderr is None  # by whoever started the process
    handler = logging.NullHandler() if closed else ThreadedHandler(sys.stderr.fileno())
    plain = logging.Formatter("%(asctime)s %(levelname)-7s %(message)s")
    handler.setFormatter(JsonFormatter() if as_json else plain)
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for library in ("trio-websocket", "trio"):
        logging.getLogger(library).setLevel(max(logging.WARNING, logging.getLogger().level))
    logging.getLogger("gateway.accepting").addFilter(_OnceAMinute())


def log_fault(names: Sequence[str | None]) -> None:
    """Log the mistake of ours that is being handled, and the names of those who were hung up on for it."""
    logger.exception("internal error; hung up on: %s", ", ".join(map(repr, names)) or "nobody")


def log_game(game: Finished, delay: float = 0.0) -> None:
    """Log a game that is over.

    `delay` is for how many seconds at most, in this game, the server did not listen: beside a loss on time it
    says whose fault that was.
    """
    first, second = game.players
    columns = "".join(map(str, game.board.moves))
    if game.leaver is not None and game.reason is Reason.ABORTED:
        leaver = game.players[game.leaver].name
        logger.info(
            "game %r - %r: aborted, %r left before both had moved, moves %s",
            first.name,
            second.name,
            leaver,
            columns,
        )
        return
    if game.winner is None:
        logger.info(
            "game %r - %r: no winner, %s, moves %s", first.name, second.name, game.reason.value, columns
        )
        return
    winner, loser = game.players[game.winner], game.players[other(game.winner)]
    order = "first" if game.winner == FIRST else "second"
    reason = game.reason.value
    if game.reason is Reason.TIME:
        reason += f" (after {game.thought[other(game.winner)]:.3f} s, the server was deaf for {delay:.3f} s)"
    logger.info("game %r beats %r: %s, moving %s, moves %s", winner.name, loser.name, reason, order, columns)
