"""Reading files again while the server runs, when SIGHUP asks for it.

Knows what can be reloaded, each a name and a function, and the signal. Does not know what is
in a file. The rules it keeps: a file that cannot be used costs one line of the log; what was read before
stays in force, and all others are reloaded. A thread does the work, so that no move waits for it.

SIGHUP comes, too, when the terminal is closed in which the server was started. Then the server stops.
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
    """Reload everything, in order, and log what was reloaded and what was not.

    `reloads` has what people call a thing, as `the players`, and what reloads it, in a thread: that raises
    OSError or ValueError, with one line, where it keeps what was before.
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
        except Exception:  # a mistake of ours; it costs no game
            logger.exception("%s: not reloaded", name, extra={"event": "reload_failed", "what": name})
    logger.info("reloaded: %s", ", ".join(done) or "nothing", extra={"event": "reloaded", "what": done})


async def reload_on_hangup(
    reloads: Mapping[str, Reload], task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Reload at each SIGHUP, until cancelled; once the terminal is gone ask the server to stop."""
    had_terminal = has_terminal()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # once this has ended
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
    """Whether standard error is a terminal; one that has been closed is none any more."""
    return sys.stderr.isatty()
