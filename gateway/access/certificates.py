"""The server's certificate for TLS.

Knows the two files that hold it. Does not know connections. A certificate that cannot be used never replaces
a usable one. A connection keeps the certificate with which it began.
"""

from typing import TYPE_CHECKING

from gateway.runtime.files import read_file

if TYPE_CHECKING:
    import ssl

LONGEST_FILE = 1024 * 1024
"""The largest size of either file, in bytes."""


class Certificate:
    """A certificate and its key."""

    def __init__(self, certificate: str, key: str | None = None) -> None:
        """Read the files; `key` is None if the file `certificate` has the key, too. Raises OSError."""
        self._files = certificate, key
        self.context = _context(*self._files)
        """The TLS context of new connections."""

    def reload(self) -> None:
        """Read the files again; may run in a thread. Raises OSError; the old certificate then stays."""
        self.context = _context(*self._files)


def _context(certificate: str, key: str | None) -> "ssl.SSLContext":
    """Return a context for TLS 1.2 or newer. Raises OSError with one line that says what is wrong."""
    import ssl  # noqa: PLC0415  slow, and commands that only read the options do not need it

    for option, file in (("--tls-cert", certificate), ("--tls-key", key)):
        if file is not None:  # the errors of `ssl` do not name the file, and `ssl` blocks on a pipe
            read_file(file, option, LONGEST_FILE)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    try:
        context.load_cert_chain(certificate, key, password=_refuse)
    except (ssl.SSLError, ValueError) as error:
        reason = error.reason if isinstance(error, ssl.SSLError) else str(error)
        words = f" ({reason.replace('_', ' ').lower()})" if reason else ""
        both = f"{certificate} and {key or certificate}"
        raise OSError(f"{both} are not a certificate and its key, in PEM{words}") from error
    return context


def _refuse() -> str:
    """Raise ValueError in place of asking for a password on the terminal."""
    raise ValueError("the key has a password")
