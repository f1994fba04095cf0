"""`python -m conformance`: the first word may be a subcommand; everything else is the runner's.

A subcommand is a function from the words behind it to an exit status, named in `COMMANDS`.
"""

import sys
from collections.abc import Callable, Sequence

from conformance import cli, house_hog, house_load, matches
from conformance.attacks import command as attacks
from conformance.bench import command as bench
from conformance.bench import store
from conformance.fairness import command as fairness
from conformance.growth import command as growth
from conformance.junk import command as junk
from conformance.kills import command as kills
from conformance.reading import command as reading
from conformance.web_load import command as web_load

COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "run": cli.main,
    "attacks": attacks.main,
    "bench": bench.main,
    "fairness": fairness.main,
    "growth": growth.main,
    "house-load": house_load.main,
    "house-hog": house_hog.main,
    "junk": junk.main,
    "matches": matches.main,
    "kills": kills.main,
    "reading": reading.main,
    "store-cost": store.main,
    "web-load": web_load.main,
}


def main(argv: Sequence[str]) -> int:
    """Run what the words ask for; returns the exit status."""
    status = 130  # as a shell has it for a command that was interrupted
    try:
        status = COMMANDS[argv[0]](argv[1:]) if argv and argv[0] in COMMANDS else cli.main(argv)
    except* KeyboardInterrupt:
        print("conformance: interrupted", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
