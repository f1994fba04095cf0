"""Tokens: the admin token, and how long the answer to a wrong token has to wait.

The admin token is the one that the operator gives, else one that the first start makes and keeps in a file.

Knows files and options. Does not know what the token is good for. The rules it keeps: the token stands in no
log and on no command line, and a file that others could have written or could read is not used.
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
    """Return the admin token of a server; None where it has none, which the log explains. For a thread."""
    if options.admin_token is not None:
        return str(options.admin_token)
    file = os.path.abspath(beside(options.db, TOKEN_FILE))
    try:
        with suppress(FileExistsError):
            _make(file)
            logger.info(
                "the token for c4gateway who, kick and other commands of the operator is in %s, made now",
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
    """Return the token in a file, which others may not read if it `is_private`.

    Raises OSError, which says in one line what is wrong.
    """
    token = read_file(file, OPTION, _LONGEST, is_private=is_private).decode("ascii", "replace").strip()
    if not is_token(token):
        raise OSError(f"{file} is not one line with a token")
    return token


def _make(file: str) -> None:
    """Make a file with a new token. Raises OSError; FileExistsError where there is one."""
    if os.path.lexists(file):
        raise FileExistsError
    folder, name = os.path.split(file)
    descriptor, own = tempfile.mkstemp(prefix=f"{name}.", dir=folder)  # this user's alone
    try:
        with open(descriptor, "w", encoding="ascii") as new:
            new.write(f"{secrets.token_urlsafe(_BYTES)}\n")
        os.link(own, file)  # two servers that start at once have one token
    finally:
        os.unlink(own)


# How long wrong tokens wait for their answers.
#
# Knows addresses, names and times as arguments. What is remembered is bounded.

FIRST_PAUSE = 0.25
"""Seconds until the first wrong token is answered; each further one takes twice as long."""
LONGEST_PAUSE = 8.0
FORGOTTEN = 600.0
"""Seconds without a wrong token after which the pauses begin anew."""
REMEMBERED = 4096
"""Pairs of an address and a name whose wrong tokens are counted."""


class Pauses:
    """How long clients wait for the answer to a wrong token, by address and name."""

    def __init__(self) -> None:
        self._wrong: dict[tuple[str, str], tuple[int, float]] = {}
        """How many wrong ones came, and when the last did; the latest at the end."""

    def __len__(self) -> int:
        """Return for how many pairs of an address and a name wrong tokens are counted."""
        return len(self._wrong)

    def wrong(self, origin: str, key: str, now: float) -> float:
        """Count a wrong token; return for how many seconds its answer is to wait."""
        count, last = self._wrong.pop((origin, key), (0, now))
        count = 0 if now > last + FORGOTTEN else count
        self._wrong[origin, key] = count + 1, now
        if len(self._wrong) > REMEMBERED:
            del self._wrong[next(iter(self._wrong))]
        return float(min(FIRST_PAUSE * 2 ** min(count, 16), LONGEST_PAUSE))

    def right(self, origin: str, key: str) -> None:
        """Let the pauses begin anew."""
        self._wrong.pop((origin, key), None)
