"""The server's certificate for TLS.

Knows the two files in which it is. Does not know connections. The rule it keeps: a certificate that cannot be
used never replaces one that can, and a connection keeps the one with which it began.
"""

from typing import TYPE_CHECKING

from gateway.runtime.files import read_file

if TYPE_CHECKING:
    import ssl

LONGEST_FILE = 1024 * 1024
"""Bytes that a file may have."""


class Certificate:
    """A certificate and its key."""

    def __init__(self, certificate: str, key: str | None = None) -> None:
        """Read the files; `key` is None where it is in `certificate`, too. Raises OSError."""
        self._files = certificate, key
        self.context = _context(*self._files)
        """What new connections use."""

    def reload(self) -> None:
        """Read the files again. A thread may do it. Raises OSError, and then everything stays as it is."""
        self.context = _context(*self._files)


def _context(certificate: str, key: str | None) -> "ssl.SSLContext":
    """Return what serves TLS, 1.2 or newer. Raises OSError with one line that says what is wrong."""
    import ssl  # noqa: PLC0415  who only reads the options need not wait for it

    for option, file in (("--tls-cert", certificate), ("--tls-key", key)):
        if file is not None:  # `ssl` says of no file what is wrong with it, and waits for a pipe
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
    """Give no password: nobody could type one at a server."""
    raise ValueError("the key has a password")
