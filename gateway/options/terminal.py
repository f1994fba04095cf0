"""What the commands write: standard output, lists in sentences, and errors in one line."""

import io
import os
import signal
import sys
from collections.abc import Callable, Iterable, Sequence


def listed(words: Sequence[str], conjunction: str) -> str:
    """Return words as a sentence lists them, such as ``a, b or c``; nothing where there are none."""
    others, last = ", ".join(words[:-1]), "".join(words[-1:])
    return f"{others} {conjunction} {last}" if others else last


def let_output_take_any_text() -> None:
    """Let standard output take any text: it writes an escape for a character that its encoding lacks."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def write_out(pieces: Iterable[str]) -> None:
    """Write text as it comes to standard output, for as long as anybody reads it.

    Raises OSError where it cannot be written.
    """
    if sys.stdout is None:
        raise OSError("standard output is closed")
    let_output_take_any_text()
    try:
        for piece in pieces:
            sys.stdout.write(piece)
        sys.stdout.flush()
    except BrokenPipeError:  # as when piped into `head`
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
    """Let what is still to be written go nowhere: the interpreter would try again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def in_one_line(error: BaseException) -> str:
    """Return what an error says, as one line; of a group, what the first of its errors says."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    text = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    return " ".join(text.split())


def exit_status(carry_out: Callable[[], int | None], refusal: type[Exception] = OSError) -> int:
    """Carry out a command; return its exit status.

    That is what `carry_out` returns, by default 0; 1 after a line on stderr where it raises OSError or a
    `refusal`, and 130 after Ctrl-C.
    """
    try:
        return carry_out() or 0
    except (OSError, refusal) as error:
        print(f"c4gateway: error: {in_one_line(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
