"""`python -m conformance`: the first word may name a command of the laboratory; all else is for the runner.

Knows the laboratory's commands by the names of their modules, and imports one only when it is asked for: the
runner needs nothing of the laboratory, which only the source tree has.
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
"""The laboratory's commands, each a module there with a function `main`."""


def main(argv: Sequence[str], lab: str = LAB) -> int:
    """Run the command line; return the exit status."""
    status = 130  # as a shell has it for a command that was interrupted
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
