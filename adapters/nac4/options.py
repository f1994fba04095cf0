"""The server's options for the nac4 dialect."""

from dataclasses import dataclass

from gateway.options.table import flag


@dataclass(frozen=True, slots=True, kw_only=True)
class Nac4Options:
    """The options of the nac4 front end."""

    nac4_original: bool = flag(
        "send nac4 players 'Ok', not 'Disconnected', when the opponent left, as the original client needs it"
    )
