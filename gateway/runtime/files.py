"""Reading the files that options name.

Knows of an option its name only. The rule it keeps: a read ends soon, and is bounded. A pipe has nothing to
read until somebody writes, a device may go on for ever; so neither is read.
"""

import os
import stat
from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class InLoop(Protocol):
    """Calls a function in the event loop, for a thread."""

    def __call__(self, do: Callable[[], T], /) -> T:
        """Return what it returns, once it is done."""


def read_file(path: str, option: str, most: int, *, is_private: bool = False) -> bytes:
    """Return what is in a regular file of up to `most` bytes, which `option` names, such as ``--config``.

    A private one has to be this user's or root's, and others may neither read nor write it, nor its group
    write it. Raises OSError, which says in one line which option's file it is and what is wrong.
    """
    try:
        with open(path, "rb", opener=_at_once) as file:
            status = os.fstat(file.fileno())
            is_regular = stat.S_ISREG(status.st_mode)
            data = file.read(most + 1) if is_regular else b""
    except OSError as error:
        error.filename = f"{option}: {path}"
        raise
    except ValueError as error:
        raise OSError(f"{option}: {path!r} is not a path: {error}") from error
    if not is_regular:
        raise OSError(f"{option}: {path} is a pipe or a device, not a regular file; give the path of a file")
    if is_private and (
        status.st_uid not in (os.geteuid(), 0) or status.st_mode & (stat.S_IRWXO | stat.S_IWGRP)
    ):
        raise OSError(f"{path} may be read or written by others; a token there is no secret")
    if len(data) > most:
        raise OSError(f"{option}: {path} is larger than {most} bytes; is it the right file?")
    return data


def _at_once(path: str, flags: int) -> int:
    """Open, and do not wait for somebody at the other end of a pipe."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
