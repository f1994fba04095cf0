"""What the operator reads: log lines, as text or as JSON.

No client's name or message reaches a line unquoted, so nobody can forge one.
"""

import json
import logging
import sys

from gateway.board import FIRST, other
from gateway.session import Finished

LEVELS = ("debug", "info", "warning", "error")

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


def set_up_logging(level: str, *, as_json: bool) -> None:
    """Log to stderr from `level`, one of `LEVELS`, upwards."""
    handler = logging.StreamHandler(sys.stderr)
    plain = logging.Formatter("%(asctime)s %(levelname)-7s %(message)s")
    handler.setFormatter(JsonFormatter() if as_json else plain)
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for library in ("trio-websocket", "trio"):
        logging.getLogger(library).setLevel(max(logging.WARNING, logging.getLogger().level))


def log_game(game: Finished) -> None:
    """Log a game that is over."""
    first, second = game.players
    columns = "".join(map(str, game.board.moves))
    if game.winner is None:
        logger.info(
            "game %r - %r: no winner, %s, moves %s", first.name, second.name, game.reason.value, columns
        )
        return
    winner, loser = game.players[game.winner], game.players[other(game.winner)]
    order = "first" if game.winner == FIRST else "second"
    logger.info(
        "game %r beats %r: %s, moving %s, moves %s",
        winner.name,
        loser.name,
        game.reason.value,
        order,
        columns,
    )
