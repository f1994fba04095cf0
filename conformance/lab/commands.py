"""How any command of the laboratory ends: in an exit status, after one line where something went wrong.

Knows all that may go wrong with a server or a load; everything else is a mistake of ours, and goes on.
"""

import sys
from collections.abc import Callable, Sequence

from conformance.arguments import UsageError
from conformance.dialects.script import OutOfStep
from conformance.lab.meters import NoSuchProcess
from conformance.lab.workers import LoadError, first_cause
from conformance.launch import ServerError


def guarded(run: Callable[[Sequence[str]], int], argv: Sequence[str]) -> int:
    """Run a command line; return its exit status: 1 where something went wrong, 2 after a UsageError."""
    try:
        return run(argv)
    except Exception as error:  # a nursery may have wrapped it
        match cause := first_cause(error):
            case UsageError():
                print(f"conformance: {cause} (--help tells more)", file=sys.stderr)
                return 2
            case LoadError() | ServerError() | OutOfStep() | NoSuchProcess():
                print(f"conformance: {cause}", file=sys.stderr)
                return 1
        raise
