"""Functions that read the server's files again on SIGHUP.

Knows the signal, and a name and a function for each thing that can be reloaded; does not know the contents of
files. If a file cannot be used, the error is logged, the earlier contents stay in force, and the other files
are reloaded.
"""

import logging
import signal
import sys
from collections.abc import Callable, Mapping
from typing import TypeAlias

import trio

from gateway.options.terminal import in_one_line
from gateway.runtime.files import InLoop
from gateway.runtime.notifying import READY, notify, reloading

Reload: TypeAlias = Callable[[InLoop], object]

logger = logging.getLogger(__name__)


async def reload_all(reloads: Mapping[str, Reload]) -> None:
    """Call all functions of `reloads`, in order, and log which of them succeeded and which failed.

    `reloads` has the functions by their names in the log, such as `the players`. Each is called in a thread.
    A function that fails must raise OSError or ValueError with a text of one line, and must not change what
    is in force.
    """
    done = []
    for name, reload in reloads.items():
        try:
            await trio.to_thread.run_sync(reload, trio.from_thread.run_sync, abandon_on_cancel=True)
            done.append(name)
        except (OSError, ValueError) as error:
            words = in_one_line(error)
            logger.error(
                "%s: not reloaded, what was read before stays: %s",
                *(name, words),
                extra={"event": "not_reloaded", "what": name, "error": words},
            )
        except Exception:  # a bug, which must not end games
            logger.exception("%s: not reloaded", name, extra={"event": "reload_failed", "what": name})
    logger.info("reloaded: %s", ", ".join(done) or "nothing", extra={"event": "reloaded", "what": done})


async def reload_on_hangup(
    reloads: Mapping[str, Reload], task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Reload at each SIGHUP, until cancelled. Stop the server if the terminal was closed."""
    had_terminal = has_terminal()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # for the time after this function
    with trio.open_signal_receiver(signal.SIGHUP) as signals:
        task_status.started()
        async for _ in signals:
            if had_terminal and not has_terminal():
                logger.warning("the terminal is gone", extra={"event": "terminal_gone"})
                signal.raise_signal(signal.SIGTERM)
                return
            notify(reloading())
            await reload_all(reloads)
            notify(READY)


def has_terminal() -> bool:
    """Whether standard error is an open terminal."""
    return sys.stderr.isatty()
