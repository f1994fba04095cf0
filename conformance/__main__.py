"""`python -m conformance`: run a laboratory command if the first word names one, otherwise the runner.

A command's module is imported only when the command is run. The runner works without the laboratory, which an
installed package does not contain.
"""

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec

from conformance import cli

LAB = "conformance.lab"
COMMANDS: Mapping[str, str] = {
    "abuse": "abuse.command",
    "engines": "engines",
    "fairness": "fairness",
    "fuzz": "fuzz.command",
    "measure": "measure.command",
    "survive": "survive.command",
}
"""The laboratory's commands, and for each the module whose function `main` runs it."""


def main(argv: Sequence[str], lab: str = LAB) -> int:
    """Run the command line; return the exit status."""
    status = 130  # the status that a shell gives an interrupted command
    try:
        if argv and argv[0] in COMMANDS:
            status = _measure(argv[0], argv[1:], lab)
        else:
            status = cli.main(argv[1:] if argv[:1] == ["run"] else argv)
    except* KeyboardInterrupt:
        print("conformance: interrupted", file=sys.stderr)
    return status


def _measure(command: str, words: Sequence[str], lab: str) -> int:
    if find_spec(lab) is None:
        print(
            f"conformance: {command} needs the source tree; an installed package only plays transcripts",
            file=sys.stderr,
        )
        return 2
    run = import_module(f"{lab}.{COMMANDS[command]}").main
    status: int = import_module("conformance.lab.report").guarded(run, words)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
