"""The options of the server that concern this dialect alone."""

from dataclasses import dataclass

from gateway.options.table import flag


@dataclass(frozen=True, slots=True, kw_only=True)
class Nac4Options:
    """How its players are served."""

    nac4_original: bool = flag(
        "tell nac4 players 'Ok' when their opponent left, as the original's own client needs it"
    )
