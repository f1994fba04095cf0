"""A function that reads a file which an option names.

It knows only the name of the option. The size of a file is limited. Pipes and devices, which may block or
have no end, are refused.
"""

import os
import stat
from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class InLoop(Protocol):
    """A function by which a thread calls a function in the event loop."""

    def __call__(self, do: Callable[[], T], /) -> T:
        """Call `do` in the event loop, wait for it, and return its result."""


def read_file(path: str, option: str, most: int, *, is_private: bool = False) -> bytes:
    """Return the contents of a regular file of at most `most` bytes.

    `option`, such as ``--config``, is the option that names the file. With `is_private` the file must belong
    to this user or root, its group must not be able to write it, and others must not be able to read or write
    it. Raises OSError with a text of one line: the option, the path and the error.
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
    """Open a file without waiting, even if it is a pipe without a writer."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
