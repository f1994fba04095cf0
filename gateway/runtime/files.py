"""Reading the files that options name.

Knows only the name of an option. A read is bounded and ends soon: pipes and devices, which may block or have
no end, are refused.
"""

import os
import stat
from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class InLoop(Protocol):
    """Lets a thread call a function in the event loop."""

    def __call__(self, do: Callable[[], T], /) -> T:
        """Call `do` in the event loop, wait for it, and return its result."""


def read_file(path: str, option: str, most: int, *, is_private: bool = False) -> bytes:
    """Return the contents of a regular file of at most `most` bytes.

    `option`, such as ``--config``, is the option that names the file. With `is_private` the file has to
    belong to this user or root, others may neither read nor write it, and its group may not write it. Raises
    OSError with one line that has the option, the path and what is wrong.
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
    """Open a file. If it is a pipe, do not wait for a writer."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
