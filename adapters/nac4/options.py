"""The server's options for the nac4 dialect."""

from dataclasses import dataclass

from gateway.options.table import flag


@dataclass(frozen=True, slots=True, kw_only=True)
class Nac4Options:
    """The options of the nac4 front end."""

    nac4_original: bool = flag(
        "tell nac4 players 'Ok' when their opponent left, as the original's own client needs it"
    )
