"""The client's end of a TLS handshake, and the authorities that a client trusts.

Knows Python's `ssl` and sockets. A server is accepted only if a trusted authority certifies the name that was
dialed.
"""

import errno
import ssl

import trio

from adapters.net.socket import Socket
from adapters.net.tls import Session
from gateway.runtime.files import read_file

LONGEST_FILE = 1024 * 1024
"""The most bytes that a file of certificates may have."""

_NO_AUTHORITY = range(18, 22)
"""OpenSSL's codes for a certificate without a trusted issuer (``X509_V_ERR_...``)."""


class Untrusted(OSError):
    """The server's certificate is not trusted."""

    def __init__(self, error: ssl.SSLCertVerificationError) -> None:
        super().__init__(errno.EACCES, error.verify_message.rstrip("."))
        self.lacks_authority = error.verify_code in _NO_AUTHORITY
        """Whether the only fault is that no trusted issuer signed the certificate."""


def trusting(file: str | None, option: str = "") -> ssl.SSLContext:
    """Return a TLS context that trusts the authorities in `file`; without a file, those of the system.

    `option` is the name of the command-line option, for error texts. Raises OSError with one line that says
    what is wrong with the file.
    """
    if file is None:
        return ssl.create_default_context()
    text = read_file(file, option, LONGEST_FILE).decode("ascii", "replace")
    try:
        # With an empty text, Python would load the system's authorities
        return ssl.create_default_context(cadata=text or "none")
    except (ssl.SSLError, ValueError) as error:
        raise OSError(f"{option}: {file} has no certificate in PEM") from error


async def secure(sock: Socket, server: str, trusted: ssl.SSLContext, patience: float) -> None:
    """Begin TLS with the host `server`, within `patience` seconds.

    Raises Untrusted; OSError if the host does not speak TLS; UnicodeError if `server` cannot be a host's
    name.
    """
    session, data = Session(trusted, server), b""
    try:
        with trio.fail_after(patience):
            while not session.shake_hands(data):
                await sock.send_all(session.outgoing())
                data = await sock.receive_some()
                if not data:
                    raise OSError(errno.ECONNRESET, "what answers there does not speak TLS")
            await sock.send_all(session.outgoing())
    except trio.TooSlowError:
        raise TimeoutError(errno.ETIMEDOUT, "it does not answer a handshake of TLS") from None
    except trio.BrokenResourceError:
        raise OSError(errno.ECONNRESET, "it hung up in the handshake of TLS") from None
    except ssl.SSLCertVerificationError as error:
        raise Untrusted(error) from None
    except ssl.SSLError as error:
        words = (error.reason or "").replace("_", " ").lower()
        raise OSError(errno.EPROTO, f"what answers there does not speak TLS ({words})") from None
    sock.secure(session)
