"""The command ``c4bot``, also as ``python -m adapters.bot``: reads the options, and plays.

Imports the player only after it has read the options, so that ``--help`` is fast.
"""

import sys
from collections.abc import Sequence

from adapters.bot.options import parse


def main(arguments: Sequence[str] | None = None) -> int:
    """Play; return the exit status, as `adapters.bot.bot.run` does."""
    options = parse(arguments)
    from adapters.bot.bot import run  # noqa: PLC0415  it needs trio

    return run(options)


if __name__ == "__main__":
    sys.exit(main())
