"""The command ``c4gateway``, also as ``python -m gateway``: it reads the options, and does what they ask for.

Knows the options, and what does the work: the server, or a command on a store. It imports each only when it
is asked for, so that ``--help`` does not wait for the server's libraries. Before it imports anything it looks
at the system, because some systems lack modules that the server needs.
"""

import gc
import sys
from collections.abc import Sequence
from contextlib import suppress

SYSTEMS = {"linux": "Linux", "darwin": "macOS"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status, 1 on a system that is not supported."""
    if sys.platform not in SYSTEMS:
        supported = " and ".join(SYSTEMS.values())
        print(f"c4gateway: error: it runs on {supported}, not on {sys.platform}", file=sys.stderr)
        return 1
    from gateway.server.arguments import let_output_take_any_text  # noqa: PLC0415
    from gateway.server.commands import COMMANDS, HEALTH, PLAYERS, SHOWING  # noqa: PLC0415

    given = sys.argv[1:] if arguments is None else arguments
    if given and given[0] in COMMANDS:
        gc.disable()  # what is imported stays, so nothing is to be found there
        from gateway.server import reports  # noqa: PLC0415

        gc.enable()
        return reports.main(given)
    if given and given[0] in PLAYERS:
        from gateway.server import players  # noqa: PLC0415

        return players.main(given)
    from adapters.front_ends import DIALECTS  # noqa: PLC0415
    from gateway.server.options import in_force, parse  # noqa: PLC0415

    if given and given[0] == HEALTH:
        from gateway.server import health  # noqa: PLC0415

        return health.main(given[1:], DIALECTS)
    if given and given[0] == SHOWING:
        lines = in_force(given[1:], DIALECTS)
        let_output_take_any_text()
        print("\n".join(lines))
        return 0
    options = parse(given, DIALECTS)
    from gateway.processes import started  # noqa: PLC0415

    writer = None
    if options.db is not None:
        with suppress(OSError):  # the server tries again, and says why
            writer = started("gateway.store.worker")
    from gateway import cli  # noqa: PLC0415  now, so that both load their libraries at the same time

    return cli.main(options, writer)


if __name__ == "__main__":
    sys.exit(main())
