"""The output of commands: standard output, lists in sentences, errors in one line, exit status."""

import io
import os
import signal
import sys
from collections.abc import Callable, Iterable, Sequence


def listed(words: Sequence[str], conjunction: str) -> str:
    """Return words as a list in a sentence, such as ``a, b or c``; empty without words."""
    others, last = ", ".join(words[:-1]), "".join(words[-1:])
    return f"{others} {conjunction} {last}" if others else last


def let_output_take_any_text() -> None:
    """Configure standard output to write escapes for characters that its encoding lacks."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def write_out(pieces: Iterable[str]) -> None:
    """Write texts to standard output as they come, until the reader closes it.

    Raises OSError if they cannot be written.
    """
    if sys.stdout is None:
        raise OSError("standard output is closed")
    let_output_take_any_text()
    try:
        for piece in pieces:
            sys.stdout.write(piece)
        sys.stdout.flush()
    except BrokenPipeError:  # for example by `head`
        _say_no_more()
    except KeyboardInterrupt:
        _say_no_more()
        raise
    except OSError:
        try:
            sys.stdout.flush()
        except OSError:
            _say_no_more()
        raise


def _say_no_more() -> None:
    """Redirect standard output to /dev/null, so that the interpreter prints no error when it ends.

    The interpreter then flushes standard output. That could fail, as the reader may be gone or the disk full.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def in_one_line(error: BaseException) -> str:
    """Return the text of an error, or of the first error in an exception group, as one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    text = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    return " ".join(text.split())


def exit_status(carry_out: Callable[[], int | None], refusal: type[Exception] = OSError) -> int:
    """Carry out a command; return its exit status.

    The status is the value that `carry_out` returns, or 0 for None. If `carry_out` raises OSError or
    `refusal`, the status is 1, after a line on stderr. After Ctrl-C it is 130.
    """
    try:
        return carry_out() or 0
    except (OSError, refusal) as error:
        print(f"c4gateway: error: {in_one_line(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
