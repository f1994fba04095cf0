"""The options of the server that concern this dialect alone."""

from dataclasses import dataclass

from gateway.options.table import flag


@dataclass(frozen=True, slots=True, kw_only=True)
class Nac4Options:
    """How its players are served."""

    nac4_original: bool = flag(
        "send nac4 players 'Ok', not 'Disconnected', when the opponent left, as the original client needs it"
    )
