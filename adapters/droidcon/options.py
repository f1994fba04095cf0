"""The server's options for the Droidcon dialect."""

from dataclasses import dataclass

from gateway.options.kinds import count
from gateway.options.table import option


@dataclass(frozen=True, slots=True, kw_only=True)
class DroidconOptions:
    """The options of the Droidcon front end."""

    rounds: int = option("games in a series with a Droidcon player", count(1, 10**6), 4, is_shared=True)
