"""The options of the server that concern this dialect alone."""

from dataclasses import dataclass

from gateway.options.kinds import count
from gateway.options.table import option


@dataclass(frozen=True, slots=True, kw_only=True)
class DroidconOptions:
    """How its players are served."""

    rounds: int = option("games in a series with a Droidcon player", count(1, 10**6), 4, is_shared=True)
