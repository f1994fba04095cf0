"""The log, as text or as JSON.

A record has a sentence for people, and fields for programs (``extra=``), such as `event`. A record is one
line, so that a client's text cannot forge a record; the further lines of an exception are indented. A thread
writes the lines, so that a full pipe does not stop the games.
"""

import contextlib
import logging
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, TypeAlias, assert_never

from gateway import __version__
from gateway.game.board import FIRST, other
from gateway.game.events import Reason
from gateway.game.facts import Away, Back, Cause, Hindered, Obstacle
from gateway.game.results import Finished
from gateway.game.text import json_text, quoted, visible
from gateway.store.records import WORDS

if TYPE_CHECKING:
    from gateway.hub.feed import Feed

BACKLOG = 10_000
"""The maximum number of lines that wait to be written."""
FLUSH_LIMIT = 1.0
"""The maximum number of seconds that the process waits at its end until all lines are written."""

_USUAL = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""The attributes that every record has. All other attributes are fields."""
_Raised: TypeAlias = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]

logger = logging.getLogger("gateway.games")


class _Formatter(logging.Formatter):
    """Formats times as ``2026-11-21T12:00:00.250Z``, in UTC."""

    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"


class PlainFormatter(_Formatter):
    """Formats a record as a line of time, level and message. The lines of an exception follow, indented."""

    def __init__(self, node: str = "") -> None:
        """Set `node`, the server's name in its cluster; empty without a cluster."""
        super().__init__(f"%(asctime)s %(levelname)-7s {f'[{node}] ' if node else ''}%(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  as the library calls it
        """Return the line for a record."""
        return visible(super().formatMessage(record))

    def formatException(self, ei: _Raised) -> str:  # noqa: N802
        """Return the indented lines of an exception."""
        return "\n".join(f"    {visible(line)}" for line in super().formatException(ei).split("\n"))


class JsonFormatter(_Formatter):
    """Formats a record as a JSON object: time, level, logger, the fields of the record, message."""

    def __init__(self, node: str = "") -> None:
        """Set `node`, the server's name in its cluster; empty without a cluster."""
        super().__init__()
        self._about = {"node": node} if node else {}

    def format(self, record: logging.LogRecord) -> str:
        """Return the line for `record`."""
        line: dict[str, object] = {
            "time": self.formatTime(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            **self._about,
        }
        line |= {name: value for name, value in vars(record).items() if name not in _USUAL}
        line["message"] = record.getMessage()
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json_text(line)


class ThreadedHandler(logging.Handler):
    """Writes lines to a file descriptor in a thread. Drops lines if more than `BACKLOG` wait."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._lines: queue.Queue[str | None] = queue.Queue(BACKLOG)
        self._dropped = 0
        threading.Thread(target=self._write, name="log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a line. Never blocks."""
        try:
            if self._dropped:
                self._lines.put_nowait(self.format(_dropped(self._dropped)))
                self._dropped = 0
            self._lines.put_nowait(self.format(record))
        except queue.Full:
            self._dropped += 1

    def flush(self) -> None:
        """Wait until all lines are written, but at most `FLUSH_LIMIT` seconds."""
        patience = time.monotonic() + FLUSH_LIMIT
        while self._lines.unfinished_tasks and time.monotonic() < patience:
            time.sleep(0.001)

    def close(self) -> None:
        """Write the waiting lines, and end the thread."""
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
                pass  # the reader has closed the pipe
            self._lines.task_done()


def set_up_logging(level: str, *, as_json: bool, node: str = "") -> None:
    """Log records of `level` (one of `options.LEVELS`) and above to stderr, with `node` in each line."""
    closed = sys.stderr is None  # the parent process closed it
    handler = logging.NullHandler() if closed else ThreadedHandler(sys.stderr.fileno())
    handler.setFormatter(JsonFormatter(node) if as_json else PlainFormatter(node))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for library in ("trio-websocket", "trio"):
        logging.getLogger(library).setLevel(max(logging.WARNING, logging.getLogger().level))
    logging.getLogger("coredis").setLevel(logging.CRITICAL)  # the caller logs each error once


def log_fault(names: Sequence[str | None]) -> None:
    """Log the current exception, which is a bug, and the names of the players disconnected because of it."""
    words = ", ".join("nobody yet named" if name is None else quoted(name) for name in names) or "nobody"
    logger.exception(
        "internal error; hung up on: %s", words, extra={"event": "internal_error", "players": list(names)}
    )


def log_start(addresses: Sequence[tuple[str, str]], place: str) -> None:
    """Log that the server accepts connections.

    `addresses` are pairs of the name of a front end and an address; `place` is the database.
    """
    where = ", ".join(f"{name} {address}" for name, address in addresses)
    listening = [{"front_end": name, "address": address} for name, address in addresses]
    logger.info(
        "version %s listens: %s; results: %s",
        *(__version__, where, place),
        extra={"event": "started", "version": __version__, "listening": listening, "results": place},
    )


def log_games(feed: "Feed", delay_since: Callable[[float], float]) -> None:
    """Log each game that ends, players whose connections break during a game and who come back, and, once per
    wait, the reason for which a waiting player has no opponent.

    `delay_since` gets a time, and returns the longest time between two polls of the sockets since then, in
    seconds.
    """

    def wake() -> None:
        for fact in subscription.take():
            if isinstance(fact, Finished):
                log_game(fact, delay_since(fact.began))
            elif isinstance(fact, Hindered) and fact.obstacle is not None and fact.is_first:
                log_obstacle(fact.name, fact.obstacle)
            elif isinstance(fact, Away | Back):
                log_absence(fact)

    subscription = feed.subscribe(wake, (Finished, Hindered, Away, Back))


def log_absence(fact: Away | Back) -> None:
    """Log that a player's connection broke during a game, or that the player is back.

    A game that begins while its player is away is not logged: nothing broke in it.
    """
    about = {"player": fact.name, "game": fact.game}
    match fact:
        case Away(grace=grace, away=0):
            logger.info(
                "the connection of %s broke in game %s; its seat is kept for %g s",
                *(quoted(fact.name), fact.game, grace),
                extra={"event": "player_away", "grace": grace, **about},
            )
        case Back(away=away):
            logger.info(
                "%s is back in game %s after %.1f s",
                *(quoted(fact.name), fact.game, away),
                extra={"event": "player_back", "away": round(away, 3), **about},
            )


def log_obstacle(name: str, obstacle: Obstacle) -> None:
    """Log the reason for which a player has no opponent."""
    match obstacle.cause:
        case Cause.ABSENT:
            is_alike = "" if obstacle.alike is None else f"; {quoted(obstacle.alike)} is"
            why = f"it wishes for {quoted(obstacle.name)}, who is not here{is_alike}"
        case Cause.NAMESAKE:
            why = f"two players called {quoted(obstacle.name)} never meet"
        case Cause.ALONE:
            why = f"it is alone at table {quoted(obstacle.name)}"
        case _:
            assert_never(obstacle.cause)
    fields = {"player": name, "cause": obstacle.cause.value, "wanted": obstacle.name, "alike": obstacle.alike}
    logger.info("%s has no opponent: %s", quoted(name), why, extra={"event": "no_opponent", **fields})


def log_game(game: Finished, delay: float = 0.0) -> None:
    """Log a game that is over.

    `delay` is the longest time between two polls of the sockets during the game, in seconds. For a loss on
    time it shows whether the server was too slow.
    """
    if logger.isEnabledFor(logging.INFO):
        logger.info("game %s", _sentence(game, delay), extra={"event": "game_over", **_fields(game, delay)})


def _sentence(game: Finished, delay: float) -> str:
    first, second = (quoted(player.name) for player in game.players)
    columns = "".join(map(str, game.board.moves)) + f", id {game.game}"
    if game.leaver is not None and game.reason is Reason.ABORTED:
        leaver = quoted(game.players[game.leaver].name)
        return f"{first} - {second}: aborted, {leaver} left before both had moved, moves {columns}"
    reason = game.reason.value
    if game.winner is None:
        return f"{first} - {second}: no winner, {reason}, moves {columns}"
    winner, loser, order = (first, second, "first") if game.winner == FIRST else (second, first, "second")
    if game.reason is Reason.TIME:
        reason += f" (after {game.thought[other(game.winner)]:.3f} s, the server was deaf for {delay:.3f} s)"
    return f"{winner} beats {loser}: {reason}, moving {order}, moves {columns}"


def _fields(game: Finished, delay: float) -> Mapping[str, object]:
    """Return the fields of a game, with the words and units of ``export --format jsonl``."""
    first, second = game.players
    return {
        "game": game.game,
        "first": first.name,
        "first_kind": first.manners.kind,
        "second": second.name,
        "second_kind": second.manners.kind,
        "moves": "".join(map(str, game.board.moves)),
        "winner": 0 if game.winner is None else game.winner + 1,
        "reason": WORDS[game.reason],
        "thought": [round(1000 * seconds) for seconds in game.thought],
        "delay": round(1000 * delay),
        "table": game.table,
        "series": game.series,
        "round": game.round,
    }


def _dropped(count: int) -> logging.LogRecord:
    """Return the log record about lines that were dropped."""
    return logging.makeLogRecord(
        {
            "name": __name__,
            "levelno": logging.WARNING,
            "levelname": "WARNING",
            "msg": "%d lines dropped: nobody read the log",
            "args": (count,),
            "event": "lines_dropped",
            "lines": count,
        }
    )
