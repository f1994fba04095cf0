"""The command ``c4bot``, also as ``python -m adapters.bot``: it reads the options, and plays.

Imports what plays when the options are read, so that ``--help`` does not wait for it.
"""

import sys
from collections.abc import Sequence

from adapters.bot.options import parse


def main(arguments: Sequence[str] | None = None) -> int:
    """Play; return the exit status, as `adapters.bot.bot` has it."""
    options = parse(arguments)
    from adapters.bot.bot import run  # noqa: PLC0415  it needs trio

    return run(options)


if __name__ == "__main__":
    sys.exit(main())
