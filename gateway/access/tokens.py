"""The admin token, and the delays of answers to wrong tokens of any kind.

Knows files and options. Does not know what a token permits. A token is never logged, and a file that other
users can read or write is not used.
"""

import logging
import os
import secrets
import tempfile
from contextlib import suppress

from gateway.options.names import ALONE, TOKEN_FILE, WORKER, beside
from gateway.options.server import ServerOptions, is_token
from gateway.options.terminal import in_one_line
from gateway.runtime.files import read_file

OPTION = "--token-file"
_BYTES = 16
_LONGEST = 4096

logger = logging.getLogger(__name__)


def admin_token(options: ServerOptions) -> str | None:
    """Return the admin token of the options; without it, the token in a file, which the first start creates.

    Returns None if the file cannot be used; the log says why. Runs in a thread.
    """
    if options.admin_token is not None:
        return str(options.admin_token)
    file = os.path.abspath(beside(options.db, TOKEN_FILE))
    try:
        with suppress(FileExistsError):
            _make(file)
            logger.info(
                "created %s with the token for c4gateway who, kick and the operator's other commands",
                file,
                extra={"event": "admin_token_made", "file": file},
            )
        token = read_token(file, is_private=True)
    except OSError as error:
        fields = {"event": "admin_token_not_made", "file": file, "error": str(error)}
        logger.warning(
            "there is no token for the operator's commands, so they do not work: %s; give --admin-token, or"
            " make the file one that only this user can read and write",
            in_one_line(error),
            extra=fields,
        )
        return None
    if options.cluster is not None and os.environ.get(WORKER) != ALONE:
        logger.warning(
            "commands of the operator work on this node alone, since its token was made here;"
            " give all nodes the same --admin-token",
            extra={"event": "admin_token_alone"},
        )
    return token


def read_token(file: str, *, is_private: bool = False) -> str:
    """Return the token in a file. With `is_private`, other users must not be able to read the file.

    Raises OSError, which says in one line what is wrong.
    """
    token = read_file(file, OPTION, _LONGEST, is_private=is_private).decode("ascii", "replace").strip()
    if not is_token(token):
        raise OSError(f"{file} is not one line with a token")
    return token


def _make(file: str) -> None:
    """Create a file with a new token. Raises OSError; FileExistsError if the file exists."""
    if os.path.lexists(file):
        raise FileExistsError
    folder, name = os.path.split(file)
    descriptor, own = tempfile.mkstemp(prefix=f"{name}.", dir=folder)  # with mode 0600
    try:
        with open(descriptor, "w", encoding="ascii") as new:
            new.write(f"{secrets.token_urlsafe(_BYTES)}\n")
        os.link(own, file)  # fails if the file exists, so two servers that start at once share one token
    finally:
        os.unlink(own)


FIRST_PAUSE = 0.25
"""The delay, in seconds, of the answer to a first wrong token. Each further wrong token doubles it."""
LONGEST_PAUSE = 8.0
"""The longest delay, in seconds."""
FORGOTTEN = 600.0
"""Seconds without a wrong token after which the delay is `FIRST_PAUSE` again."""
REMEMBERED = 4096
"""The most pairs of an address and a name whose wrong tokens are counted."""


class Pauses:
    """Computes the delays of answers to wrong tokens, by address and name."""

    def __init__(self) -> None:
        self._wrong: dict[tuple[str, str], tuple[int, float]] = {}
        """The number of wrong tokens and the time of the last one. The latest entry is at the end."""

    def __len__(self) -> int:
        """Return the number of pairs of an address and a name that are remembered."""
        return len(self._wrong)

    def wrong(self, origin: str, key: str, now: float) -> float:
        """Count a wrong token; return the delay of its answer, in seconds."""
        count, last = self._wrong.pop((origin, key), (0, now))
        count = 0 if now > last + FORGOTTEN else count
        self._wrong[origin, key] = count + 1, now
        if len(self._wrong) > REMEMBERED:
            del self._wrong[next(iter(self._wrong))]
        return float(min(FIRST_PAUSE * 2 ** min(count, 16), LONGEST_PAUSE))

    def right(self, origin: str, key: str) -> None:
        """Forget the wrong tokens of this address and name."""
        self._wrong.pop((origin, key), None)
